/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "log.h"
#include "registry.h"
#include "report.h"

static _Atomic pid_t engaged; /* 0: no */
static _Atomic bool child_of_engaged;

static void in_child(void)
{
    if (atomic_load(&engaged))
        atomic_store(&child_of_engaged, true);
    nmodgpu_report_reset();
    nmodgpu_registry_unlock_in_child();
}

static void install(void)
{
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        nmodgpu_log(NMODGPU_LOG_ERROR, "atfork", "no memory for a fork handler; child processes are known by pid");
}

void nmodgpu_process_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void nmodgpu_process_engage(void)
{
    nmodgpu_process_watch();
    pid_t nobody = 0;
    atomic_compare_exchange_strong(&engaged, &nobody, getpid());
}

/** The pid tells children that were made without fork handlers (clone, vfork); the flag tells those that
 *  have their parent's number in another pid namespace. */
bool nmodgpu_process_forked(void)
{
    const pid_t pid = atomic_load(&engaged);
    return pid != 0 && (atomic_load(&child_of_engaged) || pid != getpid());
}
