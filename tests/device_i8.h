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

/** Whether the device has products with sums of one byte; counts what is left out where not. */
bool i8_has_bytes(void);

/** All int8 plans of a product that the device offers and that do without a Strassen-Winograd step, at most
 *  NMODGPU_I8_KINDS; how many. */
int i8_plans(nmodgpu_plan *plans, uint64_t p, int64_t m, int64_t k, int64_t n);

/** Sizes about the multiples that kernels and tensor cores work in, most of them not multiples of 16. */
int64_t i8_awkward_size(void);

/** The narrowest words modulo p that int8 plans take. */
uint32_t i8_width(uint64_t p);

void i8_add_operand_tests(TCase *tc);
void i8_add_winograd_tests(TCase *tc);
void i8_add_step_product_tests(TCase *tc);

#endif
