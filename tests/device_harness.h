/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Drives a backend as the core does, but step by step and with chosen plans: for the tests of a device,
 * real or standing in.
 */
#ifndef NMODGPU_TESTS_DEVICE_HARNESS_H
#define NMODGPU_TESTS_DEVICE_HARNESS_H

#include <check.h>

#include "backend.h"

/** The backend under test; set by harness_enter. */
extern const nmodgpu_backend *device;

/** Hands the module our host functions and takes the backend that it registers. */
nmodgpu_status harness_enter(nmodgpu_module_entry_fn entry);
/** What the module has logged last, and how many lines there have been. */
const char *harness_last_line(void);
int harness_lines(void);
void harness_forget_lines(void);

/** Largest size of matrices in random tests, from NMODGPU_TEST_SIZE or as given. */
int64_t harness_size(int64_t usual);

/** Fails the test unless the call gave NMODGPU_OK. */
#define OK(call)                                                                                                   \
    do {                                                                                                           \
        const nmodgpu_status status_ = (call);                                                                     \
        ck_assert_msg(status_ == NMODGPU_OK, "%s: status %d; last line logged: %s", #call, (int)status_,           \
                      harness_last_line());                                                                        \
    } while (0)

/* Plans. */

/** u balanced digits of A by v of B, written into *plan; with `merged` (u and v digits of one base) terms of
 *  the same weight share a sum.  False when a sum of a single product would not be exact. */
bool harness_plan(nmodgpu_plan *plan, uint64_t p, uint32_t u, uint32_t v, bool merged);
/** `count` digits each, their sums in pairs and count (count + 1) / 2 products (Karatsuba); false likewise. */
bool harness_karatsuba(nmodgpu_plan *plan, uint64_t p, uint32_t count);
/** A random plan that is exact for p. */
void harness_random_plan(nmodgpu_plan *plan, uint64_t p);

/* Host matrices: a plain copy for the oracle, and the same entries in some layout. */

typedef enum host_layout {
    LAYOUT_DENSE,
    LAYOUT_STRIDE,   /**< rows apart */
    LAYOUT_ROWS,     /**< row table, rows one after the other */
    LAYOUT_PERMUTED, /**< row table, rows in any order */
    LAYOUT_SWAPPED,  /**< row table, a few rows swapped */
    LAYOUT_WINDOW,   /**< row table and a column offset */
    LAYOUTS
} host_layout;

typedef struct host_case {
    int64_t rows, cols;
    uint64_t *plain;     /**< rows x cols, dense */
    nmodgpu_matrix view; /**< what the backend sees */
    uint64_t *memory;    /**< behind the view */
    int64_t memory_words;
    uint64_t **table;
} host_case;

/** Entries below p; what lies between the rows is poison. */
host_case harness_host(int64_t rows, int64_t cols, uint64_t p, int pattern, host_layout layout);
/** A matrix to be written: poison everywhere. */
host_case harness_host_result(int64_t rows, int64_t cols, uint64_t p, host_layout layout);
void harness_host_free(host_case *h);
/** Fails the test at the first entry of the result that differs from `expected` (dense), and where anything
 *  outside the matrix has been written. */
void harness_compare(const host_case *result, const uint64_t *expected, const char *what);

/** d = (c or 0) + sign * a * b on dense matrices, by several threads for large ones. */
void harness_expect(uint64_t *d, const uint64_t *c, int sign, const uint64_t *a, const uint64_t *b, int64_t m,
                    int64_t k, int64_t n, uint64_t p);

/* Products. */

nmodgpu_matrix harness_words(uint64_t p, int64_t rows, int64_t cols, uint32_t element_bytes);
nmodgpu_matrix harness_planes(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols);
nmodgpu_matrix harness_sums(const nmodgpu_plan *plan, int64_t rows, int64_t cols);
/** planes (without memory) <- host, through words of that width. */
nmodgpu_status harness_load(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *host,
                            uint32_t element_bytes);
/** acc <- (has_base ? acc : 0) + sign * left * right by the plan's schedule. */
nmodgpu_status harness_steps(nmodgpu_queue *queue, nmodgpu_matrix *acc, bool has_base, int sign,
                             nmodgpu_matrix *sums, const nmodgpu_matrix *left, const nmodgpu_matrix *right);

typedef struct harness_product {
    const nmodgpu_plan *plan;
    const nmodgpu_matrix *a, *b, *c, *d; /**< host; c may be NULL */
    int sign;
    uint32_t element_bytes; /**< of words on the device */
} harness_product;

/** The whole product on a queue; everything it made is freed, whatever happens. */
nmodgpu_status harness_run(nmodgpu_queue *queue, const harness_product *product);
/** The same on a queue of its own. */
nmodgpu_status harness_run_alone(int32_t index, const harness_product *product);

#endif
