/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Words packed for the way to a device and back: `bytes` (1 to 8) little-endian bytes an entry, densely.
 *
 * Entries are canonical: their upper 8 - bytes bytes are zero.  Rows of words have any 8-byte alignment, packed
 * rows have none.  Nothing is read or written beyond the count given, so that rows packed one after another may be
 * written by several threads at once.
 */
#ifndef NMODGPU_PACK_H
#define NMODGPU_PACK_H

#include <stddef.h>
#include <stdint.h>

/** One instruction set's way; all give the same bytes. */
typedef struct nmodgpu_pack_code {
    const char *name;
    /** to[0, count * bytes) <- from[0, count). */
    void (*pack)(void *to, const uint64_t *from, int64_t count, uint32_t bytes);
    /** to[0, count) <- from[0, count * bytes), past the caches: lines that are written whole are not read first,
     *  and leave the caches to others.  Before another thread is told of them: nmodgpu_unpack_finish(). */
    void (*unpack)(uint64_t *to, const void *from, int64_t count, uint32_t bytes);
} nmodgpu_pack_code;

/** The ways that this CPU can go, best first; there is always one.  The list lives as long as the process. */
const nmodgpu_pack_code *nmodgpu_pack_code_list(size_t *count);

/** Orders this thread's unpacked words before its later stores (unlocking a mutex, say); once a chunk of rows. */
void nmodgpu_unpack_finish(void);

/** The least width that holds the entries in [0, p), p >= 1. */
static inline uint32_t nmodgpu_packed_bytes(uint64_t p)
{
    const uint64_t largest = p - 1;
    return largest == 0 ? 1 : (uint32_t)(71 - __builtin_clzll(largest)) / 8;
}

#endif
