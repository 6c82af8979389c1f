/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The launchers of cuda/kernels_i8.h: the host twins, queued.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels_i8.h"
#include "exact/passes_i8.h"
#include "internal.h"

static nmodgpu_matrix matrix(const void *data, int64_t stride, int64_t plane_stride, uint32_t element_bytes,
                             int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){.rows = rows,
                            .cols = cols,
                            .element_bytes = element_bytes,
                            .planes = 1,
                            .stride = stride,
                            .plane_stride = plane_stride,
                            .data = (void *)data};
}

static nmodgpu_matrix planes_matrix(const void *data, int64_t stride, int64_t plane_stride, bool transposed,
                                    int64_t rows, int64_t cols)
{
    nmodgpu_matrix m = matrix(data, stride, plane_stride, 1, rows, cols);
    m.transposed = transposed;
    return m;
}

/** The bytes behind planes of int8, with what fills up their rows. */
static void *planes_bytes(cudaStream_t s, const void *data, int64_t stride, int64_t plane_stride, uint32_t planes,
                          bool transposed, int64_t rows, int64_t cols, const char *who)
{
    const int64_t inner = nmodgpu_i8_padded(transposed ? rows : cols), outer = transposed ? cols : rows;
    if (stride < inner && outer > 1)
        standin_mistake("%s: rows of %lld overlap at a stride of %lld", who, (long long)inner, (long long)stride);
    return standin_planes(s, data, stride, plane_stride, planes, 1, outer, inner, who);
}

static void *words_bytes(cudaStream_t s, const void *data, int64_t stride, uint32_t element_bytes, int64_t rows,
                         int64_t cols, const char *who)
{
    return standin_planes(s, data, stride, 0, 1, element_bytes, rows, cols, who);
}

static void *copied(const void *pass, size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        abort();
    return memcpy(p, pass, bytes);
}

static void run_residues(void *argument)
{
    const nmodgpu_residue_pass *p = argument;
    const nmodgpu_matrix planes =
        planes_matrix(p->planes, p->stride, p->plane_stride, p->transposed, p->rows, p->cols);
    const nmodgpu_matrix words = matrix(p->words, p->words_stride, 0, p->words_bytes, p->rows, p->cols);
    nmodgpu_host_residues(&p->how, &planes, &words);
}

cudaError_t nmodgpu_launch_residues(cudaStream_t stream, const nmodgpu_residue_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    nmodgpu_residue_pass *p = copied(pass, sizeof *p);
    p->planes = planes_bytes(stream, pass->planes, pass->stride, pass->plane_stride, pass->how.count,
                             pass->transposed, pass->rows, pass->cols, "planes of residues");
    p->words = words_bytes(stream, pass->words, pass->words_stride, pass->words_bytes, pass->rows, pass->cols,
                           "words of residues");
    if (p->planes && p->words)
        return standin_end(standin_queue(stream, run_residues, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

static void run_digits(void *argument)
{
    const nmodgpu_digit_pass *p = argument;
    const nmodgpu_matrix planes =
        planes_matrix(p->planes, p->stride, p->plane_stride, p->transposed, p->rows, p->cols);
    const nmodgpu_matrix words = matrix(p->words, p->words_stride, 0, p->words_bytes, p->rows, p->cols);
    nmodgpu_host_digits(&p->how, &planes, &words);
}

cudaError_t nmodgpu_launch_digits(cudaStream_t stream, const nmodgpu_digit_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    nmodgpu_digit_pass *p = copied(pass, sizeof *p);
    p->planes = planes_bytes(stream, pass->planes, pass->stride, pass->plane_stride, pass->how.planes,
                             pass->transposed, pass->rows, pass->cols, "planes of int8 digits");
    p->words = words_bytes(stream, pass->words, pass->words_stride, pass->words_bytes, pass->rows, pass->cols,
                           "words of int8 digits");
    if (p->planes && p->words)
        return standin_end(standin_queue(stream, run_digits, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

static void run_crt(void *argument)
{
    const nmodgpu_crt_pass *p = argument;
    const nmodgpu_matrix sums = matrix(p->sums, p->stride, p->plane_stride, p->sum_bytes, p->rows, p->cols);
    const nmodgpu_matrix out = matrix(p->out, p->out_stride, 0, p->out_bytes, p->rows, p->cols);
    const nmodgpu_matrix base = matrix(p->base, p->base_stride, 0, p->base_bytes, p->rows, p->cols);
    nmodgpu_host_crt(&p->how, &out, p->base ? &base : NULL, &sums);
}

cudaError_t nmodgpu_launch_crt(cudaStream_t stream, const nmodgpu_crt_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    if (pass->sum_bytes != 1 && pass->sum_bytes != 4)
        return standin_end(standin_mistake("a recombination of sums of %u bytes", pass->sum_bytes));
    nmodgpu_crt_pass *p = copied(pass, sizeof *p);
    p->sums = standin_planes(stream, pass->sums, pass->stride, pass->plane_stride, pass->how.count, pass->sum_bytes,
                             pass->rows, pass->cols, "sums of a recombination");
    p->out = words_bytes(stream, pass->out, pass->out_stride, pass->out_bytes, pass->rows, pass->cols,
                         "result of a recombination");
    if (pass->base)
        p->base = words_bytes(stream, pass->base, pass->base_stride, pass->base_bytes, pass->rows, pass->cols,
                              "base of a recombination");
    if (p->sums && p->out && (p->base || !pass->base))
        return standin_end(standin_queue(stream, run_crt, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

/* ---- a Strassen-Winograd step: quarters that the words do not fill are filled up */

/** What the kernels load and store sixteen bytes at a time. */
static bool quarters_hold(uint64_t addresses, int64_t stride, int64_t plane_stride, int64_t rows, int64_t cols,
                          int64_t half_rows, int64_t half_cols)
{
    return (addresses | (uint64_t)stride | (uint64_t)plane_stride) % 16 == 0 &&
           half_rows == nmodgpu_winograd_half(rows) && half_cols == nmodgpu_winograd_half(cols);
}

static void run_winograd_residues(void *argument)
{
    const nmodgpu_winograd_residue_pass *p = argument;
    const nmodgpu_matrix words = matrix(p->words, p->words_stride, 0, p->words_bytes, p->rows, p->cols);
    nmodgpu_matrix planes[NMODGPU_WINOGRAD_PRODUCTS];
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) {
        planes[z] =
            planes_matrix(p->planes[z], p->stride, p->plane_stride, p->transposed, p->half_rows, p->half_cols);
        planes[z].side = p->transposed ? NMODGPU_RIGHT : NMODGPU_LEFT;
    }
    nmodgpu_host_winograd_residues(&p->how, planes, &words);
}

cudaError_t nmodgpu_launch_winograd_residues(cudaStream_t stream, const nmodgpu_winograd_residue_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    uint64_t addresses = 0;
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++)
        addresses |= (uintptr_t)pass->planes[z];
    if (!quarters_hold(addresses, pass->stride, pass->plane_stride, pass->rows, pass->cols, pass->half_rows,
                       pass->half_cols))
        return standin_end(standin_mistake("planes of quarters off their layout"));
    nmodgpu_winograd_residue_pass *p = copied(pass, sizeof *p);
    bool whole = true;
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) {
        p->planes[z] = planes_bytes(stream, pass->planes[z], pass->stride, pass->plane_stride, pass->how.count,
                                    pass->transposed, pass->half_rows, pass->half_cols, "planes of quarters");
        whole = whole && p->planes[z];
    }
    p->words = words_bytes(stream, pass->words, pass->words_stride, pass->words_bytes, pass->rows, pass->cols,
                           "words of quarters");
    if (whole && p->words)
        return standin_end(standin_queue(stream, run_winograd_residues, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

static void run_winograd_crt(void *argument)
{
    const nmodgpu_winograd_crt_pass *p = argument;
    const nmodgpu_matrix out = matrix(p->out, p->out_stride, 0, p->out_bytes, p->rows, p->cols);
    const nmodgpu_matrix base = matrix(p->base, p->base_stride, 0, p->base_bytes, p->rows, p->cols);
    nmodgpu_matrix sums[NMODGPU_WINOGRAD_PRODUCTS];
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++)
        sums[z] = matrix(p->sums[z], p->stride, p->plane_stride, 1, p->half_rows, p->half_cols);
    nmodgpu_host_winograd_crt(&p->how, &out, p->base ? &base : NULL, sums);
}

cudaError_t nmodgpu_launch_winograd_crt(cudaStream_t stream, const nmodgpu_winograd_crt_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    uint64_t addresses = 0;
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++)
        addresses |= (uintptr_t)pass->sums[z];
    if (!quarters_hold(addresses, pass->stride, pass->plane_stride, pass->rows, pass->cols, pass->half_rows,
                       pass->half_cols))
        return standin_end(standin_mistake("sums of quarters off their layout"));
    nmodgpu_winograd_crt_pass *p = copied(pass, sizeof *p);
    bool whole = true;
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) {
        p->sums[z] = standin_planes(stream, pass->sums[z], pass->stride, pass->plane_stride, pass->how.count, 1,
                                    pass->half_rows, pass->half_cols, "sums of quarters");
        whole = whole && p->sums[z];
    }
    p->out = words_bytes(stream, pass->out, pass->out_stride, pass->out_bytes, pass->rows, pass->cols,
                         "result of quarters");
    if (pass->base)
        p->base = words_bytes(stream, pass->base, pass->base_stride, pass->base_bytes, pass->rows, pass->cols,
                              "base of quarters");
    if (whole && p->out && (p->base || !pass->base))
        return standin_end(standin_queue(stream, run_winograd_crt, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

static void run_sum32(void *argument)
{
    const nmodgpu_sum32_pass *p = argument;
    const nmodgpu_matrix sums = matrix(p->sums, p->stride, p->plane_stride, 4, p->rows, p->cols);
    const nmodgpu_matrix out = matrix(p->out, p->out_stride, 0, p->out_bytes, p->rows, p->cols);
    const nmodgpu_matrix base = matrix(p->base, p->base_stride, 0, p->base_bytes, p->rows, p->cols);
    nmodgpu_host_reduce_sum32(&p->how, &out, p->base ? &base : NULL, &sums);
}

static uint32_t planes_reached(const nmodgpu_reducer *how)
{
    uint32_t planes = 1;
    for (uint32_t i = 0; i < how->sums; i++)
        planes = how->plane[i] + 1u > planes ? how->plane[i] + 1u : planes;
    return planes;
}

cudaError_t nmodgpu_launch_reduce_sum32(cudaStream_t stream, const nmodgpu_sum32_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    nmodgpu_sum32_pass *p = copied(pass, sizeof *p);
    p->sums = standin_planes(stream, pass->sums, pass->stride, pass->plane_stride, planes_reached(&pass->how), 4,
                             pass->rows, pass->cols, "int32 sums of a reduction");
    p->out = words_bytes(stream, pass->out, pass->out_stride, pass->out_bytes, pass->rows, pass->cols,
                         "result of a reduction");
    if (pass->base)
        p->base = words_bytes(stream, pass->base, pass->base_stride, pass->base_bytes, pass->rows, pass->cols,
                              "base of a reduction");
    if (p->sums && p->out && (p->base || !pass->base))
        return standin_end(standin_queue(stream, run_sum32, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

bool nmodgpu_fused_available(void)
{
    return standin_end(standin_begin()) == cudaSuccess && standin.major == 9 && !standin.no_fused;
}

/** What the kernel may write beyond the columns. */
static void spoil_padding(const nmodgpu_fused_pass *p)
{
    for (uint32_t z = 0; z < p->planes; z++)
        for (int64_t i = 0; i < p->rows; i++)
            memset(p->out + z * p->out_plane_stride + i * p->out_stride + p->cols, 0xa5,
                   (size_t)(nmodgpu_i8_padded(p->cols) - p->cols));
}

static void run_fused(void *argument)
{
    const nmodgpu_fused_pass *p = argument;
    const nmodgpu_small_moduli moduli = {p->m, p->magic, p->offset};
    const int64_t inner = nmodgpu_i8_padded(p->inner); /* the zeros are read too */
    nmodgpu_matrix out = matrix(p->out, p->out_stride, p->out_plane_stride, 1, p->rows, p->cols);
    const nmodgpu_matrix a = planes_matrix(p->a, p->a_stride, p->a_plane_stride, false, p->rows, inner);
    const nmodgpu_matrix b = planes_matrix(p->b, p->b_stride, p->b_plane_stride, true, inner, p->cols);
    out.planes = p->planes;
    nmodgpu_host_fused(&moduli, &out, &a, &b, p->accumulate);
    spoil_padding(p);
}

static bool fused_layout_holds(const nmodgpu_fused_pass *p)
{
    const uint64_t bits = (uintptr_t)p->a | (uintptr_t)p->b | (uintptr_t)p->out | (uint64_t)p->a_stride |
                          (uint64_t)p->b_stride | (uint64_t)p->out_stride | (uint64_t)p->a_plane_stride |
                          (uint64_t)p->b_plane_stride | (uint64_t)p->out_plane_stride;
    return bits % 16 == 0 && p->inner <= 131071 && p->planes >= 1 && p->planes <= NMODGPU_MAX_PLANES;
}

cudaError_t nmodgpu_launch_fused(cudaStream_t stream, const nmodgpu_fused_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    if (standin.major != 9 || standin.no_fused)
        return standin_end(cudaErrorNoKernelImageForDevice);
    if (!fused_layout_holds(pass))
        return standin_end(standin_mistake("a fused product off its layout, or over %lld", (long long)pass->inner));
    nmodgpu_fused_pass *p = copied(pass, sizeof *p);
    p->a = planes_bytes(stream, pass->a, pass->a_stride, pass->a_plane_stride, pass->planes, false, pass->rows,
                        pass->inner, "fused product's left operand");
    p->b = planes_bytes(stream, pass->b, pass->b_stride, pass->b_plane_stride, pass->planes, true, pass->inner,
                        pass->cols, "fused product's right operand");
    p->out = standin_planes(stream, pass->out, pass->out_stride, pass->out_plane_stride, pass->planes, 1,
                            pass->rows, nmodgpu_i8_padded(pass->cols), "fused product's result");
    if (p->a && p->b && p->out)
        return standin_end(standin_queue(stream, run_fused, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}
