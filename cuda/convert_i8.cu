/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Conversion of words to int8 planes, residues or digits.  Words are read once, four neighbours along the inner
 * dimension (a quad) becoming one 32-bit word of each plane, and a warp storing 128 bytes in a row.  Each thread
 * has four quads, over which it spreads what it does once a plane.  For the right operand the words cross to their
 * columns in shared memory, where they are fewer bytes than the planes.
 */
#include "kernels_i8.h"

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

/* Columns of words become rows of the planes: tiles of 128 rows, 32 quads, and as many columns as a warp reads of a
 * row at once, four bytes a thread or one word of eight. */
constexpr int tile_quads = 32;
constexpr int warps = block_threads / 32;
template <int B> constexpr int columns_a_lane = B < 4 ? 4 / B : 1;
template <int B> constexpr int tile_columns = 32 * columns_a_lane<B>;

/** Quads of words by columns; one more than there are keeps columns in different banks. */
template <int B> struct tile {
    typedef quad<B <= 4 ? B : 4> part; /* at most 16 bytes, moved at once */
    struct alignas(B == 8 ? 16 : 4 * B) slot {
        part value;
    };
    slot slots[B == 8 ? 2 : 1][tile_columns<B>][tile_quads + 1];

    __device__ __forceinline__ void put(int column, int at, const quad<B> &q)
    {
#pragma unroll
        for (int h = 0; h < (B == 8 ? 2 : 1); h++) {
            slot s;
#pragma unroll
            for (int v = 0; v < (B == 8 ? 4 : B); v++)
                s.value.raw[v] = q.raw[4 * h + v];
            slots[h][column][at] = s;
        }
    }
    __device__ __forceinline__ quad<B> get(int column, int at) const
    {
        quad<B> q;
#pragma unroll
        for (int h = 0; h < (B == 8 ? 2 : 1); h++) {
            const slot s = slots[h][column][at];
#pragma unroll
            for (int v = 0; v < (B == 8 ? 4 : B); v++)
                q.raw[4 * h + v] = s.value.raw[v];
        }
        return q;
    }
};

/** The words of a row that one lane reads. */
template <int B> struct lane_words {
    uint32_t raw[B == 8 ? 2 : 1];
};

template <int B> __device__ __forceinline__ lane_words<B> load_lane(const void *from, int64_t at)
{
    const char *p = static_cast<const char *>(from) + at * B;
    lane_words<B> w;
    if constexpr (B == 8) {
        const uint2 x = *reinterpret_cast<const uint2 *>(p);
        w.raw[0] = x.x;
        w.raw[1] = x.y;
    } else {
        w.raw[0] = *reinterpret_cast<const uint32_t *>(p);
    }
    return w;
}

/** The first `count` of them, one by one, and zeros. */
template <int B>
__device__ __forceinline__ lane_words<B> load_lane_part(const void *from, int64_t at, int64_t count)
{
    const typename unsigned_of<B>::type *p = static_cast<const typename unsigned_of<B>::type *>(from) + at;
    lane_words<B> w = {};
#pragma unroll
    for (int e = 0; e < columns_a_lane<B>; e++) {
        const uint64_t word = e < count ? p[e] : 0;
        w.raw[0] |= (uint32_t)word << (8 * B * e % 32);
        if constexpr (B == 8)
            w.raw[1] = (uint32_t)(word >> 32);
    }
    return w;
}

/** Four rows of a lane's columns, as a quad of each column. */
template <int B>
__device__ __forceinline__ void put_columns(tile<B> &words, int lane, int at, const lane_words<B> (&row)[4])
{
    quad<B> q[columns_a_lane<B>];
    if constexpr (B == 1) {
        uint32_t w[4] = {row[0].raw[0], row[1].raw[0], row[2].raw[0], row[3].raw[0]};
        transpose_bytes(w);
#pragma unroll
        for (int c = 0; c < 4; c++)
            q[c].raw[0] = w[c];
    } else if constexpr (B == 2) {
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
            q[0].raw[e / 2] = __byte_perm(row[e].raw[0], row[e + 1].raw[0], 0x5410);
            q[1].raw[e / 2] = __byte_perm(row[e].raw[0], row[e + 1].raw[0], 0x7632);
        }
    } else {
#pragma unroll
        for (int e = 0; e < B; e++)
            q[0].raw[e] = row[e * 4 / B].raw[e % (B / 4)];
    }
#pragma unroll
    for (int c = 0; c < columns_a_lane<B>; c++)
        words.put(lane * columns_a_lane<B> + c, at, q[c]);
}

template <int B, typename Pass>
__device__ __forceinline__ void load_tile(tile<B> &words, const conversion<Pass> &a, int64_t first_row,
                                          int64_t first_column)
{
    const Pass &pass = a.pass;
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int64_t i = first_row + 4 * warp, j = first_column + lane * columns_a_lane<B>;
    lane_words<B> row[tile_quads / warps][4]; /* all loads before the first use */
    if (a.whole && first_row + 4 * tile_quads <= pass.rows && first_column + tile_columns<B> <= pass.cols) {
#pragma unroll
        for (int s = 0; s < tile_quads / warps; s++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                row[s][e] = load_lane<B>(pass.words, (i + 4 * s * warps + e) * pass.words_stride + j);
    } else {
#pragma unroll
        for (int s = 0; s < tile_quads / warps; s++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int64_t r = i + 4 * s * warps + e;
                row[s][e] =
                    load_lane_part<B>(pass.words, r * pass.words_stride + j, r < pass.rows ? pass.cols - j : 0);
            }
    }
#pragma unroll
    for (int s = 0; s < tile_quads / warps; s++)
        put_columns<B>(words, lane, warp + s * warps, row[s]);
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
        load_tile<B>(words, a, first_row, j);
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
