/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * From the sums of int8 products to words: Chinese remainders, and linear combinations of int32 sums.  A thread
 * takes four neighbouring columns, and asks for all that it reads before it uses any, as far as registers go.
 */
#include "kernels_i8.h"

#include "launch.cuh"
#include "words.cuh"

namespace
{

/* ---- remainders.  Sums are bytes in [0, m), S == 1, or int32, S == 4. */

/** The residues in [0, m) of a quad of sums, one a byte. */
template <int S>
__device__ __forceinline__ uint32_t residues_of(const nmodgpu_crt &how, uint32_t g, const quad<S> &sums)
{
    if constexpr (S == 1) {
        return sums.raw[0];
    } else {
        uint32_t y[4];
#pragma unroll
        for (int e = 0; e < 4; e++)
            y[e] = nmodgpu_residue_of_sum((int32_t)sums.raw[e], how.m[g], how.magic[g], how.offset[g]);
        return pack_bytes(y[0], y[1], y[2], y[3]);
    }
}

/** Four columns of the residues 4 g to 4 g + 3, which are taken a column at a time.  Where there are fewer, what
 * the sums hold does not matter, since all constants are zero there. */
template <int S, bool WIDE>
__device__ __forceinline__ void take_group(nmodgpu_crt_sum (&gathered)[4], const nmodgpu_crt &how, uint32_t g,
                                           const quad<S> *sums)
{
    uint32_t y[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        y[i] = residues_of<S>(how, 4 * g + i, sums[i]);
    transpose_bytes(y);
#pragma unroll
    for (int e = 0; e < 4; e++)
        nmodgpu_crt_take4(&gathered[e], &how, g, y[e], WIDE);
}

/** Groups whose sums a thread holds at once: at most 96 or 128 bytes. */
template <int S> constexpr int groups_held = S == 1 ? NMODGPU_CRT_GROUPS : 2;

/** GROUPS: at least a fourth of the number of residues. */
template <int S, bool WIDE, int GROUPS>
__global__ void __launch_bounds__(block_threads, 2) recombine_kernel(const __grid_constant__ nmodgpu_crt_pass pass)
{
    for_each_place<4>(pass.rows, pass.cols, [&](int64_t i, int64_t j) {
        const char *from = static_cast<const char *>(pass.sums) + (i * pass.stride + j) * S;
        const int64_t row[1] = {i};
        nmodgpu_crt_sum gathered[4];
        uint64_t word[1][4];
        load_base(word, pass, row, j);
#pragma unroll
        for (int e = 0; e < 4; e++)
            gathered[e] = nmodgpu_crt_begin();
#pragma unroll
        for (int first = 0; first < GROUPS; first += groups_held<S>) {
            quad<S> sums[4 * groups_held<S>];
#pragma unroll
            for (int g = 0; g < 4 * groups_held<S> && 4 * first + g < 4 * GROUPS; g++) {
                sums[g] = load_quad<S>(from, 0);
                from += 4 * first + g + 1 < pass.how.count ? pass.plane_stride * S : 0;
            }
#pragma unroll
            for (int g = 0; g < groups_held<S> && first + g < GROUPS; g++)
                take_group<S, WIDE>(gathered, pass.how, first + g, sums + 4 * g);
        }
#pragma unroll
        for (int e = 0; e < 4; e++)
            word[0][e] = nmodgpu_crt_end(&pass.how, gathered[e], word[0][e], WIDE);
        store_out(pass, row, j, word);
    });
}

/* p <= 256 and one plane: the sums' residues are the result.  Little to do, so a thread takes four rows, the first
 * one several times where fewer are left. */

constexpr int direct_rows = 4;

template <int S>
__global__ void __launch_bounds__(block_threads, 2) direct_kernel(const __grid_constant__ nmodgpu_crt_pass pass)
{
    for_each_place<4, direct_rows>(pass.rows, pass.cols, [&](int64_t i, int64_t j) {
        int64_t row[direct_rows];
        quad<S> sums[direct_rows];
        uint64_t word[direct_rows][4];
#pragma unroll
        for (int u = 0; u < direct_rows; u++)
            row[u] = i + u * blockDim.y < pass.rows ? i + u * blockDim.y : i;
#pragma unroll
        for (int u = 0; u < direct_rows; u++)
            sums[u] = load_quad<S>(pass.sums, row[u] * pass.stride + j);
        load_base(word, pass, row, j); /* all before the first store: the base may be out */
#pragma unroll
        for (int u = 0; u < direct_rows; u++) {
            const uint32_t y = residues_of<S>(pass.how, 0, sums[u]);
#pragma unroll
            for (int e = 0; e < 4; e++)
                word[u][e] = nmodgpu_crt_direct(&pass.how, y >> (8 * e) & 255, word[u][e]);
        }
        store_out(pass, row, j, word);
    });
}

/** Entry by entry, for columns and addresses that come in no quads. */
template <int S, bool WIDE>
__global__ void __launch_bounds__(block_threads) recombine_entries(const __grid_constant__ nmodgpu_crt_pass pass)
{
    for_each_place<1>(pass.rows, pass.cols, [&](int64_t i, int64_t j) {
        nmodgpu_crt_sum gathered = nmodgpu_crt_begin();
        const int64_t row[1] = {i};
        uint64_t word[1][1];
        uint32_t y = 0;
        load_base(word, pass, row, j);
#pragma unroll 1
        for (uint32_t g = 0; g < pass.how.count; g++) {
            const int64_t at = g * pass.plane_stride + i * pass.stride + j;
            y = S == 1 ? static_cast<const uint8_t *>(pass.sums)[at]
                       : nmodgpu_residue_of_sum(static_cast<const int32_t *>(pass.sums)[at], pass.how.m[g],
                                                pass.how.magic[g], pass.how.offset[g]);
            nmodgpu_crt_take(&gathered, &pass.how, g, y, WIDE);
        }
        word[0][0] = pass.how.direct ? nmodgpu_crt_direct(&pass.how, y, word[0][0])
                                     : nmodgpu_crt_end(&pass.how, gathered, word[0][0], WIDE);
        store_out(pass, row, j, word);
    });
}

/* ---- linear combinations.  SUMS == 0: their number is known at run time only.  SHORT: p < 2^31. */

template <int V, bool SHORT, int SUMS>
__global__ void __launch_bounds__(block_threads, 2) combine_kernel(const __grid_constant__ nmodgpu_sum32_pass pass)
{
    for_each_place<V>(pass.rows, pass.cols, [&](int64_t i, int64_t j) {
        const int32_t *from = pass.sums + i * pass.stride + j;
        const int64_t row[1] = {i};
        uint64_t sums[SUMS ? SUMS : 1][V], word[1][V];
#pragma unroll
        for (int g = 0; g < SUMS; g++) /* all loads before the first use */
            load_words<V, 4>(sums[g], from + pass.how.plane[g] * pass.plane_stride, 0);
        load_base(word, pass, row, j);
#pragma unroll
        for (int g = 0; g < (SUMS ? SUMS : (int)pass.how.sums); g++) {
            if constexpr (SUMS == 0)
                load_words<V, 4>(sums[0], from + pass.how.plane[g] * pass.plane_stride, 0);
#pragma unroll
            for (int e = 0; e < V; e++) {
                const int32_t x = (int32_t)sums[SUMS ? g : 0][e];
                word[0][e] = SHORT ? nmodgpu_reduce_add_int32(&pass.how, g, (uint32_t)word[0][e], x)
                                   : nmodgpu_reduce_add_int64(&pass.how, g, word[0][e], x);
            }
        }
        store_out(pass, row, j, word);
    });
}

/* ---- launches: whole quads as far as there are any, and what is left entry by entry */

template <typename Pass> bool whole_quads(const Pass &pass, uint32_t sum_bytes)
{
    return quads_aligned(pass.sums, pass.stride, sum_bytes) && pass.plane_stride % 4 == 0 &&
           quads_aligned(pass.out, pass.out_stride, pass.out_bytes) &&
           (!pass.base || quads_aligned(pass.base, pass.base_stride, pass.base_bytes));
}

/** Threads of large matrices take several rows one after another, since it costs them as much to begin as a row. */
launch_shape shape_for_quads(int64_t rows, int64_t cols)
{
    return shape_for(rows, cols, 4, rows >= 1024 && cols >= 1024 ? 4 : 1);
}

/** quads(part) and entries(part) launch a part of the columns. */
template <typename Pass, typename Quads, typename Entries>
cudaError_t launch_parts(const Pass &pass, uint32_t sum_bytes, Quads quads, Entries entries)
{
    Pass part = pass;
    part.cols = whole_quads(pass, sum_bytes) ? pass.cols / 4 * 4 : 0;
    const int64_t done = part.cols;
    const cudaError_t status = done ? quads(part) : cudaSuccess;
    if (status != cudaSuccess || done == pass.cols)
        return status;
    part.cols = pass.cols - done;
    part.sums = (decltype(part.sums))((const char *)pass.sums + done * sum_bytes);
    part.out = (char *)pass.out + done * pass.out_bytes;
    part.base = pass.base ? (const char *)pass.base + done * pass.base_bytes : NULL;
    return entries(part);
}

/** A p below 2^32 needs at most 12 moduli for inner dimensions up to 2^31, one above 8 at least. */
template <int S> void (*recombine_kernel_for(const nmodgpu_crt &how))(nmodgpu_crt_pass)
{
    const uint32_t groups = (how.count + 3) / 4;
    if (how.p >> 32)
        return groups <= 3   ? recombine_kernel<S, true, 3>
               : groups == 4 ? recombine_kernel<S, true, 4>
               : groups == 5 ? recombine_kernel<S, true, 5>
                             : recombine_kernel<S, true, NMODGPU_CRT_GROUPS>;
    return groups <= 2   ? recombine_kernel<S, false, 2>
           : groups == 3 ? recombine_kernel<S, false, 3>
                         : recombine_kernel<S, false, NMODGPU_CRT_GROUPS>;
}

template <int S> cudaError_t launch_crt(cudaStream_t stream, const nmodgpu_crt_pass &pass)
{
    return launch_parts(
        pass, S,
        [&](const nmodgpu_crt_pass &part) {
            if (part.how.direct)
                return launch(direct_kernel<S>, shape_for(part.rows, part.cols, 4, direct_rows), stream, part);
            return launch(recombine_kernel_for<S>(part.how), shape_for_quads(part.rows, part.cols), stream, part);
        },
        [&](const nmodgpu_crt_pass &part) {
            return launch(part.how.p >> 32 ? recombine_entries<S, true> : recombine_entries<S, false>,
                          shape_for(part.rows, part.cols, 1), stream, part);
        });
}

template <bool SHORT> cudaError_t launch_sums(cudaStream_t stream, const nmodgpu_sum32_pass &pass)
{
    return launch_parts(
        pass, 4,
        [&](const nmodgpu_sum32_pass &part) {
            return launch(part.how.sums == 1   ? combine_kernel<4, SHORT, 1>
                          : part.how.sums == 2 ? combine_kernel<4, SHORT, 2>
                          : part.how.sums == 3 ? combine_kernel<4, SHORT, 3>
                                               : combine_kernel<4, SHORT, 0>,
                          shape_for_quads(part.rows, part.cols), stream, part);
        },
        [&](const nmodgpu_sum32_pass &part) {
            return launch(combine_kernel<1, SHORT, 0>, shape_for(part.rows, part.cols, 1), stream, part);
        });
}

} // namespace

cudaError_t nmodgpu_launch_crt(cudaStream_t stream, const nmodgpu_crt_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    return pass->sum_bytes == 1 ? launch_crt<1>(stream, *pass) : launch_crt<4>(stream, *pass);
}

cudaError_t nmodgpu_launch_reduce_sum32(cudaStream_t stream, const nmodgpu_sum32_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0)
        return cudaSuccess;
    return pass->how.lift32 ? launch_sums<true>(stream, *pass) : launch_sums<false>(stream, *pass);
}
