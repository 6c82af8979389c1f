/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What tests need to drive a backend through its interface, without the core's registry and product.
 */
#ifndef NMODGPU_TESTS_BACKEND_DRIVER_H
#define NMODGPU_TESTS_BACKEND_DRIVER_H

#include "backend.h"

/** Takes the backend that this module registers, opened; NULL when it does not open.  `threads` is what it
 *  gets for NMODGPU_THREADS, -1 for unset. */
const nmodgpu_backend *driver_open(nmodgpu_module_entry_fn entry, int64_t threads);

/** Descriptors whose memory is not there yet. */
nmodgpu_matrix driver_words(uint64_t p, int64_t rows, int64_t cols, uint32_t element_bytes);
nmodgpu_matrix driver_planes(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols);
nmodgpu_matrix driver_sums(const nmodgpu_plan *plan, int64_t rows, int64_t cols);
/** The caller's words, rows `stride` apart. */
nmodgpu_matrix driver_host(uint64_t p, const uint64_t *data, int64_t stride, int64_t rows, int64_t cols);

/** 4 for moduli below 2^32, else 8: the width the core gives to words on a device. */
uint32_t driver_width(uint64_t p);

/** Allocates `planes` and prepares the host words. */
nmodgpu_status driver_prepare(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *planes,
                              const nmodgpu_matrix *host);

/** d <- (c or 0) + sign * left * right for prepared operands or windows of them, by the plan's schedule. */
nmodgpu_status driver_multiply(const nmodgpu_backend *backend, nmodgpu_queue *queue, const nmodgpu_matrix *d,
                               const nmodgpu_matrix *c, int sign, const nmodgpu_matrix *left,
                               const nmodgpu_matrix *right);

/** d <- (c or 0) + sign * a * b from host words to host words. */
nmodgpu_status driver_product(const nmodgpu_backend *backend, const nmodgpu_plan *plan, const nmodgpu_matrix *d,
                              const nmodgpu_matrix *c, int sign, const nmodgpu_matrix *a, const nmodgpu_matrix *b);

#endif
