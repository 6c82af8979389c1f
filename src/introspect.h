/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the command and the tests may ask the core; exported under the private symbol version.
 */
#ifndef NMODGPU_INTROSPECT_H
#define NMODGPU_INTROSPECT_H

#include <stdio.h>

#include "backend.h"
#include "plan.h"

/** Prints every setting of the default context: value, origin, help. */
NMODGPU_API void nmodgpu_priv_print_config(FILE *out);

typedef struct nmodgpu_backend_listing {
    char name[32];
    char file[512]; /**< the module's; "" for a backend that the program registered */
    int32_t priority;
    int32_t devices; /**< 0 where the backend is not usable */
    bool usable;
} nmodgpu_backend_listing;

/** Loads and opens every backend and lists the first `capacity`, highest priority first; returns how many there
 *  are in all. */
NMODGPU_API size_t nmodgpu_priv_backends(nmodgpu_backend_listing *list, size_t capacity);

/** What a device of a backend is, asked anew.  NMODGPU_ENODEV for a backend that is not usable, NMODGPU_EINVAL for
 * a device that it has not. */
NMODGPU_API nmodgpu_status nmodgpu_priv_device_info(const char *backend, int32_t device, nmodgpu_device_info *info);

/** Every valid plan for a device, soonest first, as nmodgpu_plan_list(). */
NMODGPU_API size_t nmodgpu_priv_plans(const char *backend, int32_t device, uint64_t p, int64_t m, int64_t k,
                                      int64_t n, nmodgpu_plan *plans, size_t capacity);

/** Median device time, over `repetitions` >= 1, of preparing both operands, multiplying and reducing into words by
 *  this plan.  The operands are random words that are on the device already. */
NMODGPU_API nmodgpu_status nmodgpu_priv_time_plan(const char *backend, int32_t device, const nmodgpu_plan *plan,
                                                  int repetitions, double *median_seconds);

/** Predicted seconds of the host's own product (FLINT on one thread); 0 for sizes below 1 and p below 2. */
NMODGPU_API double nmodgpu_priv_host_seconds(int64_t m, int64_t k, int64_t n, uint64_t p);

#endif
