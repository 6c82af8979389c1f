/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The launchers of cuda/kernels.h: the host twins, queued.
 */
#include <stdlib.h>

#include "cuda/kernels.h"
#include "exact/passes.h"
#include "internal.h"

static nmodgpu_matrix matrix(void *data, int64_t stride, int64_t plane_stride, uint32_t element_bytes, int64_t rows,
                             int64_t cols)
{
    nmodgpu_matrix m = {0};
    m.rows = rows;
    m.cols = cols;
    m.element_bytes = element_bytes;
    m.stride = stride;
    m.plane_stride = plane_stride;
    m.planes = 1;
    m.data = data;
    return m;
}

static void run_prepare(void *argument)
{
    const nmodgpu_prepare_pass *p = argument;
    const nmodgpu_matrix planes = matrix(p->planes, p->stride, p->plane_stride, 8, p->rows, p->cols);
    const nmodgpu_matrix words = matrix((void *)p->words, p->words_stride, 0, p->words_bytes, p->rows, p->cols);
    nmodgpu_host_prepare(&p->how, &planes, &words, 0, p->rows);
}

cudaError_t nmodgpu_launch_prepare(cudaStream_t stream, const nmodgpu_prepare_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    nmodgpu_prepare_pass *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = *pass;
    p->planes = standin_planes(stream, pass->planes, pass->stride, pass->plane_stride, pass->how.planes, 8,
                               pass->rows, pass->cols, "planes of a conversion");
    p->words = standin_planes(stream, pass->words, pass->words_stride, 0, 1, pass->words_bytes, pass->rows,
                              pass->cols, "words of a conversion");
    if (p->planes && p->words)
        return standin_end(standin_queue(stream, run_prepare, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

static void run_reduce(void *argument)
{
    const nmodgpu_reduce_pass *p = argument;
    const nmodgpu_matrix sums = matrix((void *)p->sums, p->stride, p->plane_stride, 8, p->rows, p->cols);
    const nmodgpu_matrix out = matrix(p->out, p->out_stride, 0, p->out_bytes, p->rows, p->cols);
    const nmodgpu_matrix base = matrix((void *)p->base, p->base_stride, 0, p->base_bytes, p->rows, p->cols);
    nmodgpu_host_reduce(&p->how, &out, p->base ? &base : NULL, &sums, 0, p->rows);
}

static uint32_t planes_reached(const nmodgpu_reducer *how)
{
    uint32_t planes = 1;
    for (uint32_t i = 0; i < how->sums; i++)
        planes = how->plane[i] + 1u > planes ? how->plane[i] + 1u : planes;
    return planes;
}

cudaError_t nmodgpu_launch_reduce(cudaStream_t stream, const nmodgpu_reduce_pass *pass)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess || pass->rows == 0 || pass->cols == 0)
        return standin_end(error);
    nmodgpu_reduce_pass *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = *pass;
    p->sums = standin_planes(stream, pass->sums, pass->stride, pass->plane_stride, planes_reached(&pass->how), 8,
                             pass->rows, pass->cols, "sums of a reduction");
    p->out = standin_planes(stream, pass->out, pass->out_stride, 0, 1, pass->out_bytes, pass->rows, pass->cols,
                            "result of a reduction");
    if (pass->base)
        p->base = standin_planes(stream, pass->base, pass->base_stride, 0, 1, pass->base_bytes, pass->rows,
                                 pass->cols, "base of a reduction");
    if (p->sums && p->out && (p->base || !pass->base))
        return standin_end(standin_queue(stream, run_reduce, p));
    free(p);
    return standin_end(cudaErrorInvalidValue);
}

cudaError_t nmodgpu_kernels_loadable(void)
{
    const cudaError_t error = standin_begin();
    return standin_end(error == cudaSuccess && standin.no_kernels ? cudaErrorNoKernelImageForDevice : error);
}
