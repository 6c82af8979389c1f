/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Scalar products computed as a plan says, with the arithmetic of backends, every partial sum looked at by
 * GMP, and the result compared with GMP's.
 */
#include <math.h>
#include <string.h>

#include "exact/reduce.h"
#include "planner_cases.h"
#include "schedule.h"
#include "support.h"

#define LONGEST 3000

static nmodgpu_plan plans[MANY_PLANS];

/** A double accumulator and what it ought to hold. */
typedef struct watched_sum {
    double value;
    mpz_t exact;
    mpz_t most;
} watched_sum;

static void watch(const nmodgpu_plan *plan, watched_sum *sum, int64_t left, int64_t right, mpz_t work)
{
    const double x = (double)left;
    const double y = (double)right;
    sum->value = test_below(2) ? fma(x, y, sum->value) : sum->value + x * y;
    mpz_set_i64(work, left);
    mpz_mul_si(work, work, right);
    mpz_add(sum->exact, sum->exact, work);
    mpz_ui_pow_ui(work, 2, 53);
    check_plan(mpz_cmpabs(sum->exact, work) <= 0, plan);
    check_plan(mpz_get_d(sum->exact) == sum->value, plan);
    if (mpz_cmpabs(sum->exact, sum->most) > 0)
        mpz_abs(sum->most, sum->exact);
}

/** The inner indices of one step in some order: a GEMM may take them in any. */
static int64_t shuffled(int64_t i, int64_t length, unsigned order)
{
    switch (order) {
    case 0:
        return i;
    case 1:
        return length - 1 - i;
    default: /* odd places after even ones */
        return 2 * i < length ? 2 * i : 2 * (i - (length + 1) / 2) + 1;
    }
}

typedef struct run {
    const nmodgpu_plan *plan;
    const uint64_t *a, *b;
    int64_t k;
    watched_sum sum[NMODGPU_MAX_SUMS];
    uint64_t acc;
    int sign;
    mpz_t work;
} run;

static void multiply(run *r, nmodgpu_step step)
{
    const nmodgpu_plan *plan = r->plan;
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term term = plan->term[t];
        if (!(step.sum_mask >> term.sum & 1))
            continue;
        const unsigned order = (unsigned)test_below(3);
        for (int64_t i = 0; i < step.k1 - step.k0; i++) {
            const int64_t l = step.k0 + shuffled(i, step.k1 - step.k0, order);
            watch(plan, &r->sum[term.sum], plane_of(&plan->left, term.left, nmodgpu_centre(r->a[l], plan->modulus)),
                  plane_of(&plan->right, term.right, nmodgpu_centre(r->b[l], plan->modulus)), r->work);
        }
    }
}

static void reduce(run *r, nmodgpu_step step)
{
    double s[NMODGPU_MAX_SUMS] = {0};
    for (uint32_t g = 0; g < r->plan->sums; g++) {
        if (!(step.sum_mask >> g & 1)) {
            s[g] = NAN; /* not to be read */
            continue;
        }
        s[g] = r->sum[g].value;
        r->sum[g].value = 0;
        mpz_set_ui(r->sum[g].exact, 0);
    }
    nmodgpu_reducer reducer = nmodgpu_reducer_make(r->plan, step.sum_mask, r->sign);
    const uint64_t result = nmodgpu_reduce_entry(&reducer, r->acc, s, 1);
    reducer.use_double = 0; /* the road for every p gives the same */
    check_plan(nmodgpu_reduce_entry(&reducer, r->acc, s, 1) == result, r->plan);
    check_plan(result < r->plan->modulus, r->plan);
    r->acc = result;
}

/** base + sign a.b as the plan says; the largest magnitude that a sum plane took, over its limit 2^53, in *fill. */
static uint64_t run_plan(const nmodgpu_plan *plan, uint64_t base, int sign, const uint64_t *a, const uint64_t *b,
                         double *fill)
{
    run r = {.plan = plan, .a = a, .b = b, .k = plan->k, .acc = base, .sign = sign};
    nmodgpu_schedule schedule;
    mpz_init(r.work);
    for (uint32_t g = 0; g < plan->sums; g++)
        mpz_inits(r.sum[g].exact, r.sum[g].most, NULL);
    nmodgpu_schedule_begin(&schedule, plan, plan->k);
    for (;;) {
        const nmodgpu_step step = nmodgpu_schedule_next(&schedule);
        if (step.kind == NMODGPU_STEP_END)
            break;
        if (step.kind == NMODGPU_STEP_MULTIPLY)
            multiply(&r, step);
        else
            reduce(&r, step);
    }
    *fill = 0;
    for (uint32_t g = 0; g < plan->sums; g++) {
        *fill = fmax(*fill, ldexp(mpz_get_d(r.sum[g].most), -53));
        mpz_clears(r.sum[g].exact, r.sum[g].most, NULL);
    }
    mpz_clear(r.work);
    return r.acc;
}

static uint64_t expected(const nmodgpu_plan *plan, uint64_t base, int sign, const uint64_t *a, const uint64_t *b)
{
    const uint64_t p = plan->modulus;
    const uint64_t dot = oracle_dot(a, b, plan->k, p);
    return sign > 0 ? nmodgpu_addmod(base, dot, p) : nmodgpu_submod(base, dot, p);
}

static void check_run(const nmodgpu_plan *plan, const uint64_t *a, const uint64_t *b, double *fill)
{
    const uint64_t base = test_below(2) ? 0 : test_below(plan->modulus);
    const int sign = test_below(2) ? 1 : -1;
    const uint64_t got = run_plan(plan, base, sign, a, b, fill);
    check_plan(got == expected(plan, base, sign, a, b), plan);
}

/** The entry with the largest plane i, among those where a largest one can be: all digits extreme. */
static uint64_t worst_entry(const nmodgpu_operand_plan *operand, uint32_t i, uint64_t p)
{
    uint64_t worst = 0;
    int64_t most = -1;
    const uint32_t patterns = operand->digits > 1 ? 1u << operand->digits : 1;
    for (uint32_t pattern = 0; pattern < patterns; pattern++) {
        for (uint32_t road = 0; road < 3; road++) {
            /* road 0: digits -base/2 or base/2 - 1; roads 1 and 2: the extreme entry above such low digits */
            uint64_t x = 0;
            for (uint32_t j = 0; j + 1 < operand->digits; j++) {
                const uint64_t half = 1ULL << (operand->digit_bits - 1);
                x += (pattern >> j & 1 ? 0 - half : half - 1) << (operand->digit_bits * j);
            }
            const uint32_t shift = operand->digits > 1 ? operand->digit_bits * (operand->digits - 1) : 0;
            const uint64_t extreme = road == 1 ? p / 2 : 0 - (p - 1 - p / 2);
            if (road > 0)
                x = operand->digits == 1 ? extreme : x + ((extreme - x) & -(1ULL << shift));
            int64_t entry = (int64_t)x;
            if (entry > (int64_t)(p / 2) || entry < -(int64_t)(p - 1 - p / 2))
                entry = (int64_t)(road == 2 ? 0 - (p - 1 - p / 2) : p / 2);
            const int64_t v = plane_of(operand, i, entry);
            if ((v < 0 ? -v : v) > most) {
                most = v < 0 ? -v : v;
                worst = entry < 0 ? p - (uint64_t)-entry : (uint64_t)entry;
            }
        }
    }
    return worst;
}

static nmodgpu_plan *some_plan(const problem *q)
{
    const size_t count = list_f64_plans(plans, q);
    return &plans[test_below(count)];
}

START_TEST(scalar_products_are_exact)
{
    static uint64_t a[LONGEST], b[LONGEST];
    for (int round = 0; round < 1500; round++) {
        problem q = random_problem();
        double fill;
        q.k = (int64_t)(1 + test_below(test_below(8) ? 60 : LONGEST));
        const nmodgpu_plan *plan = some_plan(&q);
        test_fill(a, 1, q.k, q.k, q.p, (test_pattern)test_below(TEST_PATTERNS));
        test_fill(b, 1, q.k, q.k, q.p, (test_pattern)test_below(TEST_PATTERNS));
        check_run(plan, a, b, &fill);
    }
}
END_TEST

/** All entries the worst for one term, blocks as long as lambda allows: 2^53 is nearly reached, never passed. */
START_TEST(worst_case_products_are_exact)
{
    static uint64_t a[LONGEST], b[LONGEST];
    int nearly_full = 0;
    for (int round = 0; round < 800; round++) {
        problem q = random_problem();
        double fill;
        q.k = 1 + (int64_t)test_below(LONGEST);
        q.p = test_modulus(20 + (unsigned)test_below(45));
        nmodgpu_plan *plan = some_plan(&q);
        const nmodgpu_term term = plan->term[test_below(plan->terms)];
        for (int64_t l = 0; l < q.k; l++) {
            a[l] = worst_entry(&plan->left, term.left, q.p);
            b[l] = worst_entry(&plan->right, term.right, q.p);
        }
        for (uint32_t g = 0; g < plan->sums; g++)
            if (plan->lambda[g] < plan->k)
                plan->block[g] = plan->lambda[g];
        check_run(plan, a, b, &fill);
        nearly_full += fill > 0.9;
    }
    ck_assert_msg(nearly_full >= 20, "seed %llu: only %d products came near the bound",
                  (unsigned long long)planner_seed, nearly_full);
}
END_TEST

/** The recombination alone: one product of two scalars in every plan of a list. */
START_TEST(recombination_is_the_product)
{
    for (int round = 0; round < 400; round++) {
        problem q = random_problem();
        q.k = 1;
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            const uint64_t choice[] = {q.p / 2,        q.p / 2 + 1 < q.p ? q.p / 2 + 1 : 0, q.p - 1, 0, 1,
                                       test_below(q.p)};
            const uint64_t a = test_below(3) ? test_below(q.p) : choice[test_below(6)];
            const uint64_t b = test_below(3) ? test_below(q.p) : choice[test_below(6)];
            double fill;
            check_run(&plans[i], &a, &b, &fill);
        }
    }
}
END_TEST

TCase *products_case(void)
{
    TCase *tc = tcase_create("products");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, recombination_is_the_product);
    tcase_add_test(tc, scalar_products_are_exact);
    tcase_add_test(tc, worst_case_products_are_exact);
    return tc;
}
