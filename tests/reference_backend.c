/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "reference_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/prepare.h"
#include "exact/reduce.h"

reference_state reference;

struct nmodgpu_queue {
    int32_t device;
};
struct nmodgpu_event {
    int64_t operation;
};

void reference_reset(void)
{
    memset(&reference, 0, sizeof reference);
    reference.failure = NMODGPU_EBACKEND;
    reference.capacity_bytes = reference.free_bytes = UINT64_C(1) << 30;
    reference.call_start = 1e-6;
}

static void expect(bool rule, const char *what)
{
    if (rule)
        return;
    atomic_fetch_add(&reference.breaches, 1);
    atomic_store(&reference.breach, what);
}

/** Counts an operation; what it says is what the operation returns if it is not NMODGPU_OK. */
static nmodgpu_status step(void)
{
    const int64_t number = atomic_fetch_add(&reference.operations, 1) + 1;
    if (reference.during)
        reference.during();
    return number == atomic_load(&reference.fail_at) ? reference.failure : NMODGPU_OK;
}

static nmodgpu_status reference_open(void)
{
    expect(atomic_fetch_add(&reference.opened, 1) == 0, "opened once");
    if (reference.during)
        reference.during();
    return reference.open_status;
}

static int32_t reference_device_count(void)
{
    return 1;
}

static nmodgpu_status reference_device_info(int32_t device, nmodgpu_device_info *info)
{
    expect(device == 0, "device exists");
    *info = (nmodgpu_device_info){
        .name = "plain loops",
        .detail = "for tests",
        .memory_bytes = reference.capacity_bytes,
        .free_bytes = reference.free_bytes,
        .rates = {.f64_flops = 1e12,
                  .f64_k_half = 8,
                  .f64_tile_rows = 8,
                  .f64_tile_cols = 8,
                  .processors = 1,
                  .gemm_start = 1e-9,
                  .pass_start = 1e-9,
                  .pass_bytes = 1e12,
                  .import_bytes = 1e12,
                  .export_bytes = 1e12,
                  .call_start = reference.call_start},
    };
    return NMODGPU_OK;
}

static nmodgpu_status reference_queue_open(int32_t device, nmodgpu_queue **queue)
{
    const nmodgpu_status status = step();
    if (status != NMODGPU_OK)
        return status;
    *queue = calloc(1, sizeof **queue);
    if (!*queue)
        return NMODGPU_ENOMEM;
    (*queue)->device = device;
    atomic_fetch_add(&reference.queues, 1);
    return NMODGPU_OK;
}

static void reference_queue_close(nmodgpu_queue *queue, bool failed)
{
    free(queue);
    atomic_fetch_sub(&reference.queues, 1);
    atomic_fetch_add(&reference.queues_failed, failed);
}

/** Stored rows and their length: padded by three, columns where transposed. */
static void layout(const nmodgpu_matrix *a, int64_t *stored_rows, int64_t *stride)
{
    const bool transposed = a->representation == NMODGPU_PLANES && a->side == NMODGPU_LEFT;
    *stored_rows = transposed ? a->cols : a->rows;
    *stride = (transposed ? a->rows : a->cols) + 3;
}

static uint64_t reference_matrix_bytes(const nmodgpu_matrix *a)
{
    int64_t rows, stride;
    layout(a, &rows, &stride);
    return (uint64_t)(rows * stride) * a->planes * a->element_bytes;
}

static nmodgpu_status reference_matrix_alloc(nmodgpu_queue *queue, nmodgpu_matrix *a)
{
    const nmodgpu_status status = step();
    const uint64_t size_bytes = reference_matrix_bytes(a);
    expect(a->data == NULL && a->rows > 0 && a->cols > 0, "alloc: a shape and no data");
    if (status != NMODGPU_OK)
        return status;
    if (atomic_load(&reference.bytes) + size_bytes > reference.capacity_bytes)
        return NMODGPU_ENOMEM;
    a->data = malloc(size_bytes);
    if (!a->data)
        return NMODGPU_ENOMEM;
    memset(a->data, 0x5a, size_bytes); /* nobody may count on zeros */
    const uint64_t now = atomic_fetch_add(&reference.bytes, size_bytes) + size_bytes;
    if (now > atomic_load(&reference.peak_bytes))
        atomic_store(&reference.peak_bytes, now);
    int64_t rows;
    layout(a, &rows, &a->stride);
    a->plane_stride = rows * a->stride;
    a->transposed = a->representation == NMODGPU_PLANES && a->side == NMODGPU_LEFT;
    a->device = queue->device;
    memset(a->inner_used, 0, sizeof a->inner_used);
    atomic_fetch_add(&reference.matrices, 1);
    return NMODGPU_OK;
}

static void reference_matrix_free(nmodgpu_queue *queue, nmodgpu_matrix *a)
{
    (void)queue;
    if (!a->data)
        return;
    atomic_fetch_sub(&reference.bytes, reference_matrix_bytes(a));
    atomic_fetch_sub(&reference.matrices, 1);
    free(a->data);
    a->data = NULL;
}

static size_t place(const nmodgpu_matrix *a, uint32_t plane, int64_t i, int64_t j)
{
    const int64_t in_plane = a->transposed ? j * a->stride + i : i * a->stride + j;
    return (size_t)(plane * a->plane_stride + in_plane);
}

static double *number(const nmodgpu_matrix *a, uint32_t plane, int64_t i, int64_t j)
{
    return (double *)a->data + place(a, plane, i, j);
}

static uint64_t get_word(const nmodgpu_matrix *a, int64_t i, int64_t j)
{
    return a->element_bytes == 4 ? ((uint32_t *)a->data)[place(a, 0, i, j)]
                                 : ((uint64_t *)a->data)[place(a, 0, i, j)];
}

static void put_word(const nmodgpu_matrix *a, int64_t i, int64_t j, uint64_t word)
{
    expect(word < a->modulus, "words are canonical");
    if (a->element_bytes == 4)
        ((uint32_t *)a->data)[place(a, 0, i, j)] = (uint32_t)word;
    else
        ((uint64_t *)a->data)[place(a, 0, i, j)] = word;
}

static bool is_words(const nmodgpu_matrix *a)
{
    return a->representation == NMODGPU_WORDS && a->device == 0 && a->data && a->planes == 1 &&
           (a->element_bytes == 8 || (a->element_bytes == 4 && !(a->modulus >> 32)));
}

static bool same_shape(const nmodgpu_matrix *a, const nmodgpu_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->modulus == b->modulus;
}

static nmodgpu_status reference_import(nmodgpu_queue *queue, nmodgpu_matrix *device, const nmodgpu_matrix *host)
{
    const nmodgpu_status status = step();
    expect(queue && is_words(device) && host->device == NMODGPU_HOST && same_shape(device, host), "import");
    atomic_fetch_add(&reference.imports, 1);
    for (int64_t i = 0; status == NMODGPU_OK && i < host->rows; i++)
        for (int64_t j = 0; j < host->cols; j++)
            put_word(device, i, j, nmodgpu_matrix_row(host, i)[j]);
    return status;
}

static nmodgpu_status reference_prepare(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    const nmodgpu_status status = step();
    expect(queue && is_words(words) && planes->representation == NMODGPU_PLANES && same_shape(planes, words),
           "prepare");
    atomic_fetch_add(&reference.prepares, 1);
    const nmodgpu_preparer preparer = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT);
    for (int64_t i = 0; status == NMODGPU_OK && i < words->rows; i++)
        for (int64_t j = 0; j < words->cols; j++)
            nmodgpu_prepare_entry(&preparer, get_word(words, i, j), number(planes, 0, i, j), planes->plane_stride);
    return status;
}

static double inner_product(const nmodgpu_matrix *left, const nmodgpu_matrix *right, const nmodgpu_term *t,
                            int64_t i, int64_t j)
{
    const double *x = number(left, t->left, i, 0), *y = number(right, t->right, 0, j);
    const int64_t step = left->transposed ? left->stride : 1;
    double sum = 0;
    for (int64_t l = 0; l < left->cols; l++)
        sum += x[l * step] * y[l * right->stride];
    return sum;
}

static void add_term(const nmodgpu_matrix *sums, const nmodgpu_term *t, const nmodgpu_matrix *left,
                     const nmodgpu_matrix *right, bool add)
{
    for (int64_t i = 0; i < sums->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++) {
            double *s = number(sums, t->sum, i, j);
            *s = (add ? *s : 0) + inner_product(left, right, t, i, j);
            expect(fabs(*s) <= 0x1p53, "sums stay exact");
        }
}

static nmodgpu_status reference_multiply(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                         const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    const nmodgpu_status status = step();
    const nmodgpu_plan *plan = sums->plan;
    expect(queue && sums->representation == NMODGPU_SUMS && left->plan == plan && right->plan == plan &&
               left->side == NMODGPU_LEFT && right->side == NMODGPU_RIGHT && left->rows == sums->rows &&
               left->cols == right->rows && right->cols == sums->cols && left->cols > 0 && sum_mask &&
               !(sum_mask >> plan->sums),
           "multiply");
    atomic_fetch_add(&reference.multiplies, 1);
    for (uint32_t g = 0; status == NMODGPU_OK && g < plan->sums; g++) {
        bool add = accumulate;
        if (!(sum_mask >> g & 1))
            continue;
        sums->inner_used[g] = (accumulate ? sums->inner_used[g] : 0) + left->cols;
        expect(sums->inner_used[g] <= plan->lambda[g], "inner length within lambda");
        for (uint32_t t = 0; t < plan->terms; t++) {
            if (plan->term[t].sum != g)
                continue;
            add_term(sums, &plan->term[t], left, right, add);
            add = true;
        }
    }
    return status;
}

static nmodgpu_status reference_reduce(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                       int sign, nmodgpu_matrix *sums, uint64_t sum_mask)
{
    const nmodgpu_status status = step();
    expect(queue && is_words(out) && (!base || (is_words(base) && same_shape(out, base))) &&
               same_shape(out, sums) && (sign == 1 || sign == -1) && sum_mask,
           "reduce");
    atomic_fetch_add(&reference.reductions, 1);
    const nmodgpu_reducer reducer = nmodgpu_reducer_make(sums->plan, sum_mask, sign);
    for (int64_t i = 0; status == NMODGPU_OK && i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++)
            put_word(out, i, j,
                     nmodgpu_reduce_entry(&reducer, base ? get_word(base, i, j) : 0, number(sums, 0, i, j),
                                          sums->plane_stride));
    for (uint32_t g = 0; g < sums->plan->sums; g++) {
        expect(!(sum_mask >> g & 1) || sums->inner_used[g] > 0, "reduces what holds sums");
        if (sum_mask >> g & 1)
            sums->inner_used[g] = 0;
    }
    return status;
}

/** A failing export has spoilt half of its target: the worst that a device may do. */
static nmodgpu_status reference_export(nmodgpu_queue *queue, const nmodgpu_matrix *host,
                                       const nmodgpu_matrix *device)
{
    const nmodgpu_status status = step();
    expect(queue && is_words(device) && host->device == NMODGPU_HOST && same_shape(device, host), "export");
    atomic_fetch_add(&reference.exports, 1);
    for (int64_t i = 0; i < host->rows; i++)
        for (int64_t j = 0; j < (status == NMODGPU_OK ? host->cols : (host->cols + 1) / 2); j++)
            nmodgpu_matrix_row(host, i)[j] = status == NMODGPU_OK ? get_word(device, i, j) : 0x6b6b6b6b;
    return status;
}

static nmodgpu_status reference_submit(nmodgpu_queue *queue, nmodgpu_event **event)
{
    const nmodgpu_status status = step();
    expect(queue != NULL, "submit");
    if (status != NMODGPU_OK || !event)
        return status;
    *event = calloc(1, sizeof **event);
    if (!*event)
        return NMODGPU_ENOMEM;
    (*event)->operation = atomic_load(&reference.operations);
    return NMODGPU_OK;
}

static nmodgpu_status reference_queue_wait(nmodgpu_queue *queue, nmodgpu_event *event)
{
    expect(queue && event, "queue_wait");
    return step();
}

static nmodgpu_status reference_wait(nmodgpu_queue *queue, nmodgpu_event *event)
{
    (void)event;
    expect(queue != NULL, "wait");
    return step();
}

static void reference_event_free(nmodgpu_event *event)
{
    free(event);
}

/** A millisecond an operation. */
static nmodgpu_status reference_event_seconds(nmodgpu_event *from, nmodgpu_event *to, double *seconds)
{
    *seconds = 1e-3 * (double)(to->operation - from->operation);
    return NMODGPU_OK;
}

#ifndef REFERENCE_NAME
#define REFERENCE_NAME "reference"
#define REFERENCE_PRIORITY 5
#endif

const nmodgpu_backend reference_backend = {
    .abi_version = NMODGPU_BACKEND_ABI,
    .size = sizeof(nmodgpu_backend),
    .name = REFERENCE_NAME,
    .priority = REFERENCE_PRIORITY,
    .open = reference_open,
    .device_count = reference_device_count,
    .device_info = reference_device_info,
    .queue_open = reference_queue_open,
    .queue_close = reference_queue_close,
    .matrix_alloc = reference_matrix_alloc,
    .matrix_free = reference_matrix_free,
    .matrix_bytes = reference_matrix_bytes,
    .import_words = reference_import,
    .prepare = reference_prepare,
    .multiply_accumulate = reference_multiply,
    .reduce = reference_reduce,
    .export_words = reference_export,
    .submit = reference_submit,
    .queue_wait = reference_queue_wait,
    .wait = reference_wait,
    .event_free = reference_event_free,
    .event_seconds = reference_event_seconds,
};
