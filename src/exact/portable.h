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
#define NMODGPU_HD static inline
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

#endif
