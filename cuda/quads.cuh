/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Four neighbouring entries of 1, 2, 4 or 8 bytes, as the kernels of the int8 engine move them.
 */
#ifndef NMODGPU_CUDA_QUADS_CUH
#define NMODGPU_CUDA_QUADS_CUH

#include <stdint.h>

/** Four entries of B bytes each as they lie in memory: B words of 32 bits. */
template <int B> struct quad {
    uint32_t raw[B];

    __device__ __forceinline__ uint32_t low(int e) const
    {
        if constexpr (B == 8)
            return raw[2 * e];
        else if constexpr (B == 4)
            return raw[e];
        else if constexpr (B == 2)
            return raw[e / 2] >> (16 * (e % 2)) & 0xffff;
        else
            return raw[0] >> (8 * e) & 0xff;
    }
    __device__ __forceinline__ uint32_t high(int e) const
    {
        return B == 8 ? raw[B == 8 ? 2 * e + 1 : 0] : 0;
    }
    __device__ __forceinline__ uint64_t word(int e) const
    {
        return (uint64_t)high(e) << 32 | low(e);
    }
};

/** Whether quads of such rows, from columns that are multiples of 4, can be moved whole. */
inline bool quads_aligned(const void *p, int64_t stride, uint32_t element_bytes)
{
    const uint32_t bytes = element_bytes == 8 ? 16 : 4 * element_bytes;
    return (uintptr_t)p % bytes == 0 && stride * element_bytes % bytes == 0;
}

template <int B> __device__ __forceinline__ quad<B> load_quad(const void *from, int64_t at)
{
    const char *p = static_cast<const char *>(from) + at * B;
    quad<B> q;
    if constexpr (B == 1) {
        q.raw[0] = *reinterpret_cast<const uint32_t *>(p);
    } else if constexpr (B == 2) {
        const uint2 x = *reinterpret_cast<const uint2 *>(p);
        q.raw[0] = x.x;
        q.raw[1] = x.y;
    } else {
#pragma unroll
        for (int v = 0; v < B; v += 4) {
            const uint4 x = *reinterpret_cast<const uint4 *>(p + 4 * v);
            q.raw[v] = x.x;
            q.raw[v + 1] = x.y;
            q.raw[v + 2] = x.z;
            q.raw[v + 3] = x.w;
        }
    }
    return q;
}

template <int B> struct unsigned_of;
template <> struct unsigned_of<1> {
    typedef uint8_t type;
};
template <> struct unsigned_of<2> {
    typedef uint16_t type;
};
template <> struct unsigned_of<4> {
    typedef uint32_t type;
};
template <> struct unsigned_of<8> {
    typedef uint64_t type;
};

/** The first `count` entries, one by one, and zeros; of any alignment that the type itself has. */
template <int B> __device__ __forceinline__ quad<B> load_quad_part(const void *from, int64_t at, int64_t count)
{
    const typename unsigned_of<B>::type *p = static_cast<const typename unsigned_of<B>::type *>(from) + at;
    quad<B> q = {};
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const uint64_t word = e < count ? p[e] : 0;
        if constexpr (B == 8)
            q.raw[2 * e + 1] = (uint32_t)(word >> 32);
        q.raw[e * B / 4] |= (uint32_t)word << (8 * B * e % 32);
    }
    return q;
}

/** The lowest bytes of four words in one. */
__device__ __forceinline__ uint32_t pack_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/** Four words, cut to B bytes each. */
template <int B> __device__ __forceinline__ void store_quad(void *to, const uint64_t (&w)[4])
{
    if constexpr (B == 8) {
        static_cast<ulonglong2 *>(to)[0] = make_ulonglong2(w[0], w[1]);
        static_cast<ulonglong2 *>(to)[1] = make_ulonglong2(w[2], w[3]);
    } else if constexpr (B == 4) {
        *static_cast<uint4 *>(to) = make_uint4((uint32_t)w[0], (uint32_t)w[1], (uint32_t)w[2], (uint32_t)w[3]);
    } else if constexpr (B == 2) {
        *static_cast<uint2 *>(to) = make_uint2(__byte_perm((uint32_t)w[0], (uint32_t)w[1], 0x5410),
                                               __byte_perm((uint32_t)w[2], (uint32_t)w[3], 0x5410));
    } else {
        *static_cast<uint32_t *>(to) = pack_bytes((uint32_t)w[0], (uint32_t)w[1], (uint32_t)w[2], (uint32_t)w[3]);
    }
}

/** Byte i of word j becomes byte j of word i. */
__device__ __forceinline__ void transpose_bytes(uint32_t (&w)[4])
{
    const uint32_t a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140);
    const uint32_t c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
    w[0] = __byte_perm(a, b, 0x5410);
    w[1] = __byte_perm(a, b, 0x7632);
    w[2] = __byte_perm(c, d, 0x5410);
    w[3] = __byte_perm(c, d, 0x7632);
}

#endif
