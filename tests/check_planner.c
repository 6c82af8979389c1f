/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The planner: here what it chooses; bounds, products, schedule and verification in the files named so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "planner_cases.h"
#include "suite.h"
#include "support.h"

static nmodgpu_plan plans[MANY_PLANS];
static nmodgpu_plan again[MANY_PLANS];

static nmodgpu_status best_of(nmodgpu_plan *plan, const problem *q, const char *name)
{
    return nmodgpu_plan_best(plan, q->p, q->m, q->k, q->n, &q->rates, name);
}

START_TEST(every_modulus_and_length_has_a_plan)
{
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned log = 0; log <= 31; log++) {
            problem q = random_problem();
            nmodgpu_plan plan;
            q.p = test_modulus(bits);
            q.p += q.p < 2;
            q.k = 1LL << log;
            ck_assert_msg(best_of(&plan, &q, NULL) == NMODGPU_OK, "seed %llu: no plan for p = %llu, k = %lld",
                          (unsigned long long)planner_seed, (unsigned long long)q.p, (long long)q.k);
            check_plan(nmodgpu_plan_verify(&plan), &plan);
            check_plan(plan.modulus == q.p && plan.m == q.m && plan.k == q.k && plan.n == q.n, &plan);
        }
    }
}
END_TEST

/** The moduli at the ends of word sizes, where shifts and doubles go wrong. */
START_TEST(moduli_at_the_ends_have_plans)
{
    static const uint64_t moduli[] = {2,
                                      3,
                                      4,
                                      5,
                                      (1ULL << 32) - 1,
                                      1ULL << 32,
                                      (1ULL << 32) + 1,
                                      (1ULL << 50) - 1,
                                      1ULL << 50,
                                      (1ULL << 53) - 1,
                                      1ULL << 53,
                                      (1ULL << 54) + 1,
                                      (1ULL << 63) - 1,
                                      1ULL << 63,
                                      (1ULL << 63) + 1,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof moduli / sizeof moduli[0]; i++) {
        problem q = random_problem();
        q.p = moduli[i];
        const size_t count = list_plans(plans, &q);
        for (size_t j = 0; j < count; j++)
            check_plan(nmodgpu_plan_verify(&plans[j]), &plans[j]);
    }
}
END_TEST

START_TEST(lists_are_ordered_by_time)
{
    for (int round = 0; round < 300; round++) {
        const problem q = random_problem();
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            check_plan(isfinite(plans[i].seconds) && plans[i].seconds > 0, &plans[i]);
            check_plan(i == 0 || plans[i - 1].seconds <= plans[i].seconds, &plans[i]);
        }
    }
}
END_TEST

START_TEST(the_best_plan_is_the_first_of_the_list)
{
    for (int round = 0; round < 1000; round++) {
        const problem q = random_problem();
        nmodgpu_plan plan;
        list_plans(plans, &q);
        ck_assert_int_eq(best_of(&plan, &q, NULL), NMODGPU_OK);
        check_plan(memcmp(&plan, &plans[0], sizeof plan) == 0, &plan);
    }
}
END_TEST

/** Blocks of fewer than 8 columns are for inner dimensions as short as that. */
START_TEST(short_blocks_are_for_short_products)
{
    problem q = {(1ULL << 26) - 5, 1000, 8, 1000, random_rates()}; /* lambda = 8 in one word */
    nmodgpu_plan plan;
    ck_assert_int_eq(best_of(&plan, &q, "f64(1,1)"), NMODGPU_OK);
    q.k = 1000;
    ck_assert_int_eq(best_of(&plan, &q, "f64(1,1)"), NMODGPU_OK);
    q.p = (1ULL << 27) - 39; /* lambda = 2 */
    ck_assert_int_eq(best_of(&plan, &q, "f64(1,1)"), NMODGPU_DECLINED);
    q.k = 2;
    ck_assert_int_eq(best_of(&plan, &q, "f64(1,1)"), NMODGPU_OK);
    check_plan(plan.lambda[0] == 2 && plan.block[0] == 2, &plan);
}
END_TEST

/** Sums are shared where that saves some, and only there. */
START_TEST(grouped_plans_have_fewer_sums_than_terms)
{
    int grouped = 0;
    for (int round = 0; round < 100; round++) {
        const problem q = random_problem();
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            const bool g = strstr(plans[i].name, ")g") != NULL;
            check_plan(g == (plans[i].sums < plans[i].terms), &plans[i]);
            grouped += g;
        }
    }
    ck_assert_int_gt(grouped, 100);
}
END_TEST

/** No name begins with another, but for that of the same plan with a Strassen-Winograd step. */
START_TEST(names_are_distinct)
{
    for (int round = 0; round < 100; round++) {
        const problem q = round % 2 ? large_problem() : random_problem();
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            const size_t length = strlen(plans[i].name);
            for (size_t j = 0; j < count; j++)
                check_plan(i == j || strncmp(plans[i].name, plans[j].name, length) != 0 ||
                               strcmp(plans[j].name + length, " winograd") == 0,
                           &plans[i]);
        }
    }
}
END_TEST

static void check_selected(const problem *q, const char *name, const nmodgpu_plan *expected)
{
    nmodgpu_plan plan;
    ck_assert_int_eq(best_of(&plan, q, name), NMODGPU_OK);
    check_plan(memcmp(&plan, expected, sizeof plan) == 0, &plan);
}

START_TEST(a_name_selects_its_plan_or_the_soonest_it_begins)
{
    for (int round = 0; round < 400; round++) {
        const problem q = round % 2 ? large_problem() : random_problem();
        const size_t count = list_plans(plans, &q);
        char prefix[sizeof plans[0].name];
        const nmodgpu_plan *wanted = &plans[test_below(count)];
        while (round % 4 == 1 && wanted->number != NMODGPU_I8) /* one in a hundred else */
            wanted = &plans[test_below(count)];
        memcpy(prefix, wanted->name, sizeof prefix);
        prefix[test_below(strlen(prefix) + 1)] = '\0';
        const nmodgpu_plan *exact = plan_named(plans, count, prefix);
        check_selected(&q, prefix, exact ? exact : plan_beginning(plans, count, prefix));
        check_selected(&q, wanted->name, wanted);
    }
}
END_TEST

START_TEST(impossible_wishes_are_declined)
{
    problem q = {(1ULL << 61) - 1, 100, 100, 100, random_rates()};
    nmodgpu_plan plan;
    q.rates.i8_flops = q.rates.i8_fused_flops = 0;
    ck_assert_int_eq(best_of(&plan, &q, "i8"), NMODGPU_DECLINED);
    ck_assert_int_eq(best_of(&plan, &q, "f64(1,1)"), NMODGPU_DECLINED); /* 2^120 is over 2^53 */
    ck_assert_int_eq(best_of(&plan, &q, "f64(3,3)k base 2^99"), NMODGPU_DECLINED);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 7, 1, (1LL << 31) + 1, 1, &q.rates, NULL), NMODGPU_DECLINED);
    ck_assert_uint_eq(nmodgpu_plan_list(&plan, 1, 7, 1, (1LL << 31) + 1, 1, &q.rates), 0);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 1, 10, 10, 10, &q.rates, NULL), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 0, 10, 10, 10, &q.rates, NULL), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 7, 0, 10, 10, &q.rates, NULL), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 7, 10, 0, 10, &q.rates, NULL), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 7, 10, 10, -1, &q.rates, NULL), NMODGPU_EINVAL);
    ck_assert_uint_eq(nmodgpu_plan_list(&plan, 1, 7, 10, 10, 0, &q.rates), 0);
}
END_TEST

/** The same question has the same answer, whatever the memory held. */
START_TEST(plans_are_deterministic)
{
    for (int round = 0; round < 50; round++) {
        const problem q = random_problem();
        memset(plans, 0x55, sizeof plans);
        memset(again, 0xaa, sizeof again);
        const size_t count = list_plans(plans, &q);
        ck_assert_uint_eq(list_plans(again, &q), count);
        ck_assert_msg(memcmp(plans, again, count * sizeof plans[0]) == 0, "seed %llu",
                      (unsigned long long)planner_seed);
    }
}
END_TEST

START_TEST(a_short_list_is_the_start_of_the_long_one)
{
    const problem q = random_problem();
    const size_t count = list_plans(plans, &q);
    const size_t capacity = test_below(count + 1);
    memset(again, 0x55, sizeof again);
    ck_assert_uint_eq(nmodgpu_plan_list(again, capacity, q.p, q.m, q.k, q.n, &q.rates), count);
    ck_assert_int_eq(memcmp(plans, again, capacity * sizeof plans[0]), 0);
    ck_assert_int_eq(((unsigned char *)again)[capacity * sizeof again[0]], 0x55); /* nothing beyond it */
    ck_assert_uint_eq(nmodgpu_plan_list(NULL, 0, q.p, q.m, q.k, q.n, &q.rates), count);
}
END_TEST

/** Rates that nobody measured may cost time, never exactness. */
START_TEST(senseless_rates_give_exact_plans)
{
    static const double odd[] = {0, -1, NAN, INFINITY, 1e-300, 1e300};
    for (int round = 0; round < 300; round++) {
        problem q = round % 2 ? large_problem() : random_problem();
        nmodgpu_plan plan;
        double *rate = (double *)&q.rates;
        for (size_t i = 0; i < sizeof q.rates / sizeof *rate; i++)
            if (test_below(2))
                rate[i] = odd[test_below(sizeof odd / sizeof odd[0])];
        ck_assert_int_eq(best_of(&plan, &q, NULL), NMODGPU_OK);
        check_plan(plan.seconds >= 0, &plan);
        plan.seconds = 0;
        check_plan(nmodgpu_plan_verify(&plan), &plan);
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            check_plan(plans[i].seconds >= 0, &plans[i]);
            plans[i].seconds = 0;
            check_plan(nmodgpu_plan_verify(&plans[i]), &plans[i]);
        }
    }
}
END_TEST

/** A rate of 0 is one that nobody measured, not a device that stands still. */
START_TEST(unmeasured_rates_leave_times_finite)
{
    problem q = random_problem();
    memset(&q.rates, 0, sizeof q.rates);
    const size_t count = list_plans(plans, &q);
    for (size_t i = 0; i < count; i++) {
        check_plan(isfinite(plans[i].seconds) && plans[i].seconds > 0, &plans[i]);
        check_plan(isfinite(nmodgpu_plan_call_seconds(&plans[i], &q.rates, true)), &plans[i]);
    }
}
END_TEST

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** It runs in every call of the drop-in: about 7 microseconds at most on a slow core; sanitizers and valgrind
 *  get their share. */
START_TEST(choosing_is_quick)
{
    const int rounds = 500;
    problem q[20];
    double worst = 0;
    int failures = 0;
    for (int i = 0; i < 20; i++) {
        q[i] = random_problem();
        q[i].p = test_modulus(40 + (unsigned)test_below(25));
    }
    for (int i = 0; i < 20; i++) {
        nmodgpu_plan plan;
        const double start = seconds_now();
        for (int round = 0; round < rounds; round++)
            failures += best_of(&plan, &q[i], NULL) != NMODGPU_OK;
        worst = fmax(worst, (seconds_now() - start) / rounds);
    }
    ck_assert_int_eq(failures, 0);
    ck_assert_msg(worst < 1e-3, "seed %llu: %g seconds", (unsigned long long)planner_seed, worst);
}
END_TEST

static TCase *add_choice_tests(TCase *tc)
{
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, every_modulus_and_length_has_a_plan);
    tcase_add_test(tc, moduli_at_the_ends_have_plans);
    tcase_add_test(tc, lists_are_ordered_by_time);
    tcase_add_test(tc, the_best_plan_is_the_first_of_the_list);
    tcase_add_test(tc, short_blocks_are_for_short_products);
    tcase_add_test(tc, grouped_plans_have_fewer_sums_than_terms);
    tcase_add_test(tc, names_are_distinct);
    tcase_add_test(tc, a_name_selects_its_plan_or_the_soonest_it_begins);
    tcase_add_test(tc, impossible_wishes_are_declined);
    tcase_add_test(tc, plans_are_deterministic);
    tcase_add_test(tc, a_short_list_is_the_start_of_the_long_one);
    tcase_add_test(tc, senseless_rates_give_exact_plans);
    tcase_add_test(tc, unmeasured_rates_leave_times_finite);
    tcase_add_test(tc, choosing_is_quick);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("planner");
    suite_add_tcase(suite, add_choice_tests(tcase_create("choice")));
    suite_add_tcase(suite, bounds_case());
    suite_add_tcase(suite, products_case());
    suite_add_tcase(suite, schedule_case());
    suite_add_tcase(suite, verify_case());
    suite_add_tcase(suite, i8_case());
    suite_add_tcase(suite, i8_products_case());
    suite_add_tcase(suite, i8_verify_case());
    suite_add_tcase(suite, winograd_case());
    return test_run(suite, CK_FORK_GETENV);
}
