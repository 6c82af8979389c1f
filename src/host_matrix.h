/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The caller's matrices: views checked, compared and turned into descriptors.
 */
#ifndef NMODGPU_HOST_MATRIX_H
#define NMODGPU_HOST_MATRIX_H

#include <stdbool.h>

#include "backend.h"

static inline uint64_t *nmodgpu_view_row(const nmodgpu_view *v, int64_t i)
{
    return v->row_table ? v->row_table[i] : v->data + i * v->stride;
}

/** Whether a view is a possible rows x cols matrix. */
bool nmodgpu_view_valid(const nmodgpu_view *view, int64_t rows, int64_t cols);

/** Whether two views name the same entries in the same way. */
bool nmodgpu_views_same(const nmodgpu_view *x, const nmodgpu_view *y);

/** Whether two views share memory: exact for rows equally far apart in both, else by the range from their
 *  lowest to their highest entry, so that the answer may be a needless "yes" but never a wrong "no". */
bool nmodgpu_views_overlap(const nmodgpu_view *x, const nmodgpu_view *y);

/** Whether rows of one view share memory with each other. */
bool nmodgpu_view_rows_overlap(const nmodgpu_view *view);

/** Whether entries of D must not be written while C, A, B may still be read; c may be NULL. */
bool nmodgpu_needs_staging(const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                           const nmodgpu_view *b);

/** The descriptor of a view: host words. */
nmodgpu_matrix nmodgpu_host_matrix(const nmodgpu_view *view, uint64_t p);

/** A new contiguous matrix; free(view->data).  False when out of memory. */
bool nmodgpu_staging_alloc(nmodgpu_view *view, int64_t rows, int64_t cols);

void nmodgpu_view_copy(const nmodgpu_view *to, const nmodgpu_view *from);

#endif
