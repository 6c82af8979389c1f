/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "cost.h"
#include "hold.h"
#include "host_matrix.h"
#include "log.h"
#include "planner.h"
#include "process.h"
#include "product.h"
#include "registry.h"
#include "report.h"
#include "serve.h"
#include "tile.h"

#define LONGEST_INNER (INT64_C(1) << 31) /* of the planner */

double nmodgpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Who would compute a call, and how soon. */
typedef struct choice {
    nmodgpu_entry *entry;
    int32_t device;
    nmodgpu_plan plan;
    double seconds;
} choice;

static int64_t smallest(int64_t m, int64_t k, int64_t n)
{
    const int64_t mk = m < k ? m : k;
    return mk < n ? mk : n;
}

/** Empty products and those mod 1 are for the host whatever the threshold. */
static bool is_trivial(int64_t m, int64_t k, int64_t n, uint64_t p)
{
    return m <= 0 || k <= 0 || n <= 0 || p <= 1;
}

/* ---- a cheap look */

/* What no backend undercuts, assumed until one has been opened: a GPU call takes 34 microseconds at least
 * (measured on an H200: 256 KiB up, one kernel, 256 KiB down), one on the CPU several memory allocations and a
 * dgemm. */
#define LEAST_SECONDS 2e-6

/** The least time in which a backend that the mode allows serves anything. */
static double least_seconds(const char *mode)
{
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    const int count = nmodgpu_registry_opened(mode, entries);
    double least = count ? 1e9 : LEAST_SECONDS;
    for (int i = 0; i < count; i++) {
        const double seconds = atomic_load_explicit(&entries[i]->least_seconds, memory_order_relaxed);
        least = seconds < least ? seconds : least;
    }
    return least;
}

bool nmodgpu_priv_worth_trying(int64_t m, int64_t k, int64_t n, uint64_t p)
{
    if (is_trivial(m, k, n, p))
        return false;
    const char *mode = nmodgpu_context_mode(NULL);
    if (strcmp(mode, "off") == 0)
        return false;
    const int64_t threshold = nmodgpu_setting_number(nmodgpu_context_settings(NULL), NMODGPU_SET_MIN_DIM);
    if (threshold >= 0)
        return smallest(m, k, n) >= threshold;
    return nmodgpu_host_seconds(&nmodgpu_host_rates_flint29, m, k, n, p) > least_seconds(mode);
}

/* ---- choosing */

/** Takes a device's best plan into `best` if it is sooner. */
static void consider(choice *best, nmodgpu_entry *entry, int32_t device, const nmodgpu_call *call,
                     const char *plan_name)
{
    const nmodgpu_rates *rates = &entry->info[device].rates;
    nmodgpu_plan plan;
    if (nmodgpu_plan_best(&plan, call->p, call->m, call->k, call->n, rates, plan_name) != NMODGPU_OK)
        return;
    const double seconds = nmodgpu_plan_call_seconds(&plan, rates, call->op != NMODGPU_MUL);
    nmodgpu_log(NMODGPU_LOG_DEBUG, NULL, "%s device %d: %s, %.3g s predicted", entry->name, (int)device, plan.name,
                seconds);
    if (best->entry && best->seconds <= seconds)
        return;
    best->entry = entry;
    best->device = device;
    best->plan = plan;
    best->seconds = seconds;
}

/** The soonest device and plan of these backends; false when none has a plan. */
static bool soonest(choice *best, nmodgpu_entry *const *entries, int count, const nmodgpu_call *call,
                    const char *plan_name)
{
    best->entry = NULL;
    if (call->k > LONGEST_INNER)
        return false;
    for (int i = 0; i < count; i++)
        for (int32_t device = 0; device < entries[i]->devices; device++)
            consider(best, entries[i], device, call, *plan_name ? plan_name : NULL);
    return best->entry != NULL;
}

/** The soonest device and plan for a call; a reason where there is none, or none sooner than the host. */
static nmodgpu_reason choose(choice *best, nmodgpu_context *context, const nmodgpu_host_rates *host_rates,
                             const nmodgpu_call *call)
{
    nmodgpu_settings *settings = nmodgpu_context_settings(context);
    const int64_t threshold = nmodgpu_setting_number(settings, NMODGPU_SET_MIN_DIM);
    const double host = nmodgpu_host_seconds(host_rates, call->m, call->k, call->n, call->p);
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    if (threshold >= 0 ? smallest(call->m, call->k, call->n) < threshold : host <= LEAST_SECONDS)
        return NMODGPU_REASON_SMALL;
    const int count = nmodgpu_registry_usable(nmodgpu_context_mode(context), entries);
    if (count == 0)
        return NMODGPU_REASON_BACKEND;
    if (!soonest(best, entries, count, call, nmodgpu_setting_text(settings, NMODGPU_SET_PLAN)))
        return NMODGPU_REASON_UNSUPPORTED;
    if (threshold < 0 && host <= best->seconds)
        return NMODGPU_REASON_SMALL;
    return NMODGPU_REASON_NONE;
}

/* ---- running */

static uint64_t four_fifths_of_free(const choice *chosen)
{
    const nmodgpu_backend *backend = atomic_load(&chosen->entry->backend);
    nmodgpu_device_info info;
    return backend->device_info(chosen->device, &info) == NMODGPU_OK ? info.free_bytes / 5 * 4 : 0;
}

/** Device memory that a product may use at first, and no more than it needs.  Asking what is free takes a while
 *  on some devices, so a product that needs little of all there is does not ask. */
static uint64_t first_limit(nmodgpu_context *context, const choice *chosen)
{
    const int64_t set = nmodgpu_setting_number(nmodgpu_context_settings(context), NMODGPU_SET_MEMORY);
    const uint64_t needed = nmodgpu_untiled_bytes(atomic_load(&chosen->entry->backend), &chosen->plan);
    uint64_t limit = needed;
    if (set >= 0)
        limit = (uint64_t)set;
    else if (needed > chosen->entry->info[chosen->device].memory_bytes / 8)
        limit = four_fifths_of_free(chosen);
    return limit < needed ? limit : needed;
}

/** A plan with a Strassen-Winograd step takes no tiles: it goes without the step where memory is short. */
static void go_plain(choice *chosen, nmodgpu_product *product)
{
    const nmodgpu_rates *rates = &chosen->entry->info[chosen->device].rates;
    nmodgpu_plan_plain(&chosen->plan, rates);
    product->plan = &chosen->plan;
}

/* Several threads may each have been promised the same free memory: after running out, a product tries again
 * in smaller tiles. */
enum { MEMORY_TRIES = 3 };

static nmodgpu_status run_chosen(nmodgpu_context *context, choice *chosen, nmodgpu_product *product)
{
    product->limit_bytes = first_limit(context, chosen);
    if (product->limit_bytes < nmodgpu_untiled_bytes(product->backend, product->plan)) {
        go_plain(chosen, product);
        product->limit_bytes = first_limit(context, chosen);
    }
    nmodgpu_status status = nmodgpu_product_run(product);
    for (int tries = 1; tries < MEMORY_TRIES && status == NMODGPU_ENOMEM; tries++) {
        const uint64_t now = four_fifths_of_free(chosen);
        go_plain(chosen, product);
        product->limit_bytes = now < product->limit_bytes / 2 ? now : product->limit_bytes / 2;
        status = nmodgpu_product_run(product);
    }
    return status;
}

/** A handler that leaves by longjmp is let through when the backend has let go of locks, queues and the caller's
 *  memory. */
static nmodgpu_status run_held(nmodgpu_context *context, choice *chosen, nmodgpu_product *product)
{
    if (product->backend->holds_signals)
        return run_chosen(context, chosen, product);
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    const nmodgpu_status status = run_chosen(context, chosen, product);
    nmodgpu_release_signals(&hold);
    return status;
}

static void log_call(nmodgpu_context *context, const nmodgpu_call *call, const char *who, const char *how)
{
    static const char *const names[] = {"mul", "addmul", "submul"};
    if (nmodgpu_setting_number(nmodgpu_context_settings(context), NMODGPU_SET_VERBOSE) < NMODGPU_LOG_CALL)
        return;
    nmodgpu_log_line("%s %lldx%lldx%lld mod %llu (%d bits): %s, %s, %.3g s", names[call->op], (long long)call->m,
                     (long long)call->k, (long long)call->n, (unsigned long long)call->p,
                     call->p ? 64 - __builtin_clzll(call->p) : 0, who, how, call->seconds);
}

static nmodgpu_reason report_failure(const choice *chosen, const nmodgpu_call *call, nmodgpu_status status)
{
    char cause[64];
    snprintf(cause, sizeof cause, "%s:%d", chosen->entry->name, (int)status);
    nmodgpu_log(NMODGPU_LOG_ERROR, cause, "%s failed on %lldx%lldx%lld: %s; the host's own product is used",
                chosen->entry->name, (long long)call->m, (long long)call->k, (long long)call->n,
                nmodgpu_status_text(status));
    if (status == NMODGPU_ENOMEM)
        return NMODGPU_REASON_MEMORY;
    nmodgpu_registry_outcome(chosen->entry, true);
    return NMODGPU_REASON_FAILED;
}

static nmodgpu_reason serve(nmodgpu_context *context, const nmodgpu_host_rates *host, nmodgpu_call *call,
                            nmodgpu_product *product)
{
    choice chosen;
    const double start = nmodgpu_now();
    const nmodgpu_reason reason = choose(&chosen, context, host, call);
    if (reason != NMODGPU_REASON_NONE)
        return reason;
    product->backend = atomic_load(&chosen.entry->backend);
    product->device = chosen.device;
    product->plan = &chosen.plan;
    const nmodgpu_status status = run_held(context, &chosen, product);
    snprintf(call->plan, sizeof call->plan, "%s", chosen.plan.name); /* that which ran */
    if (status != NMODGPU_OK)
        return report_failure(&chosen, call, status);
    nmodgpu_registry_outcome(chosen.entry, false);
    call->served_by = chosen.entry->name;
    call->seconds = nmodgpu_now() - start;
    return NMODGPU_REASON_NONE;
}

/** What can be said of a call before a backend is looked for. */
static nmodgpu_reason first_look(nmodgpu_context *context, const nmodgpu_call *call, const nmodgpu_product *product)
{
    const bool has_c = call->op != NMODGPU_MUL;
    if (strcmp(nmodgpu_context_mode(context), "off") == 0)
        return NMODGPU_REASON_BACKEND;
    if (is_trivial(call->m, call->k, call->n, call->p))
        return NMODGPU_REASON_SMALL;
    if (!nmodgpu_view_valid(product->d, call->m, call->n) || !nmodgpu_view_valid(product->a, call->m, call->k) ||
        !nmodgpu_view_valid(product->b, call->k, call->n) ||
        (has_c && !nmodgpu_view_valid(product->c, call->m, call->n)))
        return NMODGPU_REASON_UNSUPPORTED;
    return nmodgpu_process_forked() ? NMODGPU_REASON_FORKED : NMODGPU_REASON_NONE;
}

nmodgpu_status nmodgpu_serve(nmodgpu_context *context, const nmodgpu_host_rates *host, nmodgpu_call *call,
                             nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                             const nmodgpu_view *b, uint64_t p)
{
    const int saved_errno = errno;
    nmodgpu_product product = {.op = op, .d = d, .c = op == NMODGPU_MUL ? NULL : c, .a = a, .b = b};
    *call = (nmodgpu_call){.op = op, .m = d->rows, .k = a->cols, .n = d->cols, .p = p};
    nmodgpu_context_settings(NULL); /* a report may be asked for, whatever the context */
    nmodgpu_report_arrived();
    call->counted = true;
    call->reason = first_look(context, call, &product);
    if (call->reason == NMODGPU_REASON_NONE)
        call->reason = serve(context, host, call, &product);
    if (call->reason == NMODGPU_REASON_NONE) {
        nmodgpu_report_served(call->served_by, call->seconds);
        log_call(context, call, call->served_by, call->plan);
    } else {
        nmodgpu_report_declined(call->reason);
    }
    errno = saved_errno;
    return call->reason == NMODGPU_REASON_NONE ? NMODGPU_OK : NMODGPU_DECLINED;
}

void nmodgpu_serve_host(nmodgpu_context *context, nmodgpu_call *call, const char *who, double seconds)
{
    if (!call->counted) {
        nmodgpu_report_arrived();
        nmodgpu_report_declined(call->reason);
        call->counted = true;
    }
    call->seconds = seconds;
    nmodgpu_report_host(who, seconds);
    log_call(context, call, who, nmodgpu_reason_name(call->reason));
}

nmodgpu_status nmodgpu_priv_try(nmodgpu_call *call, nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                                const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p)
{
    return nmodgpu_serve(NULL, &nmodgpu_host_rates_flint29, call, op, d, c, a, b, p);
}

void nmodgpu_priv_host_served(nmodgpu_call *call, const char *who, double seconds)
{
    nmodgpu_serve_host(NULL, call, who, seconds);
}
