/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd.h"
#include "plans.h"
#include "terminal.h"

static void measure_all(plans_point *point, size_t shown, double seconds)
{
    plans_clock clock = {.until = terminal_now() + seconds};
    double all = 0, done = 0;
    for (size_t i = 0; i < shown; i++)
        all += point->plans[i].seconds;
    terminal_progress_begin(&clock.progress);
    for (size_t i = 0; i < shown; i++) {
        terminal_progress_show(&clock.progress, done / all, point->plans[i].name);
        plans_point_measure(point, i, &clock);
        done += point->plans[i].seconds;
    }
    plans_point_run_off(point, &clock);
    terminal_progress_end(&clock.progress);
}

/* ---- for people */

static void print_seconds(double seconds)
{
    if (seconds <= 0)
        printf("%14s %10s", "-", "-");
    else if (seconds < 1)
        printf("%11.3f ms", 1e3 * seconds);
    else
        printf("%12.3f s", seconds);
}

static void print_time(const plans_point *point, double seconds)
{
    print_seconds(seconds);
    if (seconds > 0)
        printf(" %10.4g", plans_point_tflops(point, seconds));
}

static void print_row(const plans_point *point, size_t i, bool measure)
{
    const bool chosen = i == 0, best = measure && i == plans_point_best(point);
    printf("%s%c %-44s",
           terminal_paint(best     ? STYLE_GOOD
                          : chosen ? STYLE_BOLD
                                   : STYLE_NONE),
           chosen ? '*' : ' ', point->plans[i].name);
    print_time(point, point->plans[i].seconds);
    if (measure)
        print_time(point, point->measured[i]);
    printf("%s\n", terminal_paint(STYLE_NONE));
}

static void print_conclusion(const plans_point *point, bool measure)
{
    const char *choice = point->plans[0].name;
    const double ratio = plans_point_ratio(point);
    if (point->status != NMODGPU_OK)
        printf("some plans could not be measured: %s\n", nmodgpu_status_text(point->status));
    if (!measure)
        printf("choice: %s (by predicted time; --measure measures)\n", choice);
    else if (ratio <= 0)
        printf("choice: %s, not measured\n", choice);
    else
        printf("choice: %s, within %.1f %% of the best measured, %s\n", choice, 100 * (ratio - 1),
               point->plans[plans_point_best(point)].name);
}

static void print_table(const plans_point *point, size_t shown, bool measure)
{
    printf("%" PRId64 " x %" PRId64 " by %" PRId64 " x %" PRId64 " mod %" PRIu64 " (%d bits), %s device %d: %s\n",
           point->m, point->k, point->k, point->n, point->p, 64 - __builtin_clzll(point->p), point->on->backend,
           (int)point->on->device, point->on->info.name);
    printf("operands and result on the device; TFLOP/s = 2 m k n / time; * is the planner's choice\n\n");
    printf("  %-44s%14s %10s", "plan", "predicted", "TFLOP/s");
    printf(measure ? "%14s %10s\n" : "\n", "measured", "TFLOP/s");
    for (size_t i = 0; i < shown; i++)
        print_row(point, i, measure);
    if (shown < point->count)
        printf("  (%zu more)\n", point->count - shown);
    print_conclusion(point, measure);
}

/* ---- for programs */

/** JSON has no place for infinities; a time that is not known is null. */
static void print_json_time(const plans_point *point, const char *name, double seconds)
{
    if (seconds > 0 && isfinite(seconds))
        printf(", \"%s_seconds\": %.9g, \"%s_tflops\": %.6g", name, seconds, name,
               plans_point_tflops(point, seconds));
    else
        printf(", \"%s_seconds\": null, \"%s_tflops\": null", name, name);
}

static void print_json(const plans_point *point, size_t shown)
{
    const double ratio = plans_point_ratio(point);
    printf("{\"backend\": \"%s\", \"device\": %d, \"p\": %" PRIu64 ", \"m\": %" PRId64 ", \"k\": %" PRId64
           ", \"n\": %" PRId64 ", \"plans_in_all\": %zu,\n \"plans\": [",
           point->on->backend, (int)point->on->device, point->p, point->m, point->k, point->n, point->count);
    for (size_t i = 0; i < shown; i++) {
        printf("%s\n  {\"name\": \"%s\", \"chosen\": %s", i ? "," : "", point->plans[i].name, i ? "false" : "true");
        print_json_time(point, "predicted", point->plans[i].seconds);
        print_json_time(point, "measured", point->measured[i]);
        putchar('}');
    }
    if (ratio > 0)
        printf("],\n \"best\": \"%s\", \"choice_over_best\": %.4f}\n", point->plans[plans_point_best(point)].name,
               ratio);
    else
        printf("],\n \"best\": null, \"choice_over_best\": null}\n");
}

int plans_list(const plans_request *request)
{
    plans_point point;
    if (!plans_point_open(&point, &request->on, request->p, request->m, request->k, request->n))
        return cmd_fail("plans: out of memory");
    if (!point.count)
        return plans_point_close(&point), cmd_fail("plans: there is no plan for this product");
    const size_t shown = request->top && (size_t)request->top < point.count ? (size_t)request->top : point.count;
    if (request->measure)
        measure_all(&point, shown, request->seconds);
    if (request->json)
        print_json(&point, shown);
    else
        print_table(&point, shown, request->measure);
    const bool failed = request->measure && plans_point_best(&point) == SIZE_MAX;
    plans_point_close(&point);
    return failed
               ? cmd_fail("plans: nothing could be measured%s", isfinite(request->seconds) ? " in that time" : "")
               : CMD_OK;
}
