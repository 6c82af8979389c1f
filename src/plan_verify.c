/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Checks a plan from its data alone, by other roads than the planner's: digits of the extreme entries instead
 * of formulas for bounds, and the product of the digit polynomials instead of formulas for coefficients.
 */
#include <string.h>

#include "exact/word.h"
#include "planner.h"

/** What nmodgpu_small_to_double takes. */
#define MAX_PLANE (1ULL << 51)

static bool is_finite_time(double x)
{
    return x >= 0 && x <= 1.7976931348623157e308;
}

static bool sizes_hold(const nmodgpu_plan *plan)
{
    return plan->number == NMODGPU_F64 && plan->encoding == NMODGPU_DIGITS && plan->modulus > 1 && plan->m >= 1 &&
           plan->k >= 1 && plan->n >= 1 && plan->terms >= 1 && plan->terms <= NMODGPU_MAX_TERMS &&
           plan->sums >= 1 && plan->sums <= NMODGPU_MAX_SUMS && is_finite_time(plan->seconds) &&
           plan->name[0] != '\0' && memchr(plan->name, '\0', sizeof plan->name) != NULL;
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/** What is left of x when all digits but the last are taken. */
static int64_t top_digit(int64_t x, const nmodgpu_operand_plan *operand)
{
    for (uint32_t j = 0; j + 1 < operand->digits; j++)
        nmodgpu_take_digit(&x, operand->digit_bits);
    return x;
}

/** The top digit never falls when the entry rises, so the two extreme entries give its range. */
static uint64_t digit_bound(const nmodgpu_operand_plan *operand, uint32_t j, uint64_t p)
{
    if (j + 1 < operand->digits)
        return 1ULL << (operand->digit_bits - 1);
    const uint64_t high = magnitude(top_digit(nmodgpu_centre(p / 2, p), operand));
    const uint64_t low = magnitude(top_digit(nmodgpu_centre((p / 2 + 1) % p, p), operand));
    return high > low ? high : low;
}

static bool operand_holds(const nmodgpu_operand_plan *operand, uint64_t p)
{
    if (operand->digits < 1 || operand->digits > 32 || operand->planes < 1 || operand->planes > NMODGPU_MAX_PLANES)
        return false;
    if (operand->digits > 1 &&
        (operand->digit_bits < 1 || (uint64_t)operand->digit_bits * (operand->digits - 1) > 62))
        return false;
    for (uint32_t i = 0; i < operand->planes; i++) {
        const uint32_t set = operand->plane_digits[i];
        if (set == 0 || (uint64_t)set >> operand->digits)
            return false;
        uint64_t bound = 0; /* at most 32 digits of at most 2^62, or one of at most 2^63 */
        for (uint32_t j = 0; j < operand->digits; j++)
            if (set >> j & 1)
                bound += digit_bound(operand, j, p);
        if (operand->plane_bound[i] < bound || operand->plane_bound[i] > MAX_PLANE)
            return false;
    }
    return true;
}

/** Terms name planes and sums that exist, sum after sum, and none is without a term. */
static bool terms_hold(const nmodgpu_plan *plan)
{
    uint32_t sum = 0;
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term *term = &plan->term[t];
        if (term->left >= plan->left.planes || term->right >= plan->right.planes)
            return false;
        if (t == 0 ? term->sum != 0 : term->sum != sum && term->sum != sum + 1)
            return false;
        sum = term->sum;
    }
    return sum + 1 == plan->sums;
}

static bool sum_is_exact(const nmodgpu_plan *plan, uint32_t g)
{
    unsigned __int128 growth = 0; /* at most 32 products of at most 2^51 by 2^51 */
    for (uint32_t t = 0; t < plan->terms; t++)
        if (plan->term[t].sum == g)
            growth += (unsigned __int128)plan->left.plane_bound[plan->term[t].left] *
                      plan->right.plane_bound[plan->term[t].right];
    return growth <= plan->weight[g] && plan->block[g] >= 1 && plan->block[g] <= plan->lambda[g] &&
           (unsigned __int128)plan->weight[g] * (uint64_t)plan->lambda[g] <= nmodgpu_number_limit(NMODGPU_F64);
}

static uint64_t doubled(uint64_t x, uint32_t times, uint64_t p)
{
    while (times-- > 0)
        x = nmodgpu_addmod(x, x, p);
    return x;
}

/** Coefficient of a_i b_j in the recombination, modulo p. */
static uint64_t recombined(const nmodgpu_plan *plan, uint32_t i, uint32_t j)
{
    uint64_t x = 0;
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term *term = &plan->term[t];
        if (plan->left.plane_digits[term->left] >> i & 1 && plan->right.plane_digits[term->right] >> j & 1)
            x = nmodgpu_addmod(x, plan->coefficient[term->sum], plan->modulus);
    }
    return x;
}

/** sum_g c_g S_g = A B as polynomials in the digits, modulo p. */
static bool recombination_holds(const nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    for (uint32_t g = 0; g < plan->sums; g++)
        if (plan->coefficient[g] >= p)
            return false;
    uint64_t row = 1; /* 2^(left bits * i) */
    for (uint32_t i = 0; i < plan->left.digits; i++) {
        uint64_t power = row;
        for (uint32_t j = 0; j < plan->right.digits; j++) {
            if (recombined(plan, i, j) != power)
                return false;
            power = doubled(power, plan->right.digits > 1 ? plan->right.digit_bits : 0, p);
        }
        row = doubled(row, plan->left.digits > 1 ? plan->left.digit_bits : 0, p);
    }
    return true;
}

bool nmodgpu_plan_verify(const nmodgpu_plan *plan)
{
    if (!sizes_hold(plan) || !operand_holds(&plan->left, plan->modulus) ||
        !operand_holds(&plan->right, plan->modulus) || !terms_hold(plan))
        return false;
    for (uint32_t g = 0; g < plan->sums; g++)
        if (!sum_is_exact(plan, g))
            return false;
    return recombination_holds(plan);
}
