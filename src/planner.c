/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

#include "plan_f64.h"
#include "plan_i8.h"
#include "plan_price.h"

#define MAX_INNER ((int64_t)1 << 31)
/* With a smaller dimension than this nobody gains by a Strassen-Winograd step: it saves an eighth of the products,
 * of halves that no longer fill a device, and for it conversions and reductions take seven quarters of the bytes.
 */
#define WINOGRAD_LEAST 2048
/* 27 families, at most three bases a side. */
#define MAX_CANDIDATES (NMODGPU_I8_KINDS + 27 * 9)

/** Names a plan of either number type, without making it. */
typedef struct candidate {
    nmodgpu_number number;
    nmodgpu_i8_kind kind; /**< of I8 */
    nmodgpu_f64_candidate f64;
} candidate;

typedef struct ranked {
    double seconds;
    size_t order; /**< as found; decides between equals, so that the order is always the same */
    candidate of;
} ranked;

typedef struct search {
    uint64_t p;
    int64_t m, k, n;
    const nmodgpu_rates *rates;
    nmodgpu_f64_cursor cursor;
    nmodgpu_price price; /**< of plans in double precision */
} search;

static bool possible(uint64_t p, int64_t m, int64_t k, int64_t n)
{
    return p > 1 && m >= 1 && k >= 1 && n >= 1;
}

static void search_begin(search *s, uint64_t p, int64_t m, int64_t k, int64_t n, const nmodgpu_rates *rates)
{
    s->p = p;
    s->m = m;
    s->k = k;
    s->n = n;
    s->rates = rates;
    s->price = nmodgpu_price_f64(p, m, k, n, rates);
    nmodgpu_f64_begin(&s->cursor, p, m, k, n);
}

static bool large_enough(const search *s, nmodgpu_i8_kind kind)
{
    return !nmodgpu_i8_winograd(kind) ||
           (s->m >= WINOGRAD_LEAST && s->k >= WINOGRAD_LEAST && s->n >= WINOGRAD_LEAST);
}

/** The int8 plan of that kind with its seconds, if there is one and the device serves it. */
static bool try_i8(const search *s, nmodgpu_i8_kind kind, nmodgpu_plan *plan)
{
    if (!nmodgpu_price_offers(s->rates, nmodgpu_i8_sum_bytes(kind)) ||
        !nmodgpu_i8_plan(plan, kind, s->p, s->m, s->k, s->n))
        return false;
    plan->seconds = nmodgpu_plan_seconds(plan, s->rates);
    return true;
}

static void make_plan(const search *s, const ranked *r, nmodgpu_plan *plan)
{
    if (r->of.number == NMODGPU_I8)
        nmodgpu_i8_plan(plan, r->of.kind, s->p, s->m, s->k, s->n);
    else
        nmodgpu_f64_plan(&s->cursor, r->of.f64, plan);
    plan->seconds = r->seconds;
}

/** All candidates, in the order found; at most MAX_CANDIDATES. */
static size_t find_all(ranked *found, search *s)
{
    size_t count = 0;
    nmodgpu_plan plan;
    for (nmodgpu_i8_kind kind = 0; kind < NMODGPU_I8_KINDS; kind++) {
        if (!large_enough(s, kind) || !try_i8(s, kind, &plan))
            continue;
        found[count] = (ranked){plan.seconds, count, {.number = NMODGPU_I8, .kind = kind}};
        count++;
    }
    while (nmodgpu_f64_family_next(&s->cursor)) {
        candidate c = {.number = NMODGPU_F64};
        if (!nmodgpu_f64_try(&s->cursor, &plan, &c.f64))
            continue;
        found[count] = (ranked){nmodgpu_price_plan(&s->price, &plan), count, c};
        count++;
    }
    return count;
}

static int sooner(const void *a, const void *b)
{
    const ranked *x = a;
    const ranked *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

size_t nmodgpu_plan_list(nmodgpu_plan *plans, size_t capacity, uint64_t p, int64_t m, int64_t k, int64_t n,
                         const nmodgpu_rates *rates)
{
    ranked found[MAX_CANDIDATES];
    search s;
    if (!possible(p, m, k, n) || k > MAX_INNER)
        return 0;
    search_begin(&s, p, m, k, n, rates);
    const size_t count = find_all(found, &s);
    qsort(found, count, sizeof found[0], sooner);
    for (size_t i = 0; i < count && i < capacity; i++)
        make_plan(&s, &found[i], &plans[i]);
    return count;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/** All zero, there is none. */
static bool is_found(const ranked *best)
{
    return best->of.number != 0;
}

/** *best becomes this one if it is sooner, or the first. */
static void offer(ranked *best, double seconds, candidate of)
{
    if (!is_found(best) || seconds < best->seconds)
        *best = (ranked){seconds, 0, of};
}

/** A plan of just that name is the only one, of any size; with a Strassen-Winograd step the name goes on. */
static void find_best_i8(ranked *best, const search *s, const char *prefix)
{
    nmodgpu_plan plan;
    for (nmodgpu_i8_kind kind = 0; kind < NMODGPU_I8_KINDS; kind++) {
        const candidate c = {.number = NMODGPU_I8, .kind = kind};
        const bool large = large_enough(s, kind);
        if ((!large && !prefix) || !try_i8(s, kind, &plan) || (prefix && !begins_with(plan.name, prefix)))
            continue;
        if (prefix && strcmp(plan.name, prefix) == 0) {
            *best = (ranked){plan.seconds, 0, c};
            return;
        }
        if (large)
            offer(best, plan.seconds, c);
    }
}

static bool f64_begins_with(const search *s, nmodgpu_f64_candidate f64, const char *prefix)
{
    char name[sizeof((nmodgpu_plan *)NULL)->name];
    nmodgpu_f64_name(&s->cursor, f64, name, sizeof name);
    return begins_with(name, prefix);
}

/** Leaves out families that cannot be sooner than what there is. */
static void find_best_f64(ranked *best, search *s, const char *prefix)
{
    nmodgpu_plan plan;
    const nmodgpu_f64_family *family;
    while ((family = nmodgpu_f64_family_next(&s->cursor))) {
        candidate c = {.number = NMODGPU_F64};
        if (is_found(best) && nmodgpu_price_least(&s->price, family->left_planes, family->right_planes,
                                                  family->terms, family->least_sums) > best->seconds) {
            nmodgpu_f64_family_skip(&s->cursor);
            continue;
        }
        if (!nmodgpu_f64_try(&s->cursor, &plan, &c.f64) || (prefix && !f64_begins_with(s, c.f64, prefix)))
            continue;
        offer(best, nmodgpu_price_plan(&s->price, &plan), c);
    }
}

nmodgpu_status nmodgpu_plan_best(nmodgpu_plan *plan, uint64_t p, int64_t m, int64_t k, int64_t n,
                                 const nmodgpu_rates *rates, const char *name)
{
    ranked best = {0};
    search s;
    if (!possible(p, m, k, n))
        return NMODGPU_EINVAL;
    if (k > MAX_INNER)
        return NMODGPU_DECLINED;
    search_begin(&s, p, m, k, n, rates);
    find_best_i8(&best, &s, name);
    find_best_f64(&best, &s, name);
    if (!is_found(&best))
        return NMODGPU_DECLINED;
    make_plan(&s, &best, plan);
    return NMODGPU_OK;
}

void nmodgpu_plan_plain(nmodgpu_plan *plan, const nmodgpu_rates *rates)
{
    if (!plan->winograd)
        return;
    char *step = strstr(plan->name, NMODGPU_I8_WINOGRAD_NAME);
    if (step)
        memset(step, 0, sizeof plan->name - (size_t)(step - plan->name));
    plan->winograd = 0;
    plan->seconds = nmodgpu_plan_seconds(plan, rates);
}
