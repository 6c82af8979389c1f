/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Holds this thread's signals while the loader's locks or an unfinished record of ours are held: a handler
 * that leaves by longjmp would leave them behind for good.
 */
#ifndef NMODGPU_FLINT_HOLD_H
#define NMODGPU_FLINT_HOLD_H

#include <signal.h>
#include <stdbool.h>

typedef struct nmodgpu_hold {
    sigset_t before;
    bool held;
} nmodgpu_hold;

static inline nmodgpu_hold nmodgpu_hold_signals(void)
{
    nmodgpu_hold hold;
    sigset_t all;
    sigfillset(&all);
    hold.held = pthread_sigmask(SIG_SETMASK, &all, &hold.before) == 0;
    return hold;
}

static inline void nmodgpu_release_signals(const nmodgpu_hold *hold)
{
    if (hold->held)
        (void)pthread_sigmask(SIG_SETMASK, &hold->before, NULL); /* cannot fail: the set came from it */
}

#endif
