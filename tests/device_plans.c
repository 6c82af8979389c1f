/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Plans for the device tests, made without the planner.
 */
#include <stdio.h>
#include <string.h>

#include "device_harness.h"
#include "support.h"

#define EXACT ((uint64_t)1 << 53)

static uint32_t bit_length(uint64_t x)
{
    return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
}

static uint64_t power_of_two(uint32_t exponent, uint64_t p)
{
    uint64_t x = 1 % p;
    for (uint32_t i = 0; i < exponent; i++)
        x = (uint64_t)((unsigned __int128)x * 2 % p);
    return x;
}

/** Digits of equal width; the top one is bounded by what is left of p/2, and one for the borrows. */
static void digits(nmodgpu_operand_plan *o, uint64_t p, uint32_t count)
{
    const uint32_t bits = (bit_length(p) + count - 1) / count;
    memset(o, 0, sizeof *o);
    o->digits = o->planes = count;
    o->digit_bits = bits < 1 ? 1 : bits;
    for (uint32_t i = 0; i < count; i++) {
        o->plane_digits[i] = 1u << i;
        o->plane_bound[i] = i + 1 < count ? (uint64_t)1 << (o->digit_bits - 1)
                                          : (i * o->digit_bits < 64 ? p / 2 >> (i * o->digit_bits) : 0) + (i > 0);
    }
}

static void add_term(nmodgpu_plan *plan, uint32_t left, uint32_t right, uint32_t sum)
{
    plan->term[plan->terms++] = (nmodgpu_term){(uint8_t)left, (uint8_t)right, (uint8_t)sum};
    plan->weight[sum] += plan->left.plane_bound[left] * plan->right.plane_bound[right];
}

/** Sets lambda from the weights; blocks are as long, or shorter by chance, so that reductions happen. */
static bool bound(nmodgpu_plan *plan)
{
    for (uint32_t g = 0; g < plan->sums; g++) {
        if (plan->weight[g] > EXACT)
            return false;
        const uint64_t lambda = plan->weight[g] ? EXACT / plan->weight[g] : EXACT;
        plan->lambda[g] = lambda < 1u << 30 ? (int64_t)lambda : 1 << 30;
        plan->block[g] = plan->lambda[g];
        if (test_below(3) == 0)
            plan->block[g] = 1 + (int64_t)test_below((uint64_t)(plan->lambda[g] < 40 ? plan->lambda[g] : 40));
    }
    return true;
}

static void begin(nmodgpu_plan *plan, uint64_t p)
{
    memset(plan, 0, sizeof *plan);
    plan->number = NMODGPU_F64;
    plan->encoding = NMODGPU_DIGITS;
    plan->modulus = p;
    plan->sum_bytes = 8;
}

/** Products of two bounds must not wrap before they are compared with 2^53. */
static bool bounds_fit(const nmodgpu_plan *plan)
{
    for (uint32_t i = 0; i < plan->left.planes; i++)
        for (uint32_t j = 0; j < plan->right.planes; j++)
            if ((unsigned __int128)plan->left.plane_bound[i] * plan->right.plane_bound[j] > EXACT)
                return false;
    return true;
}

/** Terms must come grouped by sum. */
static void all_terms(nmodgpu_plan *plan, uint32_t u, uint32_t v, bool merged)
{
    plan->sums = merged ? u + v - 1 : u * v;
    for (uint32_t g = 0; g < plan->sums; g++)
        for (uint32_t i = 0; i < u; i++)
            for (uint32_t j = 0; j < v; j++)
                if ((merged ? i + j : i * v + j) == g) {
                    add_term(plan, i, j, g);
                    plan->coefficient[g] =
                        power_of_two(i * plan->left.digit_bits + j * plan->right.digit_bits, plan->modulus);
                }
}

bool harness_plan(nmodgpu_plan *plan, uint64_t p, uint32_t u, uint32_t v, bool merged)
{
    begin(plan, p);
    digits(&plan->left, p, u);
    digits(&plan->right, p, v);
    if (!bounds_fit(plan) || (merged && plan->left.digit_bits != plan->right.digit_bits))
        return false;
    all_terms(plan, u, v, merged);
    snprintf(plan->name, sizeof plan->name, "test(%u,%u)%s", u, v, merged ? " merged" : "");
    return bound(plan);
}

/** Planes: the digits, then the sums of every two. */
static void add_pairs(nmodgpu_operand_plan *o)
{
    for (uint32_t i = 0; i < o->digits; i++)
        for (uint32_t j = 0; j < i; j++) {
            o->plane_digits[o->planes] = 1u << i | 1u << j;
            o->plane_bound[o->planes++] = o->plane_bound[i] + o->plane_bound[j];
        }
}

/** With base s: sum of a_i b_i s^(2i) + sum over i > j of ((a_i + a_j)(b_i + b_j) - a_i b_i - a_j b_j) s^(i+j). */
static void pair_coefficients(nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    const uint32_t digits = plan->left.digits, bits = plan->left.digit_bits;
    for (uint32_t i = 0; i < digits; i++)
        plan->coefficient[i] = power_of_two(2 * i * bits, p);
    for (uint32_t i = 0, g = digits; i < digits; i++)
        for (uint32_t j = 0; j < i; j++, g++) {
            const uint64_t s = power_of_two((i + j) * bits, p);
            plan->coefficient[g] = s;
            plan->coefficient[i] = (uint64_t)(((unsigned __int128)plan->coefficient[i] + p - s) % p);
            plan->coefficient[j] = (uint64_t)(((unsigned __int128)plan->coefficient[j] + p - s) % p);
        }
}

bool harness_karatsuba(nmodgpu_plan *plan, uint64_t p, uint32_t count)
{
    begin(plan, p);
    digits(&plan->left, p, count);
    add_pairs(&plan->left);
    plan->right = plan->left;
    if (!bounds_fit(plan))
        return false;
    plan->sums = plan->left.planes;
    for (uint32_t i = 0; i < plan->sums; i++)
        add_term(plan, i, i, i);
    pair_coefficients(plan);
    snprintf(plan->name, sizeof plan->name, "test karatsuba %u", count);
    return bound(plan);
}

void harness_random_plan(nmodgpu_plan *plan, uint64_t p)
{
    for (;;) {
        const uint32_t u = 1 + (uint32_t)test_below(4), v = 1 + (uint32_t)test_below(4);
        if (test_below(4) == 0 ? harness_karatsuba(plan, p, u)
                               : harness_plan(plan, p, u, v, u == v && test_below(2)))
            return;
    }
}
