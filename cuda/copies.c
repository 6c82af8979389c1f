/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "copies.h"

#include <string.h>

#include "errors.h"

/** Rows worth a copy of their own: a copy takes about 5 us to start, in which memory gives this much. */
#define DIRECT_BYTES ((int64_t)64 << 10)
/** The largest pitch that CUDA's two-dimensional copies take (cudaDeviceProp::memPitch on every device). */
#define PITCH_LIMIT INT32_MAX

typedef struct transfer {
    nmodgpu_queue *queue;
    const nmodgpu_matrix *device, *host;
    bool up;
} transfer;

/** A part of the matrix: rows [r0, r1), columns [c0, c1). */
typedef struct block {
    int64_t r0, r1, c0, c1;
} block;

static bool empty(const block *b)
{
    return b->r0 >= b->r1 || b->c0 >= b->c1;
}

static int64_t element_bytes(const transfer *t)
{
    return t->device->element_bytes;
}

/** The block of the device matrix from or to host memory at `host`, rows `pitch` bytes apart there, entries as
 *  wide as the device's. */
static cudaError_t copy(const transfer *t, const block *b, char *host, int64_t pitch, int64_t r0, int64_t r1)
{
    const int64_t device_pitch = t->device->stride * element_bytes(t);
    char *device = (char *)t->device->data + r0 * device_pitch + b->c0 * element_bytes(t);
    const size_t row_bytes = (size_t)((b->c1 - b->c0) * element_bytes(t)), rows = (size_t)(r1 - r0);
    const enum cudaMemcpyKind kind = t->up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    char *to = t->up ? device : host, *from = t->up ? host : device;
    const size_t to_pitch = (size_t)(t->up ? device_pitch : pitch);
    const size_t from_pitch = (size_t)(t->up ? pitch : device_pitch);
    if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes))
        return cudaMemcpyAsync(to, from, row_bytes * rows, kind, t->queue->stream);
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, kind, t->queue->stream);
}

static nmodgpu_status copy_block(const transfer *t, const block *b, char *host, int64_t pitch)
{
    const int64_t step = t->device->stride * element_bytes(t) > PITCH_LIMIT ? 1 : b->r1 - b->r0;
    nmodgpu_status status = NMODGPU_OK;
    for (int64_t r = b->r0; r < b->r1 && status == NMODGPU_OK; r += step)
        status =
            nmodgpu_cuda_status(t->queue->device->index, copy(t, b, host + (r - b->r0) * pitch, pitch, r, r + step),
                                t->up ? "cudaMemcpyAsync to the device" : "cudaMemcpyAsync to the host");
    return status;
}

/* Through the bounce buffer. */

static void pack_row(const transfer *t, const uint64_t *from, void *to, int64_t n)
{
    switch (element_bytes(t)) {
    case 1:
        for (int64_t j = 0; j < n; j++)
            ((uint8_t *)to)[j] = (uint8_t)from[j];
        break;
    case 2:
        for (int64_t j = 0; j < n; j++)
            ((uint16_t *)to)[j] = (uint16_t)from[j];
        break;
    case 4:
        for (int64_t j = 0; j < n; j++)
            ((uint32_t *)to)[j] = (uint32_t)from[j];
        break;
    default:
        memcpy(to, from, (size_t)n * sizeof *from);
    }
}

static void unpack_row(const transfer *t, uint64_t *to, const void *from, int64_t n)
{
    switch (element_bytes(t)) {
    case 1:
        for (int64_t j = 0; j < n; j++)
            to[j] = ((const uint8_t *)from)[j];
        break;
    case 2:
        for (int64_t j = 0; j < n; j++)
            to[j] = ((const uint16_t *)from)[j];
        break;
    case 4:
        for (int64_t j = 0; j < n; j++)
            to[j] = ((const uint32_t *)from)[j];
        break;
    default:
        memcpy(to, from, (size_t)n * sizeof *to);
    }
}

static void move_words(const transfer *t, const block *b, char *bounce)
{
    const int64_t n = b->c1 - b->c0;
    for (int64_t r = b->r0; r < b->r1; r++) {
        uint64_t *row = nmodgpu_matrix_row(t->host, r) + b->c0;
        void *packed = bounce + (r - b->r0) * n * element_bytes(t);
        if (t->up)
            pack_row(t, row, packed, n);
        else
            unpack_row(t, row, packed, n);
    }
}

static nmodgpu_status bounce_wait(const transfer *t, int half)
{
    return CUDA_CALL(t->queue->device->index, cudaEventSynchronize, t->queue->bounce_done[half]);
}

/** Queues the copy between the device and one half of the buffer. */
static nmodgpu_status bounce_copy(const transfer *t, const block *b, int half)
{
    nmodgpu_status status = copy_block(t, b, t->queue->bounce[half], (b->c1 - b->c0) * element_bytes(t));
    if (status == NMODGPU_OK)
        status = CUDA_CALL(t->queue->device->index, cudaEventRecord, t->queue->bounce_done[half], t->queue->stream);
    return status;
}

/** The next part of rows [*row, r1), from column *col on, that fits one half of the buffer; moves on. */
static block next_block(const transfer *t, int64_t *row, int64_t *col, int64_t r1)
{
    const int64_t capacity = NMODGPU_CUDA_BOUNCE_BYTES / element_bytes(t), cols = t->host->cols;
    block b = {*row, r1, *col, cols};
    if (cols > capacity) {
        b.r1 = *row < r1 ? *row + 1 : r1;
        b.c1 = cols - *col < capacity ? cols : *col + capacity;
    } else if (r1 - *row > capacity / cols) {
        b.r1 = *row + capacity / cols;
    }
    *col = b.c1 < cols ? b.c1 : 0;
    *row = b.c1 < cols ? b.r0 : b.r1;
    return b;
}

/** Packs into one half while the device takes the other. */
static nmodgpu_status gather(const transfer *t, int64_t r0, int64_t r1)
{
    nmodgpu_status status = NMODGPU_OK;
    for (int64_t col = 0, half = 0; r0 < r1 && status == NMODGPU_OK; half = 1 - half) {
        const block b = next_block(t, &r0, &col, r1);
        status = bounce_wait(t, (int)half);
        if (status != NMODGPU_OK)
            return status;
        move_words(t, &b, t->queue->bounce[half]);
        status = bounce_copy(t, &b, (int)half);
    }
    return status;
}

/** Unpacks one half while the device fills the other. */
static nmodgpu_status scatter(const transfer *t, int64_t r0, int64_t r1)
{
    block pending = {0, 0, 0, 0}; /* on its way into the half that is not `half` */
    int64_t col = 0;
    nmodgpu_status status = NMODGPU_OK;
    for (int half = 0; status == NMODGPU_OK && (r0 < r1 || !empty(&pending)); half = 1 - half) {
        const block b = next_block(t, &r0, &col, r1);
        if (!empty(&b))
            status = bounce_copy(t, &b, half);
        if (status == NMODGPU_OK && !empty(&pending)) {
            status = bounce_wait(t, 1 - half);
            if (status == NMODGPU_OK)
                move_words(t, &pending, t->queue->bounce[1 - half]);
        }
        pending = b;
    }
    return status;
}

static nmodgpu_status bounce(const transfer *t, int64_t r0, int64_t r1)
{
    if (r0 == r1)
        return NMODGPU_OK;
    const nmodgpu_status status = nmodgpu_cuda_queue_need_bounce(t->queue);
    if (status != NMODGPU_OK)
        return status;
    return t->up ? gather(t, r0, r1) : scatter(t, r0, r1);
}

/* Directly, where wide words lie in long stretches of rows at a constant distance. */

/** Rows [r0, r1) of the host matrix, each `pitch` bytes after the one before. */
typedef struct stretch {
    int64_t r0, r1, pitch;
} stretch;

/** The distance from row i to the next, or 0 where it is nothing that a copy could use. */
static int64_t pitch_after(const transfer *t, int64_t i)
{
    const uintptr_t here = (uintptr_t)nmodgpu_matrix_row(t->host, i);
    const uintptr_t next = (uintptr_t)nmodgpu_matrix_row(t->host, i + 1);
    const uintptr_t row_bytes = (uintptr_t)t->host->cols * sizeof(uint64_t);
    const bool usable = next > here && next - here >= row_bytes && next - here <= PITCH_LIMIT;
    return usable ? (int64_t)(next - here) : 0;
}

static stretch stretch_at(const transfer *t, int64_t r0)
{
    stretch s = {r0, r0 + 1, t->host->cols * (int64_t)sizeof(uint64_t)};
    const int64_t rows = t->host->rows, pitch = s.r1 < rows ? pitch_after(t, r0) : 0;
    if (pitch == 0)
        return s;
    s.pitch = pitch;
    s.r1 = t->host->row_table ? r0 + 2 : rows;
    while (s.r1 < rows && pitch_after(t, s.r1 - 1) == pitch)
        s.r1++;
    return s;
}

static bool worth_its_own_copy(const transfer *t, const stretch *s)
{
    const int64_t rows = s->r1 - s->r0;
    return rows == t->host->rows || rows * t->host->cols * (int64_t)sizeof(uint64_t) >= DIRECT_BYTES;
}

static nmodgpu_status copy_wide(const transfer *t)
{
    const int64_t rows = t->host->rows;
    nmodgpu_status status = NMODGPU_OK;
    int64_t done = 0; /* rows from here to r wait for the bounce buffer */
    for (int64_t r = 0; r < rows && status == NMODGPU_OK;) {
        const stretch s = stretch_at(t, r);
        r = s.r1;
        if (!worth_its_own_copy(t, &s))
            continue;
        const block b = {s.r0, s.r1, 0, t->host->cols};
        status = bounce(t, done, s.r0);
        if (status == NMODGPU_OK)
            status = copy_block(t, &b, (char *)nmodgpu_matrix_row(t->host, s.r0), s.pitch);
        done = s.r1;
    }
    return status == NMODGPU_OK ? bounce(t, done, rows) : status;
}

static nmodgpu_status run(const transfer *t)
{
    if (t->host->rows == 0 || t->host->cols == 0)
        return NMODGPU_OK;
    return t->device->element_bytes < 8 ? bounce(t, 0, t->host->rows) : copy_wide(t);
}

nmodgpu_status nmodgpu_cuda_upload(nmodgpu_queue *queue, const nmodgpu_matrix *device, const nmodgpu_matrix *host)
{
    const transfer t = {queue, device, host, true};
    return run(&t);
}

nmodgpu_status nmodgpu_cuda_download(nmodgpu_queue *queue, const nmodgpu_matrix *host, const nmodgpu_matrix *device)
{
    const transfer t = {queue, device, host, false};
    return run(&t);
}

nmodgpu_status nmodgpu_cuda_copy_packed(nmodgpu_queue *queue, const nmodgpu_matrix *device, void *packed, bool up)
{
    const transfer t = {queue, device, NULL, up};
    const block all = {0, device->rows, 0, device->cols};
    return copy_block(&t, &all, packed, device->cols * element_bytes(&t));
}
