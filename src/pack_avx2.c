/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Packing with 256-bit vectors.  Their byte shuffle stays inside halves of 16 bytes, so that each half takes two
 * words.
 */
#include "pack_code.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define BODY NMODGPU_PACK_INLINE AVX2

#define PACKED_FROM(w, k) ((k) < 2 * (w) ? (k) / (w)*8 + (k) % (w) : 0x80)
#define WORD_FROM(w, k) ((k) % 8 < (w) ? (k) / 8 * (w) + (k) % 8 : 0x80)
static const uint8_t packed_from[8][16] = NMODGPU_PACK_WIDTHS(NMODGPU_PACK_16, PACKED_FROM);
static const uint8_t word_from[8][16] = NMODGPU_PACK_WIDTHS(NMODGPU_PACK_16, WORD_FROM);

BODY __m256i order_of(const uint8_t *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

/** Four words to 4 * bytes bytes; writes up to 2 * bytes + 16. */
BODY void pack_four(uint8_t *to, const uint64_t *from, __m256i order, const uint32_t bytes)
{
    const __m256i packed = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)from), order);
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(packed));
    _mm_storeu_si128((__m128i *)(to + 2 * bytes), _mm256_extracti128_si256(packed, 1));
}

/** Eight words of 4 bytes, the lower halves of all. */
BODY void pack_halves(uint8_t *to, const uint64_t *from)
{
    const __m256 a = _mm256_loadu_ps((const float *)from), b = _mm256_loadu_ps((const float *)(from + 4));
    const __m256i halves = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    _mm256_storeu_si256((__m256i *)to, _mm256_permute4x64_epi64(halves, 0xd8));
}

BODY void pack_width(uint8_t *to, const uint64_t *from, int64_t count, const uint32_t bytes)
{
    int64_t i = 0;
    if (bytes == 8) {
        memcpy(to, from, (size_t)count * 8);
        return;
    }
    if (bytes == 4) {
        for (; count - i >= 8; i += 8)
            pack_halves(to + 4 * i, from + i);
    } else {
        const __m256i order = order_of(packed_from[bytes]);
        for (; count - i >= 4 && (count - i) * bytes >= 2 * bytes + 16; i += 4)
            pack_four(to + i * bytes, from + i, order, bytes);
    }
    nmodgpu_pack_words(to + i * bytes, from + i, count - i, bytes);
}

/** Four words from 4 * bytes bytes; reads up to 2 * bytes + 16. */
BODY __m256i unpack_four(const uint8_t *from, __m256i order, const uint32_t bytes)
{
    if (bytes == 8)
        return _mm256_loadu_si256((const __m256i *)from);
    const __m128i low = _mm_loadu_si128((const __m128i *)from);
    const __m128i high = _mm_loadu_si128((const __m128i *)(from + 2 * bytes));
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), order);
}

BODY void unpack_width(uint64_t *to, const uint8_t *from, int64_t count, const uint32_t bytes)
{
    const __m256i order = order_of(word_from[bytes & 7]);
    const int64_t reach = 6 * bytes + 16 > 8 * bytes ? 6 * bytes + 16 : 8 * bytes;
    int64_t i = nmodgpu_words_to_line(to, count);
    nmodgpu_unpack_words(to, from, i, bytes, count * bytes);
    for (; count - i >= 8 && (count - i) * bytes >= reach; i += 8) {
        const uint8_t *at = from + i * bytes;
        _mm256_stream_si256((__m256i *)(to + i), unpack_four(at, order, bytes));
        _mm256_stream_si256((__m256i *)(to + i + 4), unpack_four(at + 4 * bytes, order, bytes));
    }
    nmodgpu_unpack_words(to + i, from + i * bytes, count - i, bytes, (count - i) * bytes);
}

AVX2 void nmodgpu_pack_avx2(void *to, const uint64_t *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, pack_width, to, from, count);
}

AVX2 void nmodgpu_unpack_avx2(uint64_t *to, const void *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, unpack_width, to, from, count);
}
#endif
