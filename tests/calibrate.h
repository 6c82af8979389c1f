/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the parts of the calibration program share.  It is a tool for people, not a test: it ends at the
 * first error.
 */
#ifndef NMODGPU_TESTS_CALIBRATE_H
#define NMODGPU_TESTS_CALIBRATE_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"

#define CUDA_OK(call)                                                                                              \
    do {                                                                                                           \
        const cudaError_t status_ = (call);                                                                        \
        if (status_ != cudaSuccess) {                                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));            \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

#define CUBLAS_OK(call)                                                                                            \
    do {                                                                                                           \
        const cublasStatus_t status_ = (call);                                                                     \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cublasGetStatusString(status_));         \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

/** A call of the backend's. */
#define BACKEND_OK(call)                                                                                           \
    do {                                                                                                           \
        const nmodgpu_status status_ = (call);                                                                     \
        if (status_ != NMODGPU_OK) {                                                                               \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, (int)status_);                    \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

/** One measured GEMM, m = n = size. */
typedef struct gemm_sample {
    int64_t size, k;
    double seconds;
} gemm_sample;

/** Wall clock, seconds. */
double calibrate_now(void);
/** Sorts the seconds and returns the middle one. */
double calibrate_median(double *seconds, int count);

/** The opened backend. */
extern const nmodgpu_backend *calibrated;

/** calibrate_gemm.c: dgemm as the backend runs it, over shapes; returns the number of samples, at most 64. */
int calibrate_gemm(nmodgpu_queue *queue, gemm_sample *samples);
/** calibrate_fit.c: prints the rates that explain the samples best. */
void calibrate_fit(const gemm_sample *samples, int count, int processors);
/** calibrate_passes.c: bandwidth of the conversion and reduction kernels, cost of launches. */
void calibrate_passes(cudaStream_t stream, int64_t n);
/** Seconds that a launch takes: the best of four batches of five. */
double calibrate_pass(cudaStream_t stream, cudaError_t (*launch)(cudaStream_t, const void *), const void *pass);
/** calibrate_passes_i8.c: the same for the passes of the int8 engine. */
void calibrate_passes_i8(cudaStream_t stream, int64_t n);
/** calibrate_copies.c: import and export in every layout, round trips. */
void calibrate_copies(nmodgpu_queue *queue, int64_t n);
/** calibrate_emulation.c: whether the environment makes cuBLAS emulate double precision, by way of asking.
 *  Sets the variables and starts the program again where they are not set. */
void calibrate_emulation_prepare(char **argv);
int calibrate_emulation(nmodgpu_queue *queue);

#endif
