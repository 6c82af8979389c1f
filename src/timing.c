/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Device time of a plan with operands and result on the device, for `nmodgpu plans --measure`, which judges the
 * planner.
 */
#include <stdlib.h>

#include "host_matrix.h"
#include "introspect.h"
#include "planner.h"
#include "product.h"
#include "product_winograd.h"
#include "registry.h"
#include "tile.h"

typedef struct bench {
    const nmodgpu_backend *backend;
    const nmodgpu_plan *plan;
    nmodgpu_queue *queue;
    nmodgpu_matrix left_words, right_words, left, right, sums, result;
} bench;

/** Of a plan with a Strassen-Winograd step only words last from one product to the next. */
static bool lasts(const bench *b, const nmodgpu_matrix *matrix)
{
    return !b->plan->winograd || matrix->representation == NMODGPU_WORDS;
}

static nmodgpu_status alloc_all(bench *b)
{
    nmodgpu_matrix *const all[] = {&b->left_words, &b->right_words, &b->left, &b->right, &b->sums, &b->result};
    nmodgpu_status status = NMODGPU_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == NMODGPU_OK; i++)
        status = lasts(b, all[i]) ? b->backend->matrix_alloc(b->queue, all[i]) : NMODGPU_OK;
    return status;
}

static void free_all(bench *b, bool failed)
{
    nmodgpu_matrix *const all[] = {&b->left_words, &b->right_words, &b->left, &b->right, &b->sums, &b->result};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        b->backend->matrix_free(b->queue, all[i]);
    b->backend->queue_close(b->queue, failed);
}

/** Random words: the time of a GEMM depends on its data, through the power that flipping bits takes. */
static nmodgpu_status import_random(bench *b, nmodgpu_matrix *words)
{
    nmodgpu_view view;
    if (!nmodgpu_staging_alloc(&view, words->rows, words->cols))
        return NMODGPU_ENOMEM;
    uint64_t x = 88172645463325252u; /* xorshift64: G. Marsaglia, "Xorshift RNGs", 2003 */
    for (int64_t i = 0; i < words->rows * words->cols; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        view.data[i] = x % words->modulus;
    }
    const nmodgpu_matrix host = nmodgpu_host_matrix(&view, words->modulus);
    nmodgpu_status status = b->backend->import_words(b->queue, words, &host);
    const nmodgpu_status waited = b->backend->wait(b->queue, NULL); /* also after an error: view is freed */
    status = status == NMODGPU_OK ? waited : status;
    free(view.data);
    return status;
}

static nmodgpu_status once(bench *b)
{
    if (b->plan->winograd)
        return nmodgpu_winograd_steps(b->backend, b->queue, b->plan, &b->result, false, 1, &b->left_words,
                                      &b->right_words);
    nmodgpu_status status = b->backend->prepare(b->queue, &b->left, &b->left_words);
    if (status == NMODGPU_OK)
        status = b->backend->prepare(b->queue, &b->right, &b->right_words);
    if (status == NMODGPU_OK)
        status = nmodgpu_product_steps(b->backend, b->queue, &b->result, false, 1, &b->sums, &b->left, &b->right);
    return status;
}

static nmodgpu_status time_once(bench *b, double *seconds)
{
    nmodgpu_event *from = NULL, *to = NULL;
    nmodgpu_status status = b->backend->submit(b->queue, &from);
    if (status == NMODGPU_OK)
        status = once(b);
    if (status == NMODGPU_OK)
        status = b->backend->submit(b->queue, &to);
    if (status == NMODGPU_OK)
        status = b->backend->wait(b->queue, to);
    if (status == NMODGPU_OK)
        status = b->backend->event_seconds(from, to, seconds);
    if (from)
        b->backend->event_free(from);
    if (to)
        b->backend->event_free(to);
    return status;
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static nmodgpu_status measure(bench *b, int repetitions, double *seconds)
{
    double warm_up;
    nmodgpu_status status = time_once(b, &warm_up);
    for (int i = 0; i < repetitions && status == NMODGPU_OK; i++)
        status = time_once(b, &seconds[i]);
    return status;
}

static nmodgpu_status run(const nmodgpu_backend *backend, int32_t device, const nmodgpu_plan *plan, int repetitions,
                          double *seconds)
{
    bench b = {
        .backend = backend,
        .plan = plan,
        .left_words = nmodgpu_words_matrix(plan, plan->m, plan->k),
        .right_words = nmodgpu_words_matrix(plan, plan->k, plan->n),
        .left = nmodgpu_planes_matrix(plan, NMODGPU_LEFT, plan->m, plan->k),
        .right = nmodgpu_planes_matrix(plan, NMODGPU_RIGHT, plan->k, plan->n),
        .sums = nmodgpu_sums_matrix(plan, plan->m, plan->n),
        .result = nmodgpu_words_matrix(plan, plan->m, plan->n),
    };
    nmodgpu_status status = backend->queue_open(device, &b.queue);
    if (status != NMODGPU_OK)
        return status;
    status = alloc_all(&b);
    if (status == NMODGPU_OK)
        status = import_random(&b, &b.left_words);
    if (status == NMODGPU_OK)
        status = import_random(&b, &b.right_words);
    if (status == NMODGPU_OK)
        status = measure(&b, repetitions, seconds);
    free_all(&b, status != NMODGPU_OK);
    return status;
}

nmodgpu_status nmodgpu_priv_time_plan(const char *backend, int32_t device, const nmodgpu_plan *plan,
                                      int repetitions, double *median_seconds)
{
    nmodgpu_device_info info;
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    if (repetitions < 1 || !plan || !nmodgpu_plan_verify(plan))
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_priv_device_info(backend, device, &info);
    if (status != NMODGPU_OK)
        return status;
    if (nmodgpu_registry_usable(backend, entries) == 0)
        return NMODGPU_ENODEV;
    double *seconds = calloc((size_t)repetitions, sizeof *seconds);
    if (!seconds)
        return NMODGPU_ENOMEM;
    status = run(atomic_load(&entries[0]->backend), device, plan, repetitions, seconds);
    if (status == NMODGPU_OK) {
        qsort(seconds, (size_t)repetitions, sizeof *seconds, by_value);
        *median_seconds = seconds[repetitions / 2];
    }
    free(seconds);
    return status;
}
