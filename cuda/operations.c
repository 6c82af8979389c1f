/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Conversion, products and reduction: checks, then kernels and cuBLAS.
 */
#include "operations.h"

#include "errors.h"
#include "gemm.h"
#include "kernels.h"
#include "queue.h"

static bool served(const nmodgpu_plan *plan)
{
    return plan && plan->number == NMODGPU_F64 && plan->encoding == NMODGPU_DIGITS;
}

static bool lives_here(const nmodgpu_queue *queue, const nmodgpu_matrix *m, nmodgpu_representation representation)
{
    return m->representation == representation && m->device == queue->device->index;
}

static bool is_words(const nmodgpu_queue *queue, const nmodgpu_matrix *m)
{
    return lives_here(queue, m, NMODGPU_WORDS) && !m->transposed &&
           (m->element_bytes == 8 || (m->element_bytes == 4 && m->modulus >> 32 == 0));
}

static bool same_shape(const nmodgpu_matrix *a, const nmodgpu_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

nmodgpu_status nmodgpu_cuda_prepare(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    if (!lives_here(queue, planes, NMODGPU_PLANES) || planes->transposed || !is_words(queue, words) ||
        !same_shape(planes, words))
        return NMODGPU_EINVAL;
    if (!served(planes->plan))
        return NMODGPU_DECLINED;
    const nmodgpu_prepare_pass pass = {
        .how = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        .stride = planes->stride,
        .plane_stride = planes->plane_stride,
        .words = words->data,
        .words_stride = words->stride,
        .words_bytes = words->element_bytes,
        .rows = words->rows,
        .cols = words->cols,
    };
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(queue->device->index, nmodgpu_launch_prepare, queue->stream, &pass);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

nmodgpu_status nmodgpu_cuda_reduce(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                                   nmodgpu_matrix *sums, uint64_t sum_mask)
{
    if (!lives_here(queue, sums, NMODGPU_SUMS) || !is_words(queue, out) || !same_shape(out, sums) ||
        (base && (!is_words(queue, base) || !same_shape(base, out))))
        return NMODGPU_EINVAL;
    if (!served(sums->plan))
        return NMODGPU_DECLINED;
    const nmodgpu_reduce_pass pass = {
        .how = nmodgpu_reducer_make(sums->plan, sum_mask, sign),
        .sums = sums->data,
        .stride = sums->stride,
        .plane_stride = sums->plane_stride,
        .out = out->data,
        .out_stride = out->stride,
        .out_bytes = out->element_bytes,
        .base = base ? base->data : NULL,
        .base_stride = base ? base->stride : 0,
        .base_bytes = base ? base->element_bytes : 8,
        .rows = out->rows,
        .cols = out->cols,
    };
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(queue->device->index, nmodgpu_launch_reduce, queue->stream, &pass);
    nmodgpu_cuda_leave(queue->device);
    for (uint32_t g = 0; g < sums->plan->sums; g++)
        if (sum_mask >> g & 1)
            sums->inner_used[g] = 0;
    return status;
}

static const double *plane(const nmodgpu_matrix *m, uint32_t i)
{
    return (const double *)m->data + (int64_t)i * m->plane_stride;
}

/** S (m x n) <- beta S + L (m x kk) * R (kk x n) for one term. */
static nmodgpu_status gemm(nmodgpu_queue *queue, const nmodgpu_matrix *sums, const nmodgpu_term *t,
                           const nmodgpu_matrix *left, const nmodgpu_matrix *right, double beta)
{
    const nmodgpu_gemm g = {
        .m = left->rows,
        .k = left->cols,
        .n = right->cols,
        .a = plane(left, t->left),
        .b = plane(right, t->right),
        .c = (double *)sums->data + t->sum * sums->plane_stride,
        .a_stride = left->stride,
        .b_stride = right->stride,
        .c_stride = sums->stride,
        .a_transposed = left->transposed,
        .b_transposed = right->transposed,
        .beta = beta,
    };
    return nmodgpu_cuda_gemm(queue, &g);
}

static nmodgpu_status zero_sums(nmodgpu_queue *queue, const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    nmodgpu_status status = NMODGPU_OK;
    for (uint32_t g = 0; g < sums->plan->sums && status == NMODGPU_OK; g++)
        if (sum_mask >> g & 1)
            status = CUDA_CALL(queue->device->index, cudaMemset2DAsync,
                               (double *)sums->data + g * sums->plane_stride, (size_t)sums->stride * sizeof(double),
                               0, (size_t)sums->cols * sizeof(double), (size_t)sums->rows, queue->stream);
    return status;
}

/** All terms of the sums in the mask; the first of each sum overwrites it unless it accumulates. */
static nmodgpu_status multiply(nmodgpu_queue *queue, const nmodgpu_matrix *sums, uint64_t sum_mask,
                               const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    const nmodgpu_plan *plan = sums->plan;
    uint64_t started = accumulate ? sum_mask : 0;
    nmodgpu_status status = NMODGPU_OK;
    if (sums->rows == 0 || sums->cols == 0 || (left->cols == 0 && accumulate))
        return NMODGPU_OK;
    if (left->cols == 0)
        return zero_sums(queue, sums, sum_mask);
    for (uint32_t i = 0; i < plan->terms && status == NMODGPU_OK; i++) {
        const nmodgpu_term *t = &plan->term[i];
        if (!(sum_mask >> t->sum & 1))
            continue;
        status = gemm(queue, sums, t, left, right, started >> t->sum & 1 ? 1 : 0);
        started |= 1ULL << t->sum;
    }
    return status;
}

nmodgpu_status nmodgpu_cuda_multiply(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                     const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    if (!lives_here(queue, sums, NMODGPU_SUMS) || sums->transposed || !lives_here(queue, left, NMODGPU_PLANES) ||
        !lives_here(queue, right, NMODGPU_PLANES) || left->side != NMODGPU_LEFT || right->side != NMODGPU_RIGHT ||
        left->rows != sums->rows || right->cols != sums->cols || left->cols != right->rows)
        return NMODGPU_EINVAL;
    if (!served(sums->plan))
        return NMODGPU_DECLINED;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = multiply(queue, sums, sum_mask, left, right, accumulate);
    nmodgpu_cuda_leave(queue->device);
    for (uint32_t g = 0; g < sums->plan->sums; g++)
        if (sum_mask >> g & 1)
            sums->inner_used[g] = (accumulate ? sums->inner_used[g] : 0) + left->cols;
    return status;
}
