/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Loops over rows on several threads, and the guard under which helper threads and the BLAS may work.
 */
#ifndef NMODGPU_CBLAS_PARALLEL_H
#define NMODGPU_CBLAS_PARALLEL_H

#include <signal.h>
#include <stdint.h>

/** While held, no asynchronous signal is handled and no cancellation acted upon in this thread: a handler
 *  that leaves by longjmp would abandon helpers at work on the caller's memory, or locks of the BLAS. */
typedef struct cblas_quiet {
    sigset_t signals;
    int cancel;
} cblas_quiet;

void cblas_quiet_begin(cblas_quiet *quiet);
void cblas_quiet_end(const cblas_quiet *quiet);

/** Calls work(task, r0, r1) on parts of [0, rows), on up to `threads` threads, where `row_bytes` of memory
 *  traffic a row make that worth while.  Returns when all is done; always does all of it, if need be on the
 *  calling thread alone. */
void cblas_parallel_rows(int threads, int64_t rows, int64_t row_bytes,
                         void (*work)(const void *task, int64_t r0, int64_t r1), const void *task);

#endif
