/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "rates.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

#include "blas.h"
#include "exact/passes.h"
#include "memory.h"

/* Products of this size are at nine tenths of the best rate on one thread; many threads need larger ones. */
enum { SIZE = 512, LARGE = 1024, PAD = 8 };
#define MEASURE_SECONDS 12e-3

/** On one thread its processor time, which other programs at work do not stretch: what they leave to us later
 *  is not known. */
static double seconds_now(bool alone)
{
    struct timespec t;
    clock_gettime(alone ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Flops of the best of some products C = A * A, as many as begin within MEASURE_SECONDS; A (zeros will do)
 *  and C stand in `data`. */
static double measure_size(double *data, int64_t n, bool alone)
{
    const blas_operand a = {data, n + PAD};
    const double begin = seconds_now(alone);
    double best = HUGE_VAL;
    for (double start = begin; start < begin + MEASURE_SECONDS; start = seconds_now(alone)) {
        blas_multiply(data + n * (n + PAD), n + PAD, false, a, a, n, n, n, HUGE_VAL);
        best = fmin(best, seconds_now(alone) - start);
    }
    return 2.0 * (double)n * (double)n * (double)n / best;
}

/** One thread's rate, where the BLAS can be told to use one; else 0. */
static double measure_alone(double *data)
{
    if (!blas_alone_below(HUGE_VAL))
        return 0;
    const double flops = measure_size(data, SIZE, true);
    blas_alone_below(0);
    return flops;
}

/** On busy machines, threads that wait for each other lose time slices of the system in every product (OpenBLAS
 *  0.3.29 on two processors, beside one busy program: 20 ms).  Leaves products that are too short for that to
 *  one thread, when one of SIZE is. */
static double measure_flops(double *data, int threads)
{
    if (threads == 1)
        return measure_size(data, SIZE, true);
    double flops = measure_size(data, SIZE, false);
    /* 2e9 operations: only where they are done in 10 ms. */
    if (flops > 2e11)
        flops = fmax(flops, measure_size(data, LARGE, false));
    const double alone = measure_alone(data);
    if (alone > flops) /* the first products of all may just have been cold */
        flops = fmax(flops, measure_size(data, SIZE, false));
    if (alone <= flops)
        return flops;
    const double size = 2.0 * SIZE * SIZE * SIZE;
    const double lost_seconds = size / flops - size / (alone * threads);
    blas_alone_below(lost_seconds * alone * threads / (threads - 1));
    return alone;
}

/** Seconds of a reduction of two SIZE x SIZE sum planes on one thread. */
static double measure_reduction(double *data, uint64_t p)
{
    const nmodgpu_plan plan = {.modulus = p, .sums = 2, .coefficient = {1, 65536}};
    const nmodgpu_reducer reducer = nmodgpu_reducer_make(&plan, 3, 1);
    const nmodgpu_matrix sums = {
        .rows = SIZE, .cols = SIZE, .stride = SIZE, .plane_stride = SIZE * SIZE, .data = data};
    const nmodgpu_matrix out = {.rows = SIZE,
                                .cols = SIZE,
                                .stride = SIZE,
                                .element_bytes = p >> 32 ? 8 : 4,
                                .data = data + 2 * SIZE * SIZE};
    double best = HUGE_VAL;
    for (int run = 0; run < 3; run++) {
        const double start = seconds_now(true);
        nmodgpu_host_reduce(&reducer, &out, NULL, &sums, 0, SIZE);
        best = fmin(best, seconds_now(true) - start);
    }
    return best;
}

nmodgpu_rates cblas_rates(int threads)
{
    nmodgpu_rates rates = {
        .f64_flops = 2e10 * threads,
        .f64_k_half = 6,    /* measured with OpenBLAS 0.3.21 on a Zen 4 core at m = n = 1000 */
        .f64_tile_rows = 8, /* of its kernels, about */
        .f64_tile_cols = 8,
        .processors = 1, /* the rate is that of all threads together */
        .gemm_start = 5e-7 + 5e-6 * (threads > 1),
        .pass_start = 5e-7,
        .pass_bytes = 4e9,
        .integer_sums = 3e8,
        .call_start = 3e-6,
    };
    const int64_t size = threads > 1 ? LARGE : SIZE;
    const int64_t entries = 3 * size * (size + PAD);
    double *data = cblas_allocate((uint64_t)entries * sizeof(double));
    if (data) {
        for (int64_t i = 0; i < entries; i++)
            data[i] = 0;
        rates.f64_flops = measure_flops(data, threads);
        rates.pass_bytes = SIZE * SIZE * (8.0 + 8.0 + 4.0) / measure_reduction(data, 2147483647);
        rates.integer_sums = SIZE * SIZE * 2.0 / measure_reduction(data, 18446744073709551557u);
        cblas_release(data, 0);
    }
    /* A few threads use up the memory's bandwidth. */
    rates.pass_bytes *= threads < 8 ? threads : 8;
    rates.integer_sums *= threads;
    rates.import_bytes = rates.pass_bytes;
    rates.export_bytes = rates.pass_bytes;
    return rates;
}
