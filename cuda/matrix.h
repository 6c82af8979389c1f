/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What operations ask of their matrices.
 */
#ifndef NMODGPU_CUDA_MATRIX_H
#define NMODGPU_CUDA_MATRIX_H

#include "backend.h"
#include "queue.h"

static inline bool nmodgpu_cuda_lives_here(const nmodgpu_queue *queue, const nmodgpu_matrix *m,
                                           nmodgpu_representation representation)
{
    return m->representation == representation && m->device == queue->device->index;
}

/** Words on the device, of a width that holds every entry; of four bytes only for p < 2^32, where kernels work in
 * 32 bits. */
static inline bool nmodgpu_cuda_is_words(const nmodgpu_queue *queue, const nmodgpu_matrix *m)
{
    const uint32_t bytes = m->element_bytes;
    return nmodgpu_cuda_lives_here(queue, m, NMODGPU_WORDS) && !m->transposed &&
           (bytes == 8 || (bytes == 4 && m->modulus >> 32 == 0) || (bytes == 2 && m->modulus <= 65536) ||
            (bytes == 1 && m->modulus <= 256));
}

static inline bool nmodgpu_cuda_same_shape(const nmodgpu_matrix *a, const nmodgpu_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

#endif
