/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One product on the device by given plans, every entry compared.
 */
#ifndef NMODGPU_TESTS_DEVICE_CHECK_H
#define NMODGPU_TESTS_DEVICE_CHECK_H

#include "device_harness.h"
#include "support.h"

typedef struct device_product {
    int64_t m, k, n;
    uint64_t p;
    test_pattern pattern_a, pattern_b;
    host_layout layout_a, layout_b, layout_c, layout_d;
    int op; /* 0: A B, 1: C + A B, -1: C - A B */
} device_product;

/** Sizes up to `most`, small ones more often; everything else any. */
device_product device_random_case(int64_t most);

/** The product by each of the plans; words on the device as wide as chance has it. */
void device_check(const device_product *product, const nmodgpu_plan *plans, int count, uint64_t seed);

#endif
