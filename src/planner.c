/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

#include "plan_f64.h"
#include "plan_price.h"

#define MAX_INNER ((int64_t)1 << 31)
/* 27 families, at most three bases a side. */
#define MAX_CANDIDATES (27 * 9)

typedef struct ranked {
    double seconds;
    size_t order; /**< as found; decides between equals, so that the order is always the same */
    nmodgpu_f64_candidate candidate;
} ranked;

uint64_t nmodgpu_number_limit(nmodgpu_number number)
{
    return number == NMODGPU_I8 ? INT32_MAX : 1ULL << 53;
}

static bool possible(uint64_t p, int64_t m, int64_t k, int64_t n)
{
    return p > 1 && m >= 1 && k >= 1 && n >= 1;
}

/** All candidates, in the order found; at most MAX_CANDIDATES. */
static size_t find_all(ranked *found, nmodgpu_f64_cursor *cursor, const nmodgpu_price *price)
{
    size_t count = 0;
    nmodgpu_plan plan;
    while (nmodgpu_f64_family_next(cursor)) {
        nmodgpu_f64_candidate candidate;
        if (!nmodgpu_f64_try(cursor, &plan, &candidate))
            continue;
        found[count] = (ranked){nmodgpu_price_plan(price, &plan), count, candidate};
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
    nmodgpu_f64_cursor cursor;
    if (!possible(p, m, k, n) || k > MAX_INNER)
        return 0;
    const nmodgpu_price price = nmodgpu_price_make(p, m, k, n, rates);
    nmodgpu_f64_begin(&cursor, p, m, k, n);
    const size_t count = find_all(found, &cursor, &price);
    qsort(found, count, sizeof found[0], sooner);
    for (size_t i = 0; i < count && i < capacity; i++) {
        nmodgpu_f64_plan(&cursor, found[i].candidate, &plans[i]);
        plans[i].seconds = found[i].seconds;
    }
    return count;
}

static bool name_begins_with(const nmodgpu_f64_cursor *cursor, nmodgpu_f64_candidate candidate, const char *prefix)
{
    char name[sizeof((nmodgpu_plan *)NULL)->name];
    nmodgpu_f64_name(cursor, candidate, name, sizeof name);
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/** The first of the soonest candidates; leaves out families that cannot be sooner than what it has. */
static bool find_best(ranked *best, nmodgpu_f64_cursor *cursor, const nmodgpu_price *price, const char *prefix)
{
    bool any = false;
    nmodgpu_plan plan;
    const nmodgpu_f64_family *family;
    while ((family = nmodgpu_f64_family_next(cursor))) {
        nmodgpu_f64_candidate candidate;
        if (any && nmodgpu_price_least(price, family->left_planes, family->right_planes, family->terms,
                                       family->least_sums) > best->seconds) {
            nmodgpu_f64_family_skip(cursor);
            continue;
        }
        if (!nmodgpu_f64_try(cursor, &plan, &candidate))
            continue;
        if (prefix && !name_begins_with(cursor, candidate, prefix))
            continue;
        const double seconds = nmodgpu_price_plan(price, &plan);
        if (!any || seconds < best->seconds)
            *best = (ranked){seconds, 0, candidate};
        any = true;
    }
    return any;
}

nmodgpu_status nmodgpu_plan_best(nmodgpu_plan *plan, uint64_t p, int64_t m, int64_t k, int64_t n,
                                 const nmodgpu_rates *rates, const char *name)
{
    ranked best;
    nmodgpu_f64_cursor cursor;
    if (!possible(p, m, k, n))
        return NMODGPU_EINVAL;
    if (k > MAX_INNER)
        return NMODGPU_DECLINED;
    const nmodgpu_price price = nmodgpu_price_make(p, m, k, n, rates);
    nmodgpu_f64_begin(&cursor, p, m, k, n);
    if (!find_best(&best, &cursor, &price, name))
        return NMODGPU_DECLINED;
    nmodgpu_f64_plan(&cursor, best.candidate, plan);
    plan->seconds = best.seconds;
    return NMODGPU_OK;
}
