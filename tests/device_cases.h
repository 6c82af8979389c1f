/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The tests that every device must pass: the same on the stand-in and on a GPU.
 */
#ifndef NMODGPU_TESTS_DEVICE_CASES_H
#define NMODGPU_TESTS_DEVICE_CASES_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

/** Called at the start of each test, in its process: opens the backend; and at its end, or NULL. */
typedef void (*device_setup)(void);

/** Sizes of random products, and of a few large ones. */
typedef struct device_sizes {
    int64_t usual, large, tall;
    int products;
} device_sizes;
extern device_sizes sizes;

/** Whether matrices are so small that a slow tool must be looking on (NMODGPU_TEST_SIZE): cases of the int8 engine
 *  then do only what reaches every variant of every kernel. */
static inline bool device_brief(void)
{
    return sizes.usual <= 40;
}

/** Products as a whole, kernels one by one, operands, queues and threads; the int8 engine. */
TCase *device_product_cases(device_setup setup, device_setup end);
TCase *device_kernel_cases(device_setup setup, device_setup end);
TCase *device_queue_cases(device_setup setup, device_setup end);
TCase *device_i8_cases(device_setup setup, device_setup end);

#endif
