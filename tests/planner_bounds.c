/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Bounds of planes and sums, against GMP and against the digits of entries themselves.
 */
#include "exact/prepare.h"
#include "planner_cases.h"
#include "support.h"

static nmodgpu_plan plans[MANY_PLANS];

/** All the plan claims of its sums, from bounds that GMP has worked out. */
static void check_sums(const nmodgpu_plan *plan)
{
    mpz_t limit, weight, x;
    mpz_inits(limit, weight, x, NULL);
    mpz_ui_pow_ui(limit, 2, 53);
    for (uint32_t g = 0; g < plan->sums; g++) {
        oracle_weight(weight, plan, g);
        mpz_set_u64(x, plan->weight[g]);
        check_plan(mpz_cmp(weight, x) == 0, plan);
        mpz_mul_ui(x, weight, (unsigned long)plan->lambda[g]);
        check_plan(mpz_cmp(x, limit) <= 0, plan);
        mpz_add(x, x, weight);
        check_plan(mpz_cmp(x, limit) > 0, plan); /* lambda is the largest */
        check_plan(plan->block[g] >= 1 && plan->block[g] <= plan->lambda[g], plan);
        const int64_t least = (plan->k + plan->lambda[g] - 1) / plan->lambda[g];
        check_plan((plan->k + plan->block[g] - 1) / plan->block[g] == least, plan); /* and blocks are few */
    }
    mpz_clears(limit, weight, x, NULL);
}

static void check_operand(const nmodgpu_plan *plan, const nmodgpu_operand_plan *operand)
{
    mpz_t bound, claimed;
    mpz_inits(bound, claimed, NULL);
    for (uint32_t i = 0; i < operand->planes; i++) {
        oracle_plane_bound(bound, operand, i, plan->modulus);
        mpz_set_u64(claimed, operand->plane_bound[i]);
        check_plan(mpz_cmp(bound, claimed) == 0, plan);
    }
    mpz_clears(bound, claimed, NULL);
}

START_TEST(worst_case_sums_stay_exact)
{
    for (int round = 0; round < 1000; round++) {
        const problem q = random_problem();
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            check_operand(&plans[i], &plans[i].left);
            check_operand(&plans[i], &plans[i].right);
            check_sums(&plans[i]);
        }
    }
}
END_TEST

/** Digits put together again are the entry, no plane passes its bound, and every plane fits a double. */
static void check_entry(const nmodgpu_plan *plan, const nmodgpu_operand_plan *operand, int64_t x)
{
    const nmodgpu_preparer preparer = nmodgpu_preparer_make(plan, operand == &plan->right);
    mpz_t whole, part;
    mpz_inits(whole, part, NULL);
    for (uint32_t i = 0; i < operand->planes; i++) {
        const int64_t v = plane_of(operand, i, x);
        const uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
        check_plan(size <= operand->plane_bound[i], plan);
        check_plan((int64_t)(double)v == v && nmodgpu_prepare_plane(&preparer, i, x) == (double)v, plan);
        if (i >= operand->digits)
            continue;
        check_plan(operand->plane_digits[i] == 1u << i, plan); /* the first planes are the digits */
        mpz_set_i64(part, v);
        mpz_mul_2exp(part, part, operand->digits > 1 ? operand->digit_bits * i : 0);
        mpz_add(whole, whole, part);
    }
    mpz_set_i64(part, x);
    check_plan(mpz_cmp(whole, part) == 0, plan);
    mpz_clears(whole, part, NULL);
}

/** An entry with extreme or random digits, brought into range. */
static int64_t adversarial_entry(const nmodgpu_operand_plan *operand, uint64_t p)
{
    const uint64_t base = operand->digits > 1 ? 1ULL << operand->digit_bits : 2;
    uint64_t x = 0;
    for (uint32_t j = operand->digits; j-- > 0;) {
        const uint64_t choice[] = {base / 2, base / 2 - 1, base / 2 + 1, 0, 1, base - 1, test_random() % base};
        x = x * base + choice[test_below(sizeof choice / sizeof choice[0])];
    }
    switch (test_below(4)) {
    case 0:
        return nmodgpu_centre((p / 2 - test_below(3) + p) % p, p); /* about the largest */
    case 1:
        return nmodgpu_centre((p / 2 + 1 + test_below(3)) % p, p); /* about the smallest */
    case 2:
        return nmodgpu_centre(x % p, p);
    default:
        return nmodgpu_centre((p - x % p) % p, p);
    }
}

START_TEST(planes_of_adversarial_entries_stay_in_bounds)
{
    for (int round = 0; round < 400; round++) {
        const problem q = random_problem();
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            for (int entry = 0; entry < 20; entry++) {
                check_entry(&plans[i], &plans[i].left, adversarial_entry(&plans[i].left, q.p));
                check_entry(&plans[i], &plans[i].right, adversarial_entry(&plans[i].right, q.p));
            }
        }
    }
}
END_TEST

/** Every entry there is: the bounds hold, and those of single digits are met (of low digits where the
 *  entries take all digits of that place). */
static void check_all_entries(const nmodgpu_plan *plan, const nmodgpu_operand_plan *operand)
{
    uint64_t most[NMODGPU_MAX_PLANES] = {0};
    for (uint64_t a = 0; a < plan->modulus; a++) {
        const int64_t x = nmodgpu_centre(a, plan->modulus);
        for (uint32_t i = 0; i < operand->planes; i++) {
            const int64_t v = plane_of(operand, i, x);
            const uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
            if (most[i] < size)
                most[i] = size;
        }
    }
    for (uint32_t i = 0; i < operand->planes; i++) {
        check_plan(most[i] <= operand->plane_bound[i], plan);
        const bool top = i + 1 == operand->digits;
        const bool full = i + 1 < operand->digits && plan->modulus >> (operand->digit_bits * (i + 1));
        if (top || full)
            check_plan(most[i] == operand->plane_bound[i], plan);
    }
}

START_TEST(bounds_of_digits_are_met_for_small_moduli)
{
    for (uint64_t p = 2; p < 2000; p += p < 40 ? 1 : 1 + test_below(150)) {
        const problem q = {p, 10, 10, 10, random_rates()};
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            check_all_entries(&plans[i], &plans[i].left);
            check_all_entries(&plans[i], &plans[i].right);
        }
    }
}
END_TEST

START_TEST(limits_of_number_types)
{
    ck_assert_uint_eq(nmodgpu_number_limit(NMODGPU_F64), 1ULL << 53);
    ck_assert_uint_eq(nmodgpu_number_limit(NMODGPU_I8), (1ULL << 31) - 1);
}
END_TEST

TCase *bounds_case(void)
{
    TCase *tc = tcase_create("bounds");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, worst_case_sums_stay_exact);
    tcase_add_test(tc, planes_of_adversarial_entries_stay_in_bounds);
    tcase_add_test(tc, bounds_of_digits_are_met_for_small_moduli);
    tcase_add_test(tc, limits_of_number_types);
    return tc;
}
