/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The int8 engine's passes over whole matrices in host memory, entry by entry and in any rounding mode: what
 * stands in for the kernels of a GPU in the tests.
 *
 * Words are 1, 2, 4 or 8 bytes wide, each matrix its own, row-major.  Planes are int8, with the inner dimension
 * contiguous: rows of the left operand, columns of the right one (transposed).  Shapes are the caller's business.
 */
#ifndef NMODGPU_EXACT_PASSES_I8_H
#define NMODGPU_EXACT_PASSES_I8_H

#include "../backend.h"
#include "prepare.h"
#include "reduce.h"
#include "residue.h"

/** The inner dimension is filled with zeros up to a multiple of this. */
enum { NMODGPU_I8_STEP = 16 };

static inline int64_t nmodgpu_i8_padded(int64_t length)
{
    return (length + NMODGPU_I8_STEP - 1) / NMODGPU_I8_STEP * NMODGPU_I8_STEP;
}

/** planes <- residues of words, and zeros behind them. */
void nmodgpu_host_residues(const nmodgpu_residuer *residuer, const nmodgpu_matrix *planes,
                           const nmodgpu_matrix *words);

/** planes <- digits of words, and zeros behind them. */
void nmodgpu_host_digits(const nmodgpu_preparer *preparer, const nmodgpu_matrix *planes,
                         const nmodgpu_matrix *words);

/** out <- (base or 0) + what the sums recombine to; sums are bytes in [0, m) or int32.  base may be NULL, or out.
 */
void nmodgpu_host_crt(const nmodgpu_crt *crt, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                      const nmodgpu_matrix *sums);

/** out <- (base or 0) + the reducer's combination of int32 sums.  base may be NULL, or out.  In any rounding mode.
 */
void nmodgpu_host_reduce_sum32(const nmodgpu_reducer *reducer, const nmodgpu_matrix *out,
                               const nmodgpu_matrix *base, const nmodgpu_matrix *sums);

/** One side of a Strassen-Winograd step, the one that planes[0].side says: planes[i], i <
 * NMODGPU_WINOGRAD_PRODUCTS,
 *  <- residues of the i-th combination of the quarters of words.  All seven have the shape of planes[0], that of a
 *  quarter, and are stored alike; words beyond the matrix count as zeros. */
void nmodgpu_host_winograd_residues(const nmodgpu_residuer *residuer, const nmodgpu_matrix *planes,
                                    const nmodgpu_matrix *words);

/** out <- (base or 0) + the product whose seven parts are in sums, bytes in [0, m), each of the shape of sums[0],
 * that of a quarter, and stored alike.  base may be NULL, or out. */
void nmodgpu_host_winograd_crt(const nmodgpu_crt *crt, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                               const nmodgpu_matrix *sums);

/** The moduli of the planes of one product, with the constants of residue.h. */
typedef struct nmodgpu_small_moduli {
    const uint32_t *m, *magic, *offset;
} nmodgpu_small_moduli;

/** Every plane of sums <- (accumulate ? sums : 0) + left * right, bytes in [0, m).  sums->planes counts; bytes
 *  beyond the columns of sums stay as they are. */
void nmodgpu_host_fused(const nmodgpu_small_moduli *moduli, const nmodgpu_matrix *sums, const nmodgpu_matrix *left,
                        const nmodgpu_matrix *right, bool accumulate);

/** The scalar product of two rows of int8; exact in 64 bits. */
int64_t nmodgpu_host_dot_i8(const int8_t *a, const int8_t *b, int64_t length);

#endif
