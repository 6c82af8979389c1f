/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Products by plans with a Strassen-Winograd step (exact/winograd.h), from a backend's operations: block by block
 * of the inner dimension the quarters of both operands are combined and converted, multiplied in seven products,
 * and put together.  Converted operands would take seven quarters of their usual memory, so that blocks take turns.
 */
#ifndef NMODGPU_PRODUCT_WINOGRAD_H
#define NMODGPU_PRODUCT_WINOGRAD_H

#include "product.h"

/** acc <- (has_base ? acc : 0) + sign * left * right mod p, all words on the device of the queue.  Takes and gives
 *  back device memory for one block. */
nmodgpu_status nmodgpu_winograd_steps(const nmodgpu_backend *backend, nmodgpu_queue *queue,
                                      const nmodgpu_plan *plan, nmodgpu_matrix *acc, bool has_base, int sign,
                                      const nmodgpu_matrix *left, const nmodgpu_matrix *right);

/** Device memory of a whole product: words of the operands and of the result, and one block. */
uint64_t nmodgpu_winograd_bytes(const nmodgpu_backend *backend, const nmodgpu_plan *plan);

/** The product, into the host matrix `out`, as product.c's for other plans. */
nmodgpu_status nmodgpu_winograd_run(const nmodgpu_product *product, const nmodgpu_view *out);

#endif
