/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What lets one source of arithmetic compile as C for the host and as CUDA for the device.
 */
#ifndef NMODGPU_EXACT_PORTABLE_H
#define NMODGPU_EXACT_PORTABLE_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define NMODGPU_HD static __host__ __device__ __forceinline__
#else
#define NMODGPU_HD static inline __attribute__((always_inline)) /* so that it takes the caller's target */
#endif

/** High 64 bits of a * b. */
NMODGPU_HD uint64_t nmodgpu_mulhi(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
#endif
}

/** High 32 bits of a * b. */
NMODGPU_HD uint32_t nmodgpu_mulhi32(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return __umulhi(a, b);
#else
    return (uint32_t)(((uint64_t)a * b) >> 32);
#endif
}

/** x as a double, for |x| <= 2^51.  On the host without the conversion instruction that AVX2 lacks; the
 *  difference is exact in every rounding mode. */
NMODGPU_HD double nmodgpu_small_to_double(int64_t x)
{
#ifdef __CUDA_ARCH__
    return (double)x;
#else
    const double shift = 6755399441055744.0; /* 3 * 2^51, whose last bit counts 1 */
    union {
        double value;
        uint64_t bits;
    } u = {shift};
    u.bits += (uint64_t)x;
    return u.value - shift;
#endif
}

/** The integer x held in a double, |x| <= 2^51; as above. */
NMODGPU_HD int64_t nmodgpu_small_to_integer(double x)
{
#ifdef __CUDA_ARCH__
    return (int64_t)x;
#else
    const double shift = 6755399441055744.0;
    union {
        double value;
        uint64_t bits;
    } zero = {shift}, u = {x + shift};
    return (int64_t)(u.bits - zero.bits);
#endif
}

#endif
