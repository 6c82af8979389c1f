/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One step of Strassen's algorithm in Winograd's form: seven products of quarters instead of eight (S. Winograd,
 * "On multiplication of 2 x 2 matrices", Linear Algebra and its Applications 4, 1971).  Which quarters of the
 * operands go into each product, and which products into each quarter of the result.
 * Proof: doc/algorithms.md#winograd.  One source for host and device, where constants fold in unrolled loops.
 */
#ifndef NMODGPU_EXACT_WINOGRAD_H
#define NMODGPU_EXACT_WINOGRAD_H

#include <stdint.h>

#include "portable.h"

/** Quarters are numbered 0: upper left, 1: upper right, 2: lower left, 3: lower right. */
enum { NMODGPU_WINOGRAD_PRODUCTS = 7, NMODGPU_WINOGRAD_QUARTERS = 4 };

/** Rows or columns of the upper or left quarters; the others have what is left of x, and count as filled up with
 *  zeros.  A multiple of 16, as int8 planes and vectors of words want it. */
static inline int64_t nmodgpu_winograd_half(int64_t x)
{
    return ((x + 1) / 2 + 15) / 16 * 16;
}

/** -1, 0 or +1 from a bit of each mask. */
NMODGPU_HD int nmodgpu_winograd_sign(uint32_t plus, uint32_t minus, int bit)
{
    return (int)(plus >> bit & 1) - (int)(minus >> bit & 1);
}

/** The factor of a quarter of A in the left operand of a product; four bits a product:
 *  A11, A12, A11 + A12 - A21 - A22, A22, A21 + A22, A21 + A22 - A11, A11 - A21. */
NMODGPU_HD int nmodgpu_winograd_left(int product, int quarter)
{
    return nmodgpu_winograd_sign(0x1cc8321, 0x4100c00, 4 * product + quarter);
}

/** The same of B and the right operand:
 *  B11, B21, B22, B11 - B12 - B21 + B22, B12 - B11, B11 - B12 + B22, B22 - B12. */
NMODGPU_HD int nmodgpu_winograd_right(int product, int quarter)
{
    return nmodgpu_winograd_sign(0x8929841, 0x2216000, 4 * product + quarter);
}

/** The factor of a product in a quarter of the result; eight bits a quarter:
 *  P1 + P2, P1 + P3 + P5 + P6, P1 - P4 + P6 + P7, P1 + P5 + P6 + P7. */
NMODGPU_HD int nmodgpu_winograd_result(int quarter, int product)
{
    return nmodgpu_winograd_sign(0x71613503, 0x00080000, 8 * quarter + product);
}

#endif
