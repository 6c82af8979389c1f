/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Packing with 512-bit vectors: eight words at a time through VBMI's shuffle of any bytes.  Masked loads and stores
 * at the ends touch no byte outside.
 */
#include "pack_code.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define BODY NMODGPU_PACK_INLINE AVX512

/* Bytes beyond the eight words' come from anywhere. */
#define PACKED_FROM(w, k) (((k) / (w)*8 + (k) % (w)) & 63)
#define WORD_FROM(w, k) (((k) / 8 * (w) + (k) % 8) & 63)
static const uint8_t packed_from[8][64] = NMODGPU_PACK_WIDTHS(NMODGPU_PACK_64, PACKED_FROM);
static const uint8_t word_from[8][64] = NMODGPU_PACK_WIDTHS(NMODGPU_PACK_64, WORD_FROM);

/** The lowest n bits, 1 <= n <= 64. */
BODY uint64_t low_bits(int64_t n)
{
    return UINT64_MAX >> (64 - n);
}

/** Bytes that one load or store moves for eight packed words: the least power of two that holds them. */
BODY int64_t reach_of(const uint32_t bytes)
{
    return bytes == 1 ? 8 : bytes == 2 ? 16 : bytes <= 4 ? 32 : 64;
}

BODY void store_packed(uint8_t *to, __m512i packed, const uint32_t bytes)
{
    if (bytes == 1)
        _mm_storel_epi64((__m128i *)to, _mm512_castsi512_si128(packed));
    else if (bytes == 2)
        _mm_storeu_si128((__m128i *)to, _mm512_castsi512_si128(packed));
    else if (bytes <= 4)
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(packed));
    else
        _mm512_storeu_si512(to, packed);
}

BODY __m512i load_packed(const uint8_t *from, const uint32_t bytes)
{
    if (bytes == 1)
        return _mm512_castsi128_si512(_mm_loadl_epi64((const __m128i *)from));
    if (bytes == 2)
        return _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)from));
    if (bytes <= 4)
        return _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_loadu_si512(from);
}

BODY void pack_width(uint8_t *to, const uint64_t *from, int64_t count, const uint32_t bytes)
{
    int64_t i = 0;
    if (bytes == 8) {
        memcpy(to, from, (size_t)count * 8);
        return;
    }
    const __m512i order = _mm512_loadu_si512(packed_from[bytes]);
    /* What a store writes too much, the next one covers. */
    for (; count - i >= 8 && (count - i) * bytes >= reach_of(bytes); i += 8)
        store_packed(to + i * bytes, _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from + i)), bytes);
    for (; i < count; i += 8) {
        const int64_t n = count - i < 8 ? count - i : 8;
        const __m512i words = _mm512_maskz_loadu_epi64((__mmask8)low_bits(n), from + i);
        _mm512_mask_storeu_epi8(to + i * bytes, low_bits(n * bytes), _mm512_permutexvar_epi8(order, words));
    }
}

/** Eight words from their packed bytes. */
BODY __m512i spread(__m512i packed, __m512i order, const uint32_t bytes)
{
    if (bytes == 8)
        return packed;
    return _mm512_maskz_permutexvar_epi8(UINT64_C(0x0101010101010101) * ((1u << bytes) - 1), order, packed);
}

/** 1 <= n <= 8 words, nothing else is touched. */
BODY __m512i unpack_some(const uint8_t *from, int64_t n, __m512i order, const uint32_t bytes)
{
    return spread(_mm512_maskz_loadu_epi8(low_bits(n * bytes), from), order, bytes);
}

BODY void unpack_width(uint64_t *to, const uint8_t *from, int64_t count, const uint32_t bytes)
{
    const __m512i order = _mm512_loadu_si512(word_from[bytes & 7]);
    int64_t i = nmodgpu_words_to_line(to, count);
    if (i > 0)
        _mm512_mask_storeu_epi64(to, (__mmask8)low_bits(i), unpack_some(from, i, order, bytes));
    for (; count - i >= 8 && (count - i) * bytes >= reach_of(bytes); i += 8)
        _mm512_stream_si512((__m512i *)(to + i), spread(load_packed(from + i * bytes, bytes), order, bytes));
    for (; count - i >= 8; i += 8)
        _mm512_stream_si512((__m512i *)(to + i), unpack_some(from + i * bytes, 8, order, bytes));
    if (i < count)
        _mm512_mask_storeu_epi64(to + i, (__mmask8)low_bits(count - i),
                                 unpack_some(from + i * bytes, count - i, order, bytes));
}

AVX512 void nmodgpu_pack_avx512(void *to, const uint64_t *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, pack_width, to, from, count);
}

AVX512 void nmodgpu_unpack_avx512(uint64_t *to, const void *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, unpack_width, to, from, count);
}
#endif
