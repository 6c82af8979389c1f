/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The BLAS this module is linked with.
 */
#ifndef NMODGPU_CBLAS_BLAS_H
#define NMODGPU_CBLAS_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One plane: row-major, rows `stride` entries apart. */
typedef struct blas_operand {
    const double *data;
    int64_t stride;
} blas_operand;

/** Whether the sizes fit the integers of the BLAS (32 bits). */
bool blas_fits(int64_t m, int64_t k, int64_t n, int64_t stride_a, int64_t stride_b, int64_t stride_c);

/** C (m x n) <- (add ? C : 0) + A (m x k) * B (k x n), for sizes that fit.  C is not read unless add.  Long
 *  products are cut into strips of rows of about half a second at `flops` per second, and signals that
 *  arrive in one are handled between them. */
void blas_multiply(double *c, int64_t stride_c, bool add, blas_operand a, blas_operand b, int64_t m, int64_t k,
                   int64_t n, double flops);

/** Threads the BLAS uses: sets them when threads > 0 and it is an OpenBLAS, and returns what it says; 0 when
 *  it does not say. */
int blas_threads(int threads);

/** Products of fewer operations than that take one thread from now on; 0, as at first: as many as the BLAS
 *  likes.  Between products its number is left as it is.  False, and nothing done, when blas_threads() returns
 *  0.  Not beside products. */
bool blas_alone_below(double flops);

/** Which BLAS that is, for people. */
void blas_describe(char *text, size_t size);

/** Multiplies matrices whose sums reach +-2^53 and looks at every entry.  False when one is wrong: a BLAS
 *  with other integers than ours, or one that does not add up plain products. */
bool blas_exact(void);

#endif
