/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Converters: each is made of the words of a thread's quads, and then makes quad by quad of plane by plane.
 */
#ifndef NMODGPU_CUDA_CONVERTERS_CUH
#define NMODGPU_CUDA_CONVERTERS_CUH

#include "exact/prepare.h"
#include "exact/residue.h"
#include "quads.cuh"

constexpr int held = 4; /* quads of a thread */

/** p <= 256, one plane. */
template <int B> struct direct_converter {
    uint32_t four[held];

    __device__ __forceinline__ direct_converter(const nmodgpu_residuer &, const quad<B> (&words)[held])
    {
#pragma unroll
        for (int u = 0; u < held; u++)
            if constexpr (B == 1)
                four[u] = words[u].raw[0];
            else
                four[u] = pack_bytes(words[u].low(0), words[u].low(1), words[u].low(2), words[u].low(3));
    }
    __device__ __forceinline__ uint32_t plane(const nmodgpu_residuer &how, uint32_t g, int u) const
    {
        return nmodgpu_centre_bytes(four[u], how.m[g]);
    }
    static __device__ __forceinline__ uint32_t planes(const nmodgpu_residuer &how)
    {
        return how.count;
    }
};

/** WIDE: p >= 2^32. */
template <int B, bool WIDE> struct residue_converter {
    uint32_t low[held][4], high[WIDE ? held : 1][4];

    __device__ __forceinline__ residue_converter(const nmodgpu_residuer &how, const quad<B> (&words)[held])
    {
#pragma unroll
        for (int u = 0; u < held; u++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                if constexpr (WIDE) {
                    const uint64_t x = nmodgpu_offset_word64(&how, words[u].word(e));
                    low[u][e] = (uint32_t)x;
                    high[u][e] = (uint32_t)(x >> 32);
                } else {
                    low[u][e] = nmodgpu_offset_word32(&how, words[u].low(e));
                }
    }
    __device__ __forceinline__ uint32_t plane(const nmodgpu_residuer &how, uint32_t g, int u) const
    {
        uint32_t byte[4];
#pragma unroll
        for (int e = 0; e < 4; e++)
            byte[e] = nmodgpu_residue_byte(&how, g, low[u][e], WIDE ? high[WIDE ? u : 0][e] : 0, WIDE);
        return pack_bytes(byte[0], byte[1], byte[2], byte[3]);
    }
    static __device__ __forceinline__ uint32_t planes(const nmodgpu_residuer &how)
    {
        return how.count;
    }
};

/** Two digits, p <= 2^31: the plans in use. */
template <int B> struct two_digits_converter {
    int32_t digit[2][held][4];

    __device__ __forceinline__ two_digits_converter(const nmodgpu_preparer &how, const quad<B> (&words)[held])
    {
#pragma unroll
        for (int u = 0; u < held; u++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int32_t x = nmodgpu_prepare_start32(&how, words[u].low(e));
                digit[0][u][e] = nmodgpu_take_digit32(&x, how.digit_bits);
                digit[1][u][e] = x;
            }
    }
    __device__ __forceinline__ uint32_t plane(const nmodgpu_preparer &how, uint32_t g, int u) const
    {
        const int32_t first = how.plane_digits[g] & 1 ? -1 : 0, second = how.plane_digits[g] & 2 ? -1 : 0;
        uint32_t sum[4];
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[e] = (uint32_t)((digit[0][u][e] & first) + (digit[1][u][e] & second));
        return pack_bytes(sum[0], sum[1], sum[2], sum[3]);
    }
    static __device__ __forceinline__ uint32_t planes(const nmodgpu_preparer &how)
    {
        return how.planes;
    }
};

/** Any digits. */
template <int B> struct digits_converter {
    int64_t start[held][4];

    __device__ __forceinline__ digits_converter(const nmodgpu_preparer &how, const quad<B> (&words)[held])
    {
#pragma unroll
        for (int u = 0; u < held; u++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                start[u][e] = nmodgpu_prepare_start(&how, words[u].word(e));
    }
    __device__ __forceinline__ uint32_t plane(const nmodgpu_preparer &how, uint32_t g, int u) const
    {
        int64_t x[4] = {start[u][0], start[u][1], start[u][2], start[u][3]};
        uint32_t sum[4] = {};
#pragma unroll 1
        for (uint32_t j = 0; j < how.digits; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int64_t digit = nmodgpu_prepare_digit(&how, j, &x[e]);
                sum[e] += how.plane_digits[g] >> j & 1 ? (uint32_t)digit : 0;
            }
        return pack_bytes(sum[0], sum[1], sum[2], sum[3]);
    }
    static __device__ __forceinline__ uint32_t planes(const nmodgpu_preparer &how)
    {
        return how.planes;
    }
};

#endif
