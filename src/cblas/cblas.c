/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The backend "cblas": plans in double precision on the CPU.  Its one device is the machine, and a queue
 * does at once what it is given.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "blas.h"
#include "exact/passes.h"
#include "forks.h"
#include "hold.h"
#include "machine.h"
#include "memory.h"
#include "parallel.h"
#include "rates.h"

enum { DEVICE = 0 };

struct nmodgpu_queue {
    int32_t device;
};

struct nmodgpu_event {
    struct timespec time;
};

static const nmodgpu_host_api *host;

/** Filled by open, constant afterwards. */
static struct {
    int threads;
    uint64_t memory_bytes;
    nmodgpu_rates rates;
    char name[96];
    char detail[160];
} cpu;

/* ---- the device */

static nmodgpu_status find_device(void)
{
    if (!cblas_forks_watch())
        return NMODGPU_ENOMEM;
    const int64_t wanted = host->setting("NMODGPU_THREADS");
    /* Unset, an OpenBLAS keeps the number it has: its own variables and the host program may have set it. */
    const int in_use = blas_threads(wanted > 0 ? (int)wanted : 0);
    cpu.threads = wanted > 0 ? (int)wanted : in_use > 0 ? in_use : cblas_processors();
    if (!blas_exact()) {
        host->log(NMODGPU_LOG_ERROR, "cblas inexact",
                  "cblas: this BLAS returns a wrong product of integers and is not used");
        return NMODGPU_ENODEV;
    }
    uint64_t free_bytes;
    cblas_memory(&cpu.memory_bytes, &free_bytes);
    cpu.rates = cblas_rates(cpu.threads);
    cblas_cpu_name(cpu.name, sizeof cpu.name);
    blas_describe(cpu.detail, sizeof cpu.detail);
    return NMODGPU_OK;
}

static nmodgpu_status cpu_open(void)
{
    const nmodgpu_hold hold = nmodgpu_hold_signals(); /* for the threads that the BLAS starts now */
    const nmodgpu_status status = find_device();
    nmodgpu_release_signals(&hold);
    return status;
}

static int32_t cpu_device_count(void)
{
    return 1;
}

static nmodgpu_status cpu_device_info(int32_t device, nmodgpu_device_info *info)
{
    if (device != DEVICE)
        return NMODGPU_EINVAL;
    memset(info, 0, sizeof *info);
    memcpy(info->name, cpu.name, sizeof info->name);
    memcpy(info->detail, cpu.detail, sizeof info->detail);
    cblas_memory(&info->memory_bytes, &info->free_bytes);
    info->free_bytes += cblas_kept_bytes();
    info->rates = cpu.rates;
    return NMODGPU_OK;
}

/* ---- queues and events: all is done when a call returns */

static nmodgpu_status cpu_queue_open(int32_t device, nmodgpu_queue **queue)
{
    if (device != DEVICE)
        return NMODGPU_EINVAL;
    if (!cblas_room_for_product())
        return NMODGPU_ENOMEM;
    *queue = malloc(sizeof **queue);
    if (!*queue)
        return NMODGPU_ENOMEM;
    (*queue)->device = device;
    return NMODGPU_OK;
}

static void cpu_queue_close(nmodgpu_queue *queue, bool failed)
{
    (void)failed;
    free(queue);
}

static nmodgpu_status cpu_submit(nmodgpu_queue *queue, nmodgpu_event **event)
{
    (void)queue;
    if (!event)
        return NMODGPU_OK;
    *event = malloc(sizeof **event);
    if (!*event)
        return NMODGPU_ENOMEM;
    clock_gettime(CLOCK_MONOTONIC, &(*event)->time);
    return NMODGPU_OK;
}

static nmodgpu_status cpu_wait(nmodgpu_queue *queue, nmodgpu_event *event)
{
    (void)queue;
    (void)event;
    return NMODGPU_OK;
}

static void cpu_event_free(nmodgpu_event *event)
{
    free(event);
}

static nmodgpu_status cpu_event_seconds(nmodgpu_event *from, nmodgpu_event *to, double *seconds)
{
    *seconds =
        (double)(to->time.tv_sec - from->time.tv_sec) + 1e-9 * (double)(to->time.tv_nsec - from->time.tv_nsec);
    return NMODGPU_OK;
}

/* ---- matrices */

static uint64_t cpu_matrix_bytes(const nmodgpu_matrix *matrix)
{
    nmodgpu_matrix m = *matrix;
    return cblas_layout(&m);
}

static nmodgpu_status cpu_matrix_alloc(nmodgpu_queue *queue, nmodgpu_matrix *matrix)
{
    if (matrix->rows < 0 || matrix->cols < 0 || matrix->element_bytes == 0)
        return NMODGPU_EINVAL;
    const uint64_t bytes = cblas_layout(matrix);
    matrix->data = bytes == UINT64_MAX ? NULL : cblas_allocate(bytes);
    if (!matrix->data)
        return NMODGPU_ENOMEM;
    matrix->device = queue->device;
    memset(matrix->inner_used, 0, sizeof matrix->inner_used);
    return NMODGPU_OK;
}

static void cpu_matrix_free(nmodgpu_queue *queue, nmodgpu_matrix *matrix)
{
    (void)queue;
    cblas_release(matrix->data, cpu.memory_bytes);
    matrix->data = NULL;
}

/* ---- checks */

static bool served(const nmodgpu_plan *plan)
{
    return plan && plan->number == NMODGPU_F64 && plan->encoding == NMODGPU_DIGITS;
}

static bool is_a(const nmodgpu_matrix *matrix, nmodgpu_representation representation)
{
    return matrix->representation == representation && matrix->device == DEVICE && !matrix->transposed;
}

static bool is_words(const nmodgpu_matrix *matrix)
{
    return is_a(matrix, NMODGPU_WORDS) &&
           (matrix->element_bytes == 8 || (matrix->element_bytes == 4 && matrix->modulus >> 32 == 0));
}

static bool is_host_words(const nmodgpu_matrix *matrix)
{
    return matrix->representation == NMODGPU_WORDS && matrix->device == NMODGPU_HOST && matrix->element_bytes == 8;
}

static bool same_shape(const nmodgpu_matrix *a, const nmodgpu_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

/* ---- passes over rows, on several threads */

typedef struct pass {
    nmodgpu_preparer preparer;
    nmodgpu_reducer reducer;
    const nmodgpu_matrix *to, *from, *base;
} pass;

static void prepare_rows(const void *task, int64_t r0, int64_t r1)
{
    const pass *p = task;
    nmodgpu_host_prepare(&p->preparer, p->to, p->from, r0, r1);
}

static void reduce_rows(const void *task, int64_t r0, int64_t r1)
{
    const pass *p = task;
    nmodgpu_host_reduce(&p->reducer, p->to, p->base, p->from, r0, r1);
}

static void import_rows(const void *task, int64_t r0, int64_t r1)
{
    const pass *p = task;
    nmodgpu_host_import(p->to, p->from, r0, r1);
}

static void export_rows(const void *task, int64_t r0, int64_t r1)
{
    const pass *p = task;
    nmodgpu_host_export(p->to, p->from, r0, r1);
}

static int64_t row_bytes(const nmodgpu_matrix *matrix)
{
    return matrix->cols * (int64_t)(matrix->element_bytes * matrix->planes);
}

static void run_pass(void (*rows)(const void *task, int64_t r0, int64_t r1), const pass *p)
{
    if (p->to->cols > 0)
        cblas_parallel_rows(cpu.threads, p->to->rows, row_bytes(p->to) + row_bytes(p->from), rows, p);
}

static nmodgpu_status cpu_import(nmodgpu_queue *queue, nmodgpu_matrix *device, const nmodgpu_matrix *words)
{
    (void)queue;
    if (!is_words(device) || !is_host_words(words) || !same_shape(device, words))
        return NMODGPU_EINVAL;
    run_pass(import_rows, &(pass){.to = device, .from = words});
    return NMODGPU_OK;
}

static nmodgpu_status cpu_export(nmodgpu_queue *queue, const nmodgpu_matrix *words, const nmodgpu_matrix *device)
{
    (void)queue;
    if (!is_words(device) || !is_host_words(words) || !same_shape(device, words))
        return NMODGPU_EINVAL;
    run_pass(export_rows, &(pass){.to = words, .from = device});
    return NMODGPU_OK;
}

static nmodgpu_status cpu_prepare(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    (void)queue;
    if (!is_a(planes, NMODGPU_PLANES) || !is_words(words) || !same_shape(planes, words))
        return NMODGPU_EINVAL;
    if (!served(planes->plan))
        return NMODGPU_DECLINED;
    run_pass(prepare_rows, &(pass){.preparer = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT),
                                   .to = planes,
                                   .from = words});
    return NMODGPU_OK;
}

static nmodgpu_status cpu_reduce(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                                 nmodgpu_matrix *sums, uint64_t sum_mask)
{
    (void)queue;
    if (!is_a(sums, NMODGPU_SUMS) || !is_words(out) || !same_shape(out, sums) ||
        (base && (!is_words(base) || !same_shape(base, out))))
        return NMODGPU_EINVAL;
    if (!served(sums->plan))
        return NMODGPU_DECLINED;
    run_pass(reduce_rows, &(pass){.reducer = nmodgpu_reducer_make(sums->plan, sum_mask, sign),
                                  .to = out,
                                  .from = sums,
                                  .base = base});
    for (uint32_t g = 0; g < sums->plan->sums; g++)
        if (sum_mask >> g & 1)
            sums->inner_used[g] = 0;
    return NMODGPU_OK;
}

/* ---- products */

static double *plane(const nmodgpu_matrix *matrix, uint32_t i)
{
    return (double *)matrix->data + (int64_t)i * matrix->plane_stride;
}

static void zero_plane(const nmodgpu_matrix *sums, uint32_t g)
{
    for (int64_t i = 0; i < sums->rows; i++)
        memset(plane(sums, g) + i * sums->stride, 0, (size_t)sums->cols * sizeof(double));
}

static void multiply_term(const nmodgpu_matrix *sums, const nmodgpu_term *term, const nmodgpu_matrix *left,
                          const nmodgpu_matrix *right, bool add)
{
    if (sums->rows == 0 || sums->cols == 0 || (left->cols == 0 && add))
        return;
    if (left->cols == 0) {
        zero_plane(sums, term->sum);
        return;
    }
    blas_multiply(plane(sums, term->sum), sums->stride, add, (blas_operand){plane(left, term->left), left->stride},
                  (blas_operand){plane(right, term->right), right->stride}, sums->rows, left->cols, sums->cols,
                  cpu.rates.f64_flops);
}

/** Whether the bounds of the plan hold after `inner` more. */
static bool stays_exact(const nmodgpu_matrix *sums, uint64_t sum_mask, int64_t inner, bool accumulate)
{
    for (uint32_t g = 0; g < sums->plan->sums; g++)
        if ((sum_mask >> g & 1) && inner > sums->plan->lambda[g] - (accumulate ? sums->inner_used[g] : 0))
            return false;
    return true;
}

static nmodgpu_status cpu_multiply(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                   const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    (void)queue;
    if (!is_a(sums, NMODGPU_SUMS) || !is_a(left, NMODGPU_PLANES) || !is_a(right, NMODGPU_PLANES) ||
        left->side != NMODGPU_LEFT || right->side != NMODGPU_RIGHT || left->rows != sums->rows ||
        right->cols != sums->cols || left->cols != right->rows)
        return NMODGPU_EINVAL;
    const nmodgpu_plan *plan = sums->plan;
    if (!served(plan))
        return NMODGPU_DECLINED;
    if (!blas_fits(sums->rows, left->cols, sums->cols, left->stride, right->stride, sums->stride) ||
        !stays_exact(sums, sum_mask, left->cols, accumulate))
        return NMODGPU_EINVAL;
    uint64_t holds = accumulate ? UINT64_MAX : 0;
    for (uint32_t t = 0; t < plan->terms; t++) {
        const nmodgpu_term *term = &plan->term[t];
        if (!(sum_mask >> term->sum & 1))
            continue;
        multiply_term(sums, term, left, right, holds >> term->sum & 1);
        holds |= 1ULL << term->sum;
    }
    for (uint32_t g = 0; g < plan->sums; g++)
        if (sum_mask >> g & 1)
            sums->inner_used[g] = (accumulate ? sums->inner_used[g] : 0) + left->cols;
    return NMODGPU_OK;
}

static const nmodgpu_backend backend = {
    .abi_version = NMODGPU_BACKEND_ABI,
    .size = sizeof(nmodgpu_backend),
    .name = "cblas",
    .priority = 10,
    .holds_signals = true,
    .open = cpu_open,
    .device_count = cpu_device_count,
    .device_info = cpu_device_info,
    .queue_open = cpu_queue_open,
    .queue_close = cpu_queue_close,
    .matrix_alloc = cpu_matrix_alloc,
    .matrix_free = cpu_matrix_free,
    .matrix_bytes = cpu_matrix_bytes,
    .import_words = cpu_import,
    .prepare = cpu_prepare,
    .multiply_accumulate = cpu_multiply,
    .reduce = cpu_reduce,
    .export_words = cpu_export,
    .submit = cpu_submit,
    .queue_wait = cpu_wait,
    .wait = cpu_wait,
    .event_free = cpu_event_free,
    .event_seconds = cpu_event_seconds,
};

NMODGPU_API nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *api);

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *api)
{
    if (api->abi_version != NMODGPU_BACKEND_ABI)
        return NMODGPU_EABI;
    host = api;
    return api->register_backend(&backend);
}
