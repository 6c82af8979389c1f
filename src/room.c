/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "room.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "processors.h"

/* Besides its stack: OpenBLAS's buffer (128 MiB with 0.3.21 on x86-64), and as much again that the C library
 * reserves for the allocations of a new thread. */
#define BUFFER_BYTES ((size_t)128 << 20)
#define THREAD_BYTES (2 * BUFFER_BYTES)

enum { MOST = 256 }; /* no BLAS of a distribution is built for more */

static int processors(void)
{
    const int count = nmodgpu_affinity_processors();
    return count < MOST ? count : MOST;
}

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/** Has that many mappings of a thread at once; false when that fails. */
static bool buffers_map(int wanted)
{
    void *memory[MOST + 1];
    bool mapped = true;
    int count = 0;
    while (mapped && count < wanted) {
        void *m = mmap(NULL, THREAD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        mapped = m != MAP_FAILED;
        if (mapped) {
            memory[count++] = m;
            mapped = mprotect(m, BUFFER_BYTES, PROT_READ | PROT_WRITE) == 0;
        }
    }
    for (int i = 0; i < count; i++)
        munmap(memory[i], THREAD_BYTES); /* cannot fail: a whole mapping of ours */
    return mapped;
}

bool nmodgpu_room_for_threads(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[MOST];
    const int wanted = processors();
    int started = 0;
    pthread_mutex_lock(&lock);
    while (started < wanted && pthread_create(&thread[started], NULL, wait_for, &lock) == 0)
        started++;
    const bool room = started == wanted && buffers_map(wanted + 1); /* the calling thread has a buffer too */
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL); /* cannot fail: ours, joinable, joined once */
    return room;
}
