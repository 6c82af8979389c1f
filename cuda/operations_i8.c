/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "operations_i8.h"

#include "errors.h"
#include "kernels_i8.h"
#include "matrix.h"
#include "members.h"
#include "operations.h"

static nmodgpu_status prepare_residues(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                       const nmodgpu_matrix *words)
{
    const nmodgpu_residue_pass pass = {
        .how = nmodgpu_residuer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        PASS_STRIDES(planes),
        .transposed = planes->transposed,
        PASS_WORDS(words),
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_residues, queue->stream, &pass);
}

static nmodgpu_status prepare_digits(nmodgpu_queue *queue, const nmodgpu_matrix *planes,
                                     const nmodgpu_matrix *words)
{
    const nmodgpu_digit_pass pass = {
        .how = nmodgpu_preparer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        .planes = planes->data,
        PASS_STRIDES(planes),
        .transposed = planes->transposed,
        PASS_WORDS(words),
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
        PASS_STRIDES(sums),
        PASS_RESULT(out, base),
    };
    return CUDA_CALL(queue->device->index, nmodgpu_launch_crt, queue->stream, &pass);
}

static nmodgpu_status combine(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                              const nmodgpu_matrix *sums, uint64_t sum_mask)
{
    const nmodgpu_sum32_pass pass = {
        .how = nmodgpu_reducer_make(sums->plan, sum_mask, sign),
        .sums = sums->data,
        PASS_STRIDES(sums),
        PASS_RESULT(out, base),
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

/* ---- a Strassen-Winograd step */

/** Seven matrices of one plan in that representation, rows x cols, stored alike where kernels can reach them. */
static bool are_parts(const nmodgpu_queue *queue, const nmodgpu_matrix *part, nmodgpu_representation representation,
                      int64_t rows, int64_t cols)
{
    const nmodgpu_plan *plan = part[0].plan;
    if (!plan || !plan->winograd || plan->number != NMODGPU_I8 || plan->encoding != NMODGPU_RESIDUES)
        return false;
    for (int i = 0; i < NMODGPU_WINOGRAD_PRODUCTS; i++)
        if (!nmodgpu_cuda_lives_here(queue, &part[i], representation) || part[i].plan != plan ||
            part[i].element_bytes != 1 || part[i].rows != rows || part[i].cols != cols ||
            part[i].side != part[0].side || part[i].transposed != part[0].transposed ||
            part[i].stride != part[0].stride || part[i].plane_stride != part[0].plane_stride ||
            !nmodgpu_cuda_i8_aligned(&part[i]))
            return false;
    return true;
}

static nmodgpu_status prepare_parts(nmodgpu_queue *queue, const nmodgpu_matrix *planes, const nmodgpu_matrix *words)
{
    nmodgpu_winograd_residue_pass pass = {
        .how = nmodgpu_residuer_make(planes->plan, planes->side == NMODGPU_RIGHT),
        PASS_STRIDES(planes),
        .transposed = planes->transposed,
        PASS_WORDS(words),
        .half_rows = planes->rows,
        .half_cols = planes->cols,
    };
    for (int i = 0; i < NMODGPU_WINOGRAD_PRODUCTS; i++)
        pass.planes[i] = planes[i].data;
    return CUDA_CALL(queue->device->index, nmodgpu_launch_winograd_residues, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_prepare_winograd(nmodgpu_queue *queue, nmodgpu_matrix *planes,
                                             const nmodgpu_matrix *words)
{
    if (!nmodgpu_cuda_is_words(queue, words) ||
        !are_parts(queue, planes, NMODGPU_PLANES, nmodgpu_winograd_half(words->rows),
                   nmodgpu_winograd_half(words->cols)) ||
        planes->transposed != (planes->side == NMODGPU_RIGHT))
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = prepare_parts(queue, planes, words);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

static nmodgpu_status recombine_parts(nmodgpu_queue *queue, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                      int sign, const nmodgpu_matrix *sums)
{
    nmodgpu_winograd_crt_pass pass = {
        .how = nmodgpu_crt_make(sums->plan, sign),
        PASS_STRIDES(sums),
        PASS_RESULT(out, base),
        .half_rows = sums->rows,
        .half_cols = sums->cols,
    };
    for (int i = 0; i < NMODGPU_WINOGRAD_PRODUCTS; i++)
        pass.sums[i] = sums[i].data;
    return CUDA_CALL(queue->device->index, nmodgpu_launch_winograd_crt, queue->stream, &pass);
}

nmodgpu_status nmodgpu_cuda_reduce_winograd(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                            int sign, nmodgpu_matrix *sums)
{
    if (!nmodgpu_cuda_is_words(queue, out) ||
        (base && (!nmodgpu_cuda_is_words(queue, base) || !nmodgpu_cuda_same_shape(base, out))) ||
        !are_parts(queue, sums, NMODGPU_SUMS, nmodgpu_winograd_half(out->rows), nmodgpu_winograd_half(out->cols)) ||
        sums->transposed)
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = recombine_parts(queue, out, base, sign, sums);
    nmodgpu_cuda_leave(queue->device);
    for (int i = 0; i < NMODGPU_WINOGRAD_PRODUCTS; i++)
        for (uint32_t g = 0; g < sums[i].plan->sums; g++)
            sums[i].inner_used[g] = 0;
    return status;
}
