/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Device memory: addresses without access in front, bytes behind.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define PAGE 4096
#define POISON 0xff /* NaN as a double, above every modulus as a word */

typedef struct allocation {
    char *address;
    char *bytes;
    uint64_t size, reserved;
    int device;
    bool given_back; /* in stream order: no call after this may use it */
    struct allocation *next;
} allocation;

typedef struct pinned {
    char *bytes;
    uint64_t size;
    struct pinned *next;
} pinned;

struct standin_pool {
    int device;
    uint64_t kept_bytes;
};

static allocation *allocations;
static pinned *pinned_list;
static uint64_t used[STANDIN_DEVICES];

static allocation *holding(const void *address)
{
    const char *at = address;
    allocation *a = allocations;
    while (a && !(at >= a->address && at < a->address + a->reserved))
        a = a->next;
    return a;
}

void *standin_bytes(int device, const void *address, uint64_t bytes, const char *who)
{
    const allocation *a = holding(address);
    if (!a) {
        standin_mistake("%s: %p is not device memory", who, address);
        return NULL;
    }
    const uint64_t offset = (uint64_t)((const char *)address - a->address);
    if (a->given_back || offset > a->size || bytes > a->size - offset || a->device != device) {
        standin_mistake("%s: %llu bytes at %llu of an allocation of %llu%s on device %d, from device %d", who,
                        (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)a->size,
                        a->given_back ? ", freed," : "", a->device, device);
        return NULL;
    }
    return a->bytes + offset;
}

void *standin_planes(cudaStream_t stream, const void *data, int64_t stride, int64_t plane_stride, uint32_t planes,
                     uint32_t element_bytes, int64_t rows, int64_t cols, const char *who)
{
    const int64_t last = (int64_t)(planes - 1) * plane_stride + (rows - 1) * stride + cols;
    if ((uintptr_t)data % element_bytes)
        standin_mistake("%s: misaligned", who);
    pthread_mutex_lock(&standin_lock);
    void *bytes = standin_bytes(stream->device, data, (uint64_t)last * element_bytes, who);
    pthread_mutex_unlock(&standin_lock);
    return bytes;
}

bool standin_is_pinned(const void *address)
{
    const char *at = address;
    pthread_mutex_lock(&standin_lock);
    const pinned *p = pinned_list;
    while (p && !(at >= p->bytes && at < p->bytes + p->size))
        p = p->next;
    pthread_mutex_unlock(&standin_lock);
    return p;
}

/** Takes `size` of the device's memory into account; false when that is too much. */
static bool charge(int device, uint64_t size)
{
    pthread_mutex_lock(&standin_lock);
    const bool fits = size <= standin.memory_bytes && used[device] <= standin.memory_bytes - size;
    if (fits) {
        used[device] += size;
        standin_now.allocations++;
        standin_now.bytes += size;
    }
    pthread_mutex_unlock(&standin_lock);
    return fits;
}

/** With the lock held. */
static void refund(int device, uint64_t size)
{
    used[device] -= size;
    standin_now.allocations--;
    standin_now.bytes -= size;
}

static cudaError_t allocate(void **pointer, uint64_t size, int device)
{
    if (size == 0 || !charge(device, size))
        return size ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    allocation *a = calloc(1, sizeof *a);
    char *bytes = malloc(size);
    const uint64_t reserved = (size + PAGE - 1) / PAGE * PAGE + PAGE;
    void *address = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!a || !bytes || address == MAP_FAILED)
        abort(); /* the host of the test is out of memory */
    memset(bytes, POISON, size);
    *a = (allocation){address, bytes, size, reserved, device, false, NULL};
    pthread_mutex_lock(&standin_lock);
    a->next = allocations;
    allocations = a;
    pthread_mutex_unlock(&standin_lock);
    *pointer = address;
    return cudaSuccess;
}

static void release(allocation *a)
{
    pthread_mutex_lock(&standin_lock);
    for (allocation **p = &allocations; *p; p = &(*p)->next)
        if (*p == a) {
            *p = a->next;
            break;
        }
    pthread_mutex_unlock(&standin_lock);
    munmap(a->address, a->reserved);
    free(a->bytes);
    free(a);
}

/** The allocation that begins there, from now on given back; NULL with a mistake noted when there is none. */
static allocation *give_back(void *pointer)
{
    pthread_mutex_lock(&standin_lock);
    allocation *a = holding(pointer);
    if (!a || a->address != pointer || a->given_back) {
        standin_mistake("memory is freed that is not allocated");
        a = NULL;
    } else {
        a->given_back = true;
        refund(a->device, a->size);
    }
    pthread_mutex_unlock(&standin_lock);
    return a;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    const cudaError_t error = standin_begin();
    return standin_end(error == cudaSuccess ? allocate(pointer, bytes, standin_current()) : error);
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    const cudaError_t error = standin_begin();
    if (error == cudaSuccess && pool->device != stream->device)
        return standin_end(standin_mistake("a pool of device %d in a stream of %d", pool->device, stream->device));
    return standin_end(error == cudaSuccess ? allocate(pointer, bytes, pool->device) : error);
}

typedef struct release_argument {
    allocation *a;
} release_argument;

static void release_later(void *argument)
{
    release(((release_argument *)argument)->a);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    const cudaError_t error = standin_begin();
    release_argument *r = malloc(sizeof *r);
    if (!r)
        abort();
    r->a = give_back(pointer);
    if (!r->a) {
        free(r);
        return standin_end(cudaErrorInvalidValue);
    }
    const cudaError_t queued = standin_queue_always(stream, release_later, r);
    return standin_end(error != cudaSuccess ? error : queued);
}

/** CUDA's waits until the device is idle; here too, or streams could still use the memory. */
cudaError_t cudaFree(void *pointer)
{
    const cudaError_t error = standin_begin();
    allocation *a = give_back(pointer);
    if (!a)
        return standin_end(cudaErrorInvalidValue);
    standin_drain_device(a->device);
    release(a);
    return standin_end(error);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    const cudaError_t error = standin_begin();
    pthread_mutex_lock(&standin_lock);
    *total_bytes = standin.memory_bytes;
    *free_bytes = standin.memory_bytes - used[standin_current()];
    pthread_mutex_unlock(&standin_lock);
    return standin_end(error);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    const cudaError_t error = standin_begin();
    (void)flags;
    if (error != cudaSuccess)
        return standin_end(error);
    pinned *p = calloc(1, sizeof *p);
    char *memory = malloc(bytes);
    if (!p || !memory)
        abort();
    memset(memory, POISON, bytes);
    pthread_mutex_lock(&standin_lock);
    *p = (pinned){memory, bytes, pinned_list};
    pinned_list = p;
    standin_now.pinned++;
    pthread_mutex_unlock(&standin_lock);
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer)
{
    const cudaError_t error = standin_begin();
    pinned *found = NULL;
    pthread_mutex_lock(&standin_lock);
    for (pinned **p = &pinned_list; *p; p = &(*p)->next)
        if ((*p)->bytes == pointer) {
            found = *p;
            *p = found->next;
            standin_now.pinned--;
            break;
        }
    pthread_mutex_unlock(&standin_lock);
    if (!found)
        return standin_end(standin_mistake("host memory is freed that is not pinned"));
    free(found->bytes);
    free(found);
    return standin_end(error);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return standin_end(error);
    if (!standin.pools || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice)
        return standin_end(cudaErrorInvalidValue);
    *pool = calloc(1, sizeof **pool);
    if (!*pool)
        abort();
    (*pool)->device = properties->location.id;
    pthread_mutex_lock(&standin_lock);
    standin_now.pools++;
    pthread_mutex_unlock(&standin_lock);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    const cudaError_t error = standin_begin();
    free(pool);
    pthread_mutex_lock(&standin_lock);
    standin_now.pools--;
    pthread_mutex_unlock(&standin_lock);
    return standin_end(error);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    const cudaError_t error = standin_begin();
    if (error == cudaSuccess && attribute != cudaMemPoolAttrReleaseThreshold)
        return standin_end(cudaErrorInvalidValue);
    memcpy(&pool->kept_bytes, value, sizeof pool->kept_bytes);
    return standin_end(error);
}

/** The pool keeps nothing that is not in use. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    const cudaError_t error = standin_begin();
    pthread_mutex_lock(&standin_lock);
    const uint64_t bytes = attribute == cudaMemPoolAttrReleaseThreshold ? pool->kept_bytes : used[pool->device];
    pthread_mutex_unlock(&standin_lock);
    memcpy(value, &bytes, sizeof bytes);
    return standin_end(error);
}
