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
#include "word.h"

/** Constants of one conversion to residues; plain data, passed to kernels by value. */
typedef struct nmodgpu_residuer {
    uint64_t p;
    uint32_t count;
    uint32_t wide; /**< p >= 2^32: words of eight bytes, else of four */
    uint32_t m[NMODGPU_MAX_PLANES];
    uint32_t magic[NMODGPU_MAX_PLANES];     /**< floor((2^32 - 1) / m) */
    uint32_t half[NMODGPU_MAX_PLANES];      /**< floor(m / 2) */
    uint32_t bias[NMODGPU_MAX_PLANES];      /**< takes the words' offset off, adds half, and keeps sums positive */
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
    uint32_t turn[NMODGPU_MAX_PLANES];   /**< round(2^32 / m) */
    uint64_t w[NMODGPU_MAX_PLANES];      /**< sign M/m_i mod p */
    uint64_t fold;                       /**< -sign M mod p */
    uint64_t one_q;                      /**< companion of 1 */
    uint64_t two32, two32_q;             /**< 2^32 mod p and its companion */
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
    for (uint32_t i = 0; i < operand->planes; i++) {
        const uint32_t m = operand->plane_digits[i];
        const uint32_t factor = right ? 1 : nmodgpu_small_inverse((uint32_t)nmodgpu_cofactor(operand, i, m), m);
        const uint32_t offset = (uint32_t)((1ULL << (r.wide ? 63 : 31)) % m) * factor % m;
        r.m[i] = m;
        r.magic[i] = UINT32_MAX / m;
        r.half[i] = m / 2;
        /* The eight terms of the sum are at most 255 * 128 in magnitude each: 2^18 and more keeps it positive. */
        r.bias[i] = m * ((1u << 18) / m + 1) + (m - offset) + m / 2;
        r.weight[i][0] = nmodgpu_weight_bytes(factor, 0, m);
        r.weight[i][1] = nmodgpu_weight_bytes(factor, 4, m);
    }
    return r;
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
        c.turn[i] = (uint32_t)(((1ULL << 33) / m + 1) / 2);
        c.w[i] = sign < 0 && w ? p - w : w;
        product = product * m % p;
    }
    const uint64_t whole = (uint64_t)product;
    c.fold = sign < 0 || whole == 0 ? whole : p - whole;
    c.one_q = nmodgpu_companion(1 % p, p);
    c.two32 = (1ULL << 32) % p;
    c.two32_q = nmodgpu_companion(c.two32, p);
    return c;
}

/* ---- entries, on both sides */

/** x mod m in [0, m), for magic = floor((2^32 - 1) / m) and any x: the quotient is short by at most one. */
NMODGPU_HD uint32_t nmodgpu_small_mod(uint32_t x, uint32_t m, uint32_t magic)
{
#ifdef __CUDA_ARCH__
    const uint32_t y = x - __umulhi(x, magic) * m;
    return min(y, y - m);
#else
    const uint32_t y = x - (uint32_t)(((uint64_t)x * magic) >> 32) * m;
    return y < y - m ? y : y - m;
#endif
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

/** The offset word of a canonical one: its centred representative plus 2^63, or plus 2^31 for p < 2^32. */
NMODGPU_HD uint64_t nmodgpu_offset_word(const nmodgpu_residuer *c, uint64_t word)
{
    const uint64_t x = (uint64_t)nmodgpu_centre(word, c->p);
    return c->wide ? x ^ (1ULL << 63) : (uint32_t)x ^ (1u << 31);
}

/** Plane i of an entry, from its offset word: in [-floor(m/2), m - 1 - floor(m/2)]. */
NMODGPU_HD int32_t nmodgpu_residue(const nmodgpu_residuer *c, uint32_t i, uint64_t offset_word)
{
    uint32_t sum = nmodgpu_dot4((uint32_t)offset_word, c->weight[i][0], c->bias[i]);
    if (c->wide)
        sum = nmodgpu_dot4((uint32_t)(offset_word >> 32), c->weight[i][1], sum);
    return (int32_t)nmodgpu_small_mod(sum, c->m[i], c->magic[i]) - (int32_t)c->half[i];
}

/** The residue in [0, m) of an int32 sum. */
NMODGPU_HD uint32_t nmodgpu_residue_of_sum(int32_t sum, uint32_t m, uint32_t magic, uint32_t offset)
{
    return nmodgpu_small_mod((uint32_t)sum + offset, m, magic);
}

/** What gathers over the residues of one entry. */
typedef struct nmodgpu_crt_sum {
    uint64_t low, high; /**< sum of y_i times the low and the high half of w_i; high only for p >= 2^32 */
    uint64_t turns;     /**< 2^32 sum y_i / m_i, plus a half */
} nmodgpu_crt_sum;

NMODGPU_HD nmodgpu_crt_sum nmodgpu_crt_begin(void)
{
    nmodgpu_crt_sum s = {0, 0, 1u << 31};
    return s;
}

/** Takes the i-th residue y in [0, m_i).  WIDE says p >= 2^32. */
NMODGPU_HD void nmodgpu_crt_take(nmodgpu_crt_sum *s, const nmodgpu_crt *c, uint32_t i, uint32_t y, int wide)
{
    s->low += (uint64_t)y * (uint32_t)c->w[i];
    if (wide)
        s->high += (uint64_t)y * (uint32_t)(c->w[i] >> 32);
    s->turns += (uint64_t)y * c->turn[i];
}

/** base + sign X mod p.  With t <= 24 residues low and high stay below 2^46, and q = turns / 2^32 is exact. */
NMODGPU_HD uint64_t nmodgpu_crt_end(const nmodgpu_crt *c, nmodgpu_crt_sum s, uint64_t base, int wide)
{
    const uint64_t q = s.turns >> 32;
    uint64_t x;
    if (wide) {
        s.low += q * (uint32_t)c->fold;
        s.high += q * (uint32_t)(c->fold >> 32);
        x = nmodgpu_mulmod_fixed(s.high, c->two32, c->two32_q, c->p);
        x = nmodgpu_addmod(x, nmodgpu_mulmod_fixed(s.low, 1, c->one_q, c->p), c->p);
    } else {
        x = nmodgpu_mulmod_fixed(s.low + q * c->fold, 1, c->one_q, c->p);
    }
    return nmodgpu_addmod(base, x, c->p);
}

/** base + sign y mod p where y is the result itself. */
NMODGPU_HD uint64_t nmodgpu_crt_direct(const nmodgpu_crt *c, uint32_t y, uint64_t base)
{
    return c->sign < 0 ? nmodgpu_submod(base, y, c->p) : nmodgpu_addmod(base, y, c->p);
}

#endif
