/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The cblas backend, driven through its interface: products of every plan, prepared operands used again,
 * windows, threads, forks, refusals.
 */
#include <check.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend_driver.h"
#include "cblas_cases.h"
#include "planner.h"
#include "suite.h"
#include "support.h"

const nmodgpu_backend *cblas_backend;
uint64_t cblas_seed;

static void setup(void)
{
    cblas_seed = test_seed();
    cblas_backend = driver_open(nmodgpu_module_entry, 2);
    ck_assert_ptr_nonnull(cblas_backend);
}

/** Sizes from 0 on, small ones more often. */
static int64_t random_size(int64_t most)
{
    return (int64_t)test_below(1 + test_below((uint64_t)most + 1));
}

static nmodgpu_rates device_rates(void)
{
    nmodgpu_device_info info;
    ck_assert_int_eq(cblas_backend->device_info(0, &info), NMODGPU_OK);
    return info.rates;
}

/** One digit a side, as blunt as can be; for p < 2^26. */
static nmodgpu_plan one_word_plan(uint64_t p, int64_t m, int64_t k, int64_t n)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.number = NMODGPU_F64;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = p;
    plan.m = m;
    plan.k = k;
    plan.n = n;
    plan.left.digits = plan.left.planes = plan.left.plane_digits[0] = 1;
    plan.left.plane_bound[0] = p / 2;
    plan.right = plan.left;
    plan.terms = plan.sums = 1;
    plan.coefficient[0] = 1 % p;
    plan.weight[0] = (p / 2) * (p / 2);
    plan.lambda[0] = plan.weight[0] ? (int64_t)((1ULL << 53) / plan.weight[0]) : INT64_MAX;
    plan.block[0] = 1 + (int64_t)test_below(50);
    plan.block[0] = plan.block[0] < plan.lambda[0] ? plan.block[0] : plan.lambda[0];
    strcpy(plan.name, "by hand");
    return plan;
}

/** The best plan, any other that the planner lists, or one made by hand where that is the only one. */
static nmodgpu_plan random_plan(uint64_t p, int64_t m, int64_t k, int64_t n)
{
    static nmodgpu_plan list[300];
    const nmodgpu_rates rates = device_rates();
    if (p == 1 || m == 0 || k == 0 || n == 0 || (p < 1u << 26 && test_below(4) == 0))
        return one_word_plan(p >> 26 ? 3 : p, m, k, n);
    const size_t count = nmodgpu_plan_list(list, 300, p, m, k, n, &rates);
    ck_assert_msg(count > 0 && count <= 300, "%zu plans", count);
    return list[test_below(3) == 0 ? 0 : test_below(count)];
}

static uint64_t *filled(int64_t rows, int64_t stride, int64_t cols, uint64_t p, test_pattern pattern)
{
    uint64_t *a = malloc((size_t)(rows * stride + 1) * sizeof *a);
    ck_assert_ptr_nonnull(a);
    memset(a, 0xa5, (size_t)(rows * stride + 1) * sizeof *a);
    test_fill(a, rows, cols, stride, p, pattern);
    return a;
}

#define POISON 0xa5a5a5a5a5a5a5a5u

/** One product with everything random but its sizes and modulus; every entry and every gap is looked at. */
static void check_product(int64_t m, int64_t k, int64_t n, uint64_t p)
{
    const test_pattern pa = (test_pattern)test_below(TEST_PATTERNS), pb = (test_pattern)test_below(TEST_PATTERNS);
    const int64_t sa = k + random_size(3), sb = n + random_size(3), sc = n + random_size(3),
                  sd = n + random_size(3);
    const nmodgpu_plan plan = random_plan(p, m, k, n);
    p = plan.modulus;
    uint64_t *a = filled(m, sa, k, p, pa), *b = filled(k, sb, n, p, pb), *c = filled(m, sc, n, p, TEST_UNIFORM);
    uint64_t *d = filled(m, sd, 0, p, TEST_ZERO);
    uint64_t *expected = filled(m, n, n, p, TEST_ZERO);
    uint64_t **rows = malloc((size_t)(m + 1) * sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    const int sign = test_below(2) ? 1 : -1;
    const bool has_c = test_below(2);
    const nmodgpu_matrix va = driver_host(p, a, sa, m, k), vb = driver_host(p, b, sb, k, n),
                         vc = driver_host(p, c, sc, m, n);
    nmodgpu_matrix vd = driver_host(p, d, sd, m, n);
    for (int64_t i = 0; i < m; i++)
        rows[i] = d + (m - 1 - i) * sd;
    const bool by_rows = test_below(2);
    if (by_rows) {
        vd.row_table = rows;
        vd.data = NULL;
        vd.stride = 0;
    }
    ck_assert_int_eq(driver_product(cblas_backend, &plan, &vd, has_c ? &vc : NULL, sign, &va, &vb), NMODGPU_OK);
    test_product(expected, n, has_c ? c : NULL, sc, sign, a, sa, b, sb, m, k, n, p);
    for (int64_t i = 0; i < m; i++) {
        const uint64_t *row = by_rows ? rows[i] : d + i * sd;
        for (int64_t j = 0; j < sd; j++)
            if (row[j] != (j < n ? expected[i * n + j] : POISON))
                ck_abort_msg("seed %llu: %lld x %lld x %lld mod %llu, %s * %s, plan %s, entry (%lld, %lld)",
                             (unsigned long long)cblas_seed, (long long)m, (long long)k, (long long)n,
                             (unsigned long long)p, test_pattern_name(pa), test_pattern_name(pb), plan.name,
                             (long long)i, (long long)j);
    }
    free(a);
    free(b);
    free(c);
    free(d);
    free(expected);
    free(rows);
}

START_TEST(products_of_every_size_and_modulus)
{
    for (unsigned bits = 1; bits <= 64; bits++)
        for (int i = 0; i < 8; i++)
            check_product(random_size(200), random_size(300), random_size(200), test_modulus(bits));
}
END_TEST

START_TEST(tall_flat_and_deep_products)
{
    for (int i = 0; i < 24; i++) {
        const uint64_t p = test_modulus(1 + (unsigned)test_below(64));
        const int64_t longest = 1500 + random_size(500);
        check_product(i % 3 == 0 ? longest : random_size(5), i % 3 == 1 ? longest : random_size(9),
                      i % 3 == 2 ? longest : random_size(5), p);
    }
}
END_TEST

START_TEST(products_of_empty_matrices)
{
    for (int shape = 0; shape < 8; shape++)
        for (int i = 0; i < 6; i++)
            check_product(shape & 1 ? 0 : 3, shape & 2 ? 0 : 4, shape & 4 ? 0 : 5,
                          test_modulus(1 + (unsigned)i * 4));
}
END_TEST

/** Large enough for passes on two threads. */
START_TEST(products_on_two_threads)
{
    check_product(700, 220, 610, 2147483647);
    check_product(520, 230, 777, UINT64_MAX - 58);
}
END_TEST

START_TEST(products_in_every_rounding_mode)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 30; i++) {
        fesetround(modes[i % 3]);
        check_product(random_size(40), random_size(90), random_size(40),
                      test_modulus(1 + (unsigned)test_below(64)));
        fesetround(FE_TONEAREST);
    }
}
END_TEST

static void check_words(const uint64_t *got, const uint64_t *expected, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count; i++)
        if (got[i] != expected[i])
            ck_abort_msg("seed %llu: %s, entry %lld", (unsigned long long)cblas_seed, what, (long long)i);
}

/** One prepared left operand and two right ones: whole products, and products of windows of them. */
static void check_prepared(uint64_t p)
{
    enum { M = 61, K = 83, N = 47 };
    static uint64_t a[M * K], b[2][K * N], d[M * N], expected[M * N];
    const nmodgpu_plan plan = random_plan(p, M, K, N);
    p = plan.modulus;
    nmodgpu_queue *queue;
    nmodgpu_matrix left = driver_planes(&plan, NMODGPU_LEFT, M, K), right[2];
    test_fill(a, M, K, K, p, TEST_UNIFORM);
    ck_assert_int_eq(cblas_backend->queue_open(0, &queue), NMODGPU_OK);
    const nmodgpu_matrix va = driver_host(p, a, K, M, K);
    ck_assert_int_eq(driver_prepare(cblas_backend, queue, &left, &va), NMODGPU_OK);
    for (int i = 0; i < 2; i++) {
        test_fill(b[i], K, N, N, p, i ? TEST_ALL_HALF : TEST_UNIFORM);
        const nmodgpu_matrix vb = driver_host(p, b[i], N, K, N);
        right[i] = driver_planes(&plan, NMODGPU_RIGHT, K, N);
        ck_assert_int_eq(driver_prepare(cblas_backend, queue, &right[i], &vb), NMODGPU_OK);
        memset(d, 0xa5, sizeof d);
        const nmodgpu_matrix vd = driver_host(p, d, N, M, N);
        ck_assert_int_eq(driver_multiply(cblas_backend, queue, &vd, NULL, 1, &left, &right[i]), NMODGPU_OK);
        test_product(expected, N, NULL, 0, 1, a, K, b[i], N, M, K, N, p);
        check_words(d, expected, M * N, plan.name);
    }
    for (int i = 0; i < 12; i++) {
        const int64_t r0 = random_size(M), r1 = r0 + random_size(M - r0), k0 = random_size(K),
                      k1 = k0 + random_size(K - k0), c0 = random_size(N), c1 = c0 + random_size(N - c0);
        const nmodgpu_matrix l = nmodgpu_matrix_window(&left, r0, r1, k0, k1);
        const nmodgpu_matrix r = nmodgpu_matrix_window(&right[i % 2], k0, k1, c0, c1);
        const nmodgpu_matrix vd = driver_host(p, d, c1 - c0, r1 - r0, c1 - c0);
        memset(d, 0xa5, sizeof d);
        ck_assert_int_eq(driver_multiply(cblas_backend, queue, &vd, NULL, -1, &l, &r), NMODGPU_OK);
        test_product(expected, c1 - c0, NULL, 0, -1, a + r0 * K + k0, K, b[i % 2] + k0 * N + c0, N, r1 - r0,
                     k1 - k0, c1 - c0, p);
        check_words(d, expected, (r1 - r0) * (c1 - c0), "a window's product");
    }
    cblas_backend->matrix_free(queue, &left);
    cblas_backend->matrix_free(queue, &right[0]);
    cblas_backend->matrix_free(queue, &right[1]);
    cblas_backend->queue_close(queue, false);
}

START_TEST(a_prepared_operand_serves_many_products)
{
    for (unsigned bits = 1; bits <= 64; bits += 3)
        check_prepared(test_modulus(bits));
}
END_TEST

/* One problem for all threads: the random generator is not theirs to call. */
enum { SIDE = 150, ROUNDS = 12 };
static uint64_t shared_a[SIDE * SIDE], shared_b[SIDE * SIDE], shared_expected[SIDE * SIDE];
static nmodgpu_plan shared_plan;

static void *multiply_again_and_again(void *wrong)
{
    static const uint64_t poison = POISON;
    uint64_t *d = malloc(sizeof shared_a);
    const uint64_t p = shared_plan.modulus;
    for (int round = 0; round < ROUNDS && d; round++) {
        for (int i = 0; i < SIDE * SIDE; i++)
            d[i] = poison;
        const nmodgpu_matrix va = driver_host(p, shared_a, SIDE, SIDE, SIDE),
                             vb = driver_host(p, shared_b, SIDE, SIDE, SIDE),
                             vd = driver_host(p, d, SIDE, SIDE, SIDE);
        if (driver_product(cblas_backend, &shared_plan, &vd, NULL, 1, &va, &vb) != NMODGPU_OK ||
            memcmp(d, shared_expected, sizeof shared_expected) != 0)
            *(int *)wrong = 1;
    }
    if (!d)
        *(int *)wrong = 1;
    free(d);
    return NULL;
}

static void share_problem(void)
{
    shared_plan = random_plan(UINT64_MAX - 58, SIDE, SIDE, SIDE);
    test_fill(shared_a, SIDE, SIDE, SIDE, shared_plan.modulus, TEST_UNIFORM);
    test_fill(shared_b, SIDE, SIDE, SIDE, shared_plan.modulus, TEST_UNIFORM);
    test_product(shared_expected, SIDE, NULL, 0, 1, shared_a, SIDE, shared_b, SIDE, SIDE, SIDE, SIDE,
                 shared_plan.modulus);
}

START_TEST(threads_multiply_at_once_on_queues_of_their_own)
{
    pthread_t thread[3];
    int wrong[3] = {0};
    share_problem();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, multiply_again_and_again, &wrong[i]), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(!wrong[i], "seed %llu: thread %d", (unsigned long long)cblas_seed, i);
}
END_TEST

static _Atomic bool forked_enough;

static void *multiply_until_told(void *wrong)
{
    while (!forked_enough)
        multiply_again_and_again(wrong);
    return NULL;
}

/* An OpenBLAS ends its threads before a fork, also under products, which then hang. */
START_TEST(a_fork_beside_products_disturbs_none)
{
    pthread_t thread[3];
    int wrong[3] = {0};
    share_problem();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, multiply_until_told, &wrong[i]), 0);
    for (int i = 0; i < 60; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
    }
    forked_enough = true;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        ck_assert_msg(!wrong[i], "seed %llu: thread %d", (unsigned long long)cblas_seed, i);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cblas");
    TCase *products = tcase_create("products");
    tcase_add_test(products, products_of_every_size_and_modulus);
    tcase_add_test(products, tall_flat_and_deep_products);
    tcase_add_test(products, products_of_empty_matrices);
    tcase_add_test(products, products_on_two_threads);
    tcase_add_test(products, products_in_every_rounding_mode);
    tcase_add_test(products, a_prepared_operand_serves_many_products);
    tcase_add_test(products, threads_multiply_at_once_on_queues_of_their_own);
    tcase_add_test(products, a_fork_beside_products_disturbs_none);
    TCase *cases[] = {products, cblas_interface_cases(), cblas_parts_cases()};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tcase_set_timeout(cases[i], 120);
        tcase_add_checked_fixture(cases[i], setup, NULL);
        suite_add_tcase(suite, cases[i]);
    }
    return test_run(suite, CK_FORK_GETENV);
}
