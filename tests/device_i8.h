/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Shared by the tests of the int8 engine on a device.
 */
#ifndef NMODGPU_TESTS_DEVICE_I8_H
#define NMODGPU_TESTS_DEVICE_I8_H

#include <check.h>

#include "plan_i8.h"
#include "support.h"

/** Seed of the running test, for failure texts. */
extern uint64_t i8_seed;

/** All int8 plans of a product that the device offers, at most NMODGPU_I8_KINDS; how many. */
int i8_plans(nmodgpu_plan *plans, uint64_t p, int64_t m, int64_t k, int64_t n);

/** Sizes about the multiples that kernels and tensor cores work in, most of them not multiples of 16. */
int64_t i8_awkward_size(void);

void i8_add_operand_tests(TCase *tc);

#endif
