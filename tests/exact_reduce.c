/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * reduce.h: both roads against GMP.
 */
#include <stdio.h>
#include <string.h>

#include "exact/reduce.h"
#include "exact_cases.h"
#include "support.h"

/** Both roads where the double one is open; the integer one everywhere. */
static void check_reduction(const nmodgpu_plan *plan, uint64_t mask, int sign, uint64_t base, const double *s)
{
    const uint64_t expected = exact_reduced(plan, mask, sign, base, s, 1);
    nmodgpu_reducer reducer = nmodgpu_reducer_make(plan, mask, sign);
    for (int road = reducer.use_double ? 0 : 1; road < 2; road++) {
        reducer.use_double = road == 0;
        const uint64_t got = nmodgpu_reduce_entry(&reducer, base, s, 1);
        check_that(got == expected, "%s road, p %llu, %u sums, s[0] %.0f, base %llu: %llu, not %llu\n",
                   road ? "integer" : "double", (unsigned long long)plan->modulus, reducer.sums, s[0],
                   (unsigned long long)base, (unsigned long long)got, (unsigned long long)expected);
    }
}

static void check_random_reduction(uint64_t p)
{
    const nmodgpu_plan plan = exact_sums_plan(p);
    double s[NMODGPU_MAX_SUMS];
    for (uint32_t g = 0; g < plan.sums; g++)
        s[g] = exact_sum(p);
    const uint64_t mask = test_below(2) ? ~0ULL : test_below(1ULL << plan.sums);
    check_reduction(&plan, mask, test_below(2) ? 1 : -1, exact_word(p), s);
}

START_TEST(every_coefficient_and_sum_of_small_moduli)
{
    for (uint64_t p = 1; p <= 24; p++) {
        nmodgpu_plan plan;
        memset(&plan, 0, sizeof plan);
        plan.modulus = p;
        plan.sums = 1;
        for (uint64_t c = 0; c < p; c++) {
            plan.coefficient[0] = c;
            for (int i = -3 * (int)p; i <= 3 * (int)p; i++) {
                const double s[] = {i, i > 0 ? 0x1p53 - i : -0x1p53 - i};
                for (int j = 0; j < 2; j++) {
                    check_reduction(&plan, 1, 1, 0, &s[j]);
                    check_reduction(&plan, 1, -1, p - 1, &s[j]);
                }
            }
        }
    }
}
END_TEST

START_TEST(one_sum_of_weight_one_at_every_residue)
{
    static const uint64_t moduli[] = {2, 3, 4, 5, 7, 127, 128, 251, 256, 257};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        const nmodgpu_plan plan = {.modulus = moduli[i], .sums = 1, .coefficient = {1}};
        for (int j = 0; j <= 600; j++) {
            const double low = -0x1p53 + j, high = 0x1p53 - j;
            check_reduction(&plan, 1, 1, 0, &low);
            check_reduction(&plan, 1, 1, 1 % moduli[i], &high);
        }
    }
}
END_TEST

START_TEST(random_sums_of_moduli_of_every_size)
{
    for (unsigned bits = 1; bits <= 64; bits++)
        for (int i = 0; i < 2500; i++)
            check_random_reduction(test_modulus(bits));
}
END_TEST

START_TEST(random_sums_of_special_moduli)
{
    for (int j = 0; j < exact_moduli_count; j++)
        for (int i = 0; i < 4000; i++)
            check_random_reduction(exact_moduli[j]);
}
END_TEST

/** Where rounding decides: sums next to odd multiples of p/2, with the largest coefficients. */
START_TEST(sums_halfway_between_multiples)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t p = test_modulus(1 + (unsigned)test_below(53));
        const double half = (double)(p / 2);
        const double q = (double)test_below((1ULL << 52) / p + 1);
        nmodgpu_plan plan = exact_sums_plan(p);
        double s[NMODGPU_MAX_SUMS];
        for (uint32_t g = 0; g < plan.sums; g++) {
            s[g] = q * (double)p + half + (double)test_below(3) - 1;
            s[g] = test_below(2) ? s[g] : -s[g];
            plan.coefficient[g] = test_below(2) ? p / 2 : (p / 2 + 1) % p;
        }
        check_reduction(&plan, ~0ULL, test_below(2) ? 1 : -1, test_below(2) ? p - 1 : p / 2, s);
    }
}
END_TEST

/** 24 sums, each pulling the same way. */
START_TEST(as_many_sums_as_there_can_be)
{
    for (int i = 0; i < 30000; i++) {
        const uint64_t p = exact_modulus(64);
        nmodgpu_plan plan = exact_sums_plan(p);
        double s[NMODGPU_MAX_SUMS];
        plan.sums = NMODGPU_MAX_SUMS;
        const double value = exact_sum(p);
        const uint64_t coefficient = exact_word(p);
        for (uint32_t g = 0; g < plan.sums; g++) {
            s[g] = value;
            plan.coefficient[g] = coefficient;
        }
        check_reduction(&plan, ~0ULL, test_below(2) ? 1 : -1, exact_word(p), s);
    }
}
END_TEST

/** In 32 bits where p leaves room, and in 64: sums at the ends, about multiples of p, anywhere. */
START_TEST(int32_sums_reduce_as_doubles_do)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t p = exact_modulus(64);
        const nmodgpu_plan plan = exact_sums_plan(p);
        const uint64_t mask = test_below(2) ? ~0ULL : test_below(1ULL << plan.sums), base = exact_word(p);
        const int sign = test_below(2) ? 1 : -1;
        double s[NMODGPU_MAX_SUMS];
        int32_t narrow[NMODGPU_MAX_SUMS];
        for (uint32_t g = 0; g < plan.sums; g++) {
            const double x = exact_sum(p);
            const int32_t ends[] = {INT32_MIN, INT32_MAX, 0, -1};
            narrow[g] = x >= INT32_MIN && x <= INT32_MAX ? (int32_t)x
                        : test_below(2)                  ? ends[test_below(4)]
                                                         : (int32_t)(uint32_t)test_random();
            s[g] = narrow[g];
        }
        nmodgpu_reducer reducer = nmodgpu_reducer_make(&plan, mask, sign);
        const uint64_t expected = exact_reduced(&plan, mask, sign, base, s, 1);
        for (int road = reducer.lift32 ? 0 : 1; road < 2; road++) {
            reducer.lift32 = road ? 0 : reducer.lift32;
            check_that(nmodgpu_reduce_entry_int32(&reducer, base, narrow, 1) == expected,
                       "%d bits, p %llu, %u sums, s[0] %d, base %llu\n", road ? 64 : 32, (unsigned long long)p,
                       reducer.sums, narrow[0], (unsigned long long)base);
        }
    }
}
END_TEST

START_TEST(the_double_road_is_taken_for_common_moduli)
{
    const nmodgpu_plan plan = {.modulus = 2147483647, .sums = 6};
    ck_assert(nmodgpu_reducer_make(&plan, 63, 1).use_double);
    const nmodgpu_plan wide = {.modulus = (1ULL << 50) - 27, .sums = 1};
    ck_assert(nmodgpu_reducer_make(&wide, 1, 1).use_double);
    const nmodgpu_plan wider = {.modulus = 1ULL << 50, .sums = 1};
    ck_assert(!nmodgpu_reducer_make(&wider, 1, 1).use_double);
}
END_TEST

TCase *exact_reduce_cases(void)
{
    TCase *c = tcase_create("reduce");
    tcase_add_test(c, every_coefficient_and_sum_of_small_moduli);
    tcase_add_test(c, one_sum_of_weight_one_at_every_residue);
    tcase_add_test(c, random_sums_of_moduli_of_every_size);
    tcase_add_test(c, random_sums_of_special_moduli);
    tcase_add_test(c, sums_halfway_between_multiples);
    tcase_add_test(c, as_many_sums_as_there_can_be);
    tcase_add_test(c, int32_sums_reduce_as_doubles_do);
    tcase_add_test(c, the_double_road_is_taken_for_common_moduli);
    return c;
}
