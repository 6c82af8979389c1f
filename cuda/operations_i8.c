/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "operations_i8.h"

#include "errors.h"
#include "kernels_i8.h"
#include "queue.h"

static nmodgpu_status prepare_residues(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                       const nmodgpu_matrix *words)
{
    const nmodgpu_residue_pass pass = {
        .how = nmodgpu_residuer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        .stride = planes->stride,
        .plane_stride = planes->plane_stride,
        .transposed = planes->transposed,
        .words = words->data,
        .words_stride = words->stride,
        .words_bytes = words->element_bytes,
        .rows = words->rows,
        .cols = words->cols,
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_residues, queue->stream, &pass);
}

static nmodgpu_status prepare_digits(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                     const nmodgpu_matrix *words)
{
    const nmodgpu_digit_pass pass = {
        .how = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        .stride = planes->stride,
        .plane_stride = planes->plane_stride,
        .transposed = planes->transposed,
        .words = words->data,
        .words_stride = words->stride,
        .words_bytes = words->element_bytes,
        .rows = words->rows,
        .cols = words->cols,
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_digits, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_prepare_i8(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                       const nmodgpu_matrix *words)
{
    return planes->plan->encoding == NMODGPU_RESIDUES ? prepare_residues(queue, planes, words)
                                                      : prepare_digits(queue, planes, words);
}

bool nmodgpu_cuda_i8_aligned(const nmodgpu_matrix *planes)
{
    return ((uintptr_t)planes->data | (uintptr_t)planes->stride | (uintptr_t)planes->plane_stride) % 16 == 0;
}

nmodgpu_status nmodgpu_cuda_multiply_fused(nmodgpu_queue *queue, const nmodgpu_matrix *sums, uint64_t sum_mask,
                                           const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    const nmodgpu_plan *plan = sums->plan;
    nmodgpu_fused_pass pass = {
        .a = left->data,
        .b = right->data,
        .a_stride = left->stride,
        .a_plane_stride = left->plane_stride,
        .b_stride = right->stride,
        .b_plane_stride = right->plane_stride,
        .out = sums->data,
        .out_stride = sums->stride,
        .out_plane_stride = sums->plane_stride,
        .rows = sums->rows,
        .cols = sums->cols,
        .inner = left->cols,
        .planes = plan->sums,
        .accumulate = accumulate,
    };
    /* One launch for all planes; a part of them has no use, since a recombination needs all. */
    if (plan->encoding != NMODGPU_RESIDUES || sum_mask != (1ULL << plan->sums) - 1)
        return NMODGPU_DECLINED;
    const nmodgpu_crt constants = nmodgpu_crt_make(plan, 1);
    for (uint32_t i = 0; i < plan->sums; i++) {
        pass.m[i] = constants.m[i];
        pass.magic[i] = constants.magic[i];
        pass.offset[i] = constants.offset[i];
    }
    return CUDA_CALL(queue->device->index, nmodgpu_launch_fused, queue->stream, &pass);
}

static nmodgpu_status recombine(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                int sign, const nmodgpu_matrix *sums)
{
    const nmodgpu_crt_pass pass = {
        .how = nmodgpu_crt_make(sums->plan, sign),
        .sums = sums->data,
        .sum_bytes = sums->element_bytes,
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
    return CUDA_CALL(queue->device->index, nmodgpu_launch_crt, queue->stream, &pass);
}

static nmodgpu_status combine(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                              const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    const nmodgpu_sum32_pass pass = {
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
    return CUDA_CALL(queue->device->index, nmodgpu_launch_reduce_sum32, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_reduce_i8(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                      int sign, const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    if (sums->plan->encoding == NMODGPU_DIGITS)
        return combine(queue, out, base, sign, sums, sum_mask);
    if (sum_mask != (1ULL << sums->plan->sums) - 1)
        return NMODGPU_EINVAL; /* the remainder theorem wants all residues */
    return recombine(queue, out, base, sign, sums);
}
