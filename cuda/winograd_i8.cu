/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One Strassen-Winograd step over residues: from words to the operands of the seven products, and from the residues
 * of the products to words.  A thread takes the same place in all four quarters, so that each word and each residue
 * is read once.
 */
#include "kernels_i8.h"

#include "columns.cuh"
#include "launch.cuh"
#include "words.cuh"

namespace
{

constexpr int products = NMODGPU_WINOGRAD_PRODUCTS, quarters = NMODGPU_WINOGRAD_QUARTERS;

/* ---- operands */

struct parting {
    nmodgpu_winograd_residue_pass pass;
    bool whole; /* whether words are aligned for quads */
};

/** The offset words of a place: quads of the four quarters. */
template <bool WIDE> struct place {
    uint32_t low[quarters][4], high[WIDE ? quarters : 1][4];

    template <int B> __device__ __forceinline__ void take(const nmodgpu_residuer &how, int q, const quad<B> &words)
    {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if constexpr (WIDE) {
                const uint64_t x = nmodgpu_offset_word64(&how, words.word(e));
                low[q][e] = (uint32_t)x;
                high[q][e] = (uint32_t)(x >> 32);
            } else {
                low[q][e] = nmodgpu_offset_word32(&how, words.low(e));
            }
    }
};

/** All planes of all operands of a place; `at` is where it lies in each plane. */
template <bool RIGHT, bool WIDE>
__device__ __forceinline__ void store_parts(const nmodgpu_winograd_residue_pass &pass, const place<WIDE> &x,
                                            int64_t at)
{
#pragma unroll 1
    for (uint32_t g = 0; g < pass.how.count; g++) {
        uint32_t dot[quarters][4];
#pragma unroll
        for (int q = 0; q < quarters; q++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                dot[q][e] =
                    nmodgpu_residue_dot(&pass.how, g, x.low[q][e], WIDE ? x.high[WIDE ? q : 0][e] : 0, WIDE);
#pragma unroll
        for (int z = 0; z < products; z++) {
            uint32_t byte[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                uint32_t dots = 0;
#pragma unroll
                for (int q = 0; q < quarters; q++) {
                    const int sign = RIGHT ? nmodgpu_winograd_right(z, q) : nmodgpu_winograd_left(z, q);
                    dots += sign > 0 ? dot[q][e] : sign < 0 ? 0 - dot[q][e] : 0;
                }
                byte[e] = nmodgpu_residue_byte_of_dots(&pass.how, g, dots);
            }
            *reinterpret_cast<uint32_t *>(pass.planes[z] + at) = pack_bytes(byte[0], byte[1], byte[2], byte[3]);
        }
        at += pass.plane_stride;
    }
}

/** Rows of words become rows of the planes. */
template <int B, bool WIDE>
__global__ void __launch_bounds__(block_threads, 3) part_rows(const __grid_constant__ parting a)
{
    const nmodgpu_winograd_residue_pass &pass = a.pass;
    for_each_place<4>(pass.half_rows, pass.half_cols, [&](int64_t i, int64_t j) {
        quad<B> words[quarters];
        place<WIDE> x;
#pragma unroll
        for (int q = 0; q < quarters; q++) {
            const int64_t row = i + q / 2 * pass.half_rows, col = j + q % 2 * pass.half_cols;
            const int64_t count = row < pass.rows ? pass.cols - col : 0, at = row * pass.words_stride + col;
            words[q] =
                a.whole && count >= 4 ? load_quad<B>(pass.words, at) : load_quad_part<B>(pass.words, at, count);
        }
#pragma unroll
        for (int q = 0; q < quarters; q++)
            x.take(pass.how, q, words[q]);
        store_parts<false>(pass, x, i * pass.stride + j);
    });
}

/* Columns of words cross in shared memory: of each quarter 128 rows, 32 quads, and as many columns as fit. */
template <int B> constexpr int part_columns = B == 8 ? 8 : 16;
template <int B> using part_tile = tile<B, part_columns<B>>;

/** The words of four rows of one column, a thread each: neighbours read neighbouring columns. */
template <int B>
__device__ __forceinline__ void load_parts(part_tile<B> (&words)[quarters],
                                           const nmodgpu_winograd_residue_pass &pass, int64_t first_row,
                                           int64_t first_column)
{
    typedef typename unsigned_of<B>::type word_type;
    constexpr int passes = tile_quads * part_columns<B> / block_threads;
    const int thread = threadIdx.y * 32 + threadIdx.x, column = thread % part_columns<B>;
    const word_type *from = static_cast<const word_type *>(pass.words);
#pragma unroll
    for (int s = 0; s < passes; s++) {
        const int at = thread / part_columns<B> + s * (tile_quads / passes);
        quad<B> q[quarters] = {};
#pragma unroll
        for (int z = 0; z < quarters; z++) /* all loads before the first use */
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int64_t i = first_row + 4 * at + e, j = first_column + column;
                const int64_t row = i + z / 2 * pass.half_rows, col = j + z % 2 * pass.half_cols;
                const bool inside = i < pass.half_rows && j < pass.half_cols && row < pass.rows && col < pass.cols;
                const uint64_t word = inside ? from[row * pass.words_stride + col] : 0;
                if constexpr (B == 8)
                    q[z].raw[2 * e + 1] = (uint32_t)(word >> 32);
                q[z].raw[e * B / 4] |= (uint32_t)word << (8 * B * e % 32);
            }
#pragma unroll
        for (int z = 0; z < quarters; z++)
            words[z].put(column, at, q[z]);
    }
}

/** Columns of words become rows of the planes. */
template <int B, bool WIDE>
__global__ void __launch_bounds__(block_threads, 2) part_columns_kernel(const __grid_constant__ parting a)
{
    __shared__ part_tile<B> words[quarters];
    const nmodgpu_winograd_residue_pass &pass = a.pass;
    const int64_t first_row = (int64_t)blockIdx.x * (4 * tile_quads), i = first_row + 4 * threadIdx.x;
#pragma unroll 1
    for (int64_t j = (int64_t)blockIdx.y * part_columns<B>; j < pass.half_cols;
         j += (int64_t)gridDim.y * part_columns<B>) {
        load_parts<B>(words, pass, first_row, j);
        __syncthreads();
#pragma unroll 1
        for (int column = threadIdx.y;
             column < part_columns<B> && i < pass.half_rows && j + column < pass.half_cols; column += warps) {
            place<WIDE> x;
#pragma unroll
            for (int q = 0; q < quarters; q++)
                x.take(pass.how, q, words[q].get(column, threadIdx.x));
            store_parts<true>(pass, x, (j + column) * pass.stride + i);
        }
        __syncthreads(); /* before the next tile's words come */
    }
}

template <int B, bool WIDE> cudaError_t part(cudaStream_t stream, const nmodgpu_winograd_residue_pass &pass)
{
    const parting a = {pass, quads_aligned(pass.words, pass.words_stride, B)};
    if (!pass.transposed)
        return launch(part_rows<B, WIDE>, shape_for(pass.half_rows, pass.half_cols, 4), stream, a);
    const int64_t x = (pass.half_rows + 4 * tile_quads - 1) / (4 * tile_quads);
    const int64_t y = (pass.half_cols + part_columns<B> - 1) / part_columns<B>;
    launch_shape s;
    s.block = dim3(32, warps);
    s.grid = dim3((unsigned)x, (unsigned)(y < grid_limit ? y : grid_limit));
    return launch(part_columns_kernel<B, WIDE>, s, stream, a);
}

/* ---- the result */

constexpr int recombine_threads = 128; /* they hold many residues each */

/** The residues of a place: of each quarter, four neighbouring columns of each plane, and once a group of four
 * planes is whole, the group's residues of each column. */
template <int GROUPS>
__device__ __forceinline__ void load_residues(uint32_t (&y)[quarters][4 * GROUPS],
                                              const nmodgpu_winograd_crt_pass &pass, int64_t at)
{
#pragma unroll
    for (int first = 0; first < GROUPS; first++) {
        uint32_t sums[4][products];
#pragma unroll
        for (int g = 0; g < 4; g++) {
            const bool is = (uint32_t)(4 * first + g) < pass.how.count;
#pragma unroll
            for (int z = 0; z < products; z++)
                sums[g][z] = is ? *reinterpret_cast<const uint32_t *>(pass.sums[z] + at) : 0;
            at += pass.plane_stride;
        }
#pragma unroll
        for (int q = 0; q < quarters; q++) {
            uint32_t group[4];
#pragma unroll
            for (int g = 0; g < 4; g++)
                group[g] = nmodgpu_winograd_residues4(sums[g], q, pass.how.m[4 * first + g]);
            transpose_bytes(group);
#pragma unroll
            for (int e = 0; e < 4; e++)
                y[q][4 * first + e] = group[e];
        }
    }
}

template <bool DIRECT, bool WIDE, int GROUPS>
__device__ __forceinline__ uint64_t recombined(const nmodgpu_crt &how, const uint32_t (&y)[4 * GROUPS], int e,
                                               uint64_t base)
{
    if constexpr (DIRECT) {
        return nmodgpu_crt_direct(&how, y[e] & 255, base);
    } else {
        nmodgpu_crt_sum gathered = nmodgpu_crt_begin();
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            nmodgpu_crt_take4(&gathered, &how, g, y[4 * g + e], WIDE);
        return nmodgpu_crt_end(&how, gathered, base, WIDE);
    }
}

struct joining {
    nmodgpu_winograd_crt_pass pass;
    bool whole; /* whether words are aligned for quads */
};

/** GROUPS: at least a fourth of the number of residues. */
template <bool DIRECT, bool WIDE, int GROUPS>
__global__ void __launch_bounds__(recombine_threads, 3) join_kernel(const __grid_constant__ joining a)
{
    const nmodgpu_winograd_crt_pass &pass = a.pass;
    for_each_place<4>(pass.half_rows, pass.half_cols, [&](int64_t i, int64_t j) {
        uint32_t y[quarters][4 * GROUPS];
        load_residues<GROUPS>(y, pass, i * pass.stride + j);
#pragma unroll
        for (int q = 0; q < quarters; q++) {
            const int64_t row[1] = {i + q / 2 * pass.half_rows}, col = j + q % 2 * pass.half_cols;
            if (row[0] >= pass.rows || col >= pass.cols)
                continue;
            if (a.whole && col + 4 <= pass.cols) {
                uint64_t word[1][4];
                load_base(word, pass, row, col);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    word[0][e] = recombined<DIRECT, WIDE, GROUPS>(pass.how, y[q], e, word[0][e]);
                store_out(pass, row, col, word);
                continue;
            }
#pragma unroll
            for (int e = 0; e < 4; e++) {
                uint64_t word[1][1];
                if (col + e >= pass.cols)
                    break;
                load_base(word, pass, row, col + e);
                word[0][0] = recombined<DIRECT, WIDE, GROUPS>(pass.how, y[q], e, word[0][0]);
                store_out(pass, row, col + e, word);
            }
        }
    });
}

/** As for a whole product, a p below 2^32 needs at most 12 moduli and one above 8 at least. */
void (*join_kernel_for(const nmodgpu_crt &how))(joining)
{
    const uint32_t groups = (how.count + 3) / 4;
    if (how.direct)
        return join_kernel<true, false, 1>;
    if (how.p >> 32)
        return groups <= 3   ? join_kernel<false, true, 3>
               : groups == 4 ? join_kernel<false, true, 4>
               : groups == 5 ? join_kernel<false, true, 5>
                             : join_kernel<false, true, NMODGPU_CRT_GROUPS>;
    return groups <= 2   ? join_kernel<false, false, 2>
           : groups == 3 ? join_kernel<false, false, 3>
                         : join_kernel<false, false, NMODGPU_CRT_GROUPS>;
}

/** Whether all parts can be moved in words of 32 bits. */
template <typename T> bool parts_aligned(T *const (&parts)[products], int64_t stride, int64_t plane_stride)
{
    bool all = plane_stride % 4 == 0;
    for (T *part : parts)
        all = all && quads_aligned(part, stride, 1);
    return all;
}

} // namespace

cudaError_t nmodgpu_launch_winograd_residues(cudaStream_t stream, const nmodgpu_winograd_residue_pass *pass)
{
    if (pass->half_rows == 0 || pass->half_cols == 0)
        return cudaSuccess;
    if (!parts_aligned(pass->planes, pass->stride, pass->plane_stride))
        return cudaErrorMisalignedAddress;
    switch (pass->words_bytes) {
    case 1:
        return part<1, false>(stream, *pass);
    case 2:
        return part<2, false>(stream, *pass);
    case 4:
        return part<4, false>(stream, *pass);
    default:
        return pass->how.wide ? part<8, true>(stream, *pass) : part<8, false>(stream, *pass);
    }
}

cudaError_t nmodgpu_launch_winograd_crt(cudaStream_t stream, const nmodgpu_winograd_crt_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    if (!parts_aligned(pass->sums, pass->stride, pass->plane_stride))
        return cudaErrorMisalignedAddress;
    const joining a = {*pass, quads_aligned(pass->out, pass->out_stride, pass->out_bytes) &&
                                  (!pass->base || quads_aligned(pass->base, pass->base_stride, pass->base_bytes))};
    launch_shape s = shape_for(pass->half_rows, pass->half_cols, 4);
    if (s.block.y > 1)
        s.block.y /= 2;
    else
        s.block.x /= 2; /* the kernels loop over what is left */
    return launch(join_kernel_for(pass->how), s, stream, a);
}
