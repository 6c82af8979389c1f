/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Bandwidth of the conversion and reduction kernels on square matrices, and what a launch costs.
 */
#include "calibrate.h"
#include "cuda/kernels.h"

typedef struct passes {
    cudaStream_t stream;
    double *planes; /* up to six planes of n x n */
    void *words;
    int64_t n;
} passes;

static nmodgpu_plan digits_plan(uint64_t p, uint32_t planes, uint32_t sums)
{
    nmodgpu_plan plan = {0};
    plan.number = NMODGPU_F64;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = p;
    plan.left.digits = plan.left.planes = planes;
    plan.left.digit_bits = 64 / planes + 1 < 63 ? 64 / planes + 1 : 63;
    for (uint32_t i = 0; i < planes; i++)
        plan.left.plane_digits[i] = 1u << i;
    plan.sums = sums;
    for (uint32_t g = 0; g < sums; g++)
        plan.coefficient[g] = g ? p / 3 + g : 1 % p;
    return plan;
}

double calibrate_pass(cudaStream_t stream, cudaError_t (*launch)(cudaStream_t, const void *), const void *pass)
{
    cudaEvent_t from, to;
    float milliseconds, best = 1e9f;
    CUDA_OK(cudaEventCreate(&from));
    CUDA_OK(cudaEventCreate(&to));
    for (int r = 0; r < 4; r++) {
        CUDA_OK(cudaEventRecord(from, stream));
        for (int i = 0; i < 5; i++)
            CUDA_OK(launch(stream, pass));
        CUDA_OK(cudaEventRecord(to, stream));
        CUDA_OK(cudaEventSynchronize(to));
        CUDA_OK(cudaEventElapsedTime(&milliseconds, from, to));
        best = milliseconds < best ? milliseconds : best;
    }
    CUDA_OK(cudaEventDestroy(from));
    CUDA_OK(cudaEventDestroy(to));
    return best / 5e3;
}

static cudaError_t launch_prepare(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_prepare(stream, pass);
}

static cudaError_t launch_reduce(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_reduce(stream, pass);
}

static nmodgpu_prepare_pass prepare_pass(const passes *x, uint64_t p, uint32_t planes, uint32_t bytes)
{
    const nmodgpu_plan plan = digits_plan(p, planes, 1);
    nmodgpu_prepare_pass pass = {0};
    pass.how = nmodgpu_preparer_make(&plan, 0);
    pass.planes = x->planes;
    pass.plane_stride = x->n * x->n;
    pass.words = x->words;
    pass.words_bytes = bytes;
    pass.stride = pass.words_stride = pass.rows = pass.cols = x->n;
    return pass;
}

static void measure_prepare(const passes *x)
{
    printf("\nconversion, %d x %d: microseconds (TB/s read and written)\n", (int)x->n, (int)x->n);
    for (uint32_t bytes = 8; bytes >= 4; bytes -= 4)
        for (uint32_t planes = 1; planes <= 4; planes++) {
            nmodgpu_prepare_pass pass =
                prepare_pass(x, bytes == 8 ? (1ULL << 50) - 27 : (1ULL << 31) - 1, planes, bytes);
            const double moved = (double)x->n * (double)x->n * (bytes + 8.0 * planes);
            const double t = calibrate_pass(x->stream, launch_prepare, &pass);
            printf("  %u-byte words to %u planes: %8.1f (%.2f)\n", bytes, planes, t * 1e6, moved / t / 1e12);
        }
}

static void measure_reduce(const passes *x, uint64_t p, uint32_t sums, uint32_t out_bytes, uint32_t base_bytes)
{
    const nmodgpu_plan plan = digits_plan(p, 1, sums);
    nmodgpu_reduce_pass pass = {0};
    pass.how = nmodgpu_reducer_make(&plan, (1ULL << sums) - 1, 1);
    pass.sums = x->planes;
    pass.plane_stride = x->n * x->n;
    pass.out = x->words;
    pass.base = base_bytes ? x->words : NULL;
    pass.out_bytes = out_bytes;
    pass.base_bytes = base_bytes;
    pass.stride = pass.out_stride = pass.base_stride = pass.rows = pass.cols = x->n;
    const double moved = (double)x->n * (double)x->n * (out_bytes + base_bytes + 8.0 * sums);
    const double t = calibrate_pass(x->stream, launch_reduce, &pass);
    printf("  %s road, %u sums, base %u, out %u bytes: %8.1f (%.2f)\n", pass.how.use_double ? "double " : "integer",
           sums, base_bytes, out_bytes, t * 1e6, moved / t / 1e12);
}

static void measure_reductions(const passes *x)
{
    static const uint64_t moduli[] = {(1ULL << 31) - 1, (1ULL << 45) - 55, (1ULL << 62) - 57, UINT64_MAX - 58};
    static const uint32_t sums[] = {1, 2, 3, 4, 6};
    printf("\nreduction, %d x %d: microseconds (TB/s read and written)\n", (int)x->n, (int)x->n);
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        const uint32_t width = moduli[i] < 1ULL << 32 ? 4 : 8;
        printf(" p = %llu\n", (unsigned long long)moduli[i]);
        for (size_t j = 0; j < sizeof sums / sizeof *sums; j++) {
            measure_reduce(x, moduli[i], sums[j], 8, 0);
            measure_reduce(x, moduli[i], sums[j], width, width);
        }
    }
}

static void measure_launches(const passes *x)
{
    nmodgpu_prepare_pass pass = prepare_pass(x, 7, 1, 8);
    pass.rows = pass.cols = 1;
    double t = calibrate_now();
    for (int i = 0; i < 1000; i++)
        CUDA_OK(launch_prepare(x->stream, &pass));
    CUDA_OK(cudaStreamSynchronize(x->stream));
    printf("\nlaunches back to back: %.2f us each", (calibrate_now() - t) * 1e3);
    t = calibrate_now();
    for (int i = 0; i < 200; i++) {
        CUDA_OK(launch_prepare(x->stream, &pass));
        CUDA_OK(cudaStreamSynchronize(x->stream));
    }
    printf(", with a wait each: %.2f us\n", (calibrate_now() - t) * 5e3);
}

void calibrate_passes(cudaStream_t stream, int64_t n)
{
    passes x = {.stream = stream, .n = n};
    CUDA_OK(cudaMalloc((void **)&x.planes, (size_t)n * (size_t)n * 8 * 6));
    CUDA_OK(cudaMalloc(&x.words, (size_t)n * (size_t)n * 8));
    CUDA_OK(cudaMemset(x.planes, 0, (size_t)n * (size_t)n * 8 * 6));
    CUDA_OK(cudaMemset(x.words, 0, (size_t)n * (size_t)n * 8));
    measure_launches(&x);
    measure_prepare(&x);
    measure_reductions(&x);
    x.n = n / 8; /* what fits in the cache, where a launch counts */
    measure_prepare(&x);
    measure_reductions(&x);
    CUDA_OK(cudaFree(x.planes));
    CUDA_OK(cudaFree(x.words));
}
