/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Preparation and reduction of one row, compiled for several instruction sets; the results are the same.
 */
#ifndef NMODGPU_EXACT_ROWS_H
#define NMODGPU_EXACT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "prepare.h"
#include "reduce.h"

/** A row of words: canonical entries, 4 or 8 bytes wide. */
typedef struct nmodgpu_word_row {
    void *data;
    uint32_t element_bytes;
} nmodgpu_word_row;

typedef struct nmodgpu_row_code {
    const char *name; /**< of the instruction set */
    /** Plane i of entry e goes to planes[i * plane_stride + e], for n entries. */
    void (*prepare)(const nmodgpu_preparer *preparer, double *planes, int64_t plane_stride, nmodgpu_word_row words,
                    int64_t n);
    /** out <- (base or 0) + the combination of sums, for n entries; base.data may be NULL, or out.data.
     *  In round-to-nearest only. */
    void (*reduce)(const nmodgpu_reducer *reducer, nmodgpu_word_row out, nmodgpu_word_row base, const double *sums,
                   int64_t plane_stride, int64_t n);
    /** to <- from, whatever their widths; n entries that fit. */
    void (*copy)(nmodgpu_word_row to, nmodgpu_word_row from, int64_t n);
} nmodgpu_row_code;

/** The versions that this CPU can run, best first; there is always one. */
const nmodgpu_row_code *nmodgpu_row_code_list(size_t *count);

#endif
