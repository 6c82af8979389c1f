/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Products computed as int8 plans say, with the arithmetic of backends, against GMP: whole scalar products, and
 * the recombination alone for integers that scalar products of random entries never come to.
 */
#include <string.h>

#include "exact/prepare.h"
#include "exact/reduce.h"
#include "exact/residue.h"
#include "planner_cases.h"
#include "schedule.h"
#include "support.h"

#define LONGEST 1500

static nmodgpu_plan plans[MANY_PLANS];

/* ---- recombination of residues */

/** An integer with its residues as digits of the remainder theorem. */
typedef struct sample {
    const nmodgpu_plan *plan;
    mpz_t whole, most, x, work; /**< M, lambda h^2, X */
} sample;

static void sample_begin(sample *s, const nmodgpu_plan *plan)
{
    s->plan = plan;
    mpz_inits(s->whole, s->most, s->x, s->work, NULL);
    mpz_set_ui(s->whole, 1);
    for (uint32_t i = 0; i < plan->sums; i++)
        mpz_mul_ui(s->whole, s->whole, plan->left.plane_digits[i]);
    mpz_set_u64(s->most, plan->modulus / 2);
    mpz_mul(s->most, s->most, s->most);
    mpz_mul_ui(s->most, s->most, (unsigned long)plan->lambda[0]);
}

static void sample_end(sample *s)
{
    mpz_clears(s->whole, s->most, s->x, s->work, NULL);
}

/** y = X (M/m)^-1 mod m, in [0, m). */
static uint32_t folded_residue(sample *s, uint32_t i)
{
    const uint32_t m = s->plan->left.plane_digits[i];
    mpz_divexact_ui(s->work, s->whole, m);
    mpz_t modulus;
    mpz_init_set_ui(modulus, m);
    if (mpz_invert(s->work, s->work, modulus) == 0)
        mpz_set_ui(s->work, 0); /* m divides nothing: only for m = 1 */
    mpz_mul(s->work, s->work, s->x);
    const uint32_t y = (uint32_t)mpz_fdiv_ui(s->work, m);
    mpz_clear(modulus);
    return y;
}

/** Some int32 sum with that residue, as large as sums may be or not. */
static int32_t some_sum(uint32_t y, uint32_t m)
{
    const int64_t limit = (1LL << 31) - m;
    const int64_t choice[] = {-limit, limit - m, 0, -(int64_t)m, (int64_t)test_below(1ULL << 31) - (1 << 30)};
    int64_t sum = choice[test_below(5)];
    sum += ((int64_t)y - sum) % m;
    while (sum < -limit)
        sum += m;
    while (sum > limit)
        sum -= m;
    return (int32_t)sum;
}

static void check_recombination(sample *s)
{
    const nmodgpu_plan *plan = s->plan;
    const uint64_t p = plan->modulus, base = test_below(3) ? test_below(p) : p - 1;
    const int sign = test_below(2) ? 1 : -1, wide = p >> 32 != 0;
    const nmodgpu_crt crt = nmodgpu_crt_make(plan, sign);
    nmodgpu_crt_sum sum = nmodgpu_crt_begin();
    check_plan(mpz_cmpabs(s->x, s->most) <= 0, plan);
    for (uint32_t i = 0; i < plan->sums; i++) {
        const uint32_t y = folded_residue(s, i);
        const int32_t machine = some_sum(y, crt.m[i]);
        check_plan(nmodgpu_residue_of_sum(machine, crt.m[i], crt.magic[i], crt.offset[i]) == y, plan);
        nmodgpu_crt_take(&sum, &crt, i, y, wide);
    }
    const uint64_t got = nmodgpu_crt_end(&crt, sum, base, wide);
    mpz_set_u64(s->work, base);
    if (sign > 0)
        mpz_add(s->work, s->work, s->x);
    else
        mpz_sub(s->work, s->work, s->x);
    mpz_t modulus;
    mpz_init(modulus);
    mpz_set_u64(modulus, p);
    mpz_fdiv_r(s->work, s->work, modulus);
    mpz_clear(modulus);
    check_plan(got == mpz_get_u64(s->work), plan);
}

/** X near 0, near the largest that lambda allows (which is about 4/9 M where lambda is used up), near multiples of
 *  M/m, anywhere. */
static void choose(sample *s)
{
    const uint64_t words[] = {test_random(), test_random(), test_random(), test_random()};
    switch (test_below(4)) {
    case 0:
        mpz_set_ui(s->x, (unsigned long)test_below(1000));
        break;
    case 1:
        mpz_sub_ui(s->x, s->most, (unsigned long)test_below(3));
        break;
    case 2:
        mpz_divexact_ui(s->x, s->whole, s->plan->left.plane_digits[test_below(s->plan->sums)]);
        mpz_mul_ui(s->x, s->x, (unsigned long)test_below(128));
        mpz_add_ui(s->x, s->x, (unsigned long)test_below(5));
        mpz_sub_ui(s->x, s->x, 2);
        break;
    default:
        mpz_import(s->x, 4, -1, sizeof words[0], 0, 0, words);
        mpz_fdiv_r(s->x, s->x, s->most);
    }
    if (mpz_cmpabs(s->x, s->most) > 0)
        mpz_set(s->x, s->most);
    if (test_below(2))
        mpz_neg(s->x, s->x);
}

static bool is_crt(const nmodgpu_plan *plan)
{
    return strncmp(plan->name, "i8 crt(", 7) == 0;
}

START_TEST(residues_recombine_wherever_the_product_lies)
{
    int near_end = 0;
    for (int round = 0; round < 600; round++) {
        problem q = random_problem();
        const size_t count = list_i8_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            sample s;
            if (!is_crt(&plans[i]))
                continue;
            sample_begin(&s, &plans[i]);
            for (int entry = 0; entry < 25; entry++) {
                choose(&s);
                check_recombination(&s);
            }
            near_end += 2.27 * mpz_get_d(s.most) > mpz_get_d(s.whole);
            sample_end(&s);
        }
    }
    ck_assert_int_ge(near_end, 20);
}
END_TEST

/** For every number of moduli there is, p and k so that M is hardly larger than it must be: X next to 4/9 M. */
START_TEST(residues_recombine_at_the_ends_of_their_range)
{
    uint64_t seen = 0;
    for (int round = 0; round < 4000; round++) {
        problem q = random_problem();
        q.k = 1 + (int64_t)test_below(2048);
        const size_t count = list_i8_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            sample s;
            if (!is_crt(&plans[i]) || plans[i].lambda[0] == 131071 || (seen >> plans[i].sums & 1 && round % 8))
                continue;
            sample_begin(&s, &plans[i]);
            if (2.27 * mpz_get_d(s.most) > mpz_get_d(s.whole))
                seen |= 1ULL << plans[i].sums;
            for (int entry = 0; entry < 6; entry++) {
                mpz_sub_ui(s.x, s.most, (unsigned long)entry / 2);
                if (entry % 2)
                    mpz_neg(s.x, s.x);
                check_recombination(&s);
            }
            sample_end(&s);
        }
    }
    for (uint32_t t = 3; t <= 17; t++)
        ck_assert_msg(seen >> t & 1, "seed %llu: no plan with %u moduli", (unsigned long long)planner_seed, t);
}
END_TEST

/* ---- whole products */

typedef struct run {
    const nmodgpu_plan *plan;
    const uint64_t *a, *b;
    int64_t sum[NMODGPU_MAX_SUMS];
    uint64_t acc;
    int sign;
} run;

/** Plane i of a word, as it is stored. */
static int8_t plane_entry(const nmodgpu_plan *plan, bool right, uint32_t i, uint64_t word)
{
    int64_t v;
    if (plan->encoding == NMODGPU_RESIDUES) {
        const nmodgpu_residuer how = nmodgpu_residuer_make(plan, right);
        v = nmodgpu_residue(&how, i, nmodgpu_offset_word(&how, word));
    } else {
        const nmodgpu_preparer how = nmodgpu_preparer_make(plan, right);
        v = nmodgpu_prepare_plane_integer(&how, i, nmodgpu_prepare_start(&how, word));
    }
    const uint64_t bound = (right ? &plan->right : &plan->left)->plane_bound[i];
    check_plan(v >= -128 && v <= 127 && (uint64_t)(v < 0 ? -v : v) <= bound, plan);
    return (int8_t)v;
}

static void multiply(run *r, nmodgpu_step step)
{
    const nmodgpu_plan *plan = r->plan;
    static int8_t left[NMODGPU_MAX_PLANES][LONGEST], right[NMODGPU_MAX_PLANES][LONGEST];
    for (uint32_t i = 0; i < plan->left.planes; i++) {
        for (int64_t l = step.k0; l < step.k1; l++) {
            left[i][l] = plane_entry(plan, false, i, r->a[l]);
            right[i][l] = plane_entry(plan, true, i, r->b[l]);
        }
    }
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term term = plan->term[t];
        if (!(step.sum_mask >> term.sum & 1))
            continue;
        for (int64_t l = step.k0; l < step.k1; l++) {
            r->sum[term.sum] += left[term.left][l] * right[term.right][l];
            check_plan(r->sum[term.sum] >= -INT32_MAX && r->sum[term.sum] <= INT32_MAX, plan);
        }
    }
}

/** Residues are recombined all at once. */
static uint64_t recombine(const run *r, nmodgpu_step step)
{
    const nmodgpu_plan *plan = r->plan;
    const nmodgpu_crt crt = nmodgpu_crt_make(plan, r->sign);
    const int wide = plan->modulus >> 32 != 0;
    nmodgpu_crt_sum sum = nmodgpu_crt_begin();
    check_plan(step.sum_mask == (1ULL << plan->sums) - 1, plan);
    for (uint32_t g = 0; g < plan->sums; g++) {
        const uint32_t y = nmodgpu_residue_of_sum((int32_t)r->sum[g], crt.m[g], crt.magic[g], crt.offset[g]);
        check_plan((r->sum[g] - (int64_t)y) % crt.m[g] == 0 && y < crt.m[g], plan);
        if (crt.direct)
            return nmodgpu_crt_direct(&crt, y, r->acc);
        nmodgpu_crt_take(&sum, &crt, g, y, wide);
    }
    return nmodgpu_crt_end(&crt, sum, r->acc, wide);
}

static uint64_t combine(const run *r, nmodgpu_step step)
{
    double s[NMODGPU_MAX_SUMS];
    for (uint32_t g = 0; g < r->plan->sums; g++)
        s[g] = (double)r->sum[g];
    const nmodgpu_reducer reducer = nmodgpu_reducer_make(r->plan, step.sum_mask, r->sign);
    return nmodgpu_reduce_entry(&reducer, r->acc, s, 1);
}

static void reduce(run *r, nmodgpu_step step)
{
    r->acc = r->plan->encoding == NMODGPU_RESIDUES ? recombine(r, step) : combine(r, step);
    check_plan(r->acc < r->plan->modulus, r->plan);
    for (uint32_t g = 0; g < r->plan->sums; g++)
        if (step.sum_mask >> g & 1)
            r->sum[g] = 0;
}

static void check_run(const nmodgpu_plan *plan, const uint64_t *a, const uint64_t *b)
{
    const uint64_t p = plan->modulus, base = test_below(2) ? 0 : test_below(p);
    run r = {.plan = plan, .a = a, .b = b, .acc = base, .sign = test_below(2) ? 1 : -1};
    nmodgpu_schedule schedule;
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
    const uint64_t dot = oracle_dot(a, b, plan->k, p);
    check_plan(r.acc == (r.sign > 0 ? nmodgpu_addmod(base, dot, p) : nmodgpu_submod(base, dot, p)), plan);
}

static uint64_t some_modulus(void)
{
    const problem q = random_problem();
    return test_below(2) ? q.p : 2 + test_below((1ULL << (1 + test_below(16))) - 1);
}

START_TEST(i8_scalar_products_are_exact)
{
    static uint64_t a[LONGEST], b[LONGEST];
    for (int round = 0; round < 500; round++) {
        problem q = random_problem();
        q.p = some_modulus();
        q.k = (int64_t)(1 + test_below(test_below(12) ? 60 : LONGEST));
        const size_t count = list_i8_plans(plans, &q);
        nmodgpu_plan *plan = &plans[test_below(count)];
        if (test_below(2)) /* shorter blocks, so that reductions come in between */
            for (uint32_t g = 0; g < plan->sums; g++)
                if (plan->block[g] > 64)
                    plan->block[g] = 64;
        test_fill(a, 1, q.k, q.k, q.p, (test_pattern)test_below(TEST_PATTERNS));
        test_fill(b, 1, q.k, q.k, q.p, (test_pattern)test_below(TEST_PATTERNS));
        check_run(plan, a, b);
    }
}
END_TEST

/** Every product of two entries modulo small p, and those of extreme entries modulo others. */
START_TEST(i8_products_of_two_entries_are_exact)
{
    for (int round = 0; round < 150; round++) {
        problem q = random_problem();
        q.p = some_modulus();
        q.k = 1;
        const size_t count = list_i8_plans(plans, &q);
        const uint64_t h = q.p / 2;
        const uint64_t ends[] = {0, 1, q.p - 1, h, (h + 1) % q.p, h - 1, 32639 % q.p, 32640 % q.p, test_below(q.p)};
        const size_t many = q.p < 20 ? (size_t)q.p : sizeof ends / sizeof ends[0];
        for (size_t i = 0; i < count; i++)
            for (size_t x = 0; x < many; x++)
                for (size_t y = 0; y < many; y++) {
                    const uint64_t a = q.p < 20 ? x : ends[x], b = q.p < 20 ? y : ends[y];
                    check_run(&plans[i], &a, &b);
                }
    }
}
END_TEST

TCase *i8_products_case(void)
{
    TCase *tc = tcase_create("int8 products");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, residues_recombine_wherever_the_product_lies);
    tcase_add_test(tc, residues_recombine_at_the_ends_of_their_range);
    tcase_add_test(tc, i8_products_of_two_entries_are_exact);
    tcase_add_test(tc, i8_scalar_products_are_exact);
    return tc;
}
