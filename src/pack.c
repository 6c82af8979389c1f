/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "pack.h"

#include <pthread.h>

#include "pack_code.h"

/* ---- any CPU: ordinary stores, widths known so that the compiler vectorises what it can */

NMODGPU_PACK_INLINE void pack_width(void *restrict to, const uint64_t *restrict from, int64_t count,
                                    const uint32_t bytes)
{
    if (bytes == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        for (int64_t i = 0; i < count; i++) {
            const uint32_t word = (uint32_t)from[i];
            memcpy((uint8_t *)to + 4 * i, &word, 4);
        }
    else if (bytes == 1)
        for (int64_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = (uint8_t)from[i];
    else
        nmodgpu_pack_words(to, from, count, bytes);
}

NMODGPU_PACK_INLINE void unpack_width(uint64_t *to, const void *from, int64_t count, const uint32_t bytes)
{
    nmodgpu_unpack_words(to, from, count, bytes, count * bytes);
}

static void pack_portable(void *to, const uint64_t *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, pack_width, to, from, count);
}

static void unpack_portable(uint64_t *to, const void *from, int64_t count, uint32_t bytes)
{
    NMODGPU_PACK_SWITCH(bytes, unpack_width, to, from, count);
}

/* ---- the ways of this CPU */

static nmodgpu_pack_code codes[3];
static size_t code_count;

static void find_codes(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    /* Without VBMI's shuffle of bytes 512 bits gain nothing over 256. */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
        codes[code_count++] = (nmodgpu_pack_code){"avx512", nmodgpu_pack_avx512, nmodgpu_unpack_avx512};
    if (__builtin_cpu_supports("avx2"))
        codes[code_count++] = (nmodgpu_pack_code){"avx2", nmodgpu_pack_avx2, nmodgpu_unpack_avx2};
#endif
    codes[code_count++] = (nmodgpu_pack_code){"portable", pack_portable, unpack_portable};
}

const nmodgpu_pack_code *nmodgpu_pack_code_list(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_codes);
    *count = code_count;
    return codes;
}

void nmodgpu_unpack_finish(void)
{
#ifdef __x86_64__
    __builtin_ia32_sfence();
#endif
}
