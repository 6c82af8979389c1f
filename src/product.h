/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A whole product built from a backend's operations: import, prepare, multiply-accumulate and reduce as the
 * schedule says, export; in tiles where the memory asks for them.
 */
#ifndef NMODGPU_PRODUCT_H
#define NMODGPU_PRODUCT_H

#include "backend.h"
#include "dispatch.h"

typedef struct nmodgpu_product {
    const nmodgpu_backend *backend;
    int32_t device;
    const nmodgpu_plan *plan; /**< of this shape and modulus */
    nmodgpu_op op;
    const nmodgpu_view *d, *c, *a, *b; /**< checked; c is NULL for NMODGPU_MUL */
    uint64_t limit_bytes;              /**< device memory it may use */
} nmodgpu_product;

/** Computes D.  Plans with a Strassen-Winograd step need nmodgpu_untiled_bytes() and take no tiles.  On failure D
 * is untouched where it overlaps an operand, and may hold anything where it does not.  NMODGPU_ENOMEM: memory ran
 * out; less of it may do. */
nmodgpu_status nmodgpu_product_run(const nmodgpu_product *product);

/** acc <- (has_base ? acc : 0) + sign * left * right mod p, by the plan's schedule.  All on the device of the
 *  queue: acc words, sums of acc's shape, prepared operands or windows of them. */
nmodgpu_status nmodgpu_product_steps(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *acc,
                                     bool has_base, int sign, nmodgpu_matrix *sums, const nmodgpu_matrix *left,
                                     const nmodgpu_matrix *right);

#endif
