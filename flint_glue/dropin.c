/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * FLINT's nmod_mat_mul, nmod_mat_addmul and nmod_mat_submul.
 *
 * Switched off, a call is a look at the switch, a look at who calls and a tail call of FLINT's own function.
 * Switched on, the core may serve it; whatever it does not serve is FLINT's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dispatch.h"
#include "find.h"
#include "guard.h"
#include "layout.h"
#include "reach.h"

typedef nmodgpu_flint_matrix matrix;

typedef struct product {
    nmodgpu_op op;
    matrix *d;
    const matrix *c; /* NULL for NMODGPU_MUL */
    const matrix *a;
    const matrix *b;
} product;

static void call_flint(const nmodgpu_flint *flint, const product *x)
{
    switch (x->op) {
    case NMODGPU_ADDMUL:
        flint->addmul(x->d, x->c, x->a, x->b);
        break;
    case NMODGPU_SUBMUL:
        flint->submul(x->d, x->c, x->a, x->b);
        break;
    default:
        flint->mul(x->d, x->a, x->b);
    }
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* that clock always exists */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static NMODGPU_REAL_FRAME void serve_by_flint(nmodgpu_flint *flint, const product *x, nmodgpu_call *call)
{
    nmodgpu_guard guard;
    const double start = now();
    nmodgpu_guard_enter(&guard, flint);
    call_flint(flint, x);
    nmodgpu_guard_leave(&guard);
    nmodgpu_priv_host_served(call, "flint", now() - start);
}

/* What FLINT asks of its callers.  Anything else is FLINT's to treat, with its own message. */
static bool shapes_fit(const product *x)
{
    const matrix *a = x->a;
    const matrix *b = x->b;
    const matrix *d = x->d;
    const matrix *c = x->c ? x->c : d;
    return a->r >= 0 && a->c >= 0 && b->c >= 0 && a->c == b->r && d->r == a->r && d->c == b->c && c->r == a->r &&
           c->c == b->c && a->n != 0 && b->n == a->n && c->n == a->n && d->n == a->n;
}

static bool serve_by_backend(nmodgpu_flint *flint, const product *x, nmodgpu_call *call)
{
    call->reason = NMODGPU_REASON_UNSUPPORTED;
    if (!shapes_fit(x))
        return false;
    call->reason = NMODGPU_REASON_SMALL;
    if (!nmodgpu_priv_worth_trying(call->m, call->k, call->n, call->p))
        return false;
    call->reason = NMODGPU_REASON_UNSUPPORTED;
    const nmodgpu_layout layout = nmodgpu_flint_layout(flint);
    if (layout == NMODGPU_LAYOUT_REFUSED)
        return false;
    const nmodgpu_view d = nmodgpu_flint_view(x->d, layout);
    const nmodgpu_view c = nmodgpu_flint_view(x->c ? x->c : x->d, layout);
    const nmodgpu_view a = nmodgpu_flint_view(x->a, layout);
    const nmodgpu_view b = nmodgpu_flint_view(x->b, layout);
    return nmodgpu_priv_try(call, x->op, &d, x->c ? &c : NULL, &a, &b, call->p) == NMODGPU_OK;
}

/* No FLINT in sight, so no layout is known and no right result can be had, by any means: FLINT's own answer
   to conditions without a way on. */
static _Noreturn void no_flint(const char *why)
{
    fprintf(stderr, "nmodgpu: nmod_mat_mul was called but %s; the program cannot go on\n", why);
    abort();
}

static __attribute__((noinline)) void dispatch(const product *x, uintptr_t site)
{
    const matrix *const operands[] = {x->d, x->c, x->a, x->b};
    const char *why = NULL;
    nmodgpu_flint *flint = nmodgpu_flint_of_caller(site, operands, 4, &why);
    if (!flint)
        no_flint(why);
    if (nmodgpu_priv_read_switch() != NMODGPU_SWITCH_ON ||
        nmodgpu_guard_nested(flint, site, (uintptr_t)__builtin_frame_address(0))) {
        call_flint(flint, x);
        return;
    }
    const int saved_errno = errno;
    nmodgpu_call call;
    memset(&call, 0, sizeof call);
    call.op = x->op;
    call.m = x->a->r;
    call.k = x->a->c;
    call.n = x->b->c;
    call.p = x->a->n;
    nmodgpu_reach_check(flint);
    const bool served = serve_by_backend(flint, x, &call);
    errno = saved_errno;
    if (!served)
        serve_by_flint(flint, x, &call);
}

/* The FLINT to call at once: the switch is off and the caller is known. */
static inline nmodgpu_flint *at_once(uintptr_t site)
{
    if (atomic_load_explicit(&nmodgpu_priv_switch, memory_order_relaxed) != NMODGPU_SWITCH_OFF)
        return NULL;
    return nmodgpu_flint_known(site);
}

#define CALL_SITE ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

NMODGPU_API void nmod_mat_mul(matrix *c, const matrix *a, const matrix *b);
NMODGPU_API void nmod_mat_addmul(matrix *d, const matrix *c, const matrix *a, const matrix *b);
NMODGPU_API void nmod_mat_submul(matrix *d, const matrix *c, const matrix *a, const matrix *b);

void nmod_mat_mul(matrix *c, const matrix *a, const matrix *b)
{
    const nmodgpu_flint *flint = at_once(CALL_SITE);
    if (flint) {
        flint->mul(c, a, b);
        return;
    }
    const product x = {NMODGPU_MUL, c, NULL, a, b};
    dispatch(&x, CALL_SITE);
}

void nmod_mat_addmul(matrix *d, const matrix *c, const matrix *a, const matrix *b)
{
    const nmodgpu_flint *flint = at_once(CALL_SITE);
    if (flint) {
        flint->addmul(d, c, a, b);
        return;
    }
    const product x = {NMODGPU_ADDMUL, d, c, a, b};
    dispatch(&x, CALL_SITE);
}

void nmod_mat_submul(matrix *d, const matrix *c, const matrix *a, const matrix *b)
{
    const nmodgpu_flint *flint = at_once(CALL_SITE);
    if (flint) {
        flint->submul(d, c, a, b);
        return;
    }
    const product x = {NMODGPU_SUBMUL, d, c, a, b};
    dispatch(&x, CALL_SITE);
}
