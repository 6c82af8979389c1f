/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plans_point.h"

#include <stdlib.h>

#include "terminal.h"

/* Of repetitions the median counts; enough of them to take this long, but never many. */
#define MEASURE_SECONDS 0.1
#define MAX_REPETITIONS 15

bool plans_point_open(plans_point *point, const plans_device *on, uint64_t p, int64_t m, int64_t k, int64_t n)
{
    *point = (plans_point){.on = on, .p = p, .m = m, .k = k, .n = n};
    const size_t count = nmodgpu_priv_plans(on->backend, on->device, p, m, k, n, NULL, 0);
    point->plans = calloc(count + 1, sizeof *point->plans);
    point->measured = calloc(count + 1, sizeof *point->measured);
    if (!point->plans || !point->measured) {
        plans_point_close(point);
        return false;
    }
    point->count = nmodgpu_priv_plans(on->backend, on->device, p, m, k, n, point->plans, count);
    if (point->count > count)
        point->count = count;
    return true;
}

void plans_point_close(plans_point *point)
{
    free(point->plans);
    free(point->measured);
    point->plans = NULL;
    point->measured = NULL;
    point->count = 0;
}

static int repetitions(double seconds)
{
    const double wanted = seconds > 0 ? MEASURE_SECONDS / seconds : MAX_REPETITIONS;
    return wanted >= MAX_REPETITIONS ? MAX_REPETITIONS : wanted < 1 ? 1 : (int)wanted | 1; /* odd: a true median */
}

bool plans_point_measure(plans_point *point, size_t i, const plans_clock *clock)
{
    const nmodgpu_plan *plan = &point->plans[i];
    const double expected = point->measured[i] > 0 ? point->measured[i] : plan->seconds;
    const int times = repetitions(expected);
    if (terminal_now() + (times + 1) * expected > clock->until) /* one more: the unmeasured first one */
        return false;
    double seconds = 0;
    const nmodgpu_status status =
        nmodgpu_priv_time_plan(point->on->backend, point->on->device, plan, times, &seconds);
    if (status != NMODGPU_OK)
        point->status = status;
    else if (point->measured[i] <= 0 || seconds < point->measured[i])
        point->measured[i] = seconds;
    return true;
}

size_t plans_point_best(const plans_point *point)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < point->count; i++)
        if (point->measured[i] > 0 && (best == SIZE_MAX || point->measured[i] < point->measured[best]))
            best = i;
    return best;
}

#define RUN_OFFS 2

void plans_point_run_off(plans_point *point, const plans_clock *clock)
{
    const size_t best = plans_point_best(point);
    if (best == SIZE_MAX || best == 0 || point->measured[0] <= 0)
        return;
    for (int i = 0; i < RUN_OFFS; i++)
        if (!plans_point_measure(point, 0, clock) || !plans_point_measure(point, best, clock))
            return;
}

double plans_point_ratio(const plans_point *point)
{
    const size_t best = plans_point_best(point);
    return best == SIZE_MAX || point->measured[0] <= 0 ? 0 : point->measured[0] / point->measured[best];
}

double plans_point_tflops(const plans_point *point, double seconds)
{
    return seconds > 0 ? 2e-12 * (double)point->m * (double)point->k * (double)point->n / seconds : 0;
}
