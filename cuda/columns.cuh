/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Columns of words that become rows of planes cross in shared memory.
 */
#ifndef NMODGPU_CUDA_COLUMNS_CUH
#define NMODGPU_CUDA_COLUMNS_CUH

#include "launch.cuh"
#include "quads.cuh"

/* Columns of words become rows of the planes: tiles of 128 rows, 32 quads, and as many columns as a warp reads of a
 * row at once, four bytes a thread or one word of eight. */
constexpr int tile_quads = 32;
constexpr int warps = block_threads / 32;
template <int B> constexpr int columns_a_lane = B < 4 ? 4 / B : 1;
template <int B> constexpr int tile_columns = 32 * columns_a_lane<B>;

/** Quads of words by columns; one more than there are keeps columns in different banks. */
template <int B, int COLUMNS = tile_columns<B>> struct tile {
    typedef quad<B <= 4 ? B : 4> part; /* at most 16 bytes, moved at once */
    struct alignas(B == 8 ? 16 : 4 * B) slot {
        part value;
    };
    slot slots[B == 8 ? 2 : 1][COLUMNS][tile_quads + 1];

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

/** Words from there on, zeros beyond the matrix.  whole: they are aligned for lanes' 32 bits. */
template <int B, typename Pass>
__device__ __forceinline__ void load_tile(tile<B> &words, const Pass &pass, bool whole, int64_t first_row,
                                          int64_t first_column)
{
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int64_t i = first_row + 4 * warp, j = first_column + lane * columns_a_lane<B>;
    lane_words<B> row[tile_quads / warps][4]; /* all loads before the first use */
    if (whole && first_row + 4 * tile_quads <= pass.rows && first_column + tile_columns<B> <= pass.cols) {
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

#endif
