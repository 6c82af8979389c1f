/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Prepared operands and their windows, several queues, several threads, and what is refused.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_cases.h"
#include "device_harness.h"
#include "support.h"

static uint64_t seed;

static void begin(void)
{
    seed = test_seed();
}

/** left * right into host memory, compared. */
static void check_prepared(nmodgpu_queue *queue, const nmodgpu_matrix *left, const nmodgpu_matrix *right,
                           const uint64_t *a, const uint64_t *b, const char *what)
{
    const nmodgpu_plan *plan = left->plan;
    const int64_t m = left->rows, k = left->cols, n = right->cols;
    host_case d = harness_host_result(m, n, plan->modulus, LAYOUT_DENSE);
    nmodgpu_matrix sums = harness_sums(plan, m, n);
    nmodgpu_matrix acc = harness_words(plan->modulus, m, n, 8);
    uint64_t *expected = malloc((size_t)(m * n + 1) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    OK(device->matrix_alloc(queue, &sums));
    OK(device->matrix_alloc(queue, &acc));
    OK(harness_steps(queue, &acc, false, 1, &sums, left, right));
    OK(device->export_words(queue, &d.view, &acc));
    OK(device->wait(queue, NULL));
    harness_expect(expected, NULL, 1, a, b, m, k, n, plan->modulus);
    harness_compare(&d, expected, what);
    device->matrix_free(queue, &sums);
    device->matrix_free(queue, &acc);
    harness_host_free(&d);
    free(expected);
}

START_TEST(a_prepared_operand_serves_several_products)
{
    nmodgpu_plan plan;
    nmodgpu_queue *queue;
    const int64_t m = 37, k = 45;
    const uint64_t p = test_modulus(1 + (unsigned)test_below(64));
    harness_random_plan(&plan, p);
    host_case a = harness_host(m, k, p, TEST_UNIFORM, LAYOUT_PERMUTED);
    nmodgpu_matrix left = harness_planes(&plan, NMODGPU_LEFT, m, k);
    OK(device->queue_open(0, &queue));
    OK(harness_load(queue, &left, &a.view, 8));
    for (int64_t n = 1; n <= 64; n *= 2) {
        char what[160];
        host_case b = harness_host(k, n, p, TEST_UNIFORM, LAYOUT_STRIDE);
        nmodgpu_matrix right = harness_planes(&plan, NMODGPU_RIGHT, k, n);
        snprintf(what, sizeof what, "seed %llu: product with %lld columns, %s", (unsigned long long)seed,
                 (long long)n, plan.name);
        OK(harness_load(queue, &right, &b.view, 8));
        check_prepared(queue, &left, &right, a.plain, b.plain, what);
        device->matrix_free(queue, &right);
        harness_host_free(&b);
    }
    device->matrix_free(queue, &left);
    device->queue_close(queue, false);
    harness_host_free(&a);
}
END_TEST

/** Rows [r0, r0 + rows), columns [c0, c0 + cols) of a dense matrix. */
static uint64_t *cut(const host_case *h, int64_t r0, int64_t rows, int64_t c0, int64_t cols)
{
    uint64_t *w = malloc((size_t)(rows * cols + 1) * sizeof *w);
    ck_assert_ptr_nonnull(w);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            w[i * cols + j] = h->plain[(r0 + i) * h->cols + c0 + j];
    return w;
}

static void check_window(nmodgpu_queue *queue, const nmodgpu_matrix *left, const nmodgpu_matrix *right,
                         const host_case *a, const host_case *b)
{
    char what[160];
    const int64_t i0 = (int64_t)test_below((uint64_t)a->rows),
                  m = 1 + (int64_t)test_below((uint64_t)(a->rows - i0));
    const int64_t l0 = (int64_t)test_below((uint64_t)a->cols),
                  k = 1 + (int64_t)test_below((uint64_t)(a->cols - l0));
    const int64_t j0 = (int64_t)test_below((uint64_t)b->cols),
                  n = 1 + (int64_t)test_below((uint64_t)(b->cols - j0));
    const nmodgpu_matrix l = nmodgpu_matrix_window(left, i0, i0 + m, l0, l0 + k);
    const nmodgpu_matrix r = nmodgpu_matrix_window(right, l0, l0 + k, j0, j0 + n);
    uint64_t *x = cut(a, i0, m, l0, k), *y = cut(b, l0, k, j0, n);
    snprintf(what, sizeof what, "seed %llu: window %lld+%lld, %lld+%lld, %lld+%lld, %s", (unsigned long long)seed,
             (long long)i0, (long long)m, (long long)l0, (long long)k, (long long)j0, (long long)n,
             left->plan->name);
    check_prepared(queue, &l, &r, x, y, what);
    free(x);
    free(y);
}

START_TEST(windows_of_prepared_operands_multiply)
{
    for (int i = 0; i < 6; i++) {
        nmodgpu_plan plan;
        nmodgpu_queue *queue;
        const uint64_t p = test_modulus(1 + (unsigned)test_below(64));
        harness_random_plan(&plan, p);
        host_case a = harness_host(29, 41, p, TEST_UNIFORM, LAYOUT_DENSE);
        host_case b = harness_host(41, 35, p, TEST_UNIFORM, LAYOUT_DENSE);
        nmodgpu_matrix left = harness_planes(&plan, NMODGPU_LEFT, 29, 41);
        nmodgpu_matrix right = harness_planes(&plan, NMODGPU_RIGHT, 41, 35);
        OK(device->queue_open(0, &queue));
        OK(harness_load(queue, &left, &a.view, 8));
        OK(harness_load(queue, &right, &b.view, 8));
        for (int w = 0; w < 8; w++)
            check_window(queue, &left, &right, &a, &b);
        device->matrix_free(queue, &left);
        device->matrix_free(queue, &right);
        device->queue_close(queue, false);
        harness_host_free(&a);
        harness_host_free(&b);
    }
}
END_TEST

/** A descriptor that reads planes as the transposed matrix: A * (B^T), with B stored by rows. */
START_TEST(transposed_operands_multiply)
{
    nmodgpu_plan plan;
    nmodgpu_queue *queue;
    const uint64_t p = test_modulus(30);
    ck_assert(harness_plan(&plan, p, 2, 2, false));
    host_case a = harness_host(19, 23, p, TEST_UNIFORM, LAYOUT_DENSE);
    host_case b = harness_host(17, 23, p, TEST_UNIFORM, LAYOUT_DENSE);
    uint64_t *bt = malloc(23 * 17 * sizeof *bt);
    ck_assert_ptr_nonnull(bt);
    for (int i = 0; i < 17; i++)
        for (int j = 0; j < 23; j++)
            bt[j * 17 + i] = b.plain[i * 23 + j];
    nmodgpu_matrix left = harness_planes(&plan, NMODGPU_LEFT, 19, 23);
    nmodgpu_matrix right = harness_planes(&plan, NMODGPU_RIGHT, 17, 23);
    OK(device->queue_open(0, &queue));
    OK(harness_load(queue, &left, &a.view, 8));
    OK(harness_load(queue, &right, &b.view, 8));
    nmodgpu_matrix right_t = right;
    right_t.rows = 23;
    right_t.cols = 17;
    right_t.transposed = true;
    check_prepared(queue, &left, &right_t, a.plain, bt, "A times B transposed");
    device->matrix_free(queue, &left);
    device->matrix_free(queue, &right);
    device->queue_close(queue, false);
    harness_host_free(&a);
    harness_host_free(&b);
    free(bt);
}
END_TEST

/** S accumulates over two calls: the inner length adds up, and so do the sums. */
START_TEST(sums_accumulate_over_calls)
{
    nmodgpu_plan plan;
    nmodgpu_queue *queue;
    const int64_t m = 21, k = 60, n = 18;
    const uint64_t p = test_modulus(25);
    ck_assert(harness_plan(&plan, p, 2, 2, true));
    const uint64_t all = (1ULL << plan.sums) - 1;
    host_case a = harness_host(m, k, p, TEST_ALL_MINUS_ONE, LAYOUT_DENSE);
    host_case b = harness_host(k, n, p, TEST_UNIFORM, LAYOUT_DENSE);
    host_case d = harness_host_result(m, n, p, LAYOUT_ROWS);
    nmodgpu_matrix left = harness_planes(&plan, NMODGPU_LEFT, m, k);
    nmodgpu_matrix right = harness_planes(&plan, NMODGPU_RIGHT, k, n);
    nmodgpu_matrix sums = harness_sums(&plan, m, n), acc = harness_words(p, m, n, 4);
    uint64_t *expected = malloc((size_t)(m * n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    OK(device->queue_open(0, &queue));
    OK(harness_load(queue, &left, &a.view, 4));
    OK(harness_load(queue, &right, &b.view, 4));
    OK(device->matrix_alloc(queue, &sums));
    OK(device->matrix_alloc(queue, &acc));
    for (int64_t k0 = 0; k0 < k; k0 += 20) {
        const nmodgpu_matrix l = nmodgpu_matrix_window(&left, 0, m, k0, k0 + 20);
        const nmodgpu_matrix r = nmodgpu_matrix_window(&right, k0, k0 + 20, 0, n);
        OK(device->multiply_accumulate(queue, &sums, all, &l, &r, k0 > 0));
        ck_assert_int_eq(sums.inner_used[0], k0 + 20);
    }
    OK(device->reduce(queue, &acc, NULL, 1, &sums, all));
    ck_assert_int_eq(sums.inner_used[0], 0);
    OK(device->export_words(queue, &d.view, &acc));
    OK(device->wait(queue, NULL));
    harness_expect(expected, NULL, 1, a.plain, b.plain, m, k, n, p);
    harness_compare(&d, expected, "three panels");
    device->matrix_free(queue, &left);
    device->matrix_free(queue, &right);
    device->matrix_free(queue, &sums);
    device->matrix_free(queue, &acc);
    device->queue_close(queue, false);
    harness_host_free(&a);
    harness_host_free(&b);
    harness_host_free(&d);
    free(expected);
}
END_TEST

/** One queue prepares, the other multiplies once the event says so. */
START_TEST(queues_wait_for_each_other_by_events)
{
    nmodgpu_plan plan;
    nmodgpu_queue *maker, *user;
    nmodgpu_event *from, *to;
    double seconds = -1;
    const int64_t size = sizes.usual;
    const uint64_t p = test_modulus(40);
    harness_random_plan(&plan, p);
    OK(device->queue_open(0, &maker));
    OK(device->queue_open(0, &user));
    ck_assert_ptr_ne(maker, user);
    for (int i = 0; i < 8; i++) {
        host_case a = harness_host(size, size, p, TEST_UNIFORM, LAYOUT_DENSE);
        nmodgpu_matrix left = harness_planes(&plan, NMODGPU_LEFT, size, size);
        nmodgpu_matrix right = harness_planes(&plan, NMODGPU_RIGHT, size, size);
        OK(device->submit(maker, &from));
        OK(harness_load(maker, &left, &a.view, 8));
        OK(harness_load(maker, &right, &a.view, 8));
        OK(device->submit(maker, &to));
        OK(device->queue_wait(user, to));
        check_prepared(user, &left, &right, a.plain, a.plain, "prepared on another queue");
        OK(device->wait(maker, to));
        OK(device->event_seconds(from, to, &seconds));
        ck_assert_msg(seconds >= 0 && seconds < 60, "%g seconds between the events", seconds);
        device->event_free(from);
        device->event_free(to);
        device->matrix_free(maker, &left);
        device->matrix_free(maker, &right);
        OK(device->wait(maker, NULL));
        harness_host_free(&a);
    }
    device->queue_close(maker, false);
    device->queue_close(user, false);
}
END_TEST

#define THREADS 6

typedef struct worker {
    pthread_t thread;
    nmodgpu_plan plan;
    host_case a, b, d;
    nmodgpu_status status;
} worker;

static void *multiply_often(void *argument)
{
    worker *w = argument;
    const harness_product product = {
        .plan = &w->plan, .a = &w->a.view, .b = &w->b.view, .d = &w->d.view, .sign = 1, .element_bytes = 8};
    w->status = NMODGPU_OK;
    for (int i = 0; i < 5 && w->status == NMODGPU_OK; i++)
        w->status = harness_run_alone(0, &product);
    return NULL;
}

START_TEST(threads_multiply_at_once)
{
    static worker workers[THREADS];
    uint64_t expected[50 * 50];
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        const uint64_t p = test_modulus(10 + 9 * (unsigned)t);
        harness_random_plan(&w->plan, p);
        w->a = harness_host(50, 50, p, TEST_UNIFORM, (host_layout)(t % LAYOUTS));
        w->b = harness_host(50, 50, p, TEST_UNIFORM, LAYOUT_DENSE);
        w->d = harness_host_result(50, 50, p, LAYOUT_PERMUTED);
    }
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, multiply_often, &workers[t]), 0);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_join(workers[t].thread, NULL), 0);
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        OK(w->status);
        harness_expect(expected, NULL, 1, w->a.plain, w->b.plain, 50, 50, 50, w->plan.modulus);
        harness_compare(&w->d, expected, w->plan.name);
        harness_host_free(&w->a);
        harness_host_free(&w->b);
        harness_host_free(&w->d);
    }
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    nmodgpu_plan plan;
    nmodgpu_queue *queue;
    ck_assert(harness_plan(&plan, 1000003, 1, 1, false));
    host_case a = harness_host(4, 5, 1000003, TEST_UNIFORM, LAYOUT_DENSE);
    nmodgpu_matrix planes = harness_planes(&plan, NMODGPU_LEFT, 4, 5), words = harness_words(1000003, 4, 5, 8);
    nmodgpu_matrix sums = harness_sums(&plan, 4, 4), huge = harness_words(7, INT64_MAX / 2, 9, 8);
    ck_assert_int_eq(device->queue_open(device->device_count(), &queue), NMODGPU_EINVAL);
    ck_assert_int_eq(device->queue_open(-1, &queue), NMODGPU_EINVAL);
    OK(device->queue_open(0, &queue));
    ck_assert_int_eq(device->matrix_alloc(queue, &huge), NMODGPU_ENOMEM);
    ck_assert_uint_eq(device->matrix_bytes(&huge), UINT64_MAX);
    OK(device->matrix_alloc(queue, &planes));
    OK(device->matrix_alloc(queue, &words));
    OK(device->matrix_alloc(queue, &sums));
    nmodgpu_matrix narrow = nmodgpu_matrix_window(&words, 0, 4, 0, 4);
    ck_assert_int_eq(device->import_words(queue, &narrow, &a.view), NMODGPU_EINVAL);
    ck_assert_int_eq(device->export_words(queue, &a.view, &narrow), NMODGPU_EINVAL);
    ck_assert_int_eq(device->import_words(queue, &planes, &a.view), NMODGPU_EINVAL);
    ck_assert_int_eq(device->prepare(queue, &planes, &narrow), NMODGPU_EINVAL);
    ck_assert_int_eq(device->multiply_accumulate(queue, &sums, 1, &planes, &planes, false), NMODGPU_EINVAL);
    ck_assert_int_eq(device->reduce(queue, &words, NULL, 1, &sums, 1), NMODGPU_EINVAL);
    plan.number = (nmodgpu_number)0;
    OK(device->import_words(queue, &words, &a.view));
    ck_assert_int_eq(device->prepare(queue, &planes, &words), NMODGPU_DECLINED);
    device->matrix_free(queue, &planes);
    device->matrix_free(queue, &words);
    device->matrix_free(queue, &sums);
    device->queue_close(queue, false);
    harness_host_free(&a);
}
END_TEST

START_TEST(devices_describe_themselves)
{
    nmodgpu_device_info info;
    nmodgpu_matrix words = harness_words(7, 10, 33, 8);
    ck_assert_int_ge(device->device_count(), 1);
    OK(device->device_info(0, &info));
    ck_assert_msg(info.name[0] && info.detail[0], "a device without a name");
    ck_assert_uint_ge(info.memory_bytes, info.free_bytes);
    ck_assert_uint_gt(info.free_bytes, 0);
    ck_assert(info.rates.f64_flops > 0 && info.rates.processors > 0 && info.rates.pass_bytes > 0 &&
              info.rates.import_bytes > 0 && info.rates.export_bytes > 0 && info.rates.f64_tile_rows > 0 &&
              info.rates.f64_tile_cols > 0 && info.rates.gemm_start > 0 && info.rates.pass_start > 0);
    ck_assert_uint_ge(device->matrix_bytes(&words), 10 * 33 * 8);
    ck_assert_int_eq(device->device_info(device->device_count(), &info), NMODGPU_EINVAL);
}
END_TEST

TCase *device_queue_cases(device_setup setup, device_setup end)
{
    TCase *tc = tcase_create("queues");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, end);
    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_test(tc, a_prepared_operand_serves_several_products);
    tcase_add_test(tc, windows_of_prepared_operands_multiply);
    tcase_add_test(tc, transposed_operands_multiply);
    tcase_add_test(tc, sums_accumulate_over_calls);
    tcase_add_test(tc, queues_wait_for_each_other_by_events);
    tcase_add_test(tc, threads_multiply_at_once);
    tcase_add_test(tc, what_cannot_be_is_refused);
    tcase_add_test(tc, devices_describe_themselves);
    return tc;
}
