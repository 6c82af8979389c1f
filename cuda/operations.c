/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Conversion, products and reduction: checks, then kernels and cuBLAS.
 */
#include "operations.h"

#include "errors.h"
#include "gemm.h"
#include "kernels.h"
#include "matrix.h"
#include "members.h"
#include "operations_i8.h"

static bool served(const nmodgpu_plan *plan)
{
    return plan &&
           (plan->number == NMODGPU_I8 || (plan->number == NMODGPU_F64 && plan->encoding == NMODGPU_DIGITS));
}

/** Kernels for double precision have words of two widths, those for int8 of four. */
static bool are_words(const nmodgpu_queue *queue, const nmodgpu_matrix *m, const nmodgpu_plan *plan)
{
    return nmodgpu_cuda_is_words(queue, m) && (m->element_bytes >= 4 || (plan && plan->number == NMODGPU_I8));
}

static nmodgpu_status prepare_f64(nmodgpu_queue *queue, const nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    const nmodgpu_prepare_pass pass = {
        .how = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        PASS_STRIDES(planes),
        PASS_WORDS(words),
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_prepare, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_prepare(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    if (!nmodgpu_cuda_lives_here(queue, planes, NMODGPU_PLANES) || !are_words(queue, words, planes->plan) ||
        !nmodgpu_cuda_same_shape(planes, words))
        return NMODGPU_EINVAL;
    if (!served(planes->plan))
        return NMODGPU_DECLINED;
    const bool i8 = planes->plan->number == NMODGPU_I8;
    if (planes->transposed != (i8 && planes->side == NMODGPU_RIGHT))
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = i8 ? nmodgpu_cuda_prepare_i8(queue, planes, words) : prepare_f64(queue, planes, words);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

static nmodgpu_status reduce_f64(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                 int sign, const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    const nmodgpu_reduce_pass pass = {
        .how = nmodgpu_reducer_make(sums->plan, sum_mask, sign),
        .sums = sums->data,
        PASS_STRIDES(sums),
        PASS_RESULT(out, base),
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_reduce, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_reduce(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                                   nmodgpu_matrix *sums, uint64_t sum_mask)
{
    if (!nmodgpu_cuda_lives_here(queue, sums, NMODGPU_SUMS) || !are_words(queue, out, sums->plan) ||
        !nmodgpu_cuda_same_shape(out, sums) ||
        (base && (!are_words(queue, base, sums->plan) || !nmodgpu_cuda_same_shape(base, out))))
        return NMODGPU_EINVAL;
    if (!served(sums->plan))
        return NMODGPU_DECLINED;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = sums->plan->number == NMODGPU_I8 ? nmodgpu_cuda_reduce_i8(queue, out, base, sign, sums, sum_mask)
                                              : reduce_f64(queue, out, base, sign, sums, sum_mask);
    nmodgpu_cuda_leave(queue->device);
    for (uint32_t g = 0; g < sums->plan->sums; g++)
        if (sum_mask >> g & 1)
            sums->inner_used[g] = 0;
    return status;
}

static void *plane(const nmodgpu_matrix *m, uint32_t i)
{
    return (char *)m->data + (int64_t)i * m->plane_stride * (int64_t)m->element_bytes;
}

/** int8 matrices are stored in multiples of 16 rows and columns, for the tensor cores (matrix.c). */
static int64_t stored(const nmodgpu_matrix *m, int64_t size)
{
    return m->element_bytes == 1 ? (size + 15) / 16 * 16 : size;
}

/** S <- (accumulate ? S : 0) + L (m x kk) * R (kk x n) for one term, or for `batch` terms of consecutive planes. */
static nmodgpu_status gemm(nmodgpu_queue *queue, const nmodgpu_matrix *sums, const nmodgpu_term *t, int32_t batch,
                           const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    const nmodgpu_gemm g = {
        .number = sums->plan->number,
        .m = stored(left, left->rows),
        .k = stored(left, left->cols),
        .n = stored(right, right->cols),
        .a = plane(left, t->left),
        .b = plane(right, t->right),
        .c = plane(sums, t->sum),
        .a_stride = left->stride,
        .b_stride = right->stride,
        .c_stride = sums->stride,
        .a_transposed = left->transposed,
        .b_transposed = right->transposed,
        .accumulate = accumulate,
        .batch = batch,
        .a_plane_stride = left->plane_stride,
        .b_plane_stride = right->plane_stride,
        .c_plane_stride = sums->plane_stride,
    };
    return nmodgpu_cuda_gemm(queue, &g);
}

static nmodgpu_status zero_sums(nmodgpu_queue *queue, const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    const size_t bytes = sums->element_bytes;
    nmodgpu_status status = NMODGPU_OK;
    for (uint32_t g = 0; g < sums->plan->sums && status == NMODGPU_OK; g++)
        if (sum_mask >> g & 1)
            status =
                CUDA_CALL(queue->device->index, cudaMemset2DAsync, plane(sums, g), (size_t)sums->stride * bytes, 0,
                          (size_t)sums->cols * bytes, (size_t)sums->rows, queue->stream);
    return status;
}

/* Below this many products of entries, int8 GEMMs are too short to fill the device one after another: on an H200,
 * ten of 2048 x 2048 x 2048 ran at 1022 TOP/s in a batch and at 431 alone, of 4096 at 1150 and at 1235. */
#define BATCH_PRODUCTS 2e10

/** Whether term i of the plan is plane i times plane i into sum i, all are asked for, and a batch is sooner. */
static bool runs_in_batch(const nmodgpu_matrix *sums, uint64_t sum_mask, const nmodgpu_matrix *left)
{
    const nmodgpu_plan *plan = sums->plan;
    return plan->number == NMODGPU_I8 && plan->encoding == NMODGPU_RESIDUES && plan->terms > 1 &&
           sum_mask == (1ULL << plan->sums) - 1 &&
           (double)sums->rows * (double)sums->cols * (double)left->cols < BATCH_PRODUCTS;
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
    if (sums->element_bytes == 1)
        return nmodgpu_cuda_multiply_fused(queue, sums, sum_mask, left, right, accumulate);
    if (runs_in_batch(sums, sum_mask, left))
        return gemm(queue, sums, &plan->term[0], (int32_t)plan->terms, left, right, accumulate);
    for (uint32_t i = 0; i < plan->terms && status == NMODGPU_OK; i++) {
        const nmodgpu_term *t = &plan->term[i];
        if (!(sum_mask >> t->sum & 1))
            continue;
        status = gemm(queue, sums, t, 1, left, right, started >> t->sum & 1);
        started |= 1ULL << t->sum;
    }
    return status;
}

nmodgpu_status nmodgpu_cuda_multiply(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                     const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    if (!nmodgpu_cuda_lives_here(queue, sums, NMODGPU_SUMS) || sums->transposed ||
        !nmodgpu_cuda_lives_here(queue, left, NMODGPU_PLANES) ||
        !nmodgpu_cuda_lives_here(queue, right, NMODGPU_PLANES) || left->side != NMODGPU_LEFT ||
        right->side != NMODGPU_RIGHT || left->rows != sums->rows || right->cols != sums->cols ||
        left->cols != right->rows)
        return NMODGPU_EINVAL;
    if (!served(sums->plan))
        return NMODGPU_DECLINED;
    if (sums->plan->number == NMODGPU_I8 && (!nmodgpu_cuda_i8_aligned(left) || !nmodgpu_cuda_i8_aligned(right)))
        return NMODGPU_EINVAL;
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
