/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the ways of packing share: single words, the orders of bytes for shuffles, and their names.
 */
#ifndef NMODGPU_PACK_CODE_H
#define NMODGPU_PACK_CODE_H

#include <string.h>

#include "pack.h"

#ifdef __x86_64__
void nmodgpu_pack_avx2(void *to, const uint64_t *from, int64_t count, uint32_t bytes);
void nmodgpu_unpack_avx2(uint64_t *to, const void *from, int64_t count, uint32_t bytes);
void nmodgpu_pack_avx512(void *to, const uint64_t *from, int64_t count, uint32_t bytes);
void nmodgpu_unpack_avx512(uint64_t *to, const void *from, int64_t count, uint32_t bytes);
#endif

#define NMODGPU_PACK_INLINE static inline __attribute__((always_inline)) /* takes the caller's target */

/** The value of a word in little-endian order, and back. */
NMODGPU_PACK_INLINE uint64_t nmodgpu_little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/** Packs words one by one.  Each is stored whole where that stays inside; the next one covers what is too much. */
NMODGPU_PACK_INLINE void nmodgpu_pack_words(uint8_t *to, const uint64_t *from, int64_t count, uint32_t bytes)
{
    int64_t i = 0;
    for (; (count - i) * bytes >= 8; i++) {
        const uint64_t word = nmodgpu_little_endian(from[i]);
        memcpy(to + i * bytes, &word, 8);
    }
    for (; i < count; i++)
        for (uint32_t j = 0; j < bytes; j++)
            to[i * bytes + j] = (uint8_t)(from[i] >> 8 * j);
}

/** Unpacks words one by one, with ordinary stores.  Of the packed row `room` >= count * bytes may be read. */
NMODGPU_PACK_INLINE void nmodgpu_unpack_words(uint64_t *to, const uint8_t *from, int64_t count, uint32_t bytes,
                                              int64_t room)
{
    const uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    int64_t i = 0;
    for (; i < count && room - i * bytes >= 8; i++) {
        uint64_t word;
        memcpy(&word, from + i * bytes, 8);
        to[i] = nmodgpu_little_endian(word) & mask;
    }
    for (; i < count; i++) {
        uint64_t word = 0;
        for (uint32_t j = 0; j < bytes; j++)
            word |= (uint64_t)from[i * bytes + j] << 8 * j;
        to[i] = word;
    }
}

/** Words before the next 64-byte line, at most count. */
NMODGPU_PACK_INLINE int64_t nmodgpu_words_to_line(const uint64_t *to, int64_t count)
{
    const int64_t words = (int64_t)(-((uintptr_t)to / 8) & 7);
    return words < count ? words : count;
}

/* Tables of shuffles: f(w, k) is where byte k comes from at width w. */
#define NMODGPU_PACK_8(f, w, k)                                                                                    \
    f(w, k), f(w, k + 1), f(w, k + 2), f(w, k + 3), f(w, k + 4), f(w, k + 5), f(w, k + 6), f(w, k + 7)
#define NMODGPU_PACK_16(f, w) NMODGPU_PACK_8(f, w, 0), NMODGPU_PACK_8(f, w, 8)
#define NMODGPU_PACK_64(f, w)                                                                                      \
    NMODGPU_PACK_16(f, w), NMODGPU_PACK_8(f, w, 16), NMODGPU_PACK_8(f, w, 24), NMODGPU_PACK_8(f, w, 32),           \
        NMODGPU_PACK_8(f, w, 40), NMODGPU_PACK_8(f, w, 48), NMODGPU_PACK_8(f, w, 56)
#define NMODGPU_PACK_WIDTHS(row, f)                                                                                \
    {                                                                                                              \
        {0}, {row(f, 1)}, {row(f, 2)}, {row(f, 3)}, {row(f, 4)}, {row(f, 5)}, {row(f, 6)},                         \
        {                                                                                                          \
            row(f, 7)                                                                                              \
        }                                                                                                          \
    }

/** Calls body(..., width) with a width that the compiler knows; 8 is the caller's. */
#define NMODGPU_PACK_SWITCH(bytes, body, ...)                                                                      \
    switch (bytes) {                                                                                               \
    case 1:                                                                                                        \
        body(__VA_ARGS__, 1);                                                                                      \
        break;                                                                                                     \
    case 2:                                                                                                        \
        body(__VA_ARGS__, 2);                                                                                      \
        break;                                                                                                     \
    case 3:                                                                                                        \
        body(__VA_ARGS__, 3);                                                                                      \
        break;                                                                                                     \
    case 4:                                                                                                        \
        body(__VA_ARGS__, 4);                                                                                      \
        break;                                                                                                     \
    case 5:                                                                                                        \
        body(__VA_ARGS__, 5);                                                                                      \
        break;                                                                                                     \
    case 6:                                                                                                        \
        body(__VA_ARGS__, 6);                                                                                      \
        break;                                                                                                     \
    case 7:                                                                                                        \
        body(__VA_ARGS__, 7);                                                                                      \
        break;                                                                                                     \
    default:                                                                                                       \
        body(__VA_ARGS__, 8);                                                                                      \
    }

#endif
