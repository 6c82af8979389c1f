/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Matrices with poison around them, for the tests of passes.
 */
#ifndef NMODGPU_TESTS_EXACT_MATRICES_H
#define NMODGPU_TESTS_EXACT_MATRICES_H

#include <stddef.h>

#include "backend.h"

enum { EXACT_POISON = 0xa5 };

/** A matrix in memory of its own, all poison. */
typedef struct exact_matrix {
    nmodgpu_matrix view;
    unsigned char *bytes;
    size_t size;
} exact_matrix;

/** Strides are multiples of `step` and at random longer than they need to be. */
exact_matrix exact_matrix_make(int64_t rows, int64_t cols, uint32_t element_bytes, uint32_t planes, bool transposed,
                               int64_t step);
/** Words from dense entries. */
exact_matrix exact_matrix_words(const uint64_t *dense, int64_t rows, int64_t cols, uint32_t element_bytes);
void exact_matrix_free(exact_matrix *x);

/** Any width that words modulo p fit in. */
uint32_t exact_width(uint64_t p);
/** Dense entries of some pattern. */
uint64_t *exact_entries(int64_t rows, int64_t cols, uint64_t p);

/** Compares words with dense entries, leaves poison there, and fails where anything beside them was written. */
void exact_check_words(const exact_matrix *x, const uint64_t *expected, uint64_t p, const char *what);
/** Planes of int8 end in zeros up to a multiple of 16, and nothing is written behind that. */
void exact_check_padding(const exact_matrix *x);

#endif
