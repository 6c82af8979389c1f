/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd.h"
#include "number.h"
#include "plans.h"
#include "plans_family.h"
#include "terminal.h"

static const int64_t sizes[] = {256, 512, 1024, 2048, 4096, 8192};
static const unsigned bits[] = {8, 16, 23, 26, 31, 40, 50, 60, 64};
#define SIZES (sizeof sizes / sizeof sizes[0])
#define BITS (sizeof bits / sizeof bits[0])

/* Beyond the best few predicted, the best of each other family is measured unless it is predicted to take this
 * many times the choice's time. */
#define FAR_OFF 3.0

typedef struct grid {
    const plans_request *request;
    plans_clock clock;
    size_t done, missed;
    double worst;
    int64_t worst_n;
    unsigned worst_bits;
} grid;

static bool family_seen(const plans_point *point, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (plans_same_family(&point->plans[j], &point->plans[i]))
            return true;
    return false;
}

static bool worth_measuring(const plans_point *point, size_t i, size_t few)
{
    return i < few || (!family_seen(point, i) && point->plans[i].seconds < FAR_OFF * point->plans[0].seconds);
}

/** True when the choice and something to compare it with were measured. */
static bool measure(grid *g, plans_point *point)
{
    const size_t few = (size_t)g->request->top;
    char what[64];
    snprintf(what, sizeof what, "n = %" PRId64 ", %d bits", point->n, 64 - __builtin_clzll(point->p));
    for (size_t i = 0; i < point->count; i++) {
        terminal_progress_show(&g->clock.progress, (double)g->done / (SIZES * BITS), what);
        if (worth_measuring(point, i, few) && !plans_point_measure(point, i, &g->clock) && i < few)
            return false;
    }
    plans_point_run_off(point, &g->clock);
    return plans_point_ratio(point) > 0;
}

static void print_json(const plans_point *point, unsigned b, double ratio)
{
    const size_t best = plans_point_best(point);
    printf("{\"bits\": %u, \"n\": %" PRId64
           ", \"choice\": \"%s\", \"choice_seconds\": %.9g, \"choice_tflops\": %.6g, "
           "\"predicted_seconds\": %.9g, \"best\": \"%s\", \"best_seconds\": %.9g, \"ratio\": %.4f}\n",
           b, point->n, point->plans[0].name, point->measured[0], plans_point_tflops(point, point->measured[0]),
           point->plans[0].seconds, point->plans[best].name, point->measured[best], ratio);
}

static void print_line(const plans_point *point, unsigned b, double ratio)
{
    const size_t best = plans_point_best(point);
    printf("%6" PRId64 " %5u  %-36s %9.3f %9.4g  %-36s %6.3f  %5.2f\n", point->n, b, point->plans[0].name,
           1e3 * point->measured[0], plans_point_tflops(point, point->measured[0]), point->plans[best].name, ratio,
           point->measured[0] / point->plans[0].seconds);
}

static void note(grid *g, const plans_point *point, unsigned b)
{
    const double ratio = plans_point_ratio(point);
    terminal_progress_end(&g->clock.progress);
    (g->request->json ? print_json : print_line)(point, b, ratio);
    fflush(stdout);
    if (ratio > g->worst) {
        g->worst = ratio;
        g->worst_n = point->n;
        g->worst_bits = b;
    }
}

static int take_point(grid *g, int64_t n, unsigned b)
{
    plans_point point;
    if (!plans_point_open(&point, &g->request->on, number_largest_prime(b), n, n, n))
        return cmd_fail("plans: out of memory");
    if (measure(g, &point))
        note(g, &point, b);
    else
        g->missed++;
    if (point.status != NMODGPU_OK)
        cmd_fail("plans: n = %" PRId64 ", %u bits: %s", n, b, nmodgpu_status_text(point.status));
    g->done++;
    plans_point_close(&point);
    return CMD_OK;
}

static int conclude(const grid *g)
{
    if (g->request->json)
        printf("{\"points\": %zu, \"points_without_time\": %zu, \"worst_ratio\": %.4f}\n", g->done - g->missed,
               g->missed, g->worst);
    else if (g->missed < g->done)
        printf("worst ratio: %.3f, at n = %" PRId64 " and %u bits, of %zu points%s\n", g->worst, g->worst_n,
               g->worst_bits, g->done - g->missed, g->missed ? "" : ", all of the grid");
    if (g->missed && !g->request->json)
        printf("%zu points were not measured for want of time (--seconds) or memory\n", g->missed);
    return g->missed < g->done ? CMD_OK : cmd_fail("plans: nothing could be measured");
}

int plans_grid(const plans_request *request)
{
    grid g = {.request = request, .clock = {.until = terminal_now() + request->seconds}};
    int status = CMD_OK;
    if (!request->json) {
        printf("%s device %d: %s; operands and result on the device\n", request->on.backend,
               (int)request->on.device, request->on.info.name);
        printf("%6s %5s  %-36s %9s %9s  %-36s %6s  %s\n", "n", "bits", "planner's choice", "ms", "TFLOP/s",
               "best measured", "ratio", "measured/predicted");
    }
    terminal_progress_begin(&g.clock.progress);
    for (size_t i = 0; i < SIZES && status == CMD_OK; i++)
        for (size_t j = 0; j < BITS && status == CMD_OK; j++)
            status = take_point(&g, sizes[i], bits[j]);
    terminal_progress_end(&g.clock.progress);
    return status == CMD_OK ? conclude(&g) : status;
}
