/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * All plans for one product on one device, with predicted and measured times.
 */
#ifndef NMODGPU_CMD_PLANS_POINT_H
#define NMODGPU_CMD_PLANS_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect.h"
#include "terminal.h"

typedef struct plans_device {
    const char *backend;
    int32_t device;
    nmodgpu_device_info info;
} plans_device;

typedef struct plans_point {
    const plans_device *on;
    uint64_t p;
    int64_t m, k, n;
    nmodgpu_plan *plans; /**< soonest predicted first: plans[0] is the planner's choice */
    double *measured;    /**< seconds; 0 where not measured */
    size_t count;
    nmodgpu_status status; /**< the last failure of a measurement, else NMODGPU_OK */
} plans_point;

/** Measuring has to end at some time. */
typedef struct plans_clock {
    double until; /**< terminal_now() by then; HUGE_VAL for no limit */
    terminal_progress progress;
} plans_clock;

/** Lists the plans; false when out of memory.  count may be 0. */
bool plans_point_open(plans_point *point, const plans_device *on, uint64_t p, int64_t m, int64_t k, int64_t n);
void plans_point_close(plans_point *point);

/** Measures plan i unless that is predicted to end too late; false when it has no time then. */
bool plans_point_measure(plans_point *point, size_t i, const plans_clock *clock);

/** Index of the best measured; SIZE_MAX when nothing was measured. */
size_t plans_point_best(const plans_point *point);

/** Measures choice and best again, in turn, and keeps the better time of each: the least of many noisy times is
 *  too small. */
void plans_point_run_off(plans_point *point, const plans_clock *clock);

/** The choice's measured time over the best measured time; 0 when the choice was not measured. */
double plans_point_ratio(const plans_point *point);

/** Useful 10^12 operations a second: 2 m k n / seconds. */
double plans_point_tflops(const plans_point *point, double seconds);

#endif
