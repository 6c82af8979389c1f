/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The int8 engine's part of the operations.  Called in the device's context, after operations.c's checks; those of
 * a Strassen-Winograd step, which only this engine has, are in operations.h.
 */
#ifndef NMODGPU_CUDA_OPERATIONS_I8_H
#define NMODGPU_CUDA_OPERATIONS_I8_H

#include "backend.h"

nmodgpu_status nmodgpu_cuda_prepare_i8(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                       const nmodgpu_matrix *words);
/** Sums of one byte, reduced on the chip. */
nmodgpu_status nmodgpu_cuda_multiply_fused(nmodgpu_queue *queue, const nmodgpu_matrix *sums, uint64_t sum_mask,
                                           const nmodgpu_matrix *left, const nmodgpu_matrix *right,
                                           bool accumulate);
nmodgpu_status nmodgpu_cuda_reduce_i8(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                      int sign, const nmodgpu_matrix *sums, uint64_t sum_mask);
/** Whether a window of int8 planes begins where the tensor cores can read. */
bool nmodgpu_cuda_i8_aligned(const nmodgpu_matrix *planes);

#endif
