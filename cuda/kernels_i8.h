/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Kernels of the int8 engine: what runs on the device, and the functions that queue it.  The stand-in device
 * of the tests has host twins of the same functions.
 */
#ifndef NMODGPU_CUDA_KERNELS_I8_H
#define NMODGPU_CUDA_KERNELS_I8_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "exact/prepare.h"
#include "exact/reduce.h"
#include "exact/residue.h"

#ifdef __cplusplus
extern "C" {
#endif

/** planes <- residues of words, int8.  The contiguous dimension is the inner one: rows of the planes for the
 *  left operand, columns (transposed) for the right one; what the inner dimension lacks of a multiple of 16 is
 *  filled with zeros. */
typedef struct nmodgpu_residue_pass {
    nmodgpu_residuer how;
    int8_t *planes;
    int64_t stride, plane_stride;
    bool transposed; /**< entry (i, j) of a plane at j * stride + i */
    const void *words;
    int64_t words_stride;
    uint32_t words_bytes; /**< 1, 2, 4 or 8 */
    int64_t rows, cols;   /**< of the words */
} nmodgpu_residue_pass;

/** The same for balanced digits in int8. */
typedef struct nmodgpu_digit_pass {
    nmodgpu_preparer how;
    int8_t *planes;
    int64_t stride, plane_stride;
    bool transposed;
    const void *words;
    int64_t words_stride;
    uint32_t words_bytes;
    int64_t rows, cols;
} nmodgpu_digit_pass;

/** out <- (base or 0) + the residues' combination.  Sums are bytes in [0, m) or int32. */
typedef struct nmodgpu_crt_pass {
    nmodgpu_crt how;
    const void *sums;
    uint32_t sum_bytes; /**< 1 or 4 */
    int64_t stride, plane_stride;
    void *out;
    int64_t out_stride;
    uint32_t out_bytes; /**< 1, 2, 4 or 8 */
    const void *base;   /**< NULL or words, may be out */
    int64_t base_stride;
    uint32_t base_bytes;
    int64_t rows, cols;
} nmodgpu_crt_pass;

/** One side of a Strassen-Winograd step: planes[i] <- residues of the i-th combination of the quarters of words, of
 *  the left operand, or where transposed of the right one.  Each is half_rows x half_cols (nmodgpu_winograd_half);
 *  what the words lack of twice that counts as zeros. */
typedef struct nmodgpu_winograd_residue_pass {
    nmodgpu_residuer how;
    int8_t *planes[NMODGPU_WINOGRAD_PRODUCTS];
    int64_t stride, plane_stride;
    bool transposed;
    const void *words;
    int64_t words_stride;
    uint32_t words_bytes; /**< 1, 2, 4 or 8 */
    int64_t rows, cols;   /**< of the words */
    int64_t half_rows, half_cols;
} nmodgpu_winograd_residue_pass;

/** out <- (base or 0) + the residues' combination, where quarters of the result are combined from the bytes of the
 *  seven products, each half_rows x half_cols. */
typedef struct nmodgpu_winograd_crt_pass {
    nmodgpu_crt how;
    const uint8_t *sums[NMODGPU_WINOGRAD_PRODUCTS];
    int64_t stride, plane_stride;
    void *out;
    int64_t out_stride;
    uint32_t out_bytes; /**< 1, 2, 4 or 8 */
    const void *base;   /**< NULL or words, may be out */
    int64_t base_stride;
    uint32_t base_bytes;
    int64_t rows, cols; /**< of the result */
    int64_t half_rows, half_cols;
} nmodgpu_winograd_crt_pass;

/** The same for balanced digits: out <- (base or 0) + a linear combination of int32 sums. */
typedef struct nmodgpu_sum32_pass {
    nmodgpu_reducer how;
    const int32_t *sums;
    int64_t stride, plane_stride;
    void *out;
    int64_t out_stride;
    uint32_t out_bytes;
    const void *base;
    int64_t base_stride;
    uint32_t base_bytes;
    int64_t rows, cols;
} nmodgpu_sum32_pass;

/** For every plane z: out_z <- (accumulate ? out_z : 0) + A_z B_z mod m_z, bytes in [0, m_z).  A_z is rows x
 *  inner, B_z^T cols x inner, both int8, contiguous along the inner dimension, at multiples of 16 bytes with
 *  strides that are multiples of 16; inner <= 131071.  out rows are `out_stride` bytes apart, a multiple of 16,
 *  and may be written up to the next multiple of 16 columns. */
typedef struct nmodgpu_fused_pass {
    const int8_t *a, *b;
    int64_t a_stride, a_plane_stride, b_stride, b_plane_stride;
    uint8_t *out;
    int64_t out_stride, out_plane_stride;
    int64_t rows, cols, inner;
    uint32_t planes;
    bool accumulate;
    uint32_t m[NMODGPU_MAX_PLANES], magic[NMODGPU_MAX_PLANES], offset[NMODGPU_MAX_PLANES];
} nmodgpu_fused_pass;

cudaError_t nmodgpu_launch_residues(cudaStream_t stream, const nmodgpu_residue_pass *pass);
cudaError_t nmodgpu_launch_digits(cudaStream_t stream, const nmodgpu_digit_pass *pass);
cudaError_t nmodgpu_launch_crt(cudaStream_t stream, const nmodgpu_crt_pass *pass);
cudaError_t nmodgpu_launch_winograd_residues(cudaStream_t stream, const nmodgpu_winograd_residue_pass *pass);
cudaError_t nmodgpu_launch_winograd_crt(cudaStream_t stream, const nmodgpu_winograd_crt_pass *pass);
cudaError_t nmodgpu_launch_reduce_sum32(cudaStream_t stream, const nmodgpu_sum32_pass *pass);

/** Whether this build holds the kernel of nmodgpu_launch_fused, which runs on compute capability 9.0. */
bool nmodgpu_fused_available(void);
cudaError_t nmodgpu_launch_fused(cudaStream_t stream, const nmodgpu_fused_pass *pass);

#ifdef __cplusplus
}
#endif

#endif
