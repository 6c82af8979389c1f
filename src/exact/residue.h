/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Residues modulo small moduli, and back: from canonical words to int8 planes, and from the products of the
 * planes to canonical words by the Chinese remainder theorem.  One source for host and device.
 * Proofs: doc/algorithms.md#residues.
 *
 * Let x be the centred word, m_1 .. m_t <= 256 pairwise coprime, M their product.  The left operand's planes
 * hold f_i x mod m_i with f_i = (M/m_i)^-1 mod m_i, the right operand's x mod m_i; so the residue y_i in
 * [0, m_i) of a sum of products is already the digit of X = sum y_i M/m_i - q M, q = round(sum y_i / m_i).
 */
#ifndef NMODGPU_EXACT_RESIDUE_H
#define NMODGPU_EXACT_RESIDUE_H

#include <string.h>

#include "../plan.h"
#include "winograd.h"
#include "word.h"

enum { NMODGPU_CRT_GROUPS = (NMODGPU_MAX_PLANES + 3) / 4 };

#define NMODGPU_FLOAT_2_23 0x4b000000u   /* the bits of 2^23, whose last bit counts 1 */
#define NMODGPU_FLOAT_3_2_22 0x4b400000u /* of 3 * 2^22 */

/** Constants of one conversion to residues; plain data, passed to kernels by value. */
typedef struct nmodgpu_residuer {
    uint64_t p;
    uint32_t count;
    uint32_t wide;   /**< p >= 2^32: words of eight bytes, else of four */
    uint32_t direct; /**< one modulus, and it is p: planes hold the centred words themselves */
    uint32_t m[NMODGPU_MAX_PLANES];
    float inverse[NMODGPU_MAX_PLANES];   /**< 1 / m, rounded from 3 2^-24 above */
    uint32_t bias[NMODGPU_MAX_PLANES];   /**< the bits of 2^23 as a float, and what takes the words' offset off and
                                              keeps sums positive */
    uint32_t centre[NMODGPU_MAX_PLANES]; /**< what takes the words' offset off, in (0, m] */
    uint32_t lift[NMODGPU_MAX_PLANES];   /**< the bits of 2^23, and what keeps sums of four dots positive */
    uint32_t weight[NMODGPU_MAX_PLANES][2]; /**< four signed bytes each: f 256^j mod m, centred, j = 0 .. 7 */
} nmodgpu_residuer;

/** Constants of one recombination. */
typedef struct nmodgpu_crt {
    uint64_t p;
    uint32_t count;
    uint32_t direct; /**< one modulus, and it is p: the residue is the result */
    int32_t sign;    /**< +1 or -1 */
    uint32_t m[NMODGPU_MAX_PLANES];
    uint32_t magic[NMODGPU_MAX_PLANES];
    uint32_t offset[NMODGPU_MAX_PLANES]; /**< the multiple of m just below 2^31, for int32 sums */
    /** w_i = sign M/m_i mod p: byte j of the four from i = 4 g on, in one word. */
    uint32_t weight[NMODGPU_CRT_GROUPS][8];
    uint32_t turn[NMODGPU_CRT_GROUPS][2]; /**< the same of round(2^16 / m) */
    uint64_t fold;                        /**< -sign M mod p */
    /** floor(v / p), short by at most one, is (floor(v / 2^shift) magic / 2^32) / 2^quotient_shift, rounded down
     *  each time, for v < 2^13 p. */
    uint32_t shift, quotient_magic, quotient_shift;
} nmodgpu_crt;

/* ---- constants, on the host */

static inline uint32_t nmodgpu_small_inverse(uint32_t a, uint32_t m)
{
    for (uint32_t x = 1; x < m; x++)
        if (a % m * x % m == 1)
            return x;
    return 1; /* m == 1, or not coprime: no plan has that */
}

/** (M / m_i) mod `modulus`, M the product of all plane moduli. */
static inline uint64_t nmodgpu_cofactor(const nmodgpu_operand_plan *operand, uint32_t i, uint64_t modulus)
{
    unsigned __int128 product = 1 % modulus;
    for (uint32_t j = 0; j < operand->planes; j++)
        if (j != i)
            product = product * operand->plane_digits[j] % modulus;
    return (uint64_t)product;
}

static inline uint32_t nmodgpu_weight_bytes(uint32_t factor, uint32_t from, uint32_t m)
{
    uint32_t power = factor % m;
    uint32_t bytes = 0;
    for (uint32_t j = 0; j < from; j++)
        power = power * (256 % m) % m;
    for (uint32_t j = 0; j < 4; j++) {
        const int32_t centred = power > (m - 1) / 2 ? (int32_t)power - (int32_t)m : (int32_t)power;
        bytes |= ((uint32_t)centred & 255) << (8 * j);
        power = power * (256 % m) % m;
    }
    return bytes;
}

static inline nmodgpu_residuer nmodgpu_residuer_make(const nmodgpu_plan *plan, int right)
{
    const nmodgpu_operand_plan *operand = right ? &plan->right : &plan->left;
    nmodgpu_residuer r;
    memset(&r, 0, sizeof r);
    r.p = plan->modulus;
    r.wide = plan->modulus >> 32 != 0;
    r.count = operand->planes;
    r.direct = operand->planes == 1 && operand->plane_digits[0] == plan->modulus;
    for (uint32_t i = 0; i < operand->planes; i++) {
        const uint32_t m = operand->plane_digits[i];
        const uint32_t factor = right ? 1 : nmodgpu_small_inverse((uint32_t)nmodgpu_cofactor(operand, i, m), m);
        const uint32_t offset = (uint32_t)((1ULL << (r.wide ? 63 : 31)) % m) * factor % m;
        r.m[i] = m;
        r.inverse[i] = (float)((1.0 + 3.0 / (1 << 24)) / m);
        /* The eight terms of the sum are at most 255 * 128 in magnitude each: with a multiple of m above 2^18 it
         * lies between 0 and 2^20. */
        r.centre[i] = m - offset;
        r.bias[i] = NMODGPU_FLOAT_2_23 + m * ((1u << 18) / m + 1) + r.centre[i];
        r.lift[i] = NMODGPU_FLOAT_2_23 + m * ((1u << 20) / m + 1);
        r.weight[i][0] = nmodgpu_weight_bytes(factor, 0, m);
        r.weight[i][1] = nmodgpu_weight_bytes(factor, 4, m);
    }
    return r;
}

/** Spreads the lowest `count` bytes of `value` over the words of its group, for residue i. */
static inline void nmodgpu_spread_bytes(uint32_t *words, uint32_t count, uint32_t i, uint64_t value)
{
    for (uint32_t j = 0; j < count; j++)
        words[j] |= (uint32_t)(value >> (8 * j) & 255) << (8 * (i % 4));
}

static inline nmodgpu_crt nmodgpu_crt_make(const nmodgpu_plan *plan, int sign)
{
    const uint64_t p = plan->modulus;
    nmodgpu_crt c;
    memset(&c, 0, sizeof c);
    c.p = p;
    c.count = plan->sums;
    c.direct = plan->sums == 1 && plan->left.plane_digits[0] == p;
    c.sign = sign;
    unsigned __int128 product = 1 % p;
    for (uint32_t i = 0; i < plan->sums; i++) {
        const uint32_t m = plan->left.plane_digits[i];
        const uint64_t w = nmodgpu_cofactor(&plan->left, i, p);
        c.m[i] = m;
        c.magic[i] = UINT32_MAX / m;
        c.offset[i] = m * ((1u << 31) / m);
        nmodgpu_spread_bytes(c.weight[i / 4], 8, i, sign < 0 && w ? p - w : w);
        nmodgpu_spread_bytes(c.turn[i / 4], 2, i, ((1u << 17) / m + 1) / 2);
        product = product * m % p;
    }
    const uint64_t whole = (uint64_t)product;
    c.fold = sign < 0 || whole == 0 ? whole : p - whole;
    const uint32_t bits = 64 - (uint32_t)__builtin_clzll(p);
    c.shift = bits > 19 ? bits - 19 : 0;
    c.quotient_magic = (uint32_t)((((unsigned __int128)1 << (31 + bits)) - 1) / p);
    c.quotient_shift = bits - 1 - c.shift;
    return c;
}

/* ---- entries, on both sides */

/** x mod m in [0, m), for magic = floor((2^32 - 1) / m) and any x: the quotient is short by at most one. */
NMODGPU_HD uint32_t nmodgpu_small_mod(uint32_t x, uint32_t m, uint32_t magic)
{
    return nmodgpu_submod_once(x - nmodgpu_mulhi32(x, magic) * m, m);
}

/** sum + the four unsigned bytes of a times the four signed bytes of b. */
NMODGPU_HD uint32_t nmodgpu_dot4(uint32_t a, uint32_t b, uint32_t sum)
{
#ifdef __CUDA_ARCH__
    uint32_t d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
    return d;
#else
    for (int j = 0; j < 4; j++)
        sum += (uint32_t)((int32_t)(a >> (8 * j) & 255) * (int32_t)(int8_t)(b >> (8 * j) & 255));
    return sum;
#endif
}

/** The same with unsigned bytes on both sides. */
NMODGPU_HD uint32_t nmodgpu_dot4_unsigned(uint32_t a, uint32_t b, uint32_t sum)
{
#ifdef __CUDA_ARCH__
    return __dp4a(a, b, sum);
#else
    for (int j = 0; j < 4; j++)
        sum += (a >> (8 * j) & 255) * (b >> (8 * j) & 255);
    return sum;
#endif
}

/** The offset word of a canonical one: its centred representative plus 2^31, for p < 2^32. */
NMODGPU_HD uint32_t nmodgpu_offset_word32(const nmodgpu_residuer *c, uint32_t word)
{
    const uint32_t p = (uint32_t)c->p;
    return word + ((1u << 31) - (word > p / 2 ? p : 0));
}

/** The same plus 2^63, for any p. */
NMODGPU_HD uint64_t nmodgpu_offset_word64(const nmodgpu_residuer *c, uint64_t word)
{
    return word + ((1ULL << 63) - (word > c->p / 2 ? c->p : 0));
}

NMODGPU_HD uint64_t nmodgpu_offset_word(const nmodgpu_residuer *c, uint64_t word)
{
    return c->wide ? nmodgpu_offset_word64(c, word) : nmodgpu_offset_word32(c, (uint32_t)word);
}

/** round(x inverse) plus the bits of 3 * 2^22, where x plus the bits of 2^23 is given, 0 <= x < 2^21: on the device
 *  two single-precision operations, of which the second rounds.  With inverse = (1 + d) / m, 2^-23 <= d <= 2^-22,
 *  the product errs by less than 1 / (2 m), upwards, so that this is round(x / m) with ties rounded up; and the
 *  product is no tie itself. */
NMODGPU_HD uint32_t nmodgpu_small_quotient(uint32_t float_x, float inverse)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(__fmaf_rn(__uint_as_float(float_x) - 8388608.0f, inverse, 12582912.0f));
#else
    const double x = (double)(float_x - NMODGPU_FLOAT_2_23);
    return NMODGPU_FLOAT_3_2_22 + (uint32_t)(x * (double)inverse + 0.5); /* exact before it is cut off */
#endif
}

/** Plane i of an entry in the lowest byte, from the halves of its offset word; WIDE says that there are two. */
NMODGPU_HD uint32_t nmodgpu_residue_byte(const nmodgpu_residuer *c, uint32_t i, uint32_t low, uint32_t high,
                                         int wide)
{
    uint32_t sum = nmodgpu_dot4(low, c->weight[i][0], c->bias[i]);
    if (wide)
        sum = nmodgpu_dot4(high, c->weight[i][1], sum);
    return sum - nmodgpu_small_quotient(sum, c->inverse[i]) * c->m[i]; /* the floats' bits are 0 modulo 2^22 */
}

/** Plane i of an entry as an integer of magnitude up to 2^18 that is congruent to it, for sums of up to four such
 *  with either sign: these are at most 4 (8 * 255 * 128 + 256) < 2^20 in magnitude. */
NMODGPU_HD uint32_t nmodgpu_residue_dot(const nmodgpu_residuer *c, uint32_t i, uint32_t low, uint32_t high,
                                        int wide)
{
    const uint32_t sum = nmodgpu_dot4(low, c->weight[i][0], c->centre[i]);
    return wide ? nmodgpu_dot4(high, c->weight[i][1], sum) : sum;
}

/** The residue of such a sum, centred, in the lowest byte. */
NMODGPU_HD uint32_t nmodgpu_residue_byte_of_dots(const nmodgpu_residuer *c, uint32_t i, uint32_t dots)
{
    const uint32_t sum = dots + c->lift[i]; /* x < 2^20 + 256 + 4 (8 * 255 * 128 + 256) < 2^21 - 2^11 */
    return sum - nmodgpu_small_quotient(sum, c->inverse[i]) * c->m[i];
}

/** Plane i of an entry, from its offset word: in [-floor(m/2), m - 1 - floor(m/2)]. */
NMODGPU_HD int32_t nmodgpu_residue(const nmodgpu_residuer *c, uint32_t i, uint64_t offset_word)
{
    return (int8_t)nmodgpu_residue_byte(c, i, (uint32_t)offset_word, (uint32_t)(offset_word >> 32), c->wide != 0);
}

/** The same for four words y in [0, m), one a byte, where m is the modulus itself: y - m from ceil(m/2) on. */
NMODGPU_HD uint32_t nmodgpu_centre_bytes(uint32_t four, uint32_t m)
{
    const uint32_t from = m - m / 2; /* 1 to 128 */
    const uint32_t low_reaches = (four & 0x7f7f7f7fu) + (0x80 - from) * 0x01010101u;
    const uint32_t reaches = (low_reaches | four) >> 7 & 0x01010101u;
    return four + reaches * ((0u - m) & 255); /* 256 - m more: below 256, since y < m */
}

/** The residue in [0, m) of an int32 sum of magnitude up to 2^31 - 256 (the offset lies at most 255 below 2^31). */
NMODGPU_HD uint32_t nmodgpu_residue_of_sum(int32_t sum, uint32_t m, uint32_t magic, uint32_t offset)
{
    return nmodgpu_small_mod((uint32_t)sum + offset, m, magic);
}

/** Two lanes of 16 bits: x, or x - m where that is not negative; x < 2^15. */
NMODGPU_HD uint32_t nmodgpu_lanes_below(uint32_t x, uint32_t m)
{
#ifdef __CUDA_ARCH__
    return __viaddmin_u16x2(x, (0u - m & 0xffffu) * 0x10001u, x); /* a negative difference is a large one */
#else
    const uint32_t low = x & 0xffffu, high = x >> 16;
    return (low >= m ? low - m : low) | (high >= m ? high - m : high) << 16;
#endif
}

/** What gathers over the residues of one entry, t <= 24 of them. */
typedef struct nmodgpu_crt_sum {
    uint32_t part[8]; /**< sum of y_i times byte j of w_i, below 2^21; the upper four only for p >= 2^32 */
    uint32_t turn[2]; /**< the same for 2^16 / m_i, plus a half turn */
} nmodgpu_crt_sum;

NMODGPU_HD nmodgpu_crt_sum nmodgpu_crt_begin(void)
{
    const nmodgpu_crt_sum s = {{0, 0, 0, 0, 0, 0, 0, 0}, {1u << 15, 0}};
    return s;
}

/** Takes the residues 4 g to 4 g + 3, one a byte, zeros where there are fewer.  WIDE says p >= 2^32. */
NMODGPU_HD void nmodgpu_crt_take4(nmodgpu_crt_sum *s, const nmodgpu_crt *c, uint32_t g, uint32_t four, int wide)
{
    for (int j = 0; j < (wide ? 8 : 4); j++)
        s->part[j] = nmodgpu_dot4_unsigned(four, c->weight[g][j], s->part[j]);
    for (int j = 0; j < 2; j++)
        s->turn[j] = nmodgpu_dot4_unsigned(four, c->turn[g][j], s->turn[j]);
}

/** Takes the i-th residue y in [0, m_i). */
NMODGPU_HD void nmodgpu_crt_take(nmodgpu_crt_sum *s, const nmodgpu_crt *c, uint32_t i, uint32_t y, int wide)
{
    nmodgpu_crt_take4(s, c, i / 4, y << (8 * (i % 4)), wide);
}

/** q = round(sum y_i / m_i).  The sum errs by at most 24 * 255 / 2 / 2^16 < 1/20; X/M stays 1/18 and more away from
 *  +-1/2, by the slack of the plan. */
NMODGPU_HD uint32_t nmodgpu_crt_turns(const nmodgpu_crt_sum *s)
{
    return (s->turn[0] + (s->turn[1] << 8)) >> 16;
}

/** Four parts, each of its byte's weight: below 2^46. */
NMODGPU_HD uint64_t nmodgpu_crt_join(const uint32_t *part)
{
    return (part[0] + (part[1] << 8)) + ((uint64_t)(part[2] + (part[3] << 8)) << 16);
}

/** Four residues in [0, m), one a byte, of a quarter of the result of a Strassen-Winograd step, from the residues
 * in [0, m) of the seven products. */
NMODGPU_HD uint32_t nmodgpu_winograd_residues4(const uint32_t products[NMODGPU_WINOGRAD_PRODUCTS], int quarter,
                                               uint32_t m)
{
    /* Two lanes of 16 bits each.  Up to four products are added or m less one of them: below 4 m. */
    uint32_t even = 0, odd = 0;
    for (int i = 0; i < NMODGPU_WINOGRAD_PRODUCTS; i++) {
        const int sign = nmodgpu_winograd_result(quarter, i);
        const uint32_t e = products[i] & 0x00ff00ffu, o = products[i] >> 8 & 0x00ff00ffu;
        if (sign > 0) {
            even += e;
            odd += o;
        } else if (sign < 0) {
            even += m * 0x10001u - e;
            odd += m * 0x10001u - o;
        }
    }
    even = nmodgpu_lanes_below(nmodgpu_lanes_below(even, 2 * m), m);
    odd = nmodgpu_lanes_below(nmodgpu_lanes_below(odd, 2 * m), m);
    return even | odd << 8;
}

/** v mod p for v < 2^13 p, p < 2^32. */
NMODGPU_HD uint32_t nmodgpu_crt_reduce(const nmodgpu_crt *c, uint64_t v)
{
    const uint32_t p = (uint32_t)c->p;
    const uint32_t q = nmodgpu_mulhi32((uint32_t)(v >> c->shift), c->quotient_magic) >> c->quotient_shift;
    const uint64_t r = v - (uint64_t)q * p; /* below 2 p, which needs bit 32 */
    return (uint32_t)r - (r >= p ? p : 0);
}

/** (low + 2^32 high) mod p, for a sum below 2^13 p, p >= 2^32; low < 2^63 and high < 2^47. */
NMODGPU_HD uint64_t nmodgpu_crt_reduce_wide(const nmodgpu_crt *c, uint64_t low, uint64_t high)
{
    const uint64_t upper = high + (low >> 32);
    const uint64_t v = upper << 32 | (uint32_t)low; /* all of it where shift < 32 */
    const uint32_t leading = (uint32_t)(c->shift < 32 ? v >> c->shift : upper >> (c->shift - 32));
    const uint32_t q = nmodgpu_mulhi32(leading, c->quotient_magic) >> c->quotient_shift;
    const uint64_t product_low = (uint64_t)q * (uint32_t)c->p;
    const uint64_t product_high = (uint64_t)q * (uint32_t)(c->p >> 32) + (product_low >> 32);
    const uint64_t product = product_high << 32 | (uint32_t)product_low;
    const uint64_t r = v - product; /* below 2 p, which needs bit 64 */
    const uint32_t top = (uint32_t)(upper >> 32) - (uint32_t)(product_high >> 32) - (v < product);
    return (top | (r >= c->p)) ? r - c->p : r;
}

/** base + sign X mod p; at most 24 * 255 + 24 < 2^13 values below p are added up. */
NMODGPU_HD uint64_t nmodgpu_crt_end(const nmodgpu_crt *c, nmodgpu_crt_sum s, uint64_t base, int wide)
{
    const uint32_t q = nmodgpu_crt_turns(&s);
    const uint64_t low = nmodgpu_crt_join(s.part) + (uint64_t)q * (uint32_t)c->fold;
    if (!wide)
        return nmodgpu_addmod32(nmodgpu_crt_reduce(c, low), (uint32_t)base, (uint32_t)c->p);
    const uint64_t high = nmodgpu_crt_join(s.part + 4) + (uint64_t)q * (uint32_t)(c->fold >> 32);
    return nmodgpu_addmod(nmodgpu_crt_reduce_wide(c, low, high), base, c->p);
}

/** base + sign y mod p where y in [0, p) is the result itself; p <= 256. */
NMODGPU_HD uint32_t nmodgpu_crt_direct(const nmodgpu_crt *c, uint32_t y, uint64_t base)
{
    const uint32_t p = (uint32_t)c->p;
    return nmodgpu_submod_once((uint32_t)base + (c->sign < 0 ? p - y : y), p);
}

#endif
