/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A backend for tests of the core: host memory, plain loops, no haste.  It counts what it is asked, fails when it
 * is told to, and notes every breach of the interface's rules.  Its layouts are odd on purpose: rows are padded
 * and left operands stored transposed.
 */
#ifndef NMODGPU_TESTS_REFERENCE_BACKEND_H
#define NMODGPU_TESTS_REFERENCE_BACKEND_H

#include <stdatomic.h>

#include "backend.h"

extern const nmodgpu_backend reference_backend;

typedef struct reference_state {
    /* set by tests */
    _Atomic int64_t fail_at;         /**< the operation with this number (from 1) fails; 0: none */
    nmodgpu_status failure;          /**< with what */
    nmodgpu_status open_status;      /**< what open() says */
    _Atomic uint64_t capacity_bytes; /**< allocations beyond it fail with NMODGPU_ENOMEM */
    _Atomic uint64_t free_bytes;     /**< what device_info says */
    double call_start;               /**< among the rates */
    void (*during)(void);            /**< called in open() and in every operation, if not NULL */

    /* seen by tests */
    _Atomic int64_t operations; /**< so far */
    _Atomic int64_t opened;     /**< calls of open() */
    _Atomic int64_t imports, prepares, multiplies, reductions, exports;
    _Atomic int64_t matrices, queues; /**< alive */
    _Atomic int64_t queues_failed;    /**< closed as failed */
    _Atomic uint64_t bytes, peak_bytes;
    _Atomic int64_t breaches;     /**< of the interface */
    _Atomic(const char *) breach; /**< the last one */
} reference_state;

extern reference_state reference;

/** Counters to zero, no failures, plenty of memory. */
void reference_reset(void);

#endif
