/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Every variant of the conversion and reduction kernels: numbers of planes and sums, both roads of the
 * reduction, widths of words, alignments.
 */
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

/** Columns around the kernels' widths: one thread, a warp, a block, more; odd and even. */
static const int64_t widths[] = {1, 2, 3, 31, 64, 65, 511, 512, 514, 1027};
#define WIDTHS (int64_t)(sizeof widths / sizeof *widths)

/** A product whose operands and sums stay on the device while reductions of all kinds run. */
typedef struct bench {
    nmodgpu_queue *queue;
    const nmodgpu_plan *plan;
    nmodgpu_matrix left, right, sums;
    int64_t m, k, n;
    uint64_t *expected;
} bench;

/** Planes are windows at `shift` columns and rows into larger ones, so that they lie at odd addresses. */
static void load_shifted(const bench *x, nmodgpu_matrix *planes, nmodgpu_matrix *whole, const host_case *h,
                         int64_t shift, uint32_t bytes)
{
    nmodgpu_matrix words = harness_words(x->plan->modulus, h->rows + shift, h->cols + shift, bytes);
    *whole = harness_planes(x->plan, planes->side, h->rows + shift, h->cols + shift);
    OK(device->matrix_alloc(x->queue, &words));
    OK(device->matrix_alloc(x->queue, whole));
    nmodgpu_matrix to = nmodgpu_matrix_window(&words, shift, words.rows, shift, words.cols);
    *planes = nmodgpu_matrix_window(whole, shift, words.rows, shift, words.cols);
    OK(device->import_words(x->queue, &to, &h->view));
    OK(device->prepare(x->queue, planes, &to));
    device->matrix_free(x->queue, &words);
}

static void open_bench(bench *x, nmodgpu_matrix whole[2], int64_t shift, uint32_t bytes)
{
    const uint64_t p = x->plan->modulus;
    host_case a = harness_host(x->m, x->k, p, TEST_UNIFORM, LAYOUT_DENSE);
    host_case b = harness_host(x->k, x->n, p, TEST_UNIFORM, LAYOUT_DENSE);
    x->expected = malloc((size_t)(x->m * x->n) * sizeof *x->expected);
    ck_assert_ptr_nonnull(x->expected);
    harness_expect(x->expected, NULL, 1, a.plain, b.plain, x->m, x->k, x->n, p);
    OK(device->queue_open(0, &x->queue));
    x->left = harness_planes(x->plan, NMODGPU_LEFT, x->m, x->k);
    x->right = harness_planes(x->plan, NMODGPU_RIGHT, x->k, x->n);
    x->sums = harness_sums(x->plan, x->m, x->n);
    load_shifted(x, &x->left, &whole[0], &a, shift, bytes);
    load_shifted(x, &x->right, &whole[1], &b, shift, bytes);
    OK(device->matrix_alloc(x->queue, &x->sums));
    OK(device->multiply_accumulate(x->queue, &x->sums, (1ULL << x->plan->sums) - 1, &x->left, &x->right, false));
    for (uint32_t g = 0; g < x->plan->sums; g++)
        ck_assert_int_eq(x->sums.inner_used[g], x->k);
    harness_host_free(&a);
    harness_host_free(&b);
}

static void close_bench(bench *x, nmodgpu_matrix whole[2])
{
    device->matrix_free(x->queue, &whole[0]);
    device->matrix_free(x->queue, &whole[1]);
    device->matrix_free(x->queue, &x->sums);
    device->queue_close(x->queue, false);
    free(x->expected);
}

/** A random set of `count` sums out of `all`. */
static uint64_t some_sums(uint32_t count, uint32_t all)
{
    uint64_t mask = 0;
    while (count > 0) {
        const uint64_t bit = 1ULL << test_below(all);
        count -= !(mask & bit);
        mask |= bit;
    }
    return mask;
}

/** The product in two reductions: `count` sums without a base, the rest on top.  Words at odd addresses with
 *  shift 1. */
static void check_reduction(bench *x, uint32_t count, uint32_t first_bytes, uint32_t last_bytes, bool in_place,
                            int64_t shift)
{
    char what[160];
    const uint64_t p = x->plan->modulus, all = (1ULL << x->plan->sums) - 1;
    const uint64_t mask = some_sums(count, x->plan->sums);
    host_case d = harness_host_result(x->m, x->n, p, LAYOUT_STRIDE);
    nmodgpu_matrix first_whole = harness_words(p, x->m + shift, x->n + shift, first_bytes);
    nmodgpu_matrix last_whole = harness_words(p, x->m + shift, x->n + shift, last_bytes);
    OK(device->matrix_alloc(x->queue, &first_whole));
    OK(device->matrix_alloc(x->queue, &last_whole));
    nmodgpu_matrix first = nmodgpu_matrix_window(&first_whole, shift, x->m + shift, shift, x->n + shift);
    nmodgpu_matrix last = nmodgpu_matrix_window(&last_whole, shift, x->m + shift, shift, x->n + shift);
    nmodgpu_matrix *out = in_place ? &first : &last;
    OK(device->reduce(x->queue, &first, NULL, 1, &x->sums, mask));
    OK(device->reduce(x->queue, out, &first, 1, &x->sums, all & ~mask));
    OK(device->export_words(x->queue, &d.view, out));
    OK(device->wait(x->queue, NULL));
    snprintf(what, sizeof what,
             "seed %llu: %lld x %lld mod %llu, %u of %u sums, widths %u %u, in place %d, shift %d",
             (unsigned long long)seed, (long long)x->m, (long long)x->n, (unsigned long long)p, count,
             x->plan->sums, first_bytes, last_bytes, in_place, (int)shift);
    harness_compare(&d, x->expected, what);
    device->matrix_free(x->queue, &first_whole);
    device->matrix_free(x->queue, &last_whole);
    harness_host_free(&d);
}

static void check_reductions(uint64_t p, int64_t rows, int64_t cols)
{
    nmodgpu_plan plan;
    nmodgpu_matrix whole[2];
    ck_assert(harness_plan(&plan, p, 3, 3, false));
    bench x = {.plan = &plan, .m = rows, .k = 4, .n = cols};
    const uint32_t narrow = p >> 32 ? 8 : 4;
    open_bench(&x, whole, 0, narrow);
    for (uint32_t count = 1; count < plan.sums; count++)
        for (int64_t shift = 0; shift < 2; shift++) {
            check_reduction(&x, count, 8, 8, false, shift);
            check_reduction(&x, count, 8, narrow, false, shift);
            check_reduction(&x, count, narrow, 8, false, shift);
            check_reduction(&x, count, narrow, narrow, true, shift);
        }
    close_bench(&x, whole);
}

/** The double road, both sides of where it ends, and integers below and above 2^63. */
START_TEST(every_reduction_is_exact)
{
    static const uint64_t moduli[] = {1,
                                      2,
                                      (1ULL << 31) - 1,
                                      (1ULL << 32) - 1,
                                      (1ULL << 45) - 55,
                                      (1ULL << 49) - 81,
                                      (1ULL << 50) + 1,
                                      (1ULL << 62) - 57,
                                      1ULL << 63,
                                      UINT64_MAX - 58,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++)
        check_reductions(moduli[i], 1 + (int64_t)test_below(9), widths[test_below((uint64_t)WIDTHS)]);
}
END_TEST

START_TEST(every_width_is_reduced)
{
    for (int64_t i = 0; i < WIDTHS; i++)
        check_reductions(test_modulus(1 + (unsigned)test_below(64)), 1 + (int64_t)test_below(300 / widths[i] + 2),
                         widths[i]);
}
END_TEST

/** Operands converted from both widths of words at even and odd addresses, reduced at once, with sign. */
static void check_conversion(const nmodgpu_plan *plan, int64_t m, int64_t n, int64_t shift, uint32_t bytes)
{
    char what[160];
    nmodgpu_matrix whole[2];
    bench x = {.plan = plan, .m = m, .k = 1 + (int64_t)test_below(3), .n = n};
    for (uint32_t g = 0; g < plan->sums; g++)
        if (plan->lambda[g] < x.k)
            x.k = 1;
    open_bench(&x, whole, shift, bytes);
    host_case d = harness_host_result(m, n, plan->modulus, LAYOUT_DENSE);
    nmodgpu_matrix out = harness_words(plan->modulus, m, n, 8);
    OK(device->matrix_alloc(x.queue, &out));
    OK(device->reduce(x.queue, &out, NULL, -1, &x.sums, (1ULL << plan->sums) - 1));
    OK(device->export_words(x.queue, &d.view, &out));
    OK(device->wait(x.queue, NULL));
    for (int64_t i = 0; i < m * n; i++) /* the sign was -1 */
        x.expected[i] = x.expected[i] ? plan->modulus - x.expected[i] : 0;
    snprintf(what, sizeof what, "seed %llu: %lld x %lld mod %llu, %s, from %u bytes, shift %d",
             (unsigned long long)seed, (long long)m, (long long)n, (unsigned long long)plan->modulus, plan->name,
             bytes, (int)shift);
    harness_compare(&d, x.expected, what);
    device->matrix_free(x.queue, &out);
    harness_host_free(&d);
    close_bench(&x, whole);
}

START_TEST(every_conversion_is_exact)
{
    for (uint32_t u = 0; u <= 4; u++)
        for (uint32_t v = 1; v <= 4; v++)
            for (int64_t shift = 0; shift < 2; shift++) {
                nmodgpu_plan plan;
                uint64_t p;
                do
                    p = test_modulus(1 + (unsigned)test_below(64));
                while (!(u == 0 ? harness_karatsuba(&plan, p, v) : harness_plan(&plan, p, u, v, false)));
                check_conversion(&plan, widths[test_below((uint64_t)WIDTHS)], widths[test_below((uint64_t)WIDTHS)],
                                 shift, p >> 32 || test_below(2) ? 8 : 4);
            }
}
END_TEST

TCase *device_kernel_cases(device_setup setup, device_setup end)
{
    TCase *tc = tcase_create("kernels");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, end);
    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_test(tc, every_reduction_is_exact);
    tcase_add_test(tc, every_width_is_reduced);
    tcase_add_test(tc, every_conversion_is_exact);
    return tc;
}
