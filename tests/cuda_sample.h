/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A small product on the stand-in that touches all that a product may need, for tests of what goes wrong.
 */
#ifndef NMODGPU_TESTS_CUDA_SAMPLE_H
#define NMODGPU_TESTS_CUDA_SAMPLE_H

#include "device_harness.h"
#include "plan_i8.h"

/** C - A B with reductions in between, scattered rows and 4-byte words. */
typedef struct sample {
    nmodgpu_plan plan;
    host_case a, b, c, d;
    uint64_t expected[12 * 9];
    harness_product product;
} sample;

void make_sample(sample *s);
/** The same by residues in int8. */
void make_sample_i8(sample *s, nmodgpu_i8_kind kind);
void free_sample(sample *s);
/** On a queue of its own; also uses events and asks for the free memory. */
nmodgpu_status run_sample(sample *s);

/** Fails the test when calls so far have left anything behind, written where they may not, or changed the
 *  thread's device. */
void check_clean(const char *when);

#endif
