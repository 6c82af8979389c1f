/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Holds back this thread's asynchronous signals and its cancellation while locks (the loader's, a driver's, our
 * own) or unfinished records are held, or while others work on the caller's memory: a handler that leaves by
 * longjmp would leave them behind for good.  Faults and a garbage collector's signals come through.  Threads that
 * are started meanwhile inherit the mask.
 */
#ifndef NMODGPU_HOLD_H
#define NMODGPU_HOLD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct nmodgpu_hold {
    sigset_t before;
    int cancel;
    bool held;
} nmodgpu_hold;

static inline nmodgpu_hold nmodgpu_hold_signals(void)
{
    /* Blocked, the first would kill the process where its handler could still say why; with the last two the
     * collector of Boehm, Demers and Weiser stops and resumes threads, and waits until all have answered. */
    static const int let_through[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPWR, SIGXCPU};
    nmodgpu_hold hold;
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof let_through / sizeof *let_through; i++)
        sigdelset(&all, let_through[i]);
    hold.held = pthread_sigmask(SIG_BLOCK, &all, &hold.before) == 0;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold.cancel); /* cannot fail: the state exists */
    return hold;
}

static inline void nmodgpu_release_signals(const nmodgpu_hold *hold)
{
    (void)pthread_setcancelstate(hold->cancel, NULL);
    if (hold->held)
        (void)pthread_sigmask(SIG_SETMASK, &hold->before, NULL); /* cannot fail: the set came from it */
}

#endif
