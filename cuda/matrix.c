/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Shapes in device memory, and moving words there and back.
 */
#include "matrix.h"

#include "copies.h"
#include "memory.h"
#include "operations.h"

/** The right operand of int8 products is stored by columns, so that both are contiguous along the inner dimension.
 */
static bool is_transposed(const nmodgpu_matrix *m)
{
    return m->representation == NMODGPU_PLANES && m->element_bytes == 1 && m->side == NMODGPU_RIGHT;
}

/** Planes and sums of int8 products. */
static bool serves_i8(const nmodgpu_matrix *m)
{
    return m->representation != NMODGPU_WORDS && m->plan && m->plan->number == NMODGPU_I8;
}

/** Rows (or columns, of a transposed matrix) start at multiples of 128 bytes, a line of the caches, so that kernels
 *  and GEMMs use their widest accesses; short ones at multiples of 16, which the widest access needs, or of 16
 *  entries, which int8 products need. */
static int64_t padded_stride(const nmodgpu_matrix *m)
{
    const int64_t length = is_transposed(m) ? m->rows : m->cols;
    const int64_t short_line = serves_i8(m) ? 16 : 16 / (int64_t)m->element_bytes;
    const int64_t line = length >= 32 ? 128 / (int64_t)m->element_bytes : short_line;
    return length > INT64_MAX - line ? -1 : (length + line - 1) / line * line;
}

/** How many rows are stored: of what int8 products read or write in multiples of 16, from any row of a window on.
 */
static int64_t padded_rows(const nmodgpu_matrix *m)
{
    const int64_t rows = is_transposed(m) ? m->cols : m->rows;
    const int64_t window = m->representation == NMODGPU_PLANES ? 15 : 0;
    return serves_i8(m) && rows <= INT64_MAX - 30 ? (rows + window + 15) / 16 * 16 : rows;
}

/** False when the size is beyond 63 bits. */
static bool shape(const nmodgpu_matrix *m, int64_t *stride, int64_t *plane, int64_t *bytes)
{
    *stride = padded_stride(m);
    return *stride >= 0 && !__builtin_mul_overflow(*stride, padded_rows(m), plane) &&
           !__builtin_mul_overflow(*plane, (int64_t)m->planes, bytes) &&
           !__builtin_mul_overflow(*bytes, (int64_t)m->element_bytes, bytes);
}

/** Words are 1, 2, 4 or 8 bytes wide; of the rest, int8 planes and their sums of one byte belong to a plan. */
static bool describable(const nmodgpu_matrix *m)
{
    const uint32_t bytes = m->element_bytes;
    const bool narrow = m->representation == NMODGPU_WORDS ? bytes == 1 || bytes == 2 : bytes == 1 && m->plan;
    return m->rows >= 0 && m->cols >= 0 && m->planes >= 1 && (bytes == 4 || bytes == 8 || narrow);
}

uint64_t nmodgpu_cuda_matrix_bytes(const nmodgpu_matrix *matrix)
{
    int64_t stride, plane, bytes;
    return describable(matrix) && shape(matrix, &stride, &plane, &bytes) ? (uint64_t)bytes : UINT64_MAX;
}

nmodgpu_status nmodgpu_cuda_matrix_alloc(nmodgpu_queue *queue, nmodgpu_matrix *matrix)
{
    int64_t stride, plane, bytes;
    matrix->data = NULL;
    if (!describable(matrix))
        return NMODGPU_EINVAL;
    if (!shape(matrix, &stride, &plane, &bytes))
        return NMODGPU_ENOMEM;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    /* An empty matrix has an address too. */
    status = nmodgpu_cuda_memory_take(queue->device, queue->stream, bytes ? (uint64_t)bytes : 1, &matrix->data);
    nmodgpu_cuda_leave(queue->device);
    if (status != NMODGPU_OK) {
        matrix->data = NULL;
        return status;
    }
    matrix->device = queue->device->index;
    matrix->stride = stride;
    matrix->plane_stride = plane;
    matrix->transposed = is_transposed(matrix);
    matrix->row_table = NULL;
    for (int g = 0; g < NMODGPU_MAX_SUMS; g++)
        matrix->inner_used[g] = 0;
    return NMODGPU_OK;
}

void nmodgpu_cuda_matrix_free(nmodgpu_queue *queue, nmodgpu_matrix *matrix)
{
    if (!matrix->data)
        return;
    const bool inside = nmodgpu_cuda_enter(queue->device) == NMODGPU_OK;
    nmodgpu_cuda_memory_give(queue->device, queue->stream, matrix->data);
    if (inside)
        nmodgpu_cuda_leave(queue->device);
    matrix->data = NULL;
}

static bool is_host(const nmodgpu_matrix *m)
{
    return m->representation == NMODGPU_WORDS && m->device == NMODGPU_HOST && m->element_bytes == 8 &&
           !m->transposed;
}

nmodgpu_status nmodgpu_cuda_import(nmodgpu_queue *queue, nmodgpu_matrix *device, const nmodgpu_matrix *host)
{
    if (!is_host(host) || !nmodgpu_cuda_is_words(queue, device) || !nmodgpu_cuda_same_shape(device, host))
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = nmodgpu_cuda_upload(queue, device, host);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

nmodgpu_status nmodgpu_cuda_export(nmodgpu_queue *queue, const nmodgpu_matrix *host, const nmodgpu_matrix *device)
{
    if (!is_host(host) || !nmodgpu_cuda_is_words(queue, device) || !nmodgpu_cuda_same_shape(device, host))
        return NMODGPU_EINVAL;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = nmodgpu_cuda_download(queue, host, device);
    nmodgpu_cuda_leave(queue->device);
    return status;
}
