/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Plans with a Strassen-Winograd step: which there are, what is left of them without the step, and products as they
 * say, with the arithmetic of backends, against GMP.
 */
#include <string.h>

#include "cmd/plans_family.h"
#include "exact/residue.h"
#include "exact/winograd.h"
#include "exact/word.h"
#include "plan_i8.h"
#include "planner_cases.h"
#include "schedule.h"
#include "support.h"

#define LONGEST 60 /* rows and columns */
#define DEEPEST 300

static nmodgpu_plan plans[MANY_PLANS];

static bool ends_with_step(const char *name)
{
    const size_t length = strlen(name);
    return length > 9 && strcmp(name + length - 9, " winograd") == 0;
}

START_TEST(without_the_step_it_is_the_plain_plan)
{
    size_t seen = 0;
    for (int round = 0; round < 200; round++) {
        const problem q = large_problem();
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            nmodgpu_plan plan = plans[i];
            char name[sizeof plan.name];
            nmodgpu_plan_plain(&plan, &q.rates);
            check_plan(ends_with_step(plans[i].name) == (plans[i].winograd == 1), &plans[i]);
            if (!plans[i].winograd) {
                check_plan(memcmp(&plan, &plans[i], sizeof plan) == 0, &plan);
                continue;
            }
            snprintf(name, sizeof name, "%.*s", (int)strlen(plans[i].name) - 9, plans[i].name);
            const nmodgpu_plan *same = plan_named(plans, count, name);
            check_plan(same && memcmp(&plan, same, sizeof plan) == 0, &plans[i]);
            check_plan(nmodgpu_plan_verify(&plan) && nmodgpu_plan_verify(&plans[i]), &plan);
            seen++;
        }
    }
    ck_assert_uint_ge(seen, 200);
}
END_TEST

START_TEST(the_whole_name_tells_with_and_without)
{
    int with = 0, without = 0;
    for (int round = 0; round < 200; round++) {
        problem q = large_problem();
        char name[sizeof plans[0].name];
        nmodgpu_plan plan;
        q.rates.pass_bytes = round % 2 ? 1e14 : 1e10; /* steps are cheap, or dear */
        q.rates.residues = 0;
        ck_assert(nmodgpu_i8_plan(&plan, NMODGPU_I8_CRT_BYTES, q.p, q.m, q.k, q.n));
        memcpy(name, plan.name, sizeof name);
        ck_assert_int_eq(nmodgpu_plan_best(&plan, q.p, q.m, q.k, q.n, &q.rates, name), NMODGPU_OK);
        check_plan(strcmp(plan.name, name) == 0 && !plan.winograd, &plan);
        strcat(name, " winograd");
        ck_assert_int_eq(nmodgpu_plan_best(&plan, q.p, q.m, q.k, q.n, &q.rates, name), NMODGPU_OK);
        check_plan(strcmp(plan.name, name) == 0 && plan.winograd == 1, &plan);
        *strstr(name, "bytes") = '\0';
        ck_assert_int_eq(nmodgpu_plan_best(&plan, q.p, q.m, q.k, q.n, &q.rates, name), NMODGPU_OK);
        check_plan(strncmp(plan.name, name, strlen(name)) == 0, &plan);
        with += plan.winograd == 1;
        without += plan.winograd == 0;
    }
    ck_assert(with >= 10 && without >= 10);
}
END_TEST

START_TEST(halves_are_not_empty)
{
    for (int round = 0; round < 500; round++) {
        const problem q = random_problem();
        const int64_t m = 31 + (int64_t)test_below(3), k = 31 + (int64_t)test_below(3),
                      n = 31 + (int64_t)test_below(3);
        for (nmodgpu_i8_kind kind = 0; kind < NMODGPU_I8_KINDS; kind++) {
            nmodgpu_plan plan;
            if (!nmodgpu_i8_winograd(kind) || !nmodgpu_i8_plan(&plan, kind, q.p, m, k, n))
                continue;
            check_plan(m > 31 && k > 31 && n > 31 && plan.winograd == 1 && plan.sum_bytes == 1, &plan);
            plan.seconds = 0;
            check_plan(nmodgpu_plan_verify(&plan), &plan);
        }
        nmodgpu_plan plan;
        ck_assert(nmodgpu_i8_plan(&plan, NMODGPU_I8_CRT_WINOGRAD, q.p, m, k, n) == (m > 31 && k > 31 && n > 31));
        ck_assert(!nmodgpu_i8_plan(&plan, NMODGPU_I8_KINDS, q.p, m, k, n));
    }
}
END_TEST

/* ---- products */

typedef struct product {
    const nmodgpu_plan *plan;
    const uint64_t *a, *b;
    uint64_t *c;
    nmodgpu_residuer left, right;
    nmodgpu_crt crt;
} product;

/** Plane i of the combination of quarters whose entry is (r, c) of each, of rows x cols words; beyond these zeros.
 */
static int8_t combined(const nmodgpu_residuer *how, uint32_t i, int (*factor)(int, int), int z,
                       const uint64_t *words, int64_t stride, int64_t rows, int64_t cols, int64_t r, int64_t c)
{
    const int64_t half_rows = nmodgpu_winograd_half(rows), half_cols = nmodgpu_winograd_half(cols);
    uint32_t sum = 0;
    for (int quarter = 0; quarter < NMODGPU_WINOGRAD_QUARTERS; quarter++) {
        const int64_t row = r + (quarter / 2) * half_rows, col = c + (quarter % 2) * half_cols;
        if (row >= rows || col >= cols)
            continue;
        const uint64_t u = nmodgpu_offset_word(how, words[row * stride + col]);
        const uint32_t dot = nmodgpu_residue_dot(how, i, (uint32_t)u, (uint32_t)(u >> 32), how->wide != 0);
        sum += (uint32_t)factor(z, quarter) * dot;
    }
    return (int8_t)nmodgpu_residue_byte_of_dots(how, i, sum);
}

static int left_factor(int z, int quarter)
{
    return nmodgpu_winograd_left(z, quarter);
}

static int right_factor(int z, int quarter)
{
    return nmodgpu_winograd_right(z, quarter);
}

enum { MOST_HALF = (LONGEST + 31) / 32 * 16, DEEPEST_HALF = (DEEPEST + 31) / 32 * 16 };

/** Residues of the z-th product modulo the i-th modulus, over an inner block. */
static void multiply(const product *x, uint32_t i, int z, int64_t k0, int64_t k1, uint8_t y[MOST_HALF][MOST_HALF])
{
    static int8_t left[MOST_HALF][DEEPEST_HALF], right[MOST_HALF][DEEPEST_HALF];
    const nmodgpu_plan *plan = x->plan;
    const int64_t mm = nmodgpu_winograd_half(plan->m), kk = nmodgpu_winograd_half(k1 - k0),
                  nn = nmodgpu_winograd_half(plan->n);
    for (int64_t l = 0; l < kk; l++) {
        for (int64_t r = 0; r < mm; r++)
            left[r][l] = combined(&x->left, i, left_factor, z, x->a + k0, plan->k, plan->m, k1 - k0, r, l);
        for (int64_t c = 0; c < nn; c++)
            right[c][l] =
                combined(&x->right, i, right_factor, z, x->b + k0 * plan->n, plan->n, k1 - k0, plan->n, l, c);
    }
    for (int64_t r = 0; r < mm; r++)
        for (int64_t c = 0; c < nn; c++) {
            int32_t sum = 0;
            for (int64_t l = 0; l < kk; l++)
                sum += left[r][l] * right[c][l];
            y[r][c] = (uint8_t)nmodgpu_residue_of_sum(sum, x->crt.m[i], x->crt.magic[i], x->crt.offset[i]);
        }
}

/** c += sign times the product of an inner block. */
static void take_block(product *x, int64_t k0, int64_t k1)
{
    static uint8_t y[NMODGPU_MAX_SUMS][NMODGPU_WINOGRAD_PRODUCTS][MOST_HALF][MOST_HALF];
    const nmodgpu_plan *plan = x->plan;
    const int wide = plan->modulus >> 32 != 0;
    const int64_t half_rows = nmodgpu_winograd_half(plan->m), half_cols = nmodgpu_winograd_half(plan->n);
    for (uint32_t i = 0; i < plan->sums; i++)
        for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++)
            multiply(x, i, z, k0, k1, y[i][z]);
    for (int64_t r = 0; r < plan->m; r++) {
        for (int64_t c = 0; c < plan->n; c++) {
            uint64_t *entry = &x->c[r * plan->n + c];
            const int quarter = 2 * (r >= half_rows) + (c >= half_cols);
            nmodgpu_crt_sum sum = nmodgpu_crt_begin();
            for (uint32_t i = 0; i < plan->sums; i++) {
                uint32_t products[NMODGPU_WINOGRAD_PRODUCTS];
                for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) /* the other three lanes are none of ours */
                    products[z] = y[i][z][r % half_rows][c % half_cols];
                const uint32_t residue = nmodgpu_winograd_residues4(products, quarter, x->crt.m[i]) & 255;
                if (x->crt.direct)
                    *entry = nmodgpu_crt_direct(&x->crt, residue, *entry);
                else
                    nmodgpu_crt_take(&sum, &x->crt, i, residue, wide);
            }
            if (!x->crt.direct)
                *entry = nmodgpu_crt_end(&x->crt, sum, *entry, wide);
        }
    }
}

static void check_product(const nmodgpu_plan *plan, const uint64_t *a, const uint64_t *b)
{
    static uint64_t base[LONGEST * LONGEST], c[LONGEST * LONGEST], column[DEEPEST];
    const uint64_t p = plan->modulus;
    const int sign = test_below(2) ? 1 : -1;
    product x = {plan,
                 a,
                 b,
                 c,
                 nmodgpu_residuer_make(plan, 0),
                 nmodgpu_residuer_make(plan, 1),
                 nmodgpu_crt_make(plan, sign)};
    test_fill(base, plan->m, plan->n, plan->n, p, TEST_UNIFORM);
    memcpy(c, base, sizeof c);
    nmodgpu_schedule schedule;
    nmodgpu_schedule_begin(&schedule, plan, plan->k);
    for (;;) {
        const nmodgpu_step step = nmodgpu_schedule_next(&schedule);
        if (step.kind == NMODGPU_STEP_END)
            break;
        if (step.kind == NMODGPU_STEP_MULTIPLY)
            take_block(&x, step.k0, step.k1);
    }
    for (int64_t j = 0; j < plan->n; j++) {
        for (int64_t l = 0; l < plan->k; l++)
            column[l] = b[l * plan->n + j];
        for (int64_t i = 0; i < plan->m; i++) {
            const uint64_t dot = oracle_dot(a + i * plan->k, column, plan->k, p), from = base[i * plan->n + j];
            check_plan(c[i * plan->n + j] ==
                           (sign > 0 ? nmodgpu_addmod(from, dot, p) : nmodgpu_submod(from, dot, p)),
                       plan);
        }
    }
}

/** A modulus for which 2 k h^2 (1 + 2^-3) is hardly less than M, or any. */
static uint64_t some_modulus(int64_t k)
{
    const problem q = random_problem();
    if (test_below(2))
        return test_below(2) ? q.p : 2 + test_below(255);
    mpz_t x;
    mpz_init(x);
    oracle_spare(x, 2 + (uint32_t)test_below(16), 0, 2);
    mpz_fdiv_q_ui(x, x, 9 * (unsigned long)k);
    mpz_sqrt(x, x);
    const uint64_t h = mpz_sizeinbase(x, 2) > 62 ? 1ULL << 62 : mpz_get_u64(x);
    mpz_clear(x);
    return h > 1 ? 2 * h - test_below(2) : q.p;
}

START_TEST(products_by_steps_are_exact)
{
    static uint64_t a[LONGEST * DEEPEST], b[DEEPEST * LONGEST];
    for (int round = 0; round < 60; round++) {
        static const nmodgpu_i8_kind kinds[] = {NMODGPU_I8_DIRECT_WINOGRAD, NMODGPU_I8_FEWER_WINOGRAD,
                                                NMODGPU_I8_CRT_WINOGRAD};
        const int64_t m = 32 + (int64_t)test_below(LONGEST - 31), n = 32 + (int64_t)test_below(LONGEST - 31);
        const int64_t k = 32 + (int64_t)test_below(round % 4 ? 64 : DEEPEST - 31);
        const uint64_t p = some_modulus(k);
        nmodgpu_plan plan;
        uint32_t kind = (uint32_t)test_below(3);
        while (!nmodgpu_i8_plan(&plan, kinds[kind], p, m, k, n)) /* the last is there for all */
            kind++;
        if (test_below(2))
            for (uint32_t g = 0; g < plan.sums; g++)
                plan.block[g] = plan.block[g] > 64 ? 64 : plan.block[g];
        plan.seconds = 0;
        check_plan(nmodgpu_plan_verify(&plan), &plan);
        test_fill(a, m, k, k, p, (test_pattern)test_below(TEST_PATTERNS));
        test_fill(b, k, n, n, p, (test_pattern)test_below(TEST_PATTERNS));
        check_product(&plan, a, b);
    }
}
END_TEST

/* ---- families of the command's grid */

/** The same by names alone: up to the bases, and any number for that of moduli. */
static void family_of(char *family, size_t capacity, const nmodgpu_plan *plan)
{
    const char *open = strstr(plan->name, "crt("), *base = strstr(plan->name, " base");
    if (open)
        snprintf(family, capacity, "i8 crt%s", strchr(open, ')'));
    else
        snprintf(family, capacity, "%.*s", base ? (int)(base - plan->name) : (int)strlen(plan->name), plan->name);
}

START_TEST(families_are_those_of_the_names)
{
    for (int round = 0; round < 40; round++) {
        const problem q = large_problem();
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            char one[sizeof plans[0].name + 8], other[sizeof one];
            family_of(one, sizeof one, &plans[i]);
            for (size_t j = 0; j < count; j++) {
                family_of(other, sizeof other, &plans[j]);
                check_plan(plans_same_family(&plans[i], &plans[j]) == (strcmp(one, other) == 0), &plans[i]);
            }
        }
    }
}
END_TEST

TCase *winograd_case(void)
{
    TCase *tc = tcase_create("winograd");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, without_the_step_it_is_the_plain_plan);
    tcase_add_test(tc, the_whole_name_tells_with_and_without);
    tcase_add_test(tc, halves_are_not_empty);
    tcase_add_test(tc, products_by_steps_are_exact);
    tcase_add_test(tc, families_are_those_of_the_names);
    return tc;
}
