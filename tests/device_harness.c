/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "device_harness.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "product.h"
#include "support.h"

const nmodgpu_backend *device;

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_line[512] = "none";
static _Atomic int lines;

static nmodgpu_status take_backend(const nmodgpu_backend *backend)
{
    device = backend;
    return backend->abi_version == NMODGPU_BACKEND_ABI && backend->size == sizeof *backend ? NMODGPU_OK
                                                                                           : NMODGPU_EABI;
}

static void keep_line(nmodgpu_log_level level, const char *cause, const char *format, ...)
{
    va_list arguments;
    (void)level;
    (void)cause;
    pthread_mutex_lock(&line_lock);
    va_start(arguments, format);
    vsnprintf(last_line, sizeof last_line, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&line_lock);
    lines++;
}

static int64_t no_setting(const char *name)
{
    (void)name;
    return -1;
}

nmodgpu_status harness_enter(nmodgpu_module_entry_fn entry)
{
    static const nmodgpu_host_api host = {
        .abi_version = NMODGPU_BACKEND_ABI,
        .size = sizeof host,
        .register_backend = take_backend,
        .log = keep_line,
        .setting = no_setting,
    };
    return entry(&host);
}

const char *harness_last_line(void)
{
    return last_line;
}

int harness_lines(void)
{
    return lines;
}

void harness_forget_lines(void)
{
    lines = 0;
    strcpy(last_line, "none");
}

int64_t harness_size(int64_t usual)
{
    const char *given = getenv("NMODGPU_TEST_SIZE");
    const int64_t size = given ? strtoll(given, NULL, 0) : usual;
    return size > 1 ? size : 1;
}

/* Expected results. */

typedef struct expect_part {
    uint64_t *d;
    const uint64_t *c, *a, *b;
    int sign;
    int64_t m, k, n;
    uint64_t p;
} expect_part;

static void *expect_rows(void *argument)
{
    const expect_part *e = argument;
    test_product(e->d, e->n, e->c, e->n, e->sign, e->a, e->k, e->b, e->n, e->m, e->k, e->n, e->p);
    return NULL;
}

#define MOST_THREADS 64

void harness_expect(uint64_t *d, const uint64_t *c, int sign, const uint64_t *a, const uint64_t *b, int64_t m,
                    int64_t k, int64_t n, uint64_t p)
{
    pthread_t thread[MOST_THREADS];
    expect_part part[MOST_THREADS];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t threads = processors < MOST_THREADS ? processors : MOST_THREADS;
    if (m * n * (k + 1) < 1 << 22 || threads < 1)
        threads = 1;
    for (int64_t t = 0; t < threads; t++) {
        const int64_t r0 = m * t / threads, r1 = m * (t + 1) / threads;
        part[t] = (expect_part){d + r0 * n, c ? c + r0 * n : NULL, a + r0 * k, b, sign, r1 - r0, k, n, p};
        if (t && pthread_create(&thread[t], NULL, expect_rows, &part[t]) != 0)
            ck_abort_msg("no thread for the expected result");
    }
    expect_rows(&part[0]);
    for (int64_t t = 1; t < threads; t++)
        pthread_join(thread[t], NULL);
}

/* Products. */

nmodgpu_matrix harness_words(uint64_t p, int64_t rows, int64_t cols, uint32_t element_bytes)
{
    return (nmodgpu_matrix){.representation = NMODGPU_WORDS,
                            .rows = rows,
                            .cols = cols,
                            .modulus = p,
                            .element_bytes = element_bytes,
                            .planes = 1};
}

nmodgpu_matrix harness_planes(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){.representation = NMODGPU_PLANES,
                            .rows = rows,
                            .cols = cols,
                            .modulus = plan->modulus,
                            .element_bytes = plan->number == NMODGPU_I8 ? 1 : 8,
                            .planes = side == NMODGPU_LEFT ? plan->left.planes : plan->right.planes,
                            .side = side,
                            .plan = plan};
}

nmodgpu_matrix harness_sums(const nmodgpu_plan *plan, int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){.representation = NMODGPU_SUMS,
                            .rows = rows,
                            .cols = cols,
                            .modulus = plan->modulus,
                            .element_bytes = plan->sum_bytes,
                            .planes = plan->sums,
                            .plan = plan};
}

nmodgpu_status harness_load(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *host,
                            uint32_t element_bytes)
{
    nmodgpu_matrix words = harness_words(host->modulus, host->rows, host->cols, element_bytes);
    nmodgpu_status status = device->matrix_alloc(queue, &words);
    if (status == NMODGPU_OK)
        status = device->import_words(queue, &words, host);
    if (status == NMODGPU_OK)
        status = device->matrix_alloc(queue, planes);
    if (status == NMODGPU_OK)
        status = device->prepare(queue, planes, &words);
    device->matrix_free(queue, &words);
    return status;
}

nmodgpu_status harness_steps(nmodgpu_queue *queue, nmodgpu_matrix *acc, bool has_base, int sign,
                             nmodgpu_matrix *sums, const nmodgpu_matrix *left, const nmodgpu_matrix *right)
{
    return nmodgpu_product_steps(device, queue, acc, has_base, sign, sums, left, right);
}

static nmodgpu_status compute(nmodgpu_queue *queue, const harness_product *x, nmodgpu_matrix *left,
                              nmodgpu_matrix *right, nmodgpu_matrix *sums, nmodgpu_matrix *acc)
{
    nmodgpu_status status = harness_load(queue, left, x->a, x->element_bytes);
    if (status == NMODGPU_OK)
        status = harness_load(queue, right, x->b, x->element_bytes);
    if (status == NMODGPU_OK)
        status = device->matrix_alloc(queue, sums);
    if (status == NMODGPU_OK)
        status = device->matrix_alloc(queue, acc);
    if (status == NMODGPU_OK && x->c)
        status = device->import_words(queue, acc, x->c);
    if (status == NMODGPU_OK)
        status = harness_steps(queue, acc, x->c, x->sign, sums, left, right);
    if (status == NMODGPU_OK)
        status = device->export_words(queue, x->d, acc);
    if (status == NMODGPU_OK)
        status = device->submit(queue, NULL);
    return status == NMODGPU_OK ? device->wait(queue, NULL) : status;
}

nmodgpu_status harness_run(nmodgpu_queue *queue, const harness_product *x)
{
    const int64_t m = x->a->rows, k = x->a->cols, n = x->b->cols;
    nmodgpu_matrix left = harness_planes(x->plan, NMODGPU_LEFT, m, k);
    nmodgpu_matrix right = harness_planes(x->plan, NMODGPU_RIGHT, k, n);
    nmodgpu_matrix sums = harness_sums(x->plan, m, n);
    nmodgpu_matrix acc = harness_words(x->plan->modulus, m, n, x->element_bytes);
    const nmodgpu_status status = compute(queue, x, &left, &right, &sums, &acc);
    device->matrix_free(queue, &left);
    device->matrix_free(queue, &right);
    device->matrix_free(queue, &sums);
    device->matrix_free(queue, &acc);
    return status;
}

nmodgpu_status harness_run_alone(int32_t index, const harness_product *x)
{
    nmodgpu_queue *queue;
    nmodgpu_status status = device->queue_open(index, &queue);
    if (status != NMODGPU_OK)
        return status;
    status = harness_run(queue, x);
    device->queue_close(queue, status != NMODGPU_OK);
    return status;
}
