/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A matrix goes in chunks, one task each.  A task takes the buffer that was given back first, whose copy is the
 * likeliest to be done, and holds no other, so that tasks of several products never wait for each other in a ring.
 */
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "context.h"
#include "pack.h"
#include "processors.h"
#include "workers.h"

/** Bytes of a buffer: large enough that a copy's start-up of some 10 us does not count, small enough to stay in a
 *  processor's cache. */
#define CHUNK_BYTES ((int64_t)1 << 20)
/** Smaller matrices (of packed words) are not worth waking helpers. */
#define LEAST_BYTES ((int64_t)1 << 20)
enum {
    MAX_BUFFERS = 96, /* of all devices */
    MAX_THREADS = 32  /* memory is slower than so many */
};

/* ---- helpers and buffers of the process */

typedef struct slot {
    nmodgpu_buffer *buffer;
    void *memory;
    const nmodgpu_backend *backend;
    int32_t device;
    struct slot *next; /* among the free ones, the next to be taken */
} slot;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t given; /* a slot has been given back */
    slot *first, *last;   /* free ones */
    int slots;            /* free or taken */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .given = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nmodgpu_workers *workers;
static const nmodgpu_pack_code *code;

static void start(void)
{
    size_t count;
    const int64_t wanted = nmodgpu_setting_number(nmodgpu_context_settings(NULL), NMODGPU_SET_THREADS);
    const int threads = wanted > 0 ? (int)wanted : nmodgpu_processors();
    code = nmodgpu_pack_code_list(&count);
    workers = nmodgpu_workers_open(threads < MAX_THREADS ? threads : MAX_THREADS);
}

/** The first free slot of that device, or without a backend of any, taken off the list; NULL where there is none.
 */
static slot *take_free(const nmodgpu_backend *backend, int32_t device)
{
    slot *before = NULL;
    for (slot *s = pool.first; s; before = s, s = s->next) {
        if (backend && (s->backend != backend || s->device != device))
            continue;
        *(before ? &before->next : &pool.first) = s->next;
        if (pool.last == s)
            pool.last = before;
        return s;
    }
    return NULL;
}

static void give(slot *s)
{
    pthread_mutex_lock(&pool.lock);
    s->next = NULL;
    *(pool.last ? &pool.last->next : &pool.first) = s;
    pool.last = s;
    pthread_cond_signal(&pool.given);
    pthread_mutex_unlock(&pool.lock);
}

/** s: NULL where there was no memory for it. */
static void end_slot(slot *s)
{
    if (s && s->buffer)
        s->backend->buffer_close(s->buffer);
    free(s);
    pthread_mutex_lock(&pool.lock);
    pool.slots--;
    pthread_cond_signal(&pool.given);
    pthread_mutex_unlock(&pool.lock);
}

static nmodgpu_status open_slot(const nmodgpu_backend *backend, int32_t device, slot **out)
{
    slot *s = calloc(1, sizeof *s);
    nmodgpu_status status = NMODGPU_ENOMEM;
    if (s) {
        s->backend = backend;
        s->device = device;
        status = backend->buffer_open(device, (uint64_t)CHUNK_BYTES, &s->buffer, &s->memory);
    }
    if (status == NMODGPU_OK) {
        *out = s;
        return status;
    }
    end_slot(s);
    return status;
}

/** A buffer of that device, whose last copy may still be under way. */
static nmodgpu_status take(const nmodgpu_backend *backend, int32_t device, slot **out)
{
    slot *found, *other = NULL;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        found = take_free(backend, device);
        if (found || pool.slots < MAX_BUFFERS)
            break;
        if ((other = take_free(NULL, 0))) /* another device's makes room for one of this */
            break;
        pthread_cond_wait(&pool.given, &pool.lock);
    }
    pool.slots += !found;
    pthread_mutex_unlock(&pool.lock);
    if (other)
        end_slot(other);
    *out = found;
    return found ? NMODGPU_OK : open_slot(backend, device, out);
}

void nmodgpu_stream_drop_buffers(void)
{
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        slot *s = take_free(NULL, 0);
        pthread_mutex_unlock(&pool.lock);
        if (!s)
            return;
        end_slot(s);
    }
}

/* ---- chunks */

typedef struct transfer {
    const nmodgpu_backend *backend;
    nmodgpu_queue *queue;
    const nmodgpu_matrix *words, *host;
    bool up;
    int64_t rows, cols;            /* of a chunk */
    int64_t across;                /* chunks side by side */
    _Atomic nmodgpu_status status; /* the first failure */
} transfer;

/** A chunk's window of both matrices. */
typedef struct window {
    nmodgpu_matrix words, host;
} window;

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static window window_of(const transfer *t, int64_t index)
{
    const int64_t r0 = index / t->across * t->rows, c0 = index % t->across * t->cols;
    const int64_t r1 = least(r0 + t->rows, t->host->rows), c1 = least(c0 + t->cols, t->host->cols);
    return (window){nmodgpu_matrix_window(t->words, r0, r1, c0, c1),
                    nmodgpu_matrix_window(t->host, r0, r1, c0, c1)};
}

static void pack(const window *w, char *packed)
{
    const int64_t row_bytes = w->host.cols * w->words.element_bytes;
    for (int64_t i = 0; i < w->host.rows; i++)
        code->pack(packed + i * row_bytes, nmodgpu_matrix_row(&w->host, i), w->host.cols, w->words.element_bytes);
}

static void unpack(const window *w, const char *packed)
{
    const int64_t row_bytes = w->host.cols * w->words.element_bytes;
    for (int64_t i = 0; i < w->host.rows; i++)
        code->unpack(nmodgpu_matrix_row(&w->host, i), packed + i * row_bytes, w->host.cols, w->words.element_bytes);
    nmodgpu_unpack_finish();
}

static nmodgpu_status move_window(const transfer *t, const window *w, const slot *s)
{
    nmodgpu_status status = t->backend->buffer_wait(s->buffer); /* another queue may still read it */
    if (status != NMODGPU_OK)
        return status;
    if (t->up)
        pack(w, s->memory);
    status = t->backend->buffer_copy(t->queue, s->buffer, &w->words, t->up);
    if (status != NMODGPU_OK || t->up)
        return status;
    status = t->backend->buffer_wait(s->buffer);
    if (status == NMODGPU_OK)
        unpack(w, s->memory);
    return status;
}

static void chunk_task(void *arg, int64_t index)
{
    transfer *t = arg;
    slot *s;
    if (atomic_load(&t->status) != NMODGPU_OK)
        return;
    nmodgpu_status status = take(t->backend, t->words->device, &s);
    if (status == NMODGPU_OK) {
        const window w = window_of(t, index);
        status = move_window(t, &w, s);
        give(s);
    }
    nmodgpu_status none = NMODGPU_OK;
    if (status != NMODGPU_OK)
        atomic_compare_exchange_strong(&t->status, &none, status);
}

static nmodgpu_status run(transfer *t)
{
    const int64_t entries = CHUNK_BYTES / t->words->element_bytes, rows = t->host->rows, cols = t->host->cols;
    t->cols = least(cols, entries);
    t->rows = cols < entries ? least(rows, entries / cols) : 1;
    t->across = (cols + t->cols - 1) / t->cols;
    nmodgpu_workers_run(workers, chunk_task, t, (rows + t->rows - 1) / t->rows * t->across);
    return atomic_load(&t->status);
}

/** Packing takes 8-byte alignment for granted, which C does not promise for what a cast has made. */
static bool rows_aligned(const nmodgpu_matrix *host)
{
    if (!host->row_table)
        return (uintptr_t)host->data % sizeof(uint64_t) == 0;
    for (int64_t i = 0; i < host->rows; i++)
        if ((uintptr_t)host->row_table[i] % sizeof(uint64_t) != 0)
            return false;
    return true;
}

/** Both shapes are the same; that the rest is in order is the backend's to see.  One thread alone would pack, copy
 *  and unpack one after another. */
static bool worth_it(const nmodgpu_backend *backend, const nmodgpu_matrix *words, const nmodgpu_matrix *host)
{
    if (!backend->buffer_open || words->rows != host->rows || words->cols != host->cols || words->rows <= 0 ||
        words->cols <= 0 || words->cols < LEAST_BYTES / words->element_bytes / words->rows)
        return false;
    pthread_once(&once, start);
    return nmodgpu_workers_threads(workers) > 1 && rows_aligned(host);
}

/* Without page-locked memory for buffers the backend does with what it has. */

nmodgpu_status nmodgpu_stream_import(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *words,
                                     const nmodgpu_matrix *host)
{
    transfer t = {.backend = backend, .queue = queue, .words = words, .host = host, .up = true};
    const nmodgpu_status status = worth_it(backend, words, host) ? run(&t) : NMODGPU_ENOMEM;
    return status == NMODGPU_ENOMEM ? backend->import_words(queue, words, host) : status;
}

nmodgpu_status nmodgpu_stream_export(const nmodgpu_backend *backend, nmodgpu_queue *queue,
                                     const nmodgpu_matrix *host, const nmodgpu_matrix *words)
{
    transfer t = {.backend = backend, .queue = queue, .words = words, .host = host, .up = false};
    nmodgpu_status status = NMODGPU_ENOMEM;
    if (worth_it(backend, words, host)) {
        status = backend->wait(queue, NULL); /* one thread waits, not all */
        if (status == NMODGPU_OK)
            status = run(&t);
    }
    return status == NMODGPU_ENOMEM ? backend->export_words(queue, host, words) : status;
}
