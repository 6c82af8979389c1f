/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The stack grows towards lower addresses on every machine that object.c knows.
 */
#define _GNU_SOURCE 1
#include "guard.h"

#include <pthread.h>
#include <stddef.h>

#include "hold.h"
#include "site.h"

/* initial-exec: reading it never allocates. */
static _Thread_local struct {
    nmodgpu_guard *guard; /* innermost; perhaps of a frame that is gone */
    nmodgpu_flint *flint; /* what that frame called */
    uintptr_t canary;     /* what it holds while it is whole */
    uintptr_t entered;    /* counts, so that no canary returns */
    uintptr_t stack_low;  /* this thread's own stack; empty when it could not be found */
    uintptr_t stack_bytes;
    bool stack_known;
} here __attribute__((tls_model("initial-exec")));

static void find_own_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            here.stack_low = (uintptr_t)low;
            here.stack_bytes = bytes;
        }
        (void)pthread_attr_destroy(&attributes);
    }
    here.stack_known = true;
    nmodgpu_release_signals(&hold);
}

static bool on_own_stack(uintptr_t address)
{
    return address - here.stack_low < here.stack_bytes;
}

NMODGPU_REAL_FRAME void nmodgpu_guard_enter(nmodgpu_guard *guard, nmodgpu_flint *flint)
{
    if (!here.stack_known)
        find_own_stack();
    guard->previous = here.guard;
    guard->previous_flint = here.flint;
    guard->previous_canary = here.canary;
    guard->canary = (uintptr_t)guard ^ (++here.entered * (uintptr_t)0x9e3779b97f4a7c15u);
    here.guard = guard;
    here.flint = flint;
    here.canary = guard->canary;
}

NMODGPU_REAL_FRAME void nmodgpu_guard_leave(nmodgpu_guard *guard)
{
    here.guard = guard->previous;
    here.flint = guard->previous_flint;
    here.canary = guard->previous_canary;
    guard->canary = 0;
}

static bool forget(void)
{
    here.guard = NULL;
    return false;
}

/* More stack than FLINT's recursion uses, less than lies between two stacks as a rule. */
#define NEAR_BYTES ((uintptr_t)1 << 20)

/* Only a guard on this thread's own stack, above a frame of it, is known to be mapped memory: the canary is
   read there alone.  On other stacks (coroutines) the distance has to do. */
NMODGPU_REAL_FRAME bool nmodgpu_guard_nested(nmodgpu_flint *flint, uintptr_t site, uintptr_t frame)
{
    const uintptr_t guarded = (uintptr_t)here.guard;
    if (!guarded || here.flint->object.dynamic != flint->object.dynamic) /* one FLINT may have two records */
        return false;
    const nmodgpu_site kind = nmodgpu_site_of(flint, site);
    if (kind == NMODGPU_SITE_OUTSIDE || kind == NMODGPU_SITE_CALLER)
        return false;
    const bool own = on_own_stack(guarded);
    if (own != on_own_stack(frame))
        return false;
    if (!own)
        return guarded - frame < NEAR_BYTES;
    if (frame >= guarded || ((const volatile nmodgpu_guard *)guarded)->canary != here.canary)
        return forget();
    return true;
}
