/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Helper threads for short tasks (packing a chunk of rows: 0.1 to 1 ms), shared by all callers of a process.
 *
 * Callers and workers together run at most `threads` tasks at once; more only where more callers than that run
 * their own.  Every caller works on its own tasks: no caller waits for another's, none depends on a worker, and a
 * task may itself run tasks.  Workers sleep between jobs, and have every signal but SIGSEGV and SIGBUS blocked.
 *
 * Why not pthreadpool, which distributions carry: its pthreadpool_create() drops pthread_create()'s result and
 * then waits for ever for the missing thread; a call in the child of a fork waits for ever; callers of one pool
 * wait for each other, whole calls long; and waiting threads spin for a million iterations, idle workers for the
 * time of 7 to 15 ms after a call, which is taken from the host program (with 4 threads on 2 processors a call
 * without work took 10 ms).  (Read in its source and seen with Debian 12's.)
 */
#ifndef NMODGPU_WORKERS_H
#define NMODGPU_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nmodgpu_workers nmodgpu_workers;

/** Tasks of one caller, in memory of the caller's.  Its fields are workers.c's. */
typedef struct nmodgpu_job nmodgpu_job;
typedef void nmodgpu_task(void *arg, int64_t index);

/** Starts threads - 1 workers, or as many as the system gives.  NULL when out of memory.  Every function takes
 *  NULL for "no workers". */
nmodgpu_workers *nmodgpu_workers_open(int threads);

/** Ends the workers; no job may be under way.  In a child of the process that opened them, frees only. */
void nmodgpu_workers_close(nmodgpu_workers *workers);

/** Threads that may work at once, the caller's included: 1 + the workers that were started; 1 in a child. */
int nmodgpu_workers_threads(const nmodgpu_workers *workers);

/** Calls task(arg, i) once for every i in [0, tasks), in any order, on workers and on the calling thread, and
 *  returns when all are done.  Signals and cancellation of the calling thread are held back meanwhile (hold.h).
 *  In a child of the process that opened the workers, the calling thread does all.  Tasks must not fork. */
void nmodgpu_workers_run(nmodgpu_workers *workers, nmodgpu_task *task, void *arg, int64_t tasks);

/* The same in two steps, for callers that have other things to do meanwhile.  From start to finish the caller holds
 * signals (hold.h), because workers use its memory. */

struct nmodgpu_job {
    nmodgpu_task *task;
    void *arg;
    int64_t tasks;
    int64_t next;       /**< the first that nobody has taken */
    int64_t unfinished; /**< not yet done, taken or not */
    nmodgpu_workers *workers;
    struct nmodgpu_job *before, *after; /**< in the ring of jobs that have tasks to take */
    pthread_cond_t *done;               /**< what its caller sleeps on, while it does */
};

/** Offers tasks to the workers and returns at once. */
void nmodgpu_job_start(nmodgpu_job *job, nmodgpu_workers *workers, nmodgpu_task *task, void *arg, int64_t tasks);
/** Whether all tasks are done.  Nobody need have called finish for that, unless there are no workers. */
bool nmodgpu_job_done(nmodgpu_job *job);
/** Helps with the tasks that nobody has taken, and returns when all are done.  Exactly once a job, on the thread
 *  that started it, without a fork in between. */
void nmodgpu_job_finish(nmodgpu_job *job);

#endif
