/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Words of the base and of the result, whose widths are the same for all threads of a kernel, and known at run
 * time.
 */
#ifndef NMODGPU_CUDA_WORDS_CUH
#define NMODGPU_CUDA_WORDS_CUH

#include "quads.cuh"

template <int V, int B> __device__ __forceinline__ void load_words(uint64_t (&w)[V], const void *from, int64_t at)
{
    if constexpr (V == 1) {
        w[0] = static_cast<const typename unsigned_of<B>::type *>(from)[at];
    } else {
        const quad<B> q = load_quad<B>(from, at);
#pragma unroll
        for (int e = 0; e < 4; e++)
            w[e] = q.word(e);
    }
}

template <int V, int B> __device__ __forceinline__ void store_words(void *to, int64_t at, const uint64_t (&w)[V])
{
    char *p = static_cast<char *>(to) + at * B;
    if constexpr (V == 1)
        *reinterpret_cast<typename unsigned_of<B>::type *>(p) = (typename unsigned_of<B>::type)w[0];
    else
        store_quad<B>(p, w);
}

/** The base's words of R rows from column j on, zeros where there is none. */
template <int V, int R, typename Pass>
__device__ __forceinline__ void load_base(uint64_t (&w)[R][V], const Pass &pass, const int64_t (&row)[R], int64_t j)
{
    const auto load = [&](auto load_row) {
#pragma unroll
        for (int u = 0; u < R; u++)
            load_row(w[u], row[u] * pass.base_stride + j);
    };
    if (!pass.base)
        load([](uint64_t(&x)[V], int64_t) {
#pragma unroll
            for (int e = 0; e < V; e++)
                x[e] = 0;
        });
    else if (pass.base_bytes == 4)
        load([&](uint64_t(&x)[V], int64_t at) { load_words<V, 4>(x, pass.base, at); });
    else if (pass.base_bytes == 8)
        load([&](uint64_t(&x)[V], int64_t at) { load_words<V, 8>(x, pass.base, at); });
    else if (pass.base_bytes == 2)
        load([&](uint64_t(&x)[V], int64_t at) { load_words<V, 2>(x, pass.base, at); });
    else
        load([&](uint64_t(&x)[V], int64_t at) { load_words<V, 1>(x, pass.base, at); });
}

template <int V, int R, typename Pass>
__device__ __forceinline__ void store_out(const Pass &pass, const int64_t (&row)[R], int64_t j,
                                          const uint64_t (&w)[R][V])
{
    const auto store = [&](auto store_row) {
#pragma unroll
        for (int u = 0; u < R; u++)
            store_row(row[u] * pass.out_stride + j, w[u]);
    };
    if (pass.out_bytes == 4)
        store([&](int64_t at, const uint64_t(&x)[V]) { store_words<V, 4>(pass.out, at, x); });
    else if (pass.out_bytes == 8)
        store([&](int64_t at, const uint64_t(&x)[V]) { store_words<V, 8>(pass.out, at, x); });
    else if (pass.out_bytes == 2)
        store([&](int64_t at, const uint64_t(&x)[V]) { store_words<V, 2>(pass.out, at, x); });
    else
        store([&](int64_t at, const uint64_t(&x)[V]) { store_words<V, 1>(pass.out, at, x); });
}

#endif
