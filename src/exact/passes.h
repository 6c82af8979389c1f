/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The arithmetic of word.h, prepare.h and reduce.h over whole matrices in host memory: what the CPU backend
 * runs, and what stands in for the kernels of a GPU in the tests.
 *
 * Every pass works on the rows [r0, r1), so that a caller may cut it into parts and run them at once.  All
 * matrices are row-major (transposed == false) and in this address space; words are 4 or 8 bytes wide, each
 * matrix its own.  Shapes are the caller's business.  Any rounding mode of the calling thread will do.
 */
#ifndef NMODGPU_EXACT_PASSES_H
#define NMODGPU_EXACT_PASSES_H

#include "../backend.h"
#include "prepare.h"
#include "reduce.h"

/** planes <- words. */
void nmodgpu_host_prepare(const nmodgpu_preparer *preparer, const nmodgpu_matrix *planes,
                          const nmodgpu_matrix *words, int64_t r0, int64_t r1);

/** out <- (base or 0) + the reducer's combination of sums.  base may be NULL, or out. */
void nmodgpu_host_reduce(const nmodgpu_reducer *reducer, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                         const nmodgpu_matrix *sums, int64_t r0, int64_t r1);

/** words <- host words (u64; stride or row table). */
void nmodgpu_host_import(const nmodgpu_matrix *words, const nmodgpu_matrix *host, int64_t r0, int64_t r1);

/** host words (u64; stride or row table) <- words. */
void nmodgpu_host_export(const nmodgpu_matrix *host, const nmodgpu_matrix *words, int64_t r0, int64_t r1);

#endif
