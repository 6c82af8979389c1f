/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plan_f64.h"

#include <stdio.h>
#include <string.h>

#include "exact/word.h"
#include "planner.h"

/* A block so short that reductions take nearly all the time: one word at 26 bits, 8 columns a block, was
 * measured on an H200 at 1.6 TFLOP/s of 64.  More words always win there, so shorter blocks are only
 * planned where the whole inner dimension is shorter. */
#define LEAST_BLOCK 8

/* By the number of products, so that a search that prunes finds a good plan early.  Columns as in the struct:
 * digits left and right, scheme, planes left and right, terms, least number of sums. */
static const nmodgpu_f64_family families[] = {
    {1, 1, NMODGPU_F64_SEPARATE, 1, 1, 1, 1},  {1, 2, NMODGPU_F64_SEPARATE, 1, 2, 2, 2},
    {2, 1, NMODGPU_F64_SEPARATE, 2, 1, 2, 2},  {1, 3, NMODGPU_F64_SEPARATE, 1, 3, 3, 3},
    {3, 1, NMODGPU_F64_SEPARATE, 3, 1, 3, 3},  {2, 2, NMODGPU_F64_KARATSUBA, 3, 3, 3, 3},
    {2, 2, NMODGPU_F64_SEPARATE, 2, 2, 4, 4},  {2, 2, NMODGPU_F64_GROUPED, 2, 2, 4, 3},
    {1, 4, NMODGPU_F64_SEPARATE, 1, 4, 4, 4},  {4, 1, NMODGPU_F64_SEPARATE, 4, 1, 4, 4},
    {2, 3, NMODGPU_F64_SEPARATE, 2, 3, 6, 6},  {2, 3, NMODGPU_F64_GROUPED, 2, 3, 6, 4},
    {3, 2, NMODGPU_F64_SEPARATE, 3, 2, 6, 6},  {3, 2, NMODGPU_F64_GROUPED, 3, 2, 6, 4},
    {3, 3, NMODGPU_F64_KARATSUBA, 6, 6, 6, 6}, {2, 4, NMODGPU_F64_SEPARATE, 2, 4, 8, 8},
    {2, 4, NMODGPU_F64_GROUPED, 2, 4, 8, 5},   {4, 2, NMODGPU_F64_SEPARATE, 4, 2, 8, 8},
    {4, 2, NMODGPU_F64_GROUPED, 4, 2, 8, 5},   {3, 3, NMODGPU_F64_SEPARATE, 3, 3, 9, 9},
    {3, 3, NMODGPU_F64_GROUPED, 3, 3, 9, 5},   {3, 4, NMODGPU_F64_SEPARATE, 3, 4, 12, 12},
    {3, 4, NMODGPU_F64_GROUPED, 3, 4, 12, 6},  {4, 3, NMODGPU_F64_SEPARATE, 4, 3, 12, 12},
    {4, 3, NMODGPU_F64_GROUPED, 4, 3, 12, 6},  {4, 4, NMODGPU_F64_SEPARATE, 4, 4, 16, 16},
    {4, 4, NMODGPU_F64_GROUPED, 4, 4, 16, 7},
};
#define FAMILIES (sizeof families / sizeof families[0])

/** Largest magnitudes of the digits of the centred entries modulo p; false when the cut is of no use.
 *  doc/algorithms.md#planes: a low digit takes every value of [-2^(bits-1), 2^(bits-1)); the low part is
 *  at least -slack, and the top digit is floor((x + slack) / 2^shift), largest at x = floor(p/2).
 *  The shift is at most 3 * 17 and the sum below 2^63 + 2^51. */
static bool make_cut(nmodgpu_f64_cut *cut, uint64_t p, uint32_t digits, uint32_t bits)
{
    const uint32_t shift = bits * (digits - 1);
    if (bits < 2)
        return false;
    uint64_t slack = 0;
    for (uint32_t j = 0; j + 1 < digits; j++) {
        cut->bound[j] = 1ULL << (bits - 1);
        slack += cut->bound[j] << (bits * j);
    }
    cut->digits = digits;
    cut->digit_bits = bits;
    cut->bound[digits - 1] = (p / 2 + slack) >> shift;
    return cut->bound[digits - 1] > 0;
}

/** Bases around an even cut: the product bounds grow by a power of two for each step away from it. */
static void make_cuts(nmodgpu_f64_cursor *c)
{
    const uint32_t entry_bits = 64 - (uint32_t)__builtin_clzll(c->p - 1);
    c->cut[0] = (nmodgpu_f64_cut){1, 0, {c->p / 2}};
    c->cuts = 1;
    c->first_cut[1] = 0;
    for (uint32_t u = 2; u <= NMODGPU_F64_MAX_DIGITS; u++) {
        const uint32_t even = (entry_bits + u - 1) / u;
        c->first_cut[u] = c->cuts;
        for (uint32_t bits = even - 1; bits <= even + 1; bits++)
            c->cuts += make_cut(&c->cut[c->cuts], c->p, u, bits);
    }
    c->first_cut[NMODGPU_F64_MAX_DIGITS + 1] = c->cuts;
}

/** Puts the cursor before the first candidate of a family that has one. */
static void enter_family(nmodgpu_f64_cursor *c, uint32_t family)
{
    for (; family < FAMILIES; family++) {
        const nmodgpu_f64_family *f = &families[family];
        c->left = c->first_cut[f->left_digits];
        c->right = c->first_cut[f->right_digits];
        if (c->left < c->first_cut[f->left_digits + 1] && c->right < c->first_cut[f->right_digits + 1])
            break;
    }
    c->family = family;
}

void nmodgpu_f64_begin(nmodgpu_f64_cursor *c, uint64_t p, int64_t m, int64_t k, int64_t n)
{
    c->p = p;
    c->m = m;
    c->k = k;
    c->n = n;
    make_cuts(c);
    enter_family(c, 0);
}

const nmodgpu_f64_family *nmodgpu_f64_family_next(const nmodgpu_f64_cursor *c)
{
    return c->family < FAMILIES ? &families[c->family] : NULL;
}

void nmodgpu_f64_family_skip(nmodgpu_f64_cursor *c)
{
    enter_family(c, c->family + 1);
}

static void step_on(nmodgpu_f64_cursor *c)
{
    const nmodgpu_f64_family *f = &families[c->family];
    if (++c->right < c->first_cut[f->right_digits + 1])
        return;
    c->right = c->first_cut[f->right_digits];
    if (++c->left == c->first_cut[f->left_digits + 1])
        enter_family(c, c->family + 1);
}

/** One plane a digit, then for Karatsuba one a pair of digits i < j, in the order of add_karatsuba_terms. */
static void fill_operand(nmodgpu_operand_plan *operand, const nmodgpu_f64_cut *cut, bool pairs)
{
    operand->digits = cut->digits;
    operand->digit_bits = cut->digit_bits;
    operand->planes = cut->digits;
    for (uint32_t i = 0; i < cut->digits; i++) {
        operand->plane_digits[i] = 1u << i;
        operand->plane_bound[i] = cut->bound[i];
    }
    for (uint32_t i = 0; pairs && i < cut->digits; i++) {
        for (uint32_t j = i + 1; j < cut->digits; j++) {
            operand->plane_digits[operand->planes] = 1u << i | 1u << j;
            operand->plane_bound[operand->planes++] = cut->bound[i] + cut->bound[j];
        }
    }
}

static void add_term(nmodgpu_plan *plan, uint32_t left, uint32_t right, uint32_t sum)
{
    plan->term[plan->terms++] = (nmodgpu_term){(uint8_t)left, (uint8_t)right, (uint8_t)sum};
}

/** Digit pairs ordered by the power of two they carry; those of one power share a sum when grouped.
 *  False when no two of them do: the family of separate sums has that plan. */
static bool add_digit_terms(nmodgpu_plan *plan, uint32_t alpha, uint32_t beta, bool grouped)
{
    const uint32_t u = plan->left.digits;
    const uint32_t v = plan->right.digits;
    if (!grouped) {
        for (uint32_t i = 0; i < u; i++)
            for (uint32_t j = 0; j < v; j++)
                add_term(plan, i, j, plan->sums++);
        return true;
    }
    uint64_t taken = 0; /* bit v * i + j */
    while (plan->terms < u * v) {
        uint32_t least = UINT32_MAX;
        for (uint32_t i = 0; i < u; i++)
            for (uint32_t j = 0; j < v; j++)
                if (!(taken >> (v * i + j) & 1) && alpha * i + beta * j < least)
                    least = alpha * i + beta * j;
        for (uint32_t i = 0; i < u; i++) {
            for (uint32_t j = 0; j < v; j++) {
                if (alpha * i + beta * j != least)
                    continue;
                taken |= 1ULL << (v * i + j);
                add_term(plan, i, j, plan->sums);
            }
        }
        plan->sums++;
    }
    return plan->sums < plan->terms;
}

static void add_karatsuba_terms(nmodgpu_plan *plan)
{
    for (uint32_t i = 0; i < plan->left.planes; i++)
        add_term(plan, i, i, plan->sums++);
}

/** Adds up what each sum grows by per unit of inner length; false when 2^53 is passed too soon. */
static bool weigh(nmodgpu_plan *plan)
{
    const uint64_t limit = nmodgpu_number_limit(NMODGPU_F64);
    const int64_t least = plan->k < LEAST_BLOCK ? plan->k : LEAST_BLOCK;
    const uint64_t heaviest = limit / (uint64_t)least;
    for (uint32_t g = 0; g < plan->sums; g++)
        plan->weight[g] = 0;
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term *term = &plan->term[t];
        const uint64_t a = plan->left.plane_bound[term->left];
        const uint64_t b = plan->right.plane_bound[term->right];
        uint64_t *weight = &plan->weight[term->sum];
        if (nmodgpu_mulhi(a, b) || a * b > heaviest || (*weight += a * b) > heaviest)
            return false;
    }
    for (uint32_t g = 0; g < plan->sums; g++)
        plan->lambda[g] = (int64_t)(limit / plan->weight[g]);
    return true;
}

/** As few blocks as lambda allows, of even length; in multiples that GEMMs like where lambda leaves room. */
static int64_t even_block(int64_t k, int64_t lambda)
{
    if (lambda >= k)
        return k;
    const int64_t blocks = (k + lambda - 1) / lambda;
    const int64_t block = (k + blocks - 1) / blocks;
    for (int64_t multiple = 64; multiple >= 16; multiple /= 2) {
        const int64_t rounded = (block + multiple - 1) & -multiple;
        if (rounded <= lambda)
            return rounded;
    }
    return block;
}

static bool fill_structure(const nmodgpu_f64_cursor *c, nmodgpu_f64_candidate candidate, nmodgpu_plan *plan)
{
    const nmodgpu_f64_family *f = &families[candidate.family];
    const nmodgpu_f64_cut *left = &c->cut[candidate.left];
    const nmodgpu_f64_cut *right = &c->cut[candidate.right];
    const bool karatsuba = f->scheme == NMODGPU_F64_KARATSUBA;
    if (karatsuba && left->digit_bits != right->digit_bits)
        return false;
    plan->number = NMODGPU_F64;
    plan->encoding = NMODGPU_DIGITS;
    plan->sum_bytes = 8;
    plan->modulus = c->p;
    plan->m = c->m;
    plan->k = c->k;
    plan->n = c->n;
    plan->terms = 0;
    plan->sums = 0;
    fill_operand(&plan->left, left, karatsuba);
    fill_operand(&plan->right, right, karatsuba);
    if (karatsuba)
        add_karatsuba_terms(plan);
    else if (!add_digit_terms(plan, left->digit_bits, right->digit_bits, f->scheme == NMODGPU_F64_GROUPED))
        return false;
    if (!weigh(plan))
        return false;
    for (uint32_t g = 0; g < plan->sums; g++)
        plan->block[g] = even_block(c->k, plan->lambda[g]);
    return true;
}

bool nmodgpu_f64_try(nmodgpu_f64_cursor *c, nmodgpu_plan *plan, nmodgpu_f64_candidate *candidate)
{
    *candidate = (nmodgpu_f64_candidate){(uint8_t)c->family, (uint8_t)c->left, (uint8_t)c->right};
    step_on(c);
    return fill_structure(c, *candidate, plan);
}

/** 2^e mod p. */
static uint64_t power_of_two(uint32_t e, uint64_t p)
{
    uint64_t x = 1 % p;
    while (e-- > 0)
        x = nmodgpu_addmod(x, x, p);
    return x;
}

/** doc/algorithms.md#karatsuba: the pair (i, j) stands for a_i b_j + a_j b_i + a_i b_i + a_j b_j, and what is too
 *  much of a_i b_i is taken from that digit's own coefficient. */
static void fill_karatsuba_coefficients(nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    const uint32_t bits = plan->left.digit_bits;
    const uint32_t u = plan->left.digits;
    uint32_t pair = u;
    for (uint32_t i = 0; i < u; i++)
        plan->coefficient[i] = power_of_two(2 * bits * i, p);
    for (uint32_t i = 0; i < u; i++) {
        for (uint32_t j = i + 1; j < u; j++) {
            const uint64_t cross = power_of_two(bits * (i + j), p);
            plan->coefficient[pair++] = cross;
            plan->coefficient[i] = nmodgpu_submod(plan->coefficient[i], cross, p);
            plan->coefficient[j] = nmodgpu_submod(plan->coefficient[j], cross, p);
        }
    }
}

static void fill_digit_coefficients(nmodgpu_plan *plan)
{
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term *term = &plan->term[t];
        const uint32_t e = plan->left.digit_bits * term->left + plan->right.digit_bits * term->right;
        plan->coefficient[term->sum] = power_of_two(e, plan->modulus);
    }
}

void nmodgpu_f64_plan(const nmodgpu_f64_cursor *c, nmodgpu_f64_candidate candidate, nmodgpu_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    fill_structure(c, candidate, plan);
    if (families[candidate.family].scheme == NMODGPU_F64_KARATSUBA)
        fill_karatsuba_coefficients(plan);
    else
        fill_digit_coefficients(plan);
    nmodgpu_f64_name(c, candidate, plan->name, sizeof plan->name);
}

void nmodgpu_f64_name(const nmodgpu_f64_cursor *c, nmodgpu_f64_candidate candidate, char *name, size_t capacity)
{
    static const char *const suffix[] = {"", "g", "k"};
    const nmodgpu_f64_family *f = &families[candidate.family];
    const uint32_t left = c->cut[candidate.left].digit_bits;
    const uint32_t right = c->cut[candidate.right].digit_bits;
    const unsigned u = f->left_digits;
    const unsigned v = f->right_digits;
    const char *s = suffix[f->scheme];
    if (u == 1 && v == 1)
        snprintf(name, capacity, "f64(1,1)");
    else if (u == 1 || v == 1 || f->scheme == NMODGPU_F64_KARATSUBA)
        snprintf(name, capacity, "f64(%u,%u)%s base 2^%u", u, v, s, u == 1 ? right : left);
    else
        snprintf(name, capacity, "f64(%u,%u)%s base 2^%u,2^%u", u, v, s, left, right);
}
