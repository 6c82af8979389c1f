/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The operations on matrices, as backend.h describes them.
 */
#ifndef NMODGPU_CUDA_OPERATIONS_H
#define NMODGPU_CUDA_OPERATIONS_H

#include "backend.h"

nmodgpu_status nmodgpu_cuda_matrix_alloc(nmodgpu_queue *queue, nmodgpu_matrix *matrix);
void nmodgpu_cuda_matrix_free(nmodgpu_queue *queue, nmodgpu_matrix *matrix);
uint64_t nmodgpu_cuda_matrix_bytes(const nmodgpu_matrix *matrix);
nmodgpu_status nmodgpu_cuda_import(nmodgpu_queue *queue, nmodgpu_matrix *device, const nmodgpu_matrix *host);
nmodgpu_status nmodgpu_cuda_prepare(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words);
nmodgpu_status nmodgpu_cuda_multiply(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                     const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate);
nmodgpu_status nmodgpu_cuda_reduce(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                                   nmodgpu_matrix *sums, uint64_t sum_mask);
nmodgpu_status nmodgpu_cuda_prepare_winograd(nmodgpu_queue *queue, nmodgpu_matrix *planes,
                                             const nmodgpu_matrix *words);
nmodgpu_status nmodgpu_cuda_reduce_winograd(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                            int sign, nmodgpu_matrix *sums);
nmodgpu_status nmodgpu_cuda_export(nmodgpu_queue *queue, const nmodgpu_matrix *host, const nmodgpu_matrix *device);

#endif
