/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * FLINT's nmod_mat_struct as the drop-in sees it.  No header of FLINT is used: one library serves every FLINT.
 */
#ifndef NMODGPU_FLINT_MATRIX_H
#define NMODGPU_FLINT_MATRIX_H

#include <stdint.h>

/** FLINT 2.9 to 3.2 have the row table, 3.3 and later the stride; all else is at the same place. */
typedef struct nmodgpu_flint_matrix {
    uint64_t *entries; /**< never read with the rows layout: NULL in windows, not row 0 after row swaps */
    int64_t r;
    int64_t c;
    union {
        uint64_t **rows; /**< NULL in a matrix without rows */
        int64_t stride;
    };
    uint64_t n; /**< the modulus; with the two below it is FLINT's nmod_t */
    uint64_t ninv;
    uint64_t norm;
} nmodgpu_flint_matrix;

_Static_assert(sizeof(void *) == 8 && sizeof(nmodgpu_flint_matrix) == 56, "FLINT's layout on 64-bit machines");

typedef void nmodgpu_flint_mul(nmodgpu_flint_matrix *c, const nmodgpu_flint_matrix *a,
                               const nmodgpu_flint_matrix *b);
typedef void nmodgpu_flint_addmul(nmodgpu_flint_matrix *d, const nmodgpu_flint_matrix *c,
                                  const nmodgpu_flint_matrix *a, const nmodgpu_flint_matrix *b);

typedef enum nmodgpu_layout {
    NMODGPU_LAYOUT_UNTRIED = 0,
    NMODGPU_LAYOUT_ROWS,
    NMODGPU_LAYOUT_STRIDE,
    NMODGPU_LAYOUT_REFUSED /**< this FLINT serves itself */
} nmodgpu_layout;

/** Entry (i, j) of a matrix of a proven layout. */
static inline uint64_t *nmodgpu_flint_entry(const nmodgpu_flint_matrix *a, nmodgpu_layout layout, int64_t i,
                                            int64_t j)
{
    return layout == NMODGPU_LAYOUT_ROWS ? a->rows[i] + j : a->entries + i * a->stride + j;
}

#endif
