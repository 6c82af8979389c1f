/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A Strassen-Winograd step on a device, one operation after the other.
 */
#ifndef NMODGPU_TESTS_DEVICE_STEP_H
#define NMODGPU_TESTS_DEVICE_STEP_H

#include "device_harness.h"
#include "device_i8.h"
#include "exact/winograd.h"

/** A product by steps; words on the device of these widths, at windows that begin `shift` rows and columns into
 *  larger matrices. */
typedef struct step {
    nmodgpu_queue *queue;
    nmodgpu_plan plan;
    int64_t m, k, n, shift;
    uint32_t a_bytes, b_bytes, base_bytes, out_bytes;
    host_case a, b, c;
    nmodgpu_matrix left[NMODGPU_WINOGRAD_PRODUCTS], right[NMODGPU_WINOGRAD_PRODUCTS],
        sums[NMODGPU_WINOGRAD_PRODUCTS];
} step;

/** The plan of that kind with a step of Strassen's algorithm; false when there is none. */
bool step_plan(nmodgpu_plan *plan, nmodgpu_i8_kind kind, uint64_t p, int64_t m, int64_t k, int64_t n);

/** Operands of patterns (patterns % TEST_PATTERNS) and (patterns / TEST_PATTERNS), a base, and a queue; widths and
 *  shift as chance has it. */
void step_open(step *x, const nmodgpu_plan *plan, int64_t m, int64_t k, int64_t n, int patterns);
void step_close(step *x);

/** Memory for seven matrices like that one, all poison. */
void step_make_seven(nmodgpu_queue *queue, nmodgpu_matrix *seven, const nmodgpu_matrix *like);
void step_free_seven(nmodgpu_queue *queue, nmodgpu_matrix *seven);

/** Words of h in the middle of a larger matrix, *whole, all of which holds p - 1 otherwise. */
nmodgpu_matrix step_words(const step *x, nmodgpu_matrix *whole, const host_case *h, uint32_t bytes);
/** x->left or x->right from the words of an inner block. */
void step_prepare(step *x, nmodgpu_side side, int64_t k0, int64_t k1);
/** x->sums from both. */
void step_multiply(step *x);

#endif
