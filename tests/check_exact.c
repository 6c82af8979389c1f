/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The exact arithmetic of src/exact, in which host and device are one source, against GMP.
 */
#include <stdlib.h>
#include <string.h>

#include "exact_cases.h"
#include "suite.h"
#include "support.h"

uint64_t exact_seed;

const uint64_t exact_moduli[] = {
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    255,
    256,
    257,
    (1u << 26) - 5,
    (1ULL << 32) - 5,
    (1ULL << 32) - 1,
    1ULL << 32,
    (1ULL << 32) + 15,
    (1ULL << 50) - 27,
    1ULL << 50,
    (1ULL << 53) - 1,
    1ULL << 53,
    (1ULL << 53) + 1,
    (1ULL << 54) - 1,
    (1ULL << 63) - 25,
    1ULL << 63,
    (1ULL << 63) + 1,
    UINT64_MAX - (1ULL << 53),
    UINT64_MAX - 58, /* 2^64 - 59, the largest prime */
    UINT64_MAX,
};
const int exact_moduli_count = sizeof exact_moduli / sizeof *exact_moduli;

uint64_t exact_modulus(unsigned bits)
{
    if (test_below(4) == 0) {
        const uint64_t p = exact_moduli[test_below((uint64_t)exact_moduli_count)];
        if (bits == 64 || p >> bits == 0)
            return p;
    }
    return test_modulus(1 + (unsigned)test_below(bits));
}

uint64_t exact_word(uint64_t p)
{
    const uint64_t choice[] = {0, 1 % p, p / 2, (p / 2 + 1) % p, p - 1};
    const uint64_t i = test_below(8);
    return i < 5 ? choice[i] : test_below(p);
}

double exact_sum(uint64_t p)
{
    const int64_t end = 1LL << 53;
    const int64_t modulus = p < (uint64_t)end ? (int64_t)p : end;
    const int64_t multiple = modulus * (int64_t)test_below((uint64_t)(end / modulus) + 1);
    int64_t s;
    switch (test_below(8)) {
    case 0:
        s = end;
        break;
    case 1:
        s = end - 1;
        break;
    case 2:
        s = multiple;
        break;
    case 3:
        s = multiple + (int64_t)test_below(5) - 2;
        break;
    case 4:
        s = multiple + modulus / 2 + (int64_t)test_below(5) - 2;
        break;
    case 5:
        s = (int64_t)test_below(4);
        break;
    default:
        s = (int64_t)(test_below((uint64_t)end) >> test_below(54));
    }
    s = s > end ? end : s < -end ? -end : s;
    return (double)(test_below(2) ? s : -s);
}

nmodgpu_plan exact_sums_plan(uint64_t p)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.modulus = p;
    plan.sums = 1 + (uint32_t)test_below(8);
    for (uint32_t g = 0; g < plan.sums; g++)
        plan.coefficient[g] = exact_word(p);
    return plan;
}

/** Digits of at most 48 bits, the top one too. */
static nmodgpu_operand_plan random_operand(uint64_t p)
{
    nmodgpu_operand_plan operand;
    memset(&operand, 0, sizeof operand);
    uint32_t taken;
    do {
        operand.digits = 1 + (uint32_t)test_below(5);
        operand.digit_bits = 1 + (uint32_t)test_below(operand.digits < 3 ? 48 : 30);
        taken = (operand.digits - 1) * operand.digit_bits;
    } while (taken < 64 && p >> taken >> 48);
    operand.planes = operand.digits;
    const bool sums = test_below(2) == 0;
    if (sums)
        operand.planes = 1 + (uint32_t)test_below(NMODGPU_MAX_PLANES);
    for (uint32_t i = 0; i < operand.planes; i++)
        operand.plane_digits[i] = sums ? 1 + (uint32_t)test_below((1u << operand.digits) - 1) : 1u << i;
    return operand;
}

nmodgpu_plan exact_digits_plan(uint64_t p)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.number = NMODGPU_F64;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = p;
    plan.left = random_operand(p);
    plan.right = random_operand(p);
    return plan;
}

void exact_set(mpz_t z, uint64_t value)
{
    mpz_set_ui(z, (unsigned long)(value >> 32));
    mpz_mul_2exp(z, z, 32);
    mpz_add_ui(z, z, (unsigned long)(value & UINT32_MAX));
}

void exact_set_signed(mpz_t z, int64_t value)
{
    exact_set(z, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        mpz_neg(z, z);
}

uint64_t exact_get(const mpz_t z)
{
    uint64_t value = 0;
    mpz_export(&value, NULL, -1, sizeof value, 0, 0, z);
    return value;
}

uint64_t exact_reduced(const nmodgpu_plan *plan, uint64_t mask, int sign, uint64_t base, const double *s,
                       int64_t plane_stride)
{
    mpz_t sum, factor;
    mpz_init(sum);
    mpz_init(factor);
    for (uint32_t g = 0; g < plan->sums; g++) {
        if (!(mask >> g & 1))
            continue;
        mpz_t term;
        mpz_init_set_d(term, s[g * plane_stride]);
        exact_set(factor, plan->coefficient[g]);
        mpz_addmul(sum, term, factor);
        mpz_clear(term);
    }
    if (sign < 0)
        mpz_neg(sum, sum);
    exact_set(factor, base);
    mpz_add(sum, sum, factor);
    exact_set(factor, plan->modulus);
    mpz_fdiv_r(sum, sum, factor);
    const uint64_t result = exact_get(sum);
    mpz_clear(sum);
    mpz_clear(factor);
    return result;
}

static void seed_test(void)
{
    exact_seed = test_seed();
}

int main(void)
{
    Suite *suite = suite_create("exact");
    TCase *cases[] = {exact_word_cases(), exact_prepare_cases(),   exact_reduce_cases(),
                      exact_rows_cases(), exact_dots_cases(),      exact_residue_cases(),
                      exact_crt_cases(),  exact_passes_i8_cases(), exact_winograd_cases()};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tcase_set_timeout(cases[i], 120);
        tcase_add_checked_fixture(cases[i], seed_test, NULL);
        suite_add_tcase(suite, cases[i]);
    }
    return test_run(suite, CK_FORK_GETENV);
}
