/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Descriptors of what a product needs on a device, and how it is cut so that it fits the memory.
 */
#ifndef NMODGPU_TILE_H
#define NMODGPU_TILE_H

#include "backend.h"

/** A product as tiles of m x n entries of C, summed over inner panels of length k.  A kept operand is
 *  prepared once and stays whole; the other is prepared panel by panel. */
typedef struct nmodgpu_tiling {
    int64_t m, k, n;
    bool keep_left, keep_right;
    uint64_t bytes; /**< most device memory in use at any moment */
} nmodgpu_tiling;

/** For plans without a Strassen-Winograd step: the tiling with the fewest copies that needs at most limit_bytes.
 * NMODGPU_ENOMEM when even small tiles need more. */
nmodgpu_status nmodgpu_tiling_choose(nmodgpu_tiling *tiling, const nmodgpu_backend *backend,
                                     const nmodgpu_plan *plan, uint64_t limit_bytes);

/** Device memory of the untiled product. */
uint64_t nmodgpu_untiled_bytes(const nmodgpu_backend *backend, const nmodgpu_plan *plan);

/* Descriptors without memory, for matrix_alloc and matrix_bytes.  Words are nmodgpu_plan_word_bytes() wide. */
nmodgpu_matrix nmodgpu_words_matrix(const nmodgpu_plan *plan, int64_t rows, int64_t cols);
nmodgpu_matrix nmodgpu_planes_matrix(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols);
nmodgpu_matrix nmodgpu_sums_matrix(const nmodgpu_plan *plan, int64_t rows, int64_t cols);

#endif
