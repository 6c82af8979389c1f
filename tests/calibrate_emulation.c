/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * cuBLAS 13 can compute dgemm by fixed-point emulation with a chosen number of mantissa bits when
 * environment variables ask for it.  Integers whose sums need all 53 bits show whether it did, for each way
 * of asking for a product.  The ways besides the pedantic one are controls: where all of them stay exact,
 * the test says nothing.
 */
#include "calibrate.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cuda/queue.h"

#define SIZE 2048

static const char *const variables[][2] = {
    {"CUBLAS_EMULATE_DOUBLE_PRECISION", "1"},
    {"CUBLAS_EMULATION_STRATEGY", "eager"},
    {"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT", "20"},
};

static int set_variables(void)
{
    int missing = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (!getenv(variables[i][0])) {
            missing++;
            if (setenv(variables[i][0], variables[i][1], 1)) {
                perror("setenv");
                exit(1);
            }
        }
    return missing;
}

/** Entries below 2^21: sums of 2048 products stay below 2^53 and nearly all have bits on both ends. */
static void fill(double *x, uint64_t state)
{
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(state >> 43);
    }
}

/** Wrong entries among the first `columns` columns of C (column-major), each recomputed in integers. */
static long wrong_entries(const double *a, const double *b, const double *c, int columns)
{
    long wrong = 0;
    int64_t *sum = malloc(SIZE * sizeof *sum);
    if (!sum)
        exit(1);
    for (int j = 0; j < columns; j++) {
        memset(sum, 0, SIZE * sizeof *sum);
        for (int l = 0; l < SIZE; l++)
            for (int i = 0; i < SIZE; i++)
                sum[i] += (int64_t)a[(size_t)l * SIZE + i] * (int64_t)b[(size_t)j * SIZE + l];
        for (int i = 0; i < SIZE; i++)
            wrong += (double)sum[i] != c[(size_t)j * SIZE + i];
    }
    free(sum);
    return wrong;
}

typedef struct way {
    const char *name;
    cublasComputeType_t compute;
    cublasMath_t math;
    enum { BY_GEMMEX, BY_DGEMM, BY_BACKEND } by;
} way;

static const way ways[] = {
    {"the backend's own product", CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_PEDANTIC_MATH, BY_BACKEND},
    {"GemmEx, COMPUTE_64F_PEDANTIC, default math", CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_DEFAULT_MATH, BY_GEMMEX},
    {"GemmEx, COMPUTE_64F_PEDANTIC, pedantic math", CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_PEDANTIC_MATH, BY_GEMMEX},
    {"control: GemmEx, COMPUTE_64F, default math", CUBLAS_COMPUTE_64F, CUBLAS_DEFAULT_MATH, BY_GEMMEX},
    {"control: Dgemm, default math", CUBLAS_COMPUTE_64F, CUBLAS_DEFAULT_MATH, BY_DGEMM},
#if CUBLAS_VERSION >= 130100
    {"control: GemmEx, COMPUTE_64F, emulated math asked for in the call", CUBLAS_COMPUTE_64F,
     CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH, BY_GEMMEX},
    {"control: GemmEx, COMPUTE_64F_EMULATED_FIXEDPOINT", CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT,
     CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH, BY_GEMMEX},
#endif
};

/** Row-major for the backend: C = A B by columns is C^T = B^T A^T by rows. */
static cublasStatus_t backend_product(nmodgpu_queue *queue, const double *a, const double *b, double *c)
{
    const nmodgpu_gemm g = {.number = NMODGPU_F64,
                            .batch = 1,
                            .m = SIZE,
                            .k = SIZE,
                            .n = SIZE,
                            .a = b,
                            .b = a,
                            .c = c,
                            .a_stride = SIZE,
                            .b_stride = SIZE,
                            .c_stride = SIZE};
    BACKEND_OK(nmodgpu_cuda_gemm(queue, &g));
    BACKEND_OK(calibrated->wait(queue, NULL));
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t product(nmodgpu_queue *queue, cublasHandle_t blas, const way *w, const double *a,
                              const double *b, double *c)
{
    const double one = 1, zero = 0;
    if (w->by == BY_BACKEND)
        return backend_product(queue, a, b, c);
    if (w->by == BY_DGEMM)
        return cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, a, SIZE, b, SIZE, &zero, c,
                           SIZE);
    return cublasGemmEx_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, a, CUDA_R_64F, SIZE, b,
                           CUDA_R_64F, SIZE, &zero, c, CUDA_R_64F, SIZE, w->compute, CUBLAS_GEMM_DEFAULT);
}

static void try_way(nmodgpu_queue *queue, cublasHandle_t blas, const way *w, double *host[3], double *device[3])
{
    const size_t bytes = (size_t)SIZE * SIZE * sizeof(double);
    const int columns = 128;
    double seconds = 0;
    CUBLAS_OK(cublasSetMathMode(blas, w->math));
    for (int r = 0; r < 2; r++) {
        CUDA_OK(cudaMemset(device[2], 0xff, bytes));
        CUDA_OK(cudaDeviceSynchronize());
        const double t = calibrate_now();
        const cublasStatus_t status = product(queue, blas, w, device[0], device[1], device[2]);
        if (status != CUBLAS_STATUS_SUCCESS) {
            printf("%-68s refused: %s\n", w->name, cublasGetStatusString(status));
            return;
        }
        CUDA_OK(cudaDeviceSynchronize());
        seconds = calibrate_now() - t;
    }
    CUDA_OK(cudaMemcpy(host[2], device[2], bytes, cudaMemcpyDeviceToHost));
    printf("%-68s %7ld of %d wrong, %.2f ms\n", w->name, wrong_entries(host[0], host[1], host[2], columns),
           columns * SIZE, seconds * 1e3);
}

void calibrate_emulation_prepare(char **argv)
{
    if (!set_variables())
        return;
    execv("/proc/self/exe", argv); /* they must be there before any library looks */
    perror("execv");
    exit(1);
}

int calibrate_emulation(nmodgpu_queue *queue)
{
    const size_t bytes = (size_t)SIZE * SIZE * sizeof(double);
    const size_t workspace_bytes = (size_t)1 << 30; /* emulation falls back to plain dgemm when it has too little */
    double *host[3], *device[3];
    void *workspace;
    cublasHandle_t blas;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        printf("%s=%s\n", variables[i][0], getenv(variables[i][0]));
    for (int i = 0; i < 3; i++) {
        host[i] = malloc(bytes);
        if (!host[i])
            return 1;
        CUDA_OK(cudaMalloc((void **)&device[i], bytes));
    }
    fill(host[0], 1);
    fill(host[1], 2);
    CUDA_OK(cudaMemcpy(device[0], host[0], bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(device[1], host[1], bytes, cudaMemcpyHostToDevice));
    for (int large = 0; large < 2; large++) {
        CUBLAS_OK(cublasCreate(&blas));
        if (large) {
            CUDA_OK(cudaMalloc(&workspace, workspace_bytes));
            CUBLAS_OK(cublasSetWorkspace(blas, workspace, workspace_bytes));
            queue->workspace = workspace; /* the backend's product as well; this process ends soon */
            queue->workspace_bytes = workspace_bytes;
            queue->gemm.next = 0;
            memset(queue->gemm.kept, 0, sizeof queue->gemm.kept);
        }
        printf("\n%s workspace\n", large ? "1 GiB of" : "cuBLAS's own");
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            try_way(queue, blas, &ways[i], host, device);
        CUBLAS_OK(cublasDestroy(blas));
    }
    return 0;
}
