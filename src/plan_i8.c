/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plan_i8.h"

#include <stdio.h>
#include <string.h>

#include "exact/prepare.h"
#include "exact/word.h"
#include "planner.h"

const uint32_t nmodgpu_i8_moduli[NMODGPU_MAX_PLANES] = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217,
                                                        211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157, 151};

/* ---- how many moduli */

/** Integers below 2^192: inner lengths are below 2^17, so that 9 k h^2 < 2^147, and 4 M is at most 256 times what
 *  it must be. */
typedef struct wide {
    uint64_t word[3];
} wide;

static wide times(wide x, uint64_t factor)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < 3; i++) {
        carry += (unsigned __int128)x.word[i] * factor;
        x.word[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return x;
}

static bool less(const wide *x, const wide *y)
{
    for (int i = 2; i > 0; i--)
        if (x->word[i] != y->word[i])
            return x->word[i] < y->word[i];
    return x->word[0] < y->word[0];
}

/** 9 h^2. */
static wide growth(uint64_t p)
{
    return times(times((wide){{9}}, p / 2), p / 2);
}

/** Least t >= 1 with M = m_1 .. m_t > 2 k h^2 (1 + 2^-3), that is 9 k h^2 < 4 M.  Nineteen do for every p, since k
 *  is at most NMODGPU_I8_MAX_INNER. */
static uint32_t moduli_for(const wide *per_inner, int64_t k)
{
    const wide wanted = times(*per_inner, (uint64_t)k);
    wide room = {{4}};
    uint32_t count = 0;
    do
        room = times(room, nmodgpu_i8_moduli[count++]);
    while (!less(&wanted, &room));
    return count;
}

/** Longest inner length up to NMODGPU_I8_MAX_INNER for which those moduli do; 0 if there is none. */
static int64_t longest_inner(const wide *per_inner, uint32_t count)
{
    wide room = {{4}};
    for (uint32_t i = 0; i < count; i++)
        room = times(room, nmodgpu_i8_moduli[i]);
    int64_t enough = 0, beyond = NMODGPU_I8_MAX_INNER + 1;
    while (beyond - enough > 1) {
        const int64_t middle = (enough + beyond) / 2;
        const wide wanted = times(*per_inner, (uint64_t)middle);
        if (less(&wanted, &room))
            enough = middle;
        else
            beyond = middle;
    }
    return enough;
}

/* ---- what all kinds share */

/** As few blocks as lambda allows in multiples of the step, of even length.  lambda >= 64, or else >= k. */
static int64_t even_block(int64_t k, int64_t lambda)
{
    if (lambda >= k)
        return k;
    const int64_t longest = lambda & -NMODGPU_I8_BLOCK_STEP;
    const int64_t blocks = (k + longest - 1) / longest;
    const int64_t block = (k + blocks - 1) / blocks;
    return (block + NMODGPU_I8_BLOCK_STEP - 1) & -NMODGPU_I8_BLOCK_STEP;
}

static void add_term(nmodgpu_plan *plan, uint32_t left, uint32_t right, uint32_t sum)
{
    plan->term[plan->terms++] = (nmodgpu_term){(uint8_t)left, (uint8_t)right, (uint8_t)sum};
    plan->weight[sum] += plan->left.plane_bound[left] * plan->right.plane_bound[right];
    plan->sums = sum + 1;
}

static void set_inner(nmodgpu_plan *plan, uint32_t sum, int64_t lambda)
{
    plan->lambda[sum] = lambda;
    plan->block[sum] = even_block(plan->k, lambda);
}

/* ---- residues */

static void fill_residues(nmodgpu_plan *plan, const uint32_t *moduli, uint32_t count)
{
    plan->encoding = NMODGPU_RESIDUES;
    plan->left.digits = 1;
    plan->left.planes = count;
    for (uint32_t i = 0; i < count; i++) {
        plan->left.plane_digits[i] = moduli[i];
        plan->left.plane_bound[i] = moduli[i] / 2;
    }
    plan->right = plan->left;
    for (uint32_t i = 0; i < count; i++)
        add_term(plan, i, i, i);
}

static bool fill_direct(nmodgpu_plan *plan)
{
    if (plan->modulus > 256)
        return false;
    const uint32_t p = (uint32_t)plan->modulus;
    fill_residues(plan, &p, 1);
    /* nmodgpu_residue_of_sum takes sums down to p - 2^31. */
    const int64_t lambda = ((1LL << 31) - p) / (int64_t)plan->weight[0];
    set_inner(plan, 0, plan->sum_bytes == 1 && lambda > NMODGPU_I8_MAX_INNER ? NMODGPU_I8_MAX_INNER : lambda);
    return true;
}

/** All sums are recombined together, so they take the same blocks: 256 is in every list and allows the
 *  shortest. */
static void fill_list(nmodgpu_plan *plan, uint32_t count, int64_t lambda)
{
    fill_residues(plan, nmodgpu_i8_moduli, count);
    for (uint32_t g = 0; g < count; g++)
        set_inner(plan, g, lambda);
}

/** No block is longer, whatever the moduli. */
static int64_t inner_of(const nmodgpu_plan *plan)
{
    return plan->k < NMODGPU_I8_MAX_INNER ? plan->k : NMODGPU_I8_MAX_INNER;
}

static bool fill_crt(nmodgpu_plan *plan)
{
    const wide per_inner = growth(plan->modulus);
    const uint32_t count = moduli_for(&per_inner, inner_of(plan));
    fill_list(plan, count, longest_inner(&per_inner, count));
    return true;
}

/** One modulus less, where reductions in between are few.  With two less, blocks would be shorter by another of the
 *  moduli, below a 151st of the inner length. */
static bool fill_fewer(nmodgpu_plan *plan)
{
    const wide per_inner = growth(plan->modulus);
    const uint32_t count = moduli_for(&per_inner, inner_of(plan)) - 1;
    if (count == 0)
        return false;
    const int64_t lambda = longest_inner(&per_inner, count);
    const int64_t longest = lambda & -NMODGPU_I8_BLOCK_STEP;
    if (longest == 0 || NMODGPU_I8_MAX_SPLIT * longest < inner_of(plan))
        return false;
    fill_list(plan, count, lambda);
    return true;
}

/* ---- digits */

/** Two digits a side of the representatives that nmodgpu_preparer takes; false where planes leave [-128, 127],
 *  or where one digit does. */
static bool cut_in_two(nmodgpu_plan *plan, uint32_t bits, bool pair)
{
    const int64_t half = 1LL << (bits - 1);
    const int64_t most = (int64_t)nmodgpu_most_in_bytes(2, bits);
    nmodgpu_operand_plan *operand = &plan->left;
    if (plan->modulus <= 256 || plan->modulus > 65536)
        return false;
    const int64_t p = (int64_t)plan->modulus;
    const int64_t highest = p / 2 < most ? p / 2 : most;
    const int64_t top_high = (highest + half) >> bits;
    const int64_t top_low = (highest + 1 - p + half) >> bits;
    if (top_low < -128 || (pair && (top_low - half < -128 || top_high + half - 1 > 127)))
        return false;
    operand->digits = 2;
    operand->digit_bits = bits;
    operand->planes = pair ? 3 : 2;
    operand->plane_digits[0] = 1;
    operand->plane_digits[1] = 2;
    operand->plane_bound[0] = (uint64_t)half;
    operand->plane_bound[1] = (uint64_t)(top_high > -top_low ? top_high : -top_low);
    if (pair) {
        operand->plane_digits[2] = 3;
        operand->plane_bound[2] = operand->plane_bound[0] + operand->plane_bound[1];
    }
    plan->right = *operand;
    return true;
}

static void weigh(nmodgpu_plan *plan)
{
    const int64_t limit = (int64_t)nmodgpu_number_limit(NMODGPU_I8);
    for (uint32_t g = 0; g < plan->sums; g++)
        set_inner(plan, g, limit / (int64_t)plan->weight[g]);
}

static bool fill_digits(nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    plan->encoding = NMODGPU_DIGITS;
    if (!cut_in_two(plan, 8, false))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        plan->coefficient[i] = (1u << (8 * i)) % p;
    plan->coefficient[2] = (1u << 16) % p;
    add_term(plan, 0, 0, 0);
    add_term(plan, 0, 1, 1);
    add_term(plan, 1, 0, 1);
    add_term(plan, 1, 1, 2);
    weigh(plan);
    return true;
}

/** doc/algorithms.md#karatsuba for two digits. */
static bool fill_karatsuba(nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    const uint64_t cross = (1u << 7) % p;
    plan->encoding = NMODGPU_DIGITS;
    if (!cut_in_two(plan, 7, true))
        return false;
    plan->coefficient[0] = nmodgpu_submod(1, cross, p);
    plan->coefficient[1] = nmodgpu_submod((1u << 14) % p, cross, p);
    plan->coefficient[2] = cross;
    for (uint32_t i = 0; i < 3; i++)
        add_term(plan, i, i, i);
    weigh(plan);
    return true;
}

/* ---- */

static const struct {
    bool (*fill)(nmodgpu_plan *plan);
    uint32_t sum_bytes;
    bool winograd;
} kinds[NMODGPU_I8_KINDS] = {
    [NMODGPU_I8_DIRECT_BYTES] = {fill_direct, 1, false},   [NMODGPU_I8_DIRECT_SUMS] = {fill_direct, 4, false},
    [NMODGPU_I8_DIRECT_WINOGRAD] = {fill_direct, 1, true}, [NMODGPU_I8_CRT_BYTES] = {fill_crt, 1, false},
    [NMODGPU_I8_CRT_SUMS] = {fill_crt, 4, false},          [NMODGPU_I8_CRT_WINOGRAD] = {fill_crt, 1, true},
    [NMODGPU_I8_FEWER_BYTES] = {fill_fewer, 1, false},     [NMODGPU_I8_FEWER_SUMS] = {fill_fewer, 4, false},
    [NMODGPU_I8_FEWER_WINOGRAD] = {fill_fewer, 1, true},   [NMODGPU_I8_DIGITS] = {fill_digits, 4, false},
    [NMODGPU_I8_KARATSUBA] = {fill_karatsuba, 4, false},
};

uint32_t nmodgpu_i8_sum_bytes(nmodgpu_i8_kind kind)
{
    return kinds[kind].sum_bytes;
}

bool nmodgpu_i8_winograd(nmodgpu_i8_kind kind)
{
    return kinds[kind].winograd;
}

static void fill_name(nmodgpu_plan *plan)
{
    const char *sums = plan->sum_bytes == 1 ? "bytes" : "sums";
    const char *step = plan->winograd ? NMODGPU_I8_WINOGRAD_NAME : "";
    if (plan->encoding == NMODGPU_DIGITS)
        snprintf(plan->name, sizeof plan->name, "i8(2,2)%s base 2^%u", plan->left.planes == 3 ? "k" : "",
                 (unsigned)plan->left.digit_bits);
    else if (plan->sums == 1 && plan->left.plane_digits[0] == plan->modulus)
        snprintf(plan->name, sizeof plan->name, "i8 direct %s%s", sums, step);
    else
        snprintf(plan->name, sizeof plan->name, "i8 crt(%u) %s%s", (unsigned)plan->sums, sums, step);
}

bool nmodgpu_i8_plan(nmodgpu_plan *plan, nmodgpu_i8_kind kind, uint64_t p, int64_t m, int64_t k, int64_t n)
{
    const int64_t least = NMODGPU_I8_WINOGRAD_LEAST;
    if ((unsigned)kind >= NMODGPU_I8_KINDS || (kinds[kind].winograd && (m < least || k < least || n < least)))
        return false;
    memset(plan, 0, sizeof *plan);
    plan->number = NMODGPU_I8;
    plan->modulus = p;
    plan->m = m;
    plan->k = k;
    plan->n = n;
    plan->winograd = kinds[kind].winograd;
    plan->sum_bytes = kinds[kind].sum_bytes;
    if (!kinds[kind].fill(plan))
        return false;
    fill_name(plan);
    return true;
}
