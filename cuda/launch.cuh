/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the conversion and reduction kernels share: shapes of launches, and rows by rows of threads.  Blocks are as
 * wide as the rows allow, so that narrow matrices fill their warps with several rows.
 */
#ifndef NMODGPU_CUDA_LAUNCH_CUH
#define NMODGPU_CUDA_LAUNCH_CUH

#include <cuda_runtime_api.h>
#include <stdint.h>

constexpr int block_threads = 256;
constexpr int64_t grid_limit = 65535; /* of the y dimension; kept for x too, the kernels loop */

struct launch_shape {
    dim3 grid, block;
};

/** For threads that take so many neighbouring columns of so many rows, which lie as far apart as a block is high.
 */
inline launch_shape shape_for(int64_t rows, int64_t cols, int columns_a_thread, int rows_a_thread = 1)
{
    const int64_t vectors = (cols + columns_a_thread - 1) / columns_a_thread;
    int64_t width = 1;
    while (width < vectors && width < block_threads)
        width *= 2;
    const int64_t height = block_threads / width;
    const int64_t x = (vectors + width - 1) / width;
    const int64_t y = (rows + height * rows_a_thread - 1) / (height * rows_a_thread);
    launch_shape s;
    s.block = dim3((unsigned)width, (unsigned)height);
    s.grid = dim3((unsigned)(x < grid_limit ? x : grid_limit), (unsigned)(y < grid_limit ? y : grid_limit));
    return s;
}

/** The launch's own status: cudaGetLastError() would also report what an earlier call left behind. */
template <typename Pass>
cudaError_t launch(void (*kernel)(Pass), const launch_shape &s, cudaStream_t stream, const Pass &pass)
{
    void *arguments[] = {const_cast<Pass *>(&pass)};
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), s.grid, s.block, arguments, 0, stream);
}

/** The first entries (i, j) of this thread, V neighbouring columns and R rows blockDim.y apart, for every place
 * that it visits. */
template <int V, int R = 1, typename F>
__device__ __forceinline__ void for_each_place(int64_t rows, int64_t cols, F f)
{
    const int64_t down = (int64_t)gridDim.y * blockDim.y * R;
    const int64_t across = (int64_t)gridDim.x * blockDim.x * V;
#pragma unroll 1
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y * R + threadIdx.y; i < rows; i += down)
#pragma unroll 1
        for (int64_t j = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * V; j < cols; j += across)
            f(i, j);
}

/** Whether rows of such elements begin at multiples of `columns` of them. */
inline bool aligned(const void *p, int64_t stride, int64_t element_bytes, int columns)
{
    return (uintptr_t)p % (uintptr_t)(element_bytes * columns) == 0 && stride % columns == 0;
}

#endif
