/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu plans: what its two ways, one product and the grid, share.
 */
#ifndef NMODGPU_CMD_PLANS_H
#define NMODGPU_CMD_PLANS_H

#include "plans_point.h"

typedef struct plans_request {
    plans_device on;
    uint64_t p;
    int64_t m, k, n;
    bool measure, json;
    int64_t top;    /**< of one product: as many are shown; of the grid: at least as many are measured */
    double seconds; /**< for all measurements together; HUGE_VAL: no limit */
} plans_request;

/** One product: every plan a line.  Returns the exit code, here and below. */
int plans_list(const plans_request *request);

/** A grid of sizes and moduli: a line a point. */
int plans_grid(const plans_request *request);

#endif
