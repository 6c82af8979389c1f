/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_core, and what they share.
 */
#ifndef NMODGPU_TESTS_CORE_CASES_H
#define NMODGPU_TESTS_CORE_CASES_H

#include <check.h>

#include "matrices.h"
#include "product.h"

TCase *core_product_cases(void);
TCase *core_overlap_cases(void);
TCase *core_resident_cases(void);

/** An empty case whose tests begin with a printed seed and a fresh reference backend. */
TCase *core_case(const char *name);

/** Every test ends so: nothing left behind, no rule of the interface broken. */
void core_check_tidy(void);

/** One of the valid plans at random, now and then with shorter blocks. */
nmodgpu_plan core_random_plan(uint64_t p, int64_t m, int64_t k, int64_t n);

/** Of any size from 2 bits on. */
uint64_t core_random_modulus(void);

test_layout core_random_layout(void);

/** A product on the reference backend, without a memory limit. */
nmodgpu_product core_product(const nmodgpu_plan *plan, nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                             const nmodgpu_view *a, const nmodgpu_view *b);

#endif
