/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One lock guards everything and is taken twice a task.  A worker takes one task of the first job in the ring and
 * moves the ring on, so that jobs advance evenly.
 */
#define _GNU_SOURCE 1
#include "workers.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "hold.h"

struct nmodgpu_workers {
    pthread_mutex_t lock;
    pthread_cond_t work;  /**< there may be a task to take and room to run it */
    nmodgpu_job *jobs;    /**< ring of those with tasks to take; NULL: none */
    int threads, running; /**< allowed at once; at it, callers included */
    int sleeping;         /**< workers that wait for work */
    bool closing;
    pid_t process; /**< that has the threads */
    unsigned generation;
    int count;
    pthread_t worker[];
};

/* ---- children.  The pid tells those that were made without fork handlers (clone, vfork), the generation those
 * that have their parent's number in another pid namespace. */

static _Atomic unsigned generation;

static void in_child(void)
{
    atomic_fetch_add(&generation, 1);
}

static void watch(void)
{
    (void)pthread_atfork(NULL, NULL, in_child); /* out of memory: the pid remains */
}

static bool usable(const nmodgpu_workers *workers)
{
    return workers && workers->count > 0 && workers->generation == atomic_load(&generation) &&
           workers->process == getpid();
}

/* ---- tasks, under the lock */

static void enter_ring(nmodgpu_workers *workers, nmodgpu_job *job)
{
    nmodgpu_job *first = workers->jobs;
    job->after = first ? first : job;
    job->before = first ? first->before : job;
    job->before->after = job;
    job->after->before = job;
    if (!first)
        workers->jobs = job;
}

static void leave_ring(nmodgpu_workers *workers, nmodgpu_job *job)
{
    if (workers->jobs == job)
        workers->jobs = job->after == job ? NULL : job->after;
    job->before->after = job->after;
    job->after->before = job->before;
}

/** Each worker that wakes up wakes the next one, so that nobody wakes them all. */
static void wake_one(nmodgpu_workers *workers)
{
    if (workers->jobs && workers->sleeping > 0 && workers->running < workers->threads)
        pthread_cond_signal(&workers->work);
}

static _Thread_local bool inside; /* a task: this thread is counted already */

/** Takes a task and runs it; the lock is given up meanwhile.  The job may be gone when this returns. */
static void run_one(nmodgpu_workers *workers, nmodgpu_job *job)
{
    const int64_t index = job->next++;
    const bool nested = inside;
    if (job->next == job->tasks)
        leave_ring(workers, job);
    workers->running += !nested;
    wake_one(workers);
    pthread_mutex_unlock(&workers->lock);
    inside = true;
    job->task(job->arg, index);
    inside = nested;
    pthread_mutex_lock(&workers->lock);
    workers->running -= !nested;
    if (--job->unfinished == 0 && job->done)
        pthread_cond_signal(job->done);
}

/* ---- workers */

static void *worker_main(void *argument)
{
    nmodgpu_workers *workers = argument;
    (void)pthread_setname_np(pthread_self(), "nmodgpu-worker");
    pthread_mutex_lock(&workers->lock);
    while (!workers->closing) {
        nmodgpu_job *job = workers->jobs;
        if (job && workers->running < workers->threads) {
            workers->jobs = job->after;
            run_one(workers, job);
        } else {
            workers->sleeping++;
            pthread_cond_wait(&workers->work, &workers->lock);
            workers->sleeping--;
        }
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

nmodgpu_workers *nmodgpu_workers_open(int threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int wanted = threads > 1 ? threads - 1 : 0;
    nmodgpu_workers *workers = calloc(1, sizeof *workers + (size_t)wanted * sizeof *workers->worker);
    if (!workers)
        return NULL;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    pthread_once(&once, watch);
    pthread_mutex_init(&workers->lock, NULL); /* these two cannot fail: default attributes */
    pthread_cond_init(&workers->work, NULL);
    workers->process = getpid();
    workers->generation = atomic_load(&generation);
    sigset_t all, held;
    sigfillset(&all);         /* a handler that leaves by longjmp must not run on a worker */
    sigdelset(&all, SIGSEGV); /* but one that makes a collector's guarded page readable must */
    sigdelset(&all, SIGBUS);
    const bool blocked = pthread_sigmask(SIG_SETMASK, &all, &held) == 0;
    /* Those that are started first look at `threads` only when there are jobs. */
    while (blocked && workers->count < wanted &&
           pthread_create(&workers->worker[workers->count], NULL, worker_main, workers) == 0)
        workers->count++;
    if (blocked)
        pthread_sigmask(SIG_SETMASK, &held, NULL);
    workers->threads = workers->count + 1;
    nmodgpu_release_signals(&hold);
    return workers;
}

void nmodgpu_workers_close(nmodgpu_workers *workers)
{
    if (usable(workers)) {
        const nmodgpu_hold hold = nmodgpu_hold_signals();
        pthread_mutex_lock(&workers->lock);
        workers->closing = true;
        pthread_cond_broadcast(&workers->work);
        pthread_mutex_unlock(&workers->lock);
        for (int i = 0; i < workers->count; i++)
            pthread_join(workers->worker[i], NULL); /* cannot fail: ours, joinable, joined once */
        pthread_cond_destroy(&workers->work);
        pthread_mutex_destroy(&workers->lock);
        nmodgpu_release_signals(&hold);
    }
    free(workers);
}

int nmodgpu_workers_threads(const nmodgpu_workers *workers)
{
    return usable(workers) ? workers->threads : 1;
}

/* ---- callers */

void nmodgpu_job_start(nmodgpu_job *job, nmodgpu_workers *workers, nmodgpu_task *task, void *arg, int64_t tasks)
{
    *job = (nmodgpu_job){.task = task, .arg = arg, .tasks = tasks, .unfinished = tasks};
    if (tasks <= 0 || !usable(workers))
        return;
    job->workers = workers;
    pthread_mutex_lock(&workers->lock);
    enter_ring(workers, job);
    wake_one(workers);
    pthread_mutex_unlock(&workers->lock);
}

bool nmodgpu_job_done(nmodgpu_job *job)
{
    if (!job->workers)
        return job->unfinished <= 0;
    pthread_mutex_lock(&job->workers->lock);
    const bool done = job->unfinished == 0;
    pthread_mutex_unlock(&job->workers->lock);
    return done;
}

void nmodgpu_job_finish(nmodgpu_job *job)
{
    nmodgpu_workers *workers = job->workers;
    if (!workers) {
        for (; job->next < job->tasks; job->next++, job->unfinished--)
            job->task(job->arg, job->next);
        return;
    }
    pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&workers->lock);
    while (job->next < job->tasks)
        run_one(workers, job);
    wake_one(workers); /* this thread makes room */
    job->done = &done;
    while (job->unfinished > 0)
        pthread_cond_wait(&done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
    pthread_cond_destroy(&done);
}

void nmodgpu_workers_run(nmodgpu_workers *workers, nmodgpu_task *task, void *arg, int64_t tasks)
{
    nmodgpu_job job;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    nmodgpu_job_start(&job, workers, task, arg, tasks);
    nmodgpu_job_finish(&job);
    nmodgpu_release_signals(&hold);
}
