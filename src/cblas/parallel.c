/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>

#include "hold.h"

/* Starting and joining a thread costs some 30 microseconds; a thread moves this much in about ten times that. */
enum { PART_BYTES = 1 << 21, MAX_PARTS = 256 };

typedef struct part {
    void (*work)(const void *task, int64_t r0, int64_t r1);
    const void *task;
    int64_t r0, r1;
} part;

static void *run_part(void *argument)
{
    const part *p = argument;
    p->work(p->task, p->r0, p->r1);
    return NULL;
}

static int64_t parts_for(int threads, int64_t rows, int64_t row_bytes)
{
    int64_t parts = threads < MAX_PARTS ? threads : MAX_PARTS;
    const int64_t worth = (int64_t)((double)rows * (double)row_bytes / PART_BYTES) + 1;
    if (parts > worth)
        parts = worth;
    return parts > rows ? rows : parts;
}

void cblas_parallel_rows(int threads, int64_t rows, int64_t row_bytes,
                         void (*work)(const void *task, int64_t r0, int64_t r1), const void *task)
{
    const int64_t parts = parts_for(threads, rows, row_bytes);
    if (parts <= 1) {
        work(task, 0, rows);
        return;
    }
    part part[MAX_PARTS];
    pthread_t helper[MAX_PARTS];
    bool started[MAX_PARTS];
    const nmodgpu_hold hold = nmodgpu_hold_signals(); /* for the helpers too */
    for (int64_t i = 1; i < parts; i++) {
        part[i].work = work;
        part[i].task = task;
        part[i].r0 = rows / parts * i + rows % parts * i / parts;
        part[i].r1 = rows / parts * (i + 1) + rows % parts * (i + 1) / parts;
        started[i] = pthread_create(&helper[i], NULL, run_part, &part[i]) == 0;
    }
    work(task, 0, part[1].r0);
    for (int64_t i = 1; i < parts; i++) {
        if (started[i])
            pthread_join(helper[i], NULL); /* cannot fail: ours, joinable, joined once */
        else
            run_part(&part[i]);
    }
    nmodgpu_release_signals(&hold);
}
