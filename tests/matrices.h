/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Matrices for tests of the core, in every layout a caller may have, and products to compare with.
 */
#ifndef NMODGPU_TESTS_MATRICES_H
#define NMODGPU_TESTS_MATRICES_H

#include "dispatch.h"
#include "nmodgpu.h"
#include "support.h"

typedef enum test_layout {
    TEST_DENSE,
    TEST_PADDED, /**< rows further apart than they are long */
    TEST_TABLE,  /**< a row table with rows in any order; data is not a pointer */
    TEST_LAYOUTS
} test_layout;

#define TEST_POISON UINT64_C(0xa5a5a5a5a5a5a5a5)

/** A view with the memory it lies in: all poison but for what is filled in. */
typedef struct test_matrix {
    nmodgpu_view view;
    uint64_t *memory;
    size_t words;
    uint64_t **table;
} test_matrix;

test_matrix test_matrix_make(int64_t rows, int64_t cols, test_layout layout);
void test_matrix_free(test_matrix *matrix);

/** Random entries in [0, p), by a random pattern of support.h. */
void test_view_fill(const nmodgpu_view *view, uint64_t p);

/** A dense copy of a view; free() it. */
uint64_t *test_view_dense(const nmodgpu_view *view);

/** What D must be, dense; free() it. */
uint64_t *test_expected(nmodgpu_op op, const nmodgpu_view *c, const nmodgpu_view *a, const nmodgpu_view *b,
                        uint64_t p);

/** Fails the running test unless the view holds these entries. */
void test_compare(const nmodgpu_view *view, const uint64_t *dense, const char *what);

/** Fails the running test if poison outside the view has been touched. */
void test_matrix_check_padding(const test_matrix *matrix);

#endif
