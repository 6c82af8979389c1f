/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "backend_driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schedule.h"

static const nmodgpu_backend *registered;
static int64_t threads_setting = -1;

static nmodgpu_status take_backend(const nmodgpu_backend *backend)
{
    registered = backend;
    return NMODGPU_OK;
}

static void print_log(nmodgpu_log_level level, const char *cause, const char *format, ...)
{
    va_list arguments;
    (void)cause;
    if (level > NMODGPU_LOG_ERROR)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static int64_t read_setting(const char *name)
{
    return strcmp(name, "NMODGPU_THREADS") == 0 ? threads_setting : -1;
}

const nmodgpu_backend *driver_open(nmodgpu_module_entry_fn entry, int64_t threads)
{
    static const nmodgpu_host_api api = {NMODGPU_BACKEND_ABI, sizeof api, take_backend, print_log, read_setting};
    threads_setting = threads;
    registered = NULL;
    if (entry(&api) != NMODGPU_OK || !registered || registered->open() != NMODGPU_OK)
        return NULL;
    return registered;
}

uint32_t driver_width(uint64_t p)
{
    return p >> 32 ? 8 : 4;
}

nmodgpu_matrix driver_words(uint64_t p, int64_t rows, int64_t cols, uint32_t element_bytes)
{
    return (nmodgpu_matrix){.representation = NMODGPU_WORDS,
                            .rows = rows,
                            .cols = cols,
                            .modulus = p,
                            .element_bytes = element_bytes,
                            .planes = 1};
}

nmodgpu_matrix driver_planes(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols)
{
    nmodgpu_matrix m = driver_words(plan->modulus, rows, cols, 8);
    m.representation = NMODGPU_PLANES;
    m.planes = side == NMODGPU_LEFT ? plan->left.planes : plan->right.planes;
    m.side = side;
    m.plan = plan;
    return m;
}

nmodgpu_matrix driver_sums(const nmodgpu_plan *plan, int64_t rows, int64_t cols)
{
    nmodgpu_matrix m = driver_words(plan->modulus, rows, cols, 8);
    m.representation = NMODGPU_SUMS;
    m.planes = plan->sums;
    m.plan = plan;
    return m;
}

nmodgpu_matrix driver_host(uint64_t p, const uint64_t *data, int64_t stride, int64_t rows, int64_t cols)
{
    nmodgpu_matrix m = driver_words(p, rows, cols, 8);
    m.device = NMODGPU_HOST;
    m.stride = stride;
    m.data = (void *)(uintptr_t)data;
    return m;
}

static nmodgpu_status load(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *words,
                           const nmodgpu_matrix *host)
{
    *words = driver_words(host->modulus, host->rows, host->cols, driver_width(host->modulus));
    nmodgpu_status status = backend->matrix_alloc(queue, words);
    if (status == NMODGPU_OK)
        status = backend->import_words(queue, words, host);
    return status;
}

nmodgpu_status driver_prepare(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *planes,
                              const nmodgpu_matrix *host)
{
    nmodgpu_matrix words;
    nmodgpu_status status = load(backend, queue, &words, host);
    if (status == NMODGPU_OK)
        status = backend->matrix_alloc(queue, planes);
    if (status == NMODGPU_OK)
        status = backend->prepare(queue, planes, &words);
    backend->matrix_free(queue, &words);
    return status;
}

/** The schedule's steps, for sums and the running result `acc`; `base` is what acc begins with. */
static nmodgpu_status run_steps(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *acc,
                                bool has_base, int sign, nmodgpu_matrix *sums, const nmodgpu_matrix *left,
                                const nmodgpu_matrix *right)
{
    nmodgpu_schedule schedule;
    nmodgpu_status status = NMODGPU_OK;
    nmodgpu_schedule_begin(&schedule, sums->plan, left->cols);
    while (status == NMODGPU_OK) {
        const nmodgpu_step step = nmodgpu_schedule_next(&schedule);
        if (step.kind == NMODGPU_STEP_END)
            break;
        if (step.kind == NMODGPU_STEP_MULTIPLY) {
            const nmodgpu_matrix l = nmodgpu_matrix_window(left, 0, left->rows, step.k0, step.k1);
            const nmodgpu_matrix r = nmodgpu_matrix_window(right, step.k0, step.k1, 0, right->cols);
            status = backend->multiply_accumulate(queue, sums, step.sum_mask, &l, &r, false);
        } else {
            status = backend->reduce(queue, acc, has_base ? acc : NULL, sign, sums, step.sum_mask);
            has_base = true;
        }
    }
    return status;
}

nmodgpu_status driver_multiply(const nmodgpu_backend *backend, nmodgpu_queue *queue, const nmodgpu_matrix *d,
                               const nmodgpu_matrix *c, int sign, const nmodgpu_matrix *left,
                               const nmodgpu_matrix *right)
{
    nmodgpu_matrix sums = driver_sums(left->plan, left->rows, right->cols);
    nmodgpu_matrix acc = driver_words(d->modulus, d->rows, d->cols, driver_width(d->modulus));
    nmodgpu_status status = backend->matrix_alloc(queue, &sums);
    if (status == NMODGPU_OK)
        status = c ? load(backend, queue, &acc, c) : backend->matrix_alloc(queue, &acc);
    if (status == NMODGPU_OK)
        status = run_steps(backend, queue, &acc, c != NULL, sign, &sums, left, right);
    if (status == NMODGPU_OK)
        status = backend->export_words(queue, d, &acc);
    if (status == NMODGPU_OK)
        status = backend->wait(queue, NULL);
    backend->matrix_free(queue, &acc);
    backend->matrix_free(queue, &sums);
    return status;
}

nmodgpu_status driver_product(const nmodgpu_backend *backend, const nmodgpu_plan *plan, const nmodgpu_matrix *d,
                              const nmodgpu_matrix *c, int sign, const nmodgpu_matrix *a, const nmodgpu_matrix *b)
{
    nmodgpu_queue *queue;
    nmodgpu_status status = backend->queue_open(0, &queue);
    if (status != NMODGPU_OK)
        return status;
    nmodgpu_matrix left = driver_planes(plan, NMODGPU_LEFT, a->rows, a->cols);
    nmodgpu_matrix right = driver_planes(plan, NMODGPU_RIGHT, b->rows, b->cols);
    status = driver_prepare(backend, queue, &left, a);
    if (status == NMODGPU_OK)
        status = driver_prepare(backend, queue, &right, b);
    if (status == NMODGPU_OK)
        status = driver_multiply(backend, queue, d, c, sign, &left, &right);
    backend->matrix_free(queue, &right);
    backend->matrix_free(queue, &left);
    backend->queue_close(queue, status != NMODGPU_OK);
    return status;
}
