/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE
#include "forks.h"

#include <pthread.h>
#include <time.h>

/* Products hold it shared, forks alone; a fork that waits goes before later products. */
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static _Thread_local bool taken;

/* Strips of products take half a second as a rule.  A fork from the handler of a crash in the BLAS must not wait
 * for its own thread for ever. */
enum { PATIENCE_SECONDS = 10 };

static void before(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    taken = pthread_rwlock_timedwrlock(&in_use, &until) == 0;
}

static void after(void)
{
    if (taken)
        pthread_rwlock_unlock(&in_use);
    taken = false;
}

/** Its readers are threads that the child does not have. */
static void after_in_child(void)
{
    in_use = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    taken = false;
}

bool cblas_forks_watch(void)
{
    return pthread_atfork(before, after, after_in_child) == 0;
}

void cblas_forks_hold(void)
{
    pthread_rwlock_rdlock(&in_use); /* cannot fail: not held by this thread, and few enough readers */
}

void cblas_forks_release(void)
{
    pthread_rwlock_unlock(&in_use);
}
