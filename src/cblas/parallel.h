/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Loops over rows on several threads.
 */
#ifndef NMODGPU_CBLAS_PARALLEL_H
#define NMODGPU_CBLAS_PARALLEL_H

#include <stdint.h>

/** Calls work(task, r0, r1) on parts of [0, rows), on up to `threads` threads, where `row_bytes` of memory
 *  traffic a row make that worth while.  Returns when all is done; always does all of it, if need be on the
 *  calling thread alone. */
void cblas_parallel_rows(int threads, int64_t rows, int64_t row_bytes,
                         void (*work)(const void *task, int64_t r0, int64_t r1), const void *task);

#endif
