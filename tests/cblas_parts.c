/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of the cblas backend: memory, loops on several threads, the guard, strips of products.
 */
#include <fenv.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_driver.h"
#include "cblas/blas.h"
#include "cblas/machine.h"
#include "cblas/memory.h"
#include "cblas/parallel.h"
#include "cblas_cases.h"
#include "hold.h"
#include "support.h"

START_TEST(rows_are_aligned_and_apart_in_the_cache)
{
    for (int i = 0; i < 2000; i++) {
        nmodgpu_matrix m = driver_words(3, (int64_t)test_below(300), (int64_t)test_below(3000), i % 2 ? 4 : 8);
        m.planes = 1 + (uint32_t)test_below(6);
        const uint64_t bytes = cblas_layout(&m);
        const int64_t row_bytes = m.stride * m.element_bytes, plane_bytes = m.plane_stride * m.element_bytes;
        ck_assert(m.stride >= m.cols && m.plane_stride >= m.rows * m.stride);
        ck_assert(row_bytes % 64 == 0 && plane_bytes % 64 == 0);
        ck_assert(row_bytes == 0 || row_bytes % 1024 != 0);
        ck_assert(bytes == (uint64_t)plane_bytes * m.planes);
    }
}
END_TEST

START_TEST(memory_of_any_size_is_aligned_and_ours_to_write)
{
    static const uint64_t sizes[] = {0, 1, 63, 64, 65, 5000, (2 << 20) - 64, 2 << 20, (2 << 20) + 1, 9 << 20};
    char *held[3] = {NULL};
    for (int i = 0; i < 200; i++) {
        char **slot = &held[test_below(3)];
        cblas_release(*slot, 1ULL << 34);
        const uint64_t bytes = sizes[test_below(sizeof sizes / sizeof *sizes)];
        *slot = cblas_allocate(bytes);
        ck_assert_ptr_nonnull(*slot);
        ck_assert_uint_eq((uintptr_t)*slot % 64, 0);
        memset(*slot, i, bytes);
    }
    for (int i = 0; i < 3; i++)
        cblas_release(held[i], 0);
    ck_assert_ptr_null(cblas_allocate(UINT64_MAX));
}
END_TEST

START_TEST(large_blocks_are_kept_within_the_limit)
{
    const uint64_t size = 8 << 20, memory = 16 * (40 << 20); /* so 40 MiB may be kept */
    void *block[8];
    for (int i = 0; i < 8; i++)
        ck_assert_ptr_nonnull(block[i] = cblas_allocate(size));
    ck_assert_uint_eq(cblas_kept_bytes(), 0);
    for (int i = 0; i < 8; i++) {
        cblas_release(block[i], memory);
        ck_assert(cblas_kept_bytes() <= memory / 16);
    }
    const uint64_t kept = cblas_kept_bytes();
    ck_assert(kept >= 2 * size);
    void *again = cblas_allocate(size - 100000);
    ck_assert(cblas_kept_bytes() < kept);
    void *small = cblas_allocate(1000), *other = cblas_allocate(2 * size);
    ck_assert_ptr_nonnull(again);
    cblas_release(again, memory);
    ck_assert_uint_eq(cblas_kept_bytes(), kept);
    cblas_release(small, memory);
    cblas_release(other, 0); /* nothing may be kept on a machine without memory */
    ck_assert_uint_eq(cblas_kept_bytes(), kept);
}
END_TEST

START_TEST(the_machine_tells_its_memory_and_processors)
{
    uint64_t total, available;
    cblas_memory(&total, &available);
    ck_assert(total > 1u << 26 && total < 1ULL << 52);
    ck_assert(available > 0 && available <= total);
    ck_assert_int_ge(cblas_processors(), 1);
}
END_TEST

enum { MOST_ROWS = 1000 };
static atomic_int visits[MOST_ROWS];

static void visit(const void *task, int64_t r0, int64_t r1)
{
    (void)task;
    for (int64_t i = r0; i < r1; i++)
        atomic_fetch_add(&visits[i], 1);
}

START_TEST(every_row_is_visited_once)
{
    for (int round = 0; round < 60; round++) {
        const int64_t rows = (int64_t)test_below(MOST_ROWS + 1);
        const int threads = 1 + (int)test_below(round % 10 ? 5 : 400);
        for (int i = 0; i < MOST_ROWS; i++)
            atomic_store(&visits[i], 0);
        cblas_parallel_rows(threads, rows, (int64_t)test_below(2) << (10 + test_below(14)), visit, NULL);
        for (int i = 0; i < MOST_ROWS; i++)
            if (atomic_load(&visits[i]) != (i < rows))
                ck_abort_msg("seed %llu: row %d of %lld, %d threads", (unsigned long long)cblas_seed, i,
                             (long long)rows, threads);
    }
}
END_TEST

static volatile sig_atomic_t handled;

static void handler(int number)
{
    (void)number;
    handled = 1;
}

START_TEST(signals_wait_for_the_end_of_the_guard)
{
    signal(SIGUSR1, handler);
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    raise(SIGUSR1);
    ck_assert_int_eq(handled, 0);
    nmodgpu_release_signals(&hold);
    ck_assert_int_eq(handled, 1);
}
END_TEST

START_TEST(the_blas_is_found_exact_in_every_rounding_mode)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        const bool exact = blas_exact();
        fesetround(FE_TONEAREST);
        ck_assert(exact);
    }
}
END_TEST

/** At one operation per second every strip is as short as strips get. */
START_TEST(strips_make_up_the_whole_product)
{
    enum { M = 1300, K = 7, N = 9 };
    static double a[M * K], b[K * N], c[M * N];
    for (int i = 0; i < M * K; i++)
        a[i] = (double)test_below(1000);
    for (int i = 0; i < K * N; i++)
        b[i] = (double)test_below(1000);
    for (int add = 0; add < 2; add++) {
        if (add == 0)
            memset(c, 0xff, sizeof c); /* NaNs, not to be read */
        blas_multiply(c, N, add, (blas_operand){a, K}, (blas_operand){b, N}, M, K, N, 1);
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int l = 0; l < K; l++)
                    sum += a[i * K + l] * b[l * N + j];
                if (c[i * N + j] != (add + 1) * sum)
                    ck_abort_msg("seed %llu: entry (%d, %d)", (unsigned long long)cblas_seed, i, j);
            }
        }
    }
}
END_TEST

START_TEST(products_on_one_thread_leave_the_others_to_the_program)
{
    enum { N = 70 };
    static double a[N * N], c[N * N];
    for (int i = 0; i < N * N; i++)
        a[i] = (double)test_below(1000);
    const int threads = blas_threads(2);
    ck_assert_int_eq(blas_alone_below(2.0 * N * N * N + 1), threads > 0);
    blas_multiply(c, N, false, (blas_operand){a, N}, (blas_operand){a, N}, N, N, N, 1e9);
    ck_assert_int_eq(blas_threads(0), threads);
    const int fewer = blas_threads(1); /* as the program may do between products */
    blas_multiply(c, N, false, (blas_operand){a, N}, (blas_operand){a, N}, N, N, N, 1e9);
    ck_assert_int_eq(blas_threads(0), fewer);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int l = 0; l < N; l++)
                sum += a[i * N + l] * a[l * N + j];
            ck_assert_msg(c[i * N + j] == sum, "seed %llu: entry (%d, %d)", (unsigned long long)cblas_seed, i, j);
        }
    }
}
END_TEST

TCase *cblas_parts_cases(void)
{
    TCase *c = tcase_create("parts");
    tcase_add_test(c, rows_are_aligned_and_apart_in_the_cache);
    tcase_add_test(c, memory_of_any_size_is_aligned_and_ours_to_write);
    tcase_add_test(c, large_blocks_are_kept_within_the_limit);
    tcase_add_test(c, the_machine_tells_its_memory_and_processors);
    tcase_add_test(c, every_row_is_visited_once);
    tcase_add_test(c, signals_wait_for_the_end_of_the_guard);
    tcase_add_test(c, the_blas_is_found_exact_in_every_rounding_mode);
    tcase_add_test(c, strips_make_up_the_whole_product);
    tcase_add_test(c, products_on_one_thread_leave_the_others_to_the_program);
    return c;
}
