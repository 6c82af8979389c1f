/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Whole products on a device, against plain 128-bit arithmetic.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device_cases.h"
#include "device_check.h"
#include "device_harness.h"
#include "support.h"

static uint64_t seed;

static void begin(void)
{
    seed = test_seed();
}

START_TEST(random_products_are_exact)
{
    for (int i = 0; i < sizes.products; i++) {
        nmodgpu_plan plan;
        const device_product x = device_random_case(sizes.usual);
        harness_random_plan(&plan, x.p);
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

START_TEST(every_pattern_by_every_pattern_is_exact)
{
    for (int i = 0; i < TEST_PATTERNS * TEST_PATTERNS; i++) {
        nmodgpu_plan plan;
        device_product x = device_random_case(40);
        x.m += 3;
        x.k += 3;
        x.n += 3;
        x.pattern_a = (test_pattern)(i % TEST_PATTERNS);
        x.pattern_b = (test_pattern)(i / TEST_PATTERNS);
        harness_random_plan(&plan, x.p);
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

START_TEST(empty_and_tiny_shapes)
{
    for (int i = 0; i < 64; i++) {
        nmodgpu_plan plan;
        device_product x = device_random_case(2);
        x.m = i & 3;
        x.k = i >> 2 & 3;
        x.n = i >> 4 & 3;
        harness_random_plan(&plan, x.p);
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

/** Worst-case entries over the whole inner length that the bounds allow. */
START_TEST(sums_reach_their_bounds)
{
    static const unsigned bits[] = {20, 24, 31, 40, 50, 63, 64};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        nmodgpu_plan plan;
        device_product x = device_random_case(1);
        x.p = test_modulus(bits[i]);
        do
            harness_random_plan(&plan, x.p);
        while (plan.lambda[0] < 2);
        x.k = plan.lambda[0] < 3 * sizes.large ? plan.lambda[0] + 1 : 3 * sizes.large;
        x.m = x.n = 5;
        x.pattern_a = test_below(2) ? TEST_ALL_HALF : TEST_ALL_MINUS_ONE;
        x.pattern_b = test_below(2) ? TEST_ALL_HALF : TEST_ALL_MINUS_ONE;
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

START_TEST(large_products_are_exact)
{
    static const unsigned bits[] = {23, 31, 50, 64};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        nmodgpu_plan plan;
        device_product x = device_random_case(1);
        x.m = sizes.large - (int64_t)test_below(40);
        x.k = sizes.large - (int64_t)test_below(40);
        x.n = sizes.large - (int64_t)test_below(40);
        x.p = test_modulus(bits[i]);
        x.pattern_a = x.pattern_b = TEST_UNIFORM;
        harness_random_plan(&plan, x.p);
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

/** More rows than a grid of a GPU has places in its second dimension. */
START_TEST(tall_and_flat_products_are_exact)
{
    for (int i = 0; i < 4; i++) {
        nmodgpu_plan plan;
        device_product x = device_random_case(1);
        x.m = i < 2 ? sizes.tall : 3;
        x.n = i < 2 ? 1 + (int64_t)test_below(4) : sizes.tall;
        x.k = 1 + (int64_t)test_below(4);
        x.pattern_a = x.pattern_b = TEST_UNIFORM;
        if (i == 0)
            x.n = sizes.usual / 2;
        harness_random_plan(&plan, x.p);
        device_check(&x, &plan, 1, seed);
    }
}
END_TEST

static void check_round_trip(int64_t rows, int64_t cols, uint64_t p, host_layout from, host_layout to,
                             uint32_t width)
{
    char what[128];
    nmodgpu_queue *queue;
    host_case a = harness_host(rows, cols, p, TEST_UNIFORM, from);
    host_case d = harness_host_result(rows, cols, p, to);
    nmodgpu_matrix words = harness_words(p, rows, cols, width);
    snprintf(what, sizeof what, "seed %llu: %lld x %lld mod %llu there and back, layouts %d %d, %u bytes",
             (unsigned long long)seed, (long long)rows, (long long)cols, (unsigned long long)p, from, to, width);
    OK(device->queue_open(0, &queue));
    OK(device->matrix_alloc(queue, &words));
    OK(device->import_words(queue, &words, &a.view));
    OK(device->export_words(queue, &d.view, &words));
    OK(device->wait(queue, NULL));
    harness_compare(&d, a.plain, what);
    device->matrix_free(queue, &words);
    device->queue_close(queue, false);
    harness_host_free(&a);
    harness_host_free(&d);
}

/** Shapes that need many parts of a bounce buffer, and rows wider than it. */
START_TEST(words_travel_there_and_back)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 1300007}, {3, 600011}, {2001, 703}, {90001, 7}, {640, 640}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const host_layout to = (host_layout)test_below(LAYOUTS);
            check_round_trip(shapes[i][0], shapes[i][1], test_modulus(32), (host_layout)layout, to,
                             layout & 1 ? 4 : 8);
            check_round_trip(shapes[i][0], shapes[i][1], test_modulus(32), to, (host_layout)layout,
                             layout & 1 ? 8 : 4);
        }
}
END_TEST

/** Rows further apart than a two-dimensional copy of CUDA's may have them. */
START_TEST(rows_lie_far_apart)
{
    const int64_t rows = 3, cols = 5, stride = ((int64_t)1 << 28) + 3;
    const size_t bytes = (size_t)((rows - 1) * stride + cols) * sizeof(uint64_t);
    uint64_t *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    host_case a = harness_host(rows, cols, 97, TEST_UNIFORM, LAYOUT_DENSE);
    nmodgpu_matrix far = a.view, words = harness_words(97, rows, cols, 8);
    nmodgpu_queue *queue;
    far.data = memory;
    far.stride = stride;
    OK(device->queue_open(0, &queue));
    OK(device->matrix_alloc(queue, &words));
    OK(device->import_words(queue, &words, &a.view));
    OK(device->export_words(queue, &far, &words));
    OK(device->wait(queue, NULL));
    OK(device->import_words(queue, &words, &far));
    host_case d = harness_host_result(rows, cols, 97, LAYOUT_DENSE);
    OK(device->export_words(queue, &d.view, &words));
    OK(device->wait(queue, NULL));
    harness_compare(&d, a.plain, "rows 2 GiB apart");
    device->matrix_free(queue, &words);
    device->queue_close(queue, false);
    munmap(memory, bytes);
    harness_host_free(&a);
    harness_host_free(&d);
}
END_TEST

TCase *device_product_cases(device_setup setup, device_setup end)
{
    TCase *tc = tcase_create("products");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, end);
    tcase_add_checked_fixture(tc, begin, NULL);
    tcase_add_test(tc, random_products_are_exact);
    tcase_add_test(tc, every_pattern_by_every_pattern_is_exact);
    tcase_add_test(tc, empty_and_tiny_shapes);
    tcase_add_test(tc, sums_reach_their_bounds);
    tcase_add_test(tc, large_products_are_exact);
    tcase_add_test(tc, tall_and_flat_products_are_exact);
    tcase_add_test(tc, words_travel_there_and_back);
    tcase_add_test(tc, rows_lie_far_apart);
    return tc;
}
