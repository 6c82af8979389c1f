/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Conversion and reduction kernels.  They move memory and call the arithmetic of src/exact, which the host
 * tests run too.  A thread takes V neighbouring columns.
 */
#include "kernels.h"

#include "launch.cuh"

namespace
{

/* Vectors of 16 bytes where the addresses allow it: V columns, V = 1, 2 or 4, V > 1 meaning aligned. */

template <int V>
__device__ __forceinline__ void load_words(uint64_t (&w)[V], const void *from, int64_t at, bool wide)
{
    if (wide) {
        const uint64_t *p = static_cast<const uint64_t *>(from) + at;
        if constexpr (V == 1)
            w[0] = *p;
#pragma unroll
        for (int v = 0; v + 1 < V; v += 2) {
            const ulonglong2 x = *reinterpret_cast<const ulonglong2 *>(p + v);
            w[v] = x.x;
            w[v + 1] = x.y;
        }
    } else {
        const uint32_t *p = static_cast<const uint32_t *>(from) + at;
        if constexpr (V == 4) {
            const uint4 x = *reinterpret_cast<const uint4 *>(p);
            w[0] = x.x;
            w[1] = x.y;
            w[2] = x.z;
            w[3] = x.w;
        } else if constexpr (V == 2) {
            const uint2 x = *reinterpret_cast<const uint2 *>(p);
            w[0] = x.x;
            w[1] = x.y;
        } else {
            w[0] = *p;
        }
    }
}

template <int V>
__device__ __forceinline__ void store_words(void *to, int64_t at, bool wide, const uint64_t (&w)[V])
{
    if (wide) {
        uint64_t *p = static_cast<uint64_t *>(to) + at;
        if constexpr (V == 1)
            *p = w[0];
#pragma unroll
        for (int v = 0; v + 1 < V; v += 2)
            *reinterpret_cast<ulonglong2 *>(p + v) = make_ulonglong2(w[v], w[v + 1]);
    } else {
        uint32_t *p = static_cast<uint32_t *>(to) + at;
        if constexpr (V == 4)
            *reinterpret_cast<uint4 *>(p) =
                make_uint4((uint32_t)w[0], (uint32_t)w[1], (uint32_t)w[2], (uint32_t)w[3]);
        else if constexpr (V == 2)
            *reinterpret_cast<uint2 *>(p) = make_uint2((uint32_t)w[0], (uint32_t)w[1]);
        else
            *p = (uint32_t)w[0];
    }
}

template <int V> __device__ __forceinline__ void load_doubles(double (&d)[V], const double *p)
{
    if constexpr (V == 1)
        d[0] = *p;
#pragma unroll
    for (int v = 0; v + 1 < V; v += 2) {
        const double2 x = *reinterpret_cast<const double2 *>(p + v);
        d[v] = x.x;
        d[v + 1] = x.y;
    }
}

template <int V> __device__ __forceinline__ void store_doubles(double *p, const double (&d)[V])
{
    if constexpr (V == 1)
        *p = d[0];
#pragma unroll
    for (int v = 0; v + 1 < V; v += 2)
        *reinterpret_cast<double2 *>(p + v) = make_double2(d[v], d[v + 1]);
}

/* Reduction.  SUMS == 0: their number is known at run time only. */

template <bool DOUBLE, int SUMS, int V>
__device__ __forceinline__ void reduce_place(const nmodgpu_reduce_pass &a, int64_t i, int64_t j)
{
    const double *s = a.sums + i * a.stride + j;
    uint64_t word[V] = {};
    double gathered[V];
    double loaded[SUMS ? SUMS : 1][V];
#pragma unroll
    for (int g = 0; g < SUMS; g++) /* all loads before the first use */
        load_doubles<V>(loaded[g], s + a.how.plane[g] * a.plane_stride);
    if (a.base)
        load_words<V>(word, a.base, i * a.base_stride + j, a.base_bytes == 8);
    if constexpr (DOUBLE)
#pragma unroll
        for (int v = 0; v < V; v++)
            gathered[v] = (double)word[v];
#pragma unroll
    for (int g = 0; g < (SUMS ? SUMS : (int)a.how.sums); g++) {
        if constexpr (SUMS == 0)
            load_doubles<V>(loaded[0], s + a.how.plane[g] * a.plane_stride);
#pragma unroll
        for (int v = 0; v < V; v++) {
            if constexpr (DOUBLE)
                gathered[v] = nmodgpu_reduce_add_double(&a.how, g, gathered[v], loaded[SUMS ? g : 0][v]);
            else
                word[v] = nmodgpu_reduce_add_integer(&a.how, g, word[v], loaded[SUMS ? g : 0][v]);
        }
    }
    if constexpr (DOUBLE)
#pragma unroll
        for (int v = 0; v < V; v++)
            word[v] = nmodgpu_reduce_end_double(&a.how, gathered[v]);
    store_words<V>(a.out, i * a.out_stride + j, a.out_bytes == 8, word);
}

template <bool DOUBLE, int SUMS, int V>
__global__ void __launch_bounds__(block_threads) reduce_kernel(const __grid_constant__ nmodgpu_reduce_pass a)
{
    for_each_place<V>(a.rows, a.cols, [&](int64_t i, int64_t j) {
        if (V == 1 || j + V <= a.cols)
            reduce_place<DOUBLE, SUMS, V>(a, i, j);
        else
            for (int64_t last = j; last < a.cols; last++)
                reduce_place<DOUBLE, SUMS, 1>(a, i, last);
    });
}

/** Whether V columns at once are aligned throughout. */
bool reduces_by(const nmodgpu_reduce_pass &a, int columns)
{
    return aligned(a.sums, a.stride, 8, 2) && a.stride % columns == 0 && a.plane_stride % 2 == 0 &&
           aligned(a.out, a.out_stride, a.out_bytes, a.out_bytes == 8 ? 2 : columns) &&
           a.out_stride % columns == 0 &&
           (!a.base || (aligned(a.base, a.base_stride, a.base_bytes, a.base_bytes == 8 ? 2 : columns) &&
                        a.base_stride % columns == 0));
}

template <bool DOUBLE, int SUMS> cudaError_t launch_reduce(cudaStream_t stream, const nmodgpu_reduce_pass &a)
{
    /* Few sums leave registers for more columns, and need more bytes in flight. */
    constexpr int many = SUMS == 1 || SUMS == 2 ? 4 : 2;
    const int columns = reduces_by(a, many) ? many : reduces_by(a, 2) ? 2 : 1;
    const launch_shape s = shape_for(a.rows, a.cols, columns);
    return launch(columns == 1   ? reduce_kernel<DOUBLE, SUMS, 1>
                  : columns == 2 ? reduce_kernel<DOUBLE, SUMS, 2>
                                 : reduce_kernel<DOUBLE, SUMS, many>,
                  s, stream, a);
}

template <bool DOUBLE> cudaError_t launch_reduce(cudaStream_t stream, const nmodgpu_reduce_pass &a)
{
    switch (a.how.sums) {
    case 1:
        return launch_reduce<DOUBLE, 1>(stream, a);
    case 2:
        return launch_reduce<DOUBLE, 2>(stream, a);
    case 3:
        return launch_reduce<DOUBLE, 3>(stream, a);
    case 4:
        return launch_reduce<DOUBLE, 4>(stream, a);
    case 5:
        return launch_reduce<DOUBLE, 5>(stream, a);
    case 6:
        return launch_reduce<DOUBLE, 6>(stream, a);
    default:
        return launch_reduce<DOUBLE, 0>(stream, a);
    }
}

/* Preparation.  DIGITS == 0: their number is known at run time only.  SIMPLE: plane i is digit i. */

template <int DIGITS, bool SIMPLE, int V>
__device__ __forceinline__ void prepare_place(const nmodgpu_prepare_pass &a, int64_t i, int64_t j)
{
    double *to = a.planes + i * a.stride + j;
    uint64_t word[V];
    int64_t rest[V], digit[DIGITS ? DIGITS : 1][V];
    load_words<V>(word, a.words, i * a.words_stride + j, a.words_bytes == 8);
#pragma unroll
    for (int v = 0; v < V; v++) {
        rest[v] = nmodgpu_centre(word[v], a.how.p);
#pragma unroll
        for (int d = 0; d < DIGITS; d++)
            digit[d][v] = nmodgpu_prepare_digit(&a.how, d, &rest[v]);
    }
#pragma unroll
    for (int g = 0; g < (SIMPLE ? DIGITS : (int)a.how.planes); g++) {
        double entry[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            if constexpr (DIGITS == 0) {
                entry[v] = nmodgpu_prepare_plane(&a.how, g, rest[v]);
            } else if constexpr (SIMPLE) {
                entry[v] = nmodgpu_small_to_double(digit[g][v]);
            } else {
                int64_t sum = 0;
#pragma unroll
                for (int d = 0; d < DIGITS; d++)
                    sum += a.how.plane_digits[g] >> d & 1 ? digit[d][v] : 0;
                entry[v] = nmodgpu_small_to_double(sum);
            }
        }
        store_doubles<V>(to + g * a.plane_stride, entry);
    }
}

template <int DIGITS, bool SIMPLE, int V>
__global__ void __launch_bounds__(block_threads) prepare_kernel(const __grid_constant__ nmodgpu_prepare_pass a)
{
    for_each_place<V>(a.rows, a.cols, [&](int64_t i, int64_t j) {
        if (V == 1 || j + V <= a.cols)
            prepare_place<DIGITS, SIMPLE, V>(a, i, j);
        else
            prepare_place<DIGITS, SIMPLE, 1>(a, i, j);
    });
}

template <int DIGITS, bool SIMPLE> cudaError_t launch_prepare(cudaStream_t stream, const nmodgpu_prepare_pass &a)
{
    const bool pairs = aligned(a.planes, a.stride, 8, 2) && a.plane_stride % 2 == 0 &&
                       aligned(a.words, a.words_stride, a.words_bytes, 2);
    const launch_shape s = shape_for(a.rows, a.cols, pairs ? 2 : 1);
    return launch(pairs ? prepare_kernel<DIGITS, SIMPLE, 2> : prepare_kernel<DIGITS, SIMPLE, 1>, s, stream, a);
}

template <bool SIMPLE> cudaError_t launch_prepare(cudaStream_t stream, const nmodgpu_prepare_pass &a)
{
    switch (a.how.digits) {
    case 1:
        return launch_prepare < SIMPLE ? 1 : 0, SIMPLE > (stream, a);
    case 2:
        return launch_prepare<2, SIMPLE>(stream, a);
    case 3:
        return launch_prepare<3, SIMPLE>(stream, a);
    case 4:
        return launch_prepare<4, SIMPLE>(stream, a);
    default:
        return launch_prepare<0, false>(stream, a);
    }
}

} // namespace

cudaError_t nmodgpu_launch_prepare(cudaStream_t stream, const nmodgpu_prepare_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    return pass->how.one_to_one ? launch_prepare<true>(stream, *pass) : launch_prepare<false>(stream, *pass);
}

cudaError_t nmodgpu_launch_reduce(cudaStream_t stream, const nmodgpu_reduce_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    return pass->how.use_double ? launch_reduce<true>(stream, *pass) : launch_reduce<false>(stream, *pass);
}

cudaError_t nmodgpu_kernels_loadable(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, reduce_kernel<true, 1, 2>);
}
