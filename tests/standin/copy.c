/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Copies, as asynchronous as CUDA's (CUDA Runtime API, "API synchronization behavior"): from pageable memory
 * they return once the source has been staged, to pageable memory once all has arrived; with pinned memory
 * at once.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
    void *staged;
} copy;

static void run_copy(void *argument)
{
    const copy *c = argument;
    for (size_t r = 0; r < c->height; r++)
        memcpy(c->to + r * c->to_pitch, c->from + r * c->from_pitch, c->width);
    free(c->staged);
}

static uint64_t extent(size_t pitch, size_t width, size_t height)
{
    return height ? (uint64_t)pitch * (height - 1) + width : 0;
}

static void *bytes_of(cudaStream_t s, const void *address, size_t pitch, const copy *c, const char *who)
{
    pthread_mutex_lock(&standin_lock);
    void *bytes = standin_bytes(s->device, address, extent(pitch, c->width, c->height), who);
    pthread_mutex_unlock(&standin_lock);
    return bytes;
}

static void stage(copy *c)
{
    c->staged = malloc(c->width * c->height + 1);
    if (!c->staged)
        abort();
    for (size_t r = 0; r < c->height; r++)
        memcpy((char *)c->staged + r * c->width, c->from + r * c->from_pitch, c->width);
    c->from = c->staged;
    c->from_pitch = c->width;
}

static cudaError_t queue_copy(copy *c, enum cudaMemcpyKind kind, cudaStream_t s)
{
    const bool up = kind == cudaMemcpyHostToDevice;
    void *device = up ? bytes_of(s, c->to, c->to_pitch, c, "copy to the device")
                      : bytes_of(s, c->from, c->from_pitch, c, "copy to the host");
    if (!device) {
        free(c);
        return cudaErrorInvalidValue;
    }
    const bool waits = !up && !standin_is_pinned(c->to);
    if (up) {
        c->to = device;
        if (!standin_is_pinned(c->from))
            stage(c);
    } else {
        c->from = device;
    }
    const cudaError_t error = standin_queue(s, run_copy, c);
    return error == cudaSuccess && waits ? standin_drain(s) : error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return standin_end(error);
    if (to_pitch < width || from_pitch < width || to_pitch > INT32_MAX || from_pitch > INT32_MAX)
        return standin_end(cudaErrorInvalidPitchValue);
    copy *c = malloc(sizeof *c);
    if (!c)
        abort();
    *c = (copy){to, from, to_pitch, from_pitch, width, height, NULL};
    return standin_end(queue_copy(c, kind, stream));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return standin_end(error);
    copy *c = malloc(sizeof *c);
    if (!c)
        abort();
    *c = (copy){to, from, bytes, bytes, bytes, 1, NULL};
    return standin_end(queue_copy(c, kind, stream));
}

typedef struct fill {
    char *to;
    size_t pitch, width, height;
    int value;
} fill;

static void run_fill(void *argument)
{
    const fill *f = argument;
    for (size_t r = 0; r < f->height; r++)
        memset(f->to + r * f->pitch, f->value, f->width);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    const cudaError_t error = standin_begin();
    const copy shape = {.width = width, .height = height};
    if (error != cudaSuccess)
        return standin_end(error);
    fill *f = malloc(sizeof *f);
    if (!f)
        abort();
    *f = (fill){bytes_of(stream, to, pitch, &shape, "memset"), pitch, width, height, value};
    if (!f->to) {
        free(f);
        return standin_end(cudaErrorInvalidValue);
    }
    return standin_end(standin_queue(stream, run_fill, f));
}
