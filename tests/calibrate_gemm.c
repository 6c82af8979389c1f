/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * dgemm over shapes, by the backend's own choice of algorithm.
 */
#include "calibrate.h"
#include "cuda/queue.h"

#define LARGEST 8192

typedef struct bench {
    nmodgpu_queue *queue;
    cudaEvent_t from, to;
    double *a, *b, *c;
} bench;

static double batch_seconds(const bench *x, int64_t size, int64_t k, double beta, int repeat)
{
    const nmodgpu_gemm g = {.number = NMODGPU_F64,
                            .batch = 1,
                            .m = size,
                            .k = k,
                            .n = size,
                            .a = x->a,
                            .b = x->b,
                            .c = x->c,
                            .a_stride = k,
                            .b_stride = size,
                            .c_stride = size,
                            .accumulate = (beta) != 0};
    float milliseconds;
    CUDA_OK(cudaEventRecord(x->from, x->queue->stream));
    for (int r = 0; r < repeat; r++)
        BACKEND_OK(nmodgpu_cuda_gemm(x->queue, &g));
    CUDA_OK(cudaEventRecord(x->to, x->queue->stream));
    CUDA_OK(cudaEventSynchronize(x->to));
    CUDA_OK(cudaEventElapsedTime(&milliseconds, x->from, x->to));
    return milliseconds / 1e3 / repeat;
}

/** Median of five batches of about 3 ms each. */
static double gemm_seconds(const bench *x, int64_t size, int64_t k, double beta)
{
    double seconds[5];
    const double first = batch_seconds(x, size, k, beta, 2);
    const int repeat = first > 3e-3 ? 1 : 1 + (int)(3e-3 / first);
    for (int i = 0; i < 5; i++)
        seconds[i] = batch_seconds(x, size, k, beta, repeat);
    return calibrate_median(seconds, 5);
}

/** Whether the last shape was served by an algorithm known to be native, or by the pedantic type. */
static const char *kind(const bench *x)
{
    const nmodgpu_gemm_memory *memory = &x->queue->gemm;
    return memory->kept[(memory->next + NMODGPU_GEMM_KEPT - 1) % NMODGPU_GEMM_KEPT].found ? "native" : "pedantic";
}

static int measure_squares(const bench *x, gemm_sample *samples)
{
    static const int64_t sizes[] = {256, 512, 1024, 2048, 4096, 8192};
    static const int64_t inner[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192};
    int count = 0;
    printf("\ndgemm, m = n = size: microseconds (TFLOP/s)\n%6s %6s %20s %20s\n", "size", "k", "beta 0", "beta 1");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof inner / sizeof *inner; j++) {
            const double work = 2.0 * (double)sizes[i] * (double)sizes[i] * (double)inner[j];
            const double t0 = gemm_seconds(x, sizes[i], inner[j], 0);
            const double t1 = gemm_seconds(x, sizes[i], inner[j], 1);
            printf("%6d %6d %11.1f (%6.2f) %11.1f (%6.2f) %s\n", (int)sizes[i], (int)inner[j], t0 * 1e6,
                   work / t0 / 1e12, t1 * 1e6, work / t1 / 1e12, kind(x));
            samples[count++] = (gemm_sample){sizes[i], inner[j], t1};
        }
    return count;
}

/** Sizes on which a model of whole tiles errs most. */
static void measure_odd_sizes(const bench *x)
{
    static const int64_t sizes[] = {384, 640, 768, 1000, 1152, 1280, 1536, 1792, 2304, 3000, 3072, 5000, 6144};
    printf("\ndgemm, k = 1024, beta 1, other sizes\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double t = gemm_seconds(x, sizes[i], 1024, 1);
        printf("%6d %11.1f us (%6.2f TFLOP/s) %s\n", (int)sizes[i], t * 1e6,
               2.0 * (double)sizes[i] * (double)sizes[i] * 1024 / t / 1e12, kind(x));
    }
}

/** Integers of 22 bits and a sign, as the planes hold. */
static void fill(double *device, size_t count)
{
    double *host = malloc(count * sizeof *host);
    uint64_t state = 1;
    if (!host) {
        fprintf(stderr, "no host memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        host[i] = (double)((int64_t)(state >> 41) - (1 << 22));
    }
    CUDA_OK(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
}

int calibrate_gemm(nmodgpu_queue *queue, gemm_sample *samples)
{
    const size_t count = (size_t)LARGEST * LARGEST;
    bench x = {.queue = queue};
    CUDA_OK(cudaEventCreate(&x.from));
    CUDA_OK(cudaEventCreate(&x.to));
    CUDA_OK(cudaMalloc((void **)&x.a, count * sizeof(double)));
    CUDA_OK(cudaMalloc((void **)&x.b, count * sizeof(double)));
    CUDA_OK(cudaMalloc((void **)&x.c, count * sizeof(double)));
    fill(x.a, count);
    fill(x.b, count);
    CUDA_OK(cudaMemset(x.c, 0, count * sizeof(double)));
    const int samples_taken = measure_squares(&x, samples);
    measure_odd_sizes(&x);
    CUDA_OK(cudaFree(x.a));
    CUDA_OK(cudaFree(x.b));
    CUDA_OK(cudaFree(x.c));
    CUDA_OK(cudaEventDestroy(x.from));
    CUDA_OK(cudaEventDestroy(x.to));
    return samples_taken;
}
