/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE
#include "memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, SET_BYTES = 1024, HUGE_PAGE_BYTES = 2 << 20 };
#define ADDRESS_SPACE_BYTES (1ULL << 47) /* of a process; asking for more is asking for an overflow */

/** Rounds up to whole cache lines, and off multiples of 1 KiB: rows that far apart share few cache sets. */
static int64_t spread(int64_t bytes)
{
    bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return bytes % SET_BYTES == 0 && bytes > 0 ? bytes + LINE_BYTES : bytes;
}

uint64_t cblas_layout(nmodgpu_matrix *matrix)
{
    const int64_t element = matrix->element_bytes;
    const int64_t most = INT64_MAX / 4;
    int64_t row_bytes, plane_bytes, bytes;
    if (__builtin_mul_overflow(matrix->cols, element, &row_bytes) || row_bytes > most)
        return UINT64_MAX;
    row_bytes = spread(row_bytes);
    if (__builtin_mul_overflow(row_bytes, matrix->rows, &plane_bytes) || plane_bytes > most)
        return UINT64_MAX;
    plane_bytes = spread(plane_bytes);
    if (__builtin_mul_overflow(plane_bytes, (int64_t)matrix->planes, &bytes) || bytes > most)
        return UINT64_MAX;
    matrix->transposed = false;
    matrix->stride = row_bytes / element;
    matrix->plane_stride = plane_bytes / element;
    return (uint64_t)bytes;
}

/** Stands before each block's memory, in a cache line of its own. */
typedef struct block {
    uint64_t bytes; /**< with this line */
} block;

/* Kept blocks.  Exchanged, not locked: a signal handler that leaves by longjmp, or a fork, finds no lock held. */
enum { SLOTS = 16 };
static _Atomic(block *) kept[SLOTS];
static atomic_uint turn;
static _Atomic uint64_t kept_bytes;

static block *take(unsigned slot)
{
    block *b = atomic_exchange(&kept[slot % SLOTS], NULL);
    if (b)
        atomic_fetch_sub(&kept_bytes, b->bytes);
    return b;
}

/** Keeps b in a slot; the block that stood there is freed. */
static void keep(block *b, unsigned slot)
{
    atomic_fetch_add(&kept_bytes, b->bytes);
    block *old = atomic_exchange(&kept[slot % SLOTS], b);
    if (old)
        atomic_fetch_sub(&kept_bytes, old->bytes);
    free(old);
}

static block *take_fitting(uint64_t bytes)
{
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        block *b = take(slot);
        if (!b)
            continue;
        if (b->bytes >= bytes && b->bytes - bytes <= bytes / 4)
            return b;
        keep(b, slot);
    }
    return NULL;
}

static void free_kept(void)
{
    for (unsigned slot = 0; slot < SLOTS; slot++)
        free(take(slot));
}

static block *fresh(uint64_t bytes)
{
    if (bytes < HUGE_PAGE_BYTES)
        return aligned_alloc(LINE_BYTES, (size_t)bytes);
    /* Fewer page faults and misses of the translation cache; where the system has no such pages, none. */
    block *b = aligned_alloc(HUGE_PAGE_BYTES, (size_t)bytes);
    if (b)
        (void)madvise(b, (size_t)bytes, MADV_HUGEPAGE);
    return b;
}

void *cblas_allocate(uint64_t bytes)
{
    if (bytes > ADDRESS_SPACE_BYTES)
        return NULL;
    const uint64_t unit = bytes + LINE_BYTES < HUGE_PAGE_BYTES ? LINE_BYTES : HUGE_PAGE_BYTES;
    bytes = (bytes + LINE_BYTES + unit - 1) / unit * unit;
    block *b = unit == HUGE_PAGE_BYTES ? take_fitting(bytes) : NULL;
    if (!b) {
        b = fresh(bytes);
        if (!b) {
            free_kept();
            b = fresh(bytes);
        }
        if (!b)
            return NULL;
        b->bytes = bytes;
    }
    return (char *)b + LINE_BYTES;
}

void cblas_release(void *memory, uint64_t memory_bytes)
{
    if (!memory)
        return;
    block *b = (block *)((char *)memory - LINE_BYTES);
    const uint64_t most = memory_bytes / 16 < 1u << 30 ? memory_bytes / 16 : 1u << 30;
    if (b->bytes < HUGE_PAGE_BYTES || b->bytes > most) {
        free(b);
        return;
    }
    unsigned slot = atomic_fetch_add(&turn, 1);
    for (int i = 0; i < SLOTS && atomic_load(&kept_bytes) + b->bytes > most; i++)
        free(take(slot++));
    keep(b, slot);
}

uint64_t cblas_kept_bytes(void)
{
    return atomic_load(&kept_bytes);
}
