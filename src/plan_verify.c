/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Checks a plan from its data alone, by other roads than the planner's: digits of the extreme entries instead
 * of formulas for bounds, the product of the digit polynomials instead of formulas for coefficients, and
 * divisions by the moduli instead of their product.
 */
#include <string.h>

#include "exact/prepare.h"
#include "exact/word.h"
#include "plan_i8.h"
#include "planner.h"

/** What nmodgpu_small_to_double takes. */
#define MAX_PLANE (1ULL << 51)

static bool is_finite_time(double x)
{
    return x >= 0 && x <= 1.7976931348623157e308;
}

static bool is_residues(const nmodgpu_plan *plan)
{
    return plan->encoding == NMODGPU_RESIDUES;
}

static bool kind_holds(const nmodgpu_plan *plan)
{
    if (plan->number == NMODGPU_F64)
        return plan->encoding == NMODGPU_DIGITS && plan->sum_bytes == 8;
    if (plan->number != NMODGPU_I8)
        return false;
    return (plan->encoding == NMODGPU_DIGITS && plan->sum_bytes == 4) ||
           (plan->encoding == NMODGPU_RESIDUES && (plan->sum_bytes == 4 || plan->sum_bytes == 1));
}

/** A Strassen-Winograd step asks for sums that are reduced before they are combined, which only residues in int8
 * have. The bounds are the same with it: an entry of the result is what it is, and no sum adds up more products
 * that are not 0. */
static bool step_holds(const nmodgpu_plan *plan)
{
    return plan->winograd == 0 || (plan->winograd == 1 && plan->sum_bytes == 1);
}

static bool sizes_hold(const nmodgpu_plan *plan)
{
    return kind_holds(plan) && step_holds(plan) && plan->modulus > 1 && plan->m >= 1 && plan->k >= 1 &&
           plan->n >= 1 && plan->terms >= 1 && plan->terms <= NMODGPU_MAX_TERMS && plan->sums >= 1 &&
           plan->sums <= NMODGPU_MAX_SUMS && is_finite_time(plan->seconds) && plan->name[0] != '\0' &&
           memchr(plan->name, '\0', sizeof plan->name) != NULL;
}

/* ---- digits */

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

typedef struct range {
    int64_t low, high;
} range;

/** The top digit never falls when the entry rises, so the two extreme entries give its range. */
static range digit_range(const nmodgpu_operand_plan *operand, uint32_t j, const nmodgpu_preparer *how)
{
    if (j + 1 < operand->digits) {
        const int64_t half = 1LL << (operand->digit_bits - 1);
        return (range){-half, half - 1};
    }
    const uint64_t lowest = (how->most + 1) % how->p;
    return (range){top_digit(nmodgpu_prepare_start(how, lowest), operand),
                   top_digit(nmodgpu_prepare_start(how, how->most), operand)};
}

static uint64_t digit_bound(range digit)
{
    const uint64_t high = magnitude(digit.high);
    const uint64_t low = magnitude(digit.low);
    return high > low ? high : low;
}

/** Whether the digits are numbers that the rest can reckon with; for int8 so few bits that nothing overflows. */
static bool digits_hold(const nmodgpu_operand_plan *operand, nmodgpu_number number)
{
    if (operand->digits < 1 || operand->digits > 32)
        return false;
    if (operand->digits == 1)
        return true;
    if (operand->digit_bits < 1)
        return false;
    const uint64_t bits = (uint64_t)operand->digit_bits * (operand->digits - 1);
    return number == NMODGPU_I8 ? operand->digit_bits <= 8 && bits <= 48 : bits <= 62;
}

static bool plane_holds(const nmodgpu_operand_plan *operand, uint32_t i, const nmodgpu_preparer *how,
                        nmodgpu_number number)
{
    const uint32_t set = operand->plane_digits[i];
    uint64_t bound = 0; /* at most 32 digits of at most 2^62, or one of at most 2^63 */
    range plane = {0, 0};
    if (set == 0 || (uint64_t)set >> operand->digits)
        return false;
    for (uint32_t j = 0; j < operand->digits; j++) {
        if (!(set >> j & 1))
            continue;
        const range digit = digit_range(operand, j, how);
        bound += digit_bound(digit);
        if (number == NMODGPU_I8)
            plane = (range){plane.low + digit.low, plane.high + digit.high};
    }
    if (number == NMODGPU_I8 && (plane.low < INT8_MIN || plane.high > INT8_MAX))
        return false;
    return operand->plane_bound[i] >= bound && operand->plane_bound[i] <= (number == NMODGPU_I8 ? 128 : MAX_PLANE);
}

static bool operand_holds(const nmodgpu_plan *plan, bool right)
{
    const nmodgpu_operand_plan *operand = right ? &plan->right : &plan->left;
    if (operand->planes < 1 || operand->planes > NMODGPU_MAX_PLANES || !digits_hold(operand, plan->number))
        return false;
    const nmodgpu_preparer how = nmodgpu_preparer_make(plan, right);
    for (uint32_t i = 0; i < operand->planes; i++)
        if (!plane_holds(operand, i, &how, plan->number))
            return false;
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

/** What sum plane g may grow to.  nmodgpu_residue_of_sum takes sums down to -(2^31 - m). */
static uint64_t sum_limit(const nmodgpu_plan *plan, uint32_t g)
{
    return is_residues(plan) ? (1ULL << 31) - plan->left.plane_digits[g] : nmodgpu_number_limit(plan->number);
}

static bool block_holds(const nmodgpu_plan *plan, uint32_t g)
{
    const int64_t block = plan->block[g];
    if (block < 1 || block > plan->lambda[g])
        return false;
    if (plan->number != NMODGPU_I8)
        return true;
    if (is_residues(plan) && block != plan->block[0])
        return false; /* residues are recombined all at once */
    return (block % 16 == 0 || block >= plan->k) && (plan->sum_bytes != 1 || block <= NMODGPU_I8_MAX_INNER);
}

static bool sum_is_exact(const nmodgpu_plan *plan, uint32_t g)
{
    unsigned __int128 growth = 0; /* at most 32 products of at most 2^51 by 2^51 */
    for (uint32_t t = 0; t < plan->terms; t++)
        if (plan->term[t].sum == g)
            growth += (unsigned __int128)plan->left.plane_bound[plan->term[t].left] *
                      plan->right.plane_bound[plan->term[t].right];
    return growth <= plan->weight[g] && block_holds(plan, g) &&
           (unsigned __int128)plan->weight[g] * (uint64_t)plan->lambda[g] <= sum_limit(plan, g);
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

/* ---- residues */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/** Plane i is the residues modulo the same small number on both sides, prime to the earlier ones. */
static bool modulus_holds(const nmodgpu_plan *plan, uint32_t i)
{
    const uint32_t m = plan->left.plane_digits[i];
    const uint64_t half = m / 2;
    if (m < 2 || m > 256 || plan->right.plane_digits[i] != m || plan->left.plane_bound[i] < half ||
        plan->right.plane_bound[i] < half || plan->left.plane_bound[i] > 128 || plan->right.plane_bound[i] > 128)
        return false;
    for (uint32_t j = 0; j < i; j++)
        if (common_divisor(m, plan->left.plane_digits[j]) != 1)
            return false;
    return plan->term[i].left == i && plan->term[i].right == i && plan->term[i].sum == i;
}

enum { LIMBS = 8 };

/** A number of 256 bits in limbs of 32. */
static void multiply(uint32_t *limb, uint64_t factor)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (unsigned __int128)limb[i] * factor;
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide(uint32_t *limb, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | limb[i];
        limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

/** M > 2 lambda h^2 (1 + 2^-3), by floor(9 lambda h^2 / M) < 4; rounding down at every division is rounding down
 *  once.  lambda < 2^31, so the dividend is below 2^161. */
static bool moduli_suffice(const nmodgpu_plan *plan)
{
    uint32_t limb[LIMBS] = {9};
    int64_t longest = 0;
    for (uint32_t g = 0; g < plan->sums; g++)
        if (longest < plan->lambda[g])
            longest = plan->lambda[g];
    multiply(limb, (uint64_t)longest);
    multiply(limb, plan->modulus / 2);
    multiply(limb, plan->modulus / 2);
    for (uint32_t i = 0; i < plan->left.planes; i++)
        divide(limb, plan->left.plane_digits[i]);
    for (int i = 1; i < LIMBS; i++)
        if (limb[i] != 0)
            return false;
    return limb[0] < 4;
}

static bool residue_planes_hold(const nmodgpu_plan *plan)
{
    if (plan->terms != plan->sums || plan->left.planes != plan->sums || plan->right.planes != plan->sums)
        return false;
    for (uint32_t i = 0; i < plan->sums; i++)
        if (!modulus_holds(plan, i))
            return false;
    return true;
}

/** A sum modulo p itself is the result, whatever its size. */
static bool residues_recombine(const nmodgpu_plan *plan)
{
    return (plan->sums == 1 && plan->left.plane_digits[0] == plan->modulus) || moduli_suffice(plan);
}

/* ---- */

static bool sums_are_exact(const nmodgpu_plan *plan)
{
    for (uint32_t g = 0; g < plan->sums; g++)
        if (!sum_is_exact(plan, g))
            return false;
    return true;
}

bool nmodgpu_plan_verify(const nmodgpu_plan *plan)
{
    if (!sizes_hold(plan))
        return false;
    if (is_residues(plan))
        return residue_planes_hold(plan) && sums_are_exact(plan) && residues_recombine(plan);
    return operand_holds(plan, false) && operand_holds(plan, true) && terms_hold(plan) && sums_are_exact(plan) &&
           recombination_holds(plan);
}
