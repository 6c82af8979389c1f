/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Streams, each a thread that runs what was queued; events.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

typedef struct standin_operation {
    standin_function function;
    void *argument;
    bool even_when_lost; /* bookkeeping, which goes on when the device is lost */
    struct standin_operation *next;
} operation;

struct standin_event {
    int device;
    bool timed;
    uint64_t recorded, done; /* how often */
    double seconds;
    int holders; /* the user, and operations not yet run */
};

static bool take(cudaStream_t s, operation **next)
{
    pthread_mutex_lock(&standin_lock);
    s->busy = false;
    pthread_cond_broadcast(&standin_changed);
    while (!s->first && !s->ending)
        pthread_cond_wait(&standin_changed, &standin_lock);
    *next = s->first;
    if (*next) {
        s->first = (*next)->next;
        if (!s->first)
            s->last = NULL;
        s->busy = true;
    }
    pthread_mutex_unlock(&standin_lock);
    return *next;
}

static void *work(void *argument)
{
    cudaStream_t s = argument;
    operation *o;
    cudaSetDevice(s->device);
    while (take(s, &o)) {
        if (standin.delay_us)
            usleep(standin.delay_us);
        const int fault = o->even_when_lost ? 0 : standin_operation_fault();
        if (fault)
            standin_lost[s->device] = fault;
        if (o->even_when_lost || !standin_lost[s->device])
            o->function(o->argument);
        free(o->argument);
        free(o);
    }
    return NULL;
}

static cudaError_t enqueue(cudaStream_t s, standin_function function, void *argument, bool even_when_lost)
{
    operation *o = malloc(sizeof *o);
    if (!o)
        return cudaErrorMemoryAllocation;
    *o = (operation){function, argument, even_when_lost, NULL};
    pthread_mutex_lock(&standin_lock);
    *(s->last ? &s->last->next : &s->first) = o;
    s->last = o;
    pthread_cond_broadcast(&standin_changed);
    pthread_mutex_unlock(&standin_lock);
    return cudaSuccess;
}

cudaError_t standin_queue(cudaStream_t s, standin_function function, void *argument)
{
    if (s->device != standin_current())
        standin_mistake("work for a stream of device %d while device %d is current", s->device, standin_current());
    return enqueue(s, function, argument, false);
}

cudaError_t standin_queue_always(cudaStream_t s, standin_function function, void *argument)
{
    return enqueue(s, function, argument, true);
}

cudaError_t standin_drain(cudaStream_t s)
{
    pthread_mutex_lock(&standin_lock);
    while (s->first || s->busy)
        pthread_cond_wait(&standin_changed, &standin_lock);
    pthread_mutex_unlock(&standin_lock);
    return (cudaError_t)standin_lost[s->device];
}

static cudaStream_t streams; /* all there are */

/** With the lock held. */
static bool device_busy(int device)
{
    for (cudaStream_t s = streams; s; s = s->next)
        if (s->device == device && (s->first || s->busy))
            return true;
    return false;
}

void standin_drain_device(int device)
{
    pthread_mutex_lock(&standin_lock);
    while (device_busy(device))
        pthread_cond_wait(&standin_changed, &standin_lock);
    pthread_mutex_unlock(&standin_lock);
}

static void unlist(cudaStream_t s)
{
    for (cudaStream_t *p = &streams; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            return;
        }
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    const cudaError_t error = standin_begin();
    sigset_t all, old;
    if (error != cudaSuccess)
        return standin_end(error);
    if (flags != cudaStreamNonBlocking)
        return standin_end(standin_mistake("a stream that waits for the default stream"));
    cudaStream_t s = calloc(1, sizeof *s);
    if (!s)
        return standin_end(cudaErrorMemoryAllocation);
    s->device = standin_current();
    s->busy = true; /* until its thread has looked */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const int failed = pthread_create(&s->thread, NULL, work, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        free(s);
        return standin_end(cudaErrorMemoryAllocation);
    }
    pthread_mutex_lock(&standin_lock);
    standin_now.streams++;
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&standin_lock);
    *stream = s;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    const cudaError_t error = standin_begin();
    pthread_mutex_lock(&standin_lock);
    s->ending = true;
    standin_now.streams--;
    pthread_cond_broadcast(&standin_changed);
    pthread_mutex_unlock(&standin_lock);
    pthread_join(s->thread, NULL); /* CUDA would let the work go on by itself */
    pthread_mutex_lock(&standin_lock);
    unlist(s);
    pthread_mutex_unlock(&standin_lock);
    free(s);
    return standin_end(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    const cudaError_t error = standin_begin();
    const cudaError_t of_work = standin_drain(s);
    return standin_end(error != cudaSuccess ? error : of_work);
}

static void drop(cudaEvent_t e)
{
    if (--e->holders == 0)
        free(e);
}

typedef struct mark {
    cudaEvent_t event;
    uint64_t number;
} mark;

static void reach(void *argument)
{
    const mark *m = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&standin_lock);
    if (m->event->done < m->number)
        m->event->done = m->number;
    m->event->seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    drop(m->event);
    pthread_cond_broadcast(&standin_changed);
    pthread_mutex_unlock(&standin_lock);
}

static void wait_for(void *argument)
{
    const mark *m = argument;
    pthread_mutex_lock(&standin_lock);
    while (m->event->done < m->number)
        pthread_cond_wait(&standin_changed, &standin_lock);
    drop(m->event);
    pthread_mutex_unlock(&standin_lock);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return standin_end(error);
    cudaEvent_t e = calloc(1, sizeof *e);
    if (!e)
        return standin_end(cudaErrorMemoryAllocation);
    e->device = standin_current();
    e->timed = !(flags & cudaEventDisableTiming);
    e->holders = 1;
    pthread_mutex_lock(&standin_lock);
    standin_now.events++;
    pthread_mutex_unlock(&standin_lock);
    *event = e;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    const cudaError_t error = standin_begin();
    pthread_mutex_lock(&standin_lock);
    standin_now.events--;
    drop(e);
    pthread_mutex_unlock(&standin_lock);
    return standin_end(error);
}

/** Queues function on the event as it is recorded now, or for the recording that begins now. */
static cudaError_t queue_mark(cudaStream_t s, cudaEvent_t e, standin_function function, bool records)
{
    mark *m = malloc(sizeof *m);
    if (!m)
        return cudaErrorMemoryAllocation;
    pthread_mutex_lock(&standin_lock);
    e->recorded += records;
    e->holders++;
    *m = (mark){e, e->recorded};
    pthread_mutex_unlock(&standin_lock);
    return standin_queue_always(s, function, m);
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    cudaError_t error = standin_begin();
    if (error == cudaSuccess && e->device != s->device)
        error = cudaErrorInvalidResourceHandle;
    return standin_end(error == cudaSuccess ? queue_mark(s, e, reach, true) : error);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    const cudaError_t error = standin_begin();
    (void)flags;
    return standin_end(error == cudaSuccess ? queue_mark(s, e, wait_for, false) : error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return standin_end(error);
    pthread_mutex_lock(&standin_lock);
    while (e->done < e->recorded)
        pthread_cond_wait(&standin_changed, &standin_lock);
    pthread_mutex_unlock(&standin_lock);
    return standin_end((cudaError_t)standin_lost[e->device]);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    cudaError_t error = standin_begin();
    pthread_mutex_lock(&standin_lock);
    if (error == cudaSuccess && (!from->timed || !to->timed || !from->recorded || !to->recorded))
        error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && (from->done < from->recorded || to->done < to->recorded))
        error = cudaErrorNotReady;
    *milliseconds = error == cudaSuccess ? (float)((to->seconds - from->seconds) * 1e3) : 0;
    pthread_mutex_unlock(&standin_lock);
    return standin_end(error);
}
