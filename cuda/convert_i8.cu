/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Conversion of words to int8 planes, residues or digits.  Words are read once, four neighbours along the inner
 * dimension (a quad) becoming one 32-bit word of each plane, and a warp storing 128 bytes in a row.  Each thread
 * has four quads, over which it spreads what it does once a plane.  For the right operand the words cross to their
 * columns in shared memory, where they are fewer bytes than the planes.
 */
#include "kernels_i8.h"

#include "columns.cuh"
#include "converters.cuh"
#include "launch.cuh"

namespace
{

/* ---- kernels */

template <typename Pass> struct conversion {
    Pass pass;
    bool whole; /* whether words are aligned for quads or, by columns, for lanes' 32 bits */
};

__device__ __forceinline__ int64_t padded(int64_t inner)
{
    return (inner + 15) / 16 * 16;
}

/** All planes of the quads; to[u] is where quad u goes in the first plane. */
template <typename Converter, typename How>
__device__ __forceinline__ void store_planes(const How &how, const Converter &converter, int8_t *(&to)[held],
                                             int64_t plane_stride)
{
#pragma unroll 2
    for (uint32_t g = 0; g < Converter::planes(how); g++)
#pragma unroll
        for (int u = 0; u < held; u++) {
            *reinterpret_cast<uint32_t *>(to[u]) = converter.plane(how, g, u);
            to[u] += plane_stride;
        }
}

/** Rows of words become rows of the planes.  Words beyond the columns count as zeros, whose planes are zeros.  A
 *  thread that has fewer rows left converts its first one several times. */
template <int B, typename Converter, typename Pass>
__global__ void __launch_bounds__(block_threads, 3) convert_rows(const __grid_constant__ conversion<Pass> a)
{
    const Pass &pass = a.pass;
    for_each_place<4, held>(pass.rows, padded(pass.cols), [&](int64_t i, int64_t j) {
        quad<B> words[held];
        int64_t row[held];
        int8_t *to[held];
#pragma unroll
        for (int u = 0; u < held; u++) {
            row[u] = i + u * blockDim.y < pass.rows ? i + u * blockDim.y : i;
            to[u] = pass.planes + row[u] * pass.stride + j;
        }
        if (a.whole && j + 4 <= pass.cols)
#pragma unroll
            for (int u = 0; u < held; u++)
                words[u] = load_quad<B>(pass.words, row[u] * pass.words_stride + j);
        else
#pragma unroll
            for (int u = 0; u < held; u++)
                words[u] = load_quad_part<B>(pass.words, row[u] * pass.words_stride + j, pass.cols - j);
        store_planes(pass.how, Converter(pass.how, words), to, pass.plane_stride);
    });
}

/** The same for p <= 256 and words of one byte, sixteen at once: little is done to a byte. */
__global__ void __launch_bounds__(block_threads)
    centre_rows(const __grid_constant__ conversion<nmodgpu_residue_pass> a)
{
    const nmodgpu_residue_pass &pass = a.pass;
    for_each_place<16>(pass.rows, padded(pass.cols), [&](int64_t i, int64_t j) {
        const int64_t at = i * pass.words_stride + j;
        quad<4> q; /* of quads */
        if (a.whole && j + 16 <= pass.cols)
            q = load_quad<4>(pass.words, at / 4);
        else
#pragma unroll
            for (int v = 0; v < 4; v++)
                q.raw[v] = load_quad_part<1>(pass.words, at + 4 * v, pass.cols - j - 4 * v).raw[0];
#pragma unroll
        for (int v = 0; v < 4; v++)
            q.raw[v] = nmodgpu_centre_bytes(q.raw[v], pass.how.m[0]);
        *reinterpret_cast<uint4 *>(pass.planes + i * pass.stride + j) =
            make_uint4(q.raw[0], q.raw[1], q.raw[2], q.raw[3]);
    });
}

/** As above, a thread with fewer columns left converts its first one several times. */
template <int B, typename Converter, typename Pass>
__device__ __forceinline__ void convert_tile(const tile<B> &words, const Pass &pass, int64_t first_row,
                                             int64_t first_column)
{
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int64_t i = first_row + 4 * lane, columns = pass.cols - first_column;
    if (i >= padded(pass.rows))
        return;
#pragma unroll 1
    for (int column = warp * held; column < tile_columns<B> && column < columns; column += warps * held) {
        quad<B> q[held];
        int8_t *to[held];
#pragma unroll
        for (int u = 0; u < held; u++) {
            const int c = column + u < columns ? column + u : column;
            q[u] = words.get(c, lane);
            to[u] = pass.planes + (first_column + c) * pass.stride + i;
        }
        store_planes(pass.how, Converter(pass.how, q), to, pass.plane_stride);
    }
}

template <int B, typename Converter, typename Pass>
__global__ void __launch_bounds__(block_threads, 3) convert_columns(const __grid_constant__ conversion<Pass> a)
{
    __shared__ tile<B> words;
    const int64_t first_row = (int64_t)blockIdx.x * (4 * tile_quads);
#pragma unroll 1
    for (int64_t j = (int64_t)blockIdx.y * tile_columns<B>; j < a.pass.cols;
         j += (int64_t)gridDim.y * tile_columns<B>) {
        load_tile<B>(words, a.pass, a.whole, first_row, j);
        __syncthreads();
        convert_tile<B, Converter>(words, a.pass, first_row, j);
        __syncthreads(); /* before the next tile's words come */
    }
}

/* ---- launches */

template <int B> launch_shape shape_for_columns(int64_t rows, int64_t cols)
{
    const int64_t y = (cols + tile_columns<B> - 1) / tile_columns<B>;
    launch_shape s;
    s.block = dim3(32, warps);
    s.grid = dim3((unsigned)((rows + 4 * tile_quads - 1) / (4 * tile_quads)),
                  (unsigned)(y < grid_limit ? y : grid_limit));
    return s;
}

template <int B, typename Converter, typename Pass> cudaError_t convert(cudaStream_t stream, const Pass &pass)
{
    conversion<Pass> a;
    if (!quads_aligned(pass.planes, pass.stride, 1) || pass.plane_stride % 4)
        return cudaErrorMisalignedAddress; /* the inner dimension is stored in 16 bytes a time */
    a.pass = pass;
    if (pass.transposed) {
        a.whole = aligned(pass.words, pass.words_stride, B, columns_a_lane<B>);
        return launch(convert_columns<B, Converter, Pass>, shape_for_columns<B>(pass.rows, pass.cols), stream, a);
    }
    a.whole = quads_aligned(pass.words, pass.words_stride, B);
    return launch(convert_rows<B, Converter, Pass>, shape_for(pass.rows, (pass.cols + 15) / 16 * 16, 4, held),
                  stream, a);
}

cudaError_t centre_bytes(cudaStream_t stream, const nmodgpu_residue_pass &pass)
{
    conversion<nmodgpu_residue_pass> a;
    a.pass = pass;
    a.whole = aligned(pass.words, pass.words_stride, 1, 16);
    return launch(centre_rows, shape_for(pass.rows, (pass.cols + 15) / 16 * 16, 16), stream, a);
}

template <int B> cudaError_t convert_to_residues(cudaStream_t stream, const nmodgpu_residue_pass &pass)
{
    if constexpr (B == 1)
        if (pass.how.direct && !pass.transposed && aligned(pass.planes, pass.stride, 1, 16))
            return centre_bytes(stream, pass);
    if (pass.how.direct)
        return convert<B, direct_converter<B>>(stream, pass);
    if constexpr (B == 8)
        if (pass.how.wide)
            return convert<B, residue_converter<B, true>>(stream, pass);
    return convert<B, residue_converter<B, false>>(stream, pass);
}

template <int B> cudaError_t convert_to_digits(cudaStream_t stream, const nmodgpu_digit_pass &pass)
{
    if (pass.how.digits == 2 && pass.how.digit_bits < 32 && pass.how.p <= 1ULL << 31)
        return convert<B, two_digits_converter<B>>(stream, pass);
    return convert<B, digits_converter<B>>(stream, pass);
}

} // namespace

cudaError_t nmodgpu_launch_residues(cudaStream_t stream, const nmodgpu_residue_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    switch (pass->words_bytes) {
    case 1:
        return convert_to_residues<1>(stream, *pass);
    case 2:
        return convert_to_residues<2>(stream, *pass);
    case 4:
        return convert_to_residues<4>(stream, *pass);
    default:
        return convert_to_residues<8>(stream, *pass);
    }
}

cudaError_t nmodgpu_launch_digits(cudaStream_t stream, const nmodgpu_digit_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    switch (pass->words_bytes) {
    case 1:
        return convert_to_digits<1>(stream, *pass);
    case 2:
        return convert_to_digits<2>(stream, *pass);
    case 4:
        return convert_to_digits<4>(stream, *pass);
    default:
        return convert_to_digits<8>(stream, *pass);
    }
}
