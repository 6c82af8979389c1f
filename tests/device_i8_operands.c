/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Prepared operands of the int8 engine, their windows, sums that accumulate, and what is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device_cases.h"
#include "device_harness.h"
#include "device_i8.h"

typedef struct bench {
    nmodgpu_queue *queue;
    const nmodgpu_plan *plan;
    host_case a, b;
    nmodgpu_matrix left, right;
} bench;

static void open_bench(bench *x, const nmodgpu_plan *plan, int64_t m, int64_t k, int64_t n)
{
    const uint64_t p = plan->modulus;
    const uint32_t bytes = test_below(2) ? 8 : i8_width(p);
    x->plan = plan;
    x->a = harness_host(m, k, p, (int)test_below(TEST_PATTERNS), LAYOUT_DENSE);
    x->b = harness_host(k, n, p, (int)test_below(TEST_PATTERNS), LAYOUT_STRIDE);
    x->left = harness_planes(plan, NMODGPU_LEFT, m, k);
    x->right = harness_planes(plan, NMODGPU_RIGHT, k, n);
    OK(device->queue_open(0, &x->queue));
    OK(harness_load(x->queue, &x->left, &x->a.view, bytes));
    OK(harness_load(x->queue, &x->right, &x->b.view, bytes));
}

static void close_bench(bench *x)
{
    device->matrix_free(x->queue, &x->left);
    device->matrix_free(x->queue, &x->right);
    device->queue_close(x->queue, false);
    harness_host_free(&x->a);
    harness_host_free(&x->b);
}

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

/** The product of rows [i0, i0 + m) of the left operand and columns [j0, j0 + n) of the right one, over [l0, l0 +
 * k). */
static void check_product(bench *x, int64_t i0, int64_t m, int64_t l0, int64_t k, int64_t j0, int64_t n)
{
    char what[200];
    const uint64_t p = x->plan->modulus;
    const nmodgpu_matrix l = nmodgpu_matrix_window(&x->left, i0, i0 + m, l0, l0 + k);
    const nmodgpu_matrix r = nmodgpu_matrix_window(&x->right, l0, l0 + k, j0, j0 + n);
    uint64_t *a = cut(&x->a, i0, m, l0, k), *b = cut(&x->b, l0, k, j0, n);
    uint64_t *expected = malloc((size_t)(m * n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    host_case d = harness_host_result(m, n, p, LAYOUT_STRIDE);
    nmodgpu_matrix sums = harness_sums(x->plan, m, n), acc = harness_words(p, m, n, 8);
    snprintf(what, sizeof what,
             "seed %llu: window %lld+%lld, %lld+%lld, %lld+%lld of %lld x %lld x %lld mod %llu, %s",
             (unsigned long long)i8_seed, (long long)i0, (long long)m, (long long)l0, (long long)k, (long long)j0,
             (long long)n, (long long)x->a.rows, (long long)x->a.cols, (long long)x->b.cols, (unsigned long long)p,
             x->plan->name);
    OK(device->matrix_alloc(x->queue, &sums));
    OK(device->matrix_alloc(x->queue, &acc));
    OK(harness_steps(x->queue, &acc, false, 1, &sums, &l, &r));
    OK(device->export_words(x->queue, &d.view, &acc));
    OK(device->wait(x->queue, NULL));
    harness_expect(expected, NULL, 1, a, b, m, k, n, p);
    harness_compare(&d, expected, what);
    device->matrix_free(x->queue, &sums);
    device->matrix_free(x->queue, &acc);
    harness_host_free(&d);
    free(expected);
    free(a);
    free(b);
}

/** Any rows and columns; inner ends at multiples of 16, or with the operands. */
static void check_window(bench *x)
{
    const int64_t rows = x->a.rows, inner = x->a.cols, cols = x->b.cols;
    const int64_t i0 = (int64_t)test_below((uint64_t)rows), m = 1 + (int64_t)test_below((uint64_t)(rows - i0));
    const int64_t j0 = (int64_t)test_below((uint64_t)cols), n = 1 + (int64_t)test_below((uint64_t)(cols - j0));
    const int64_t l0 = 16 * (int64_t)test_below((uint64_t)(inner + 15) / 16);
    const int64_t end = l0 + 16 * (1 + (int64_t)test_below(6));
    check_product(x, i0, m, l0, (end < inner ? end : inner) - l0, j0, n);
}

/** Operands prepared once serve many products of their windows. */
START_TEST(windows_of_int8_operands)
{
    for (int i = 0; i < 12; i += device_brief() ? 3 : 1) {
        nmodgpu_plan plans[NMODGPU_I8_KINDS];
        const uint64_t p = i < 4 ? 2 + test_below(1u << (4 * i + 4)) : test_modulus(2 + (unsigned)test_below(63));
        const int64_t m = 20 + (int64_t)test_below(60), k = 20 + (int64_t)test_below(150),
                      n = 20 + (int64_t)test_below(60);
        const int count = i8_plans(plans, p, m, k, n);
        for (int j = 0; j < count; j++) {
            bench x;
            open_bench(&x, &plans[j], m, k, n);
            for (int w = 0; w < (device_brief() ? 1 : 6); w++)
                check_window(&x);
            close_bench(&x);
        }
    }
}
END_TEST

/** C -+ A B: three panels into the same sums, then one reduction; widths of words, base apart or in place, at even
 *  and odd addresses. */
static void check_accumulation(bench *x, int sign, uint32_t base_bytes, uint32_t out_bytes, bool in_place,
                               int64_t shift)
{
    char what[200];
    const uint64_t p = x->plan->modulus, all = (1ULL << x->plan->sums) - 1;
    const int64_t m = x->a.rows, k = x->a.cols, n = x->b.cols;
    const int64_t ends[] = {0, k / 3 / 16 * 16, k / 2 / 16 * 16, k};
    host_case c = harness_host(m, n, p, TEST_UNIFORM, LAYOUT_DENSE);
    host_case d = harness_host_result(m, n, p, LAYOUT_DENSE);
    nmodgpu_matrix sums = harness_sums(x->plan, m, n);
    nmodgpu_matrix base_whole = harness_words(p, m + shift, n + shift, base_bytes);
    nmodgpu_matrix out_whole = harness_words(p, m + shift, n + shift, out_bytes);
    uint64_t *expected = malloc((size_t)(m * n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    OK(device->matrix_alloc(x->queue, &sums));
    OK(device->matrix_alloc(x->queue, &base_whole));
    OK(device->matrix_alloc(x->queue, &out_whole));
    nmodgpu_matrix base = nmodgpu_matrix_window(&base_whole, shift, m + shift, shift, n + shift);
    nmodgpu_matrix apart = nmodgpu_matrix_window(&out_whole, shift, m + shift, shift, n + shift);
    nmodgpu_matrix *out = in_place ? &base : &apart;
    OK(device->import_words(x->queue, &base, &c.view));
    for (int i = 0; i < 3; i++) {
        const nmodgpu_matrix l = nmodgpu_matrix_window(&x->left, 0, m, ends[i], ends[i + 1]);
        const nmodgpu_matrix r = nmodgpu_matrix_window(&x->right, ends[i], ends[i + 1], 0, n);
        OK(device->multiply_accumulate(x->queue, &sums, all, &l, &r, i > 0));
        for (uint32_t g = 0; g < x->plan->sums; g++)
            ck_assert_int_eq(sums.inner_used[g], ends[i + 1]);
    }
    OK(device->reduce(x->queue, out, &base, sign, &sums, all));
    ck_assert_int_eq(sums.inner_used[0], 0);
    OK(device->export_words(x->queue, &d.view, out));
    OK(device->wait(x->queue, NULL));
    snprintf(what, sizeof what,
             "seed %llu: %lld x %lld x %lld mod %llu, %s, sign %d, widths %u %u, in place %d, shift %d",
             (unsigned long long)i8_seed, (long long)m, (long long)k, (long long)n, (unsigned long long)p,
             x->plan->name, sign, base_bytes, out_bytes, in_place, (int)shift);
    harness_expect(expected, c.plain, sign, x->a.plain, x->b.plain, m, k, n, p);
    harness_compare(&d, expected, what);
    device->matrix_free(x->queue, &sums);
    device->matrix_free(x->queue, &base_whole);
    device->matrix_free(x->queue, &out_whole);
    harness_host_free(&c);
    harness_host_free(&d);
    free(expected);
}

START_TEST(int8_sums_accumulate_and_reduce_onto_words)
{
    static const unsigned bits[] = {2, 5, 8, 11, 13, 16, 23, 31, 32, 33, 50, 63, 64};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i += device_brief() ? 4 : 1) { /* 2, 13, 32, 64 */
        nmodgpu_plan plans[NMODGPU_I8_KINDS];
        const uint64_t p = test_modulus(bits[i]);
        const uint32_t narrow = p >> 32 ? 8 : 4, narrowest = i8_width(p);
        const int64_t m = i8_awkward_size(), k = 48 + (int64_t)test_below(80), n = i8_awkward_size();
        const int count = i8_plans(plans, p, m, k, n);
        for (int j = 0; j < count; j++) {
            bench x;
            open_bench(&x, &plans[j], m, k, n);
            for (int64_t shift = 0; shift < 2; shift++) {
                check_accumulation(&x, 1, narrow, narrowest, shift, shift);
                if (device_brief())
                    continue;
                check_accumulation(&x, -1, 8, narrow, false, shift);
                check_accumulation(&x, 1, narrow, narrowest, !shift, shift);
                check_accumulation(&x, 1, 8, 8, true, shift);
                check_accumulation(&x, 1, narrow, 8, false, shift);
                check_accumulation(&x, -1, narrow, narrow, true, shift);
                check_accumulation(&x, -1, narrowest, narrow, false, shift);
                check_accumulation(&x, 1, narrowest, narrowest, true, shift);
            }
            close_bench(&x);
        }
    }
}
END_TEST

/** Planes from words that are a window at (1, 1) of larger ones, so that they lie at odd addresses. */
static void load_shifted(bench *x, nmodgpu_matrix *planes, const host_case *h, uint32_t bytes)
{
    nmodgpu_matrix whole = harness_words(x->plan->modulus, h->rows + 1, h->cols + 1, bytes);
    OK(device->matrix_alloc(x->queue, &whole));
    nmodgpu_matrix words = nmodgpu_matrix_window(&whole, 1, whole.rows, 1, whole.cols);
    OK(device->import_words(x->queue, &words, &h->view));
    OK(device->prepare(x->queue, planes, &words));
    device->matrix_free(x->queue, &whole);
}

START_TEST(int8_planes_of_windows_of_words)
{
    for (int i = 0; i < 16; i += device_brief() ? 5 : 1) {
        nmodgpu_plan plans[NMODGPU_I8_KINDS];
        const uint64_t p = test_modulus(device_brief() ? 4u * (unsigned)i + 4 : 2 + (unsigned)test_below(63));
        const int64_t m = i8_awkward_size(), k = i8_awkward_size(), n = i8_awkward_size();
        const int count = i8_plans(plans, p, m, k, n);
        for (int j = 0; j < count; j++) {
            bench x;
            open_bench(&x, &plans[j], m, k, n);
            for (uint32_t bytes = i8_width(p); bytes <= 8; bytes *= 2) {
                load_shifted(&x, &x.left, &x.a, bytes);
                load_shifted(&x, &x.right, &x.b, bytes);
                check_product(&x, 0, m, 0, k, 0, n);
            }
            close_bench(&x);
        }
    }
}
END_TEST

/** No product over nothing: sums become zero, or stay. */
START_TEST(int8_sums_over_nothing)
{
    nmodgpu_plan plans[NMODGPU_I8_KINDS];
    const uint64_t p = 200 + test_below(57);
    const int64_t m = 19, k = 32, n = 21;
    const int count = i8_plans(plans, p, m, k, n);
    for (int j = 0; j < count; j++) {
        bench x;
        open_bench(&x, &plans[j], m, k, n);
        const uint64_t all = (1ULL << plans[j].sums) - 1;
        const nmodgpu_matrix l = nmodgpu_matrix_window(&x.left, 0, m, 0, 0);
        const nmodgpu_matrix r = nmodgpu_matrix_window(&x.right, 0, 0, 0, n);
        nmodgpu_matrix sums = harness_sums(&plans[j], m, n), acc = harness_words(p, m, n, 4);
        host_case d = harness_host_result(m, n, p, LAYOUT_DENSE);
        uint64_t expected[19 * 21] = {0};
        OK(device->matrix_alloc(x.queue, &sums));
        OK(device->matrix_alloc(x.queue, &acc));
        OK(device->multiply_accumulate(x.queue, &sums, all, &l, &r, false));
        OK(device->reduce(x.queue, &acc, NULL, 1, &sums, all));
        OK(device->export_words(x.queue, &d.view, &acc));
        OK(device->wait(x.queue, NULL));
        harness_compare(&d, expected, "over nothing");
        OK(device->multiply_accumulate(x.queue, &sums, all, &x.left, &x.right, false));
        OK(device->multiply_accumulate(x.queue, &sums, all, &l, &r, true));
        OK(device->reduce(x.queue, &acc, NULL, 1, &sums, all));
        OK(device->export_words(x.queue, &d.view, &acc));
        OK(device->wait(x.queue, NULL));
        harness_expect(expected, NULL, 1, x.a.plain, x.b.plain, m, k, n, p);
        harness_compare(&d, expected, "nothing more");
        device->matrix_free(x.queue, &sums);
        device->matrix_free(x.queue, &acc);
        harness_host_free(&d);
        close_bench(&x);
    }
}
END_TEST

/** Windows that begin off a multiple of 16, and recombinations of a part of the residues. */
START_TEST(what_int8_cannot_do_is_refused)
{
    nmodgpu_plan plans[NMODGPU_I8_KINDS];
    const int count = i8_plans(plans, 2147483647, 20, 60, 20);
    for (int j = 0; j < count; j++) {
        bench x;
        open_bench(&x, &plans[j], 20, 60, 20);
        const uint64_t all = (1ULL << plans[j].sums) - 1;
        nmodgpu_matrix sums = harness_sums(&plans[j], 20, 20), acc = harness_words(2147483647, 20, 20, 8);
        OK(device->matrix_alloc(x.queue, &sums));
        OK(device->matrix_alloc(x.queue, &acc));
        for (int64_t l0 = 1; l0 < 32; l0 += 15) {
            if (l0 == 16)
                continue;
            const nmodgpu_matrix l = nmodgpu_matrix_window(&x.left, 0, 20, l0, 60);
            const nmodgpu_matrix r = nmodgpu_matrix_window(&x.right, l0, 60, 0, 20);
            ck_assert_int_eq(device->multiply_accumulate(x.queue, &sums, all, &l, &r, false), NMODGPU_EINVAL);
        }
        OK(device->multiply_accumulate(x.queue, &sums, all, &x.left, &x.right, false));
        ck_assert_int_eq(device->reduce(x.queue, &acc, NULL, 1, &sums, all >> 1), NMODGPU_EINVAL);
        OK(device->wait(x.queue, NULL));
        device->matrix_free(x.queue, &sums);
        device->matrix_free(x.queue, &acc);
        close_bench(&x);
    }
}
END_TEST

void i8_add_operand_tests(TCase *tc)
{
    tcase_add_test(tc, windows_of_int8_operands);
    tcase_add_test(tc, int8_sums_accumulate_and_reduce_onto_words);
    tcase_add_test(tc, int8_planes_of_windows_of_words);
    tcase_add_test(tc, int8_sums_over_nothing);
    tcase_add_test(tc, what_int8_cannot_do_is_refused);
}
