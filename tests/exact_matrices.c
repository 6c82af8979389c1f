/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "exact_matrices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/passes_i8.h"
#include "exact_cases.h"
#include "support.h"

exact_matrix exact_matrix_make(int64_t rows, int64_t cols, uint32_t element_bytes, uint32_t planes, bool transposed,
                               int64_t step)
{
    exact_matrix x;
    memset(&x, 0, sizeof x);
    const int64_t length = transposed ? rows : cols, lines = transposed ? cols : rows;
    x.view.rows = rows;
    x.view.cols = cols;
    x.view.element_bytes = element_bytes;
    x.view.planes = planes;
    x.view.transposed = transposed;
    x.view.stride = ((length + step - 1) / step + (int64_t)test_below(2)) * step;
    x.view.plane_stride = (lines + (int64_t)test_below(3)) * x.view.stride;
    x.size = (size_t)(x.view.plane_stride * planes + 8) * element_bytes;
    x.bytes = malloc(x.size);
    ck_assert_ptr_nonnull(x.bytes);
    memset(x.bytes, EXACT_POISON, x.size);
    x.view.data = x.bytes;
    return x;
}

exact_matrix exact_matrix_words(const uint64_t *dense, int64_t rows, int64_t cols, uint32_t element_bytes)
{
    exact_matrix x = exact_matrix_make(rows, cols, element_bytes, 1, false, 1 + (int64_t)test_below(3));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) /* little-endian, as all that CUDA runs on */
            memcpy(x.bytes + (i * x.view.stride + j) * element_bytes, &dense[i * cols + j], element_bytes);
    return x;
}

void exact_matrix_free(exact_matrix *x)
{
    free(x->bytes);
    memset(x, 0, sizeof *x);
}

uint32_t exact_width(uint64_t p)
{
    uint32_t bytes = 1;
    while (bytes < 8 && p > 1ULL << (8 * bytes))
        bytes *= 2;
    while (bytes < 8 && test_below(2))
        bytes *= 2;
    return bytes;
}

uint64_t *exact_entries(int64_t rows, int64_t cols, uint64_t p)
{
    uint64_t *x = malloc((size_t)(rows * cols + 1) * sizeof *x);
    ck_assert_ptr_nonnull(x);
    test_fill(x, rows, cols, cols, p, (test_pattern)test_below(TEST_PATTERNS));
    return x;
}

void exact_check_words(const exact_matrix *x, const uint64_t *expected, uint64_t p, const char *what)
{
    const nmodgpu_matrix *v = &x->view;
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t j = 0; j < v->cols; j++) {
            unsigned char *at = x->bytes + (i * v->stride + j) * v->element_bytes;
            uint64_t word = 0;
            memcpy(&word, at, v->element_bytes);
            check_that(word == expected[i * v->cols + j], "%s, p %llu: entry (%lld, %lld) is %llu\n", what,
                       (unsigned long long)p, (long long)i, (long long)j, (unsigned long long)word);
            memset(at, EXACT_POISON, v->element_bytes);
        }
    for (size_t i = 0; i < x->size; i++)
        check_that(x->bytes[i] == EXACT_POISON, "%s: written beside the result\n", what);
}

void exact_check_padding(const exact_matrix *x)
{
    const nmodgpu_matrix *v = &x->view;
    const int64_t inner = v->transposed ? v->rows : v->cols, lines = v->transposed ? v->cols : v->rows;
    unsigned char *left = malloc(x->size);
    ck_assert_ptr_nonnull(left);
    memcpy(left, x->bytes, x->size);
    for (uint32_t g = 0; g < v->planes; g++)
        for (int64_t i = 0; i < lines; i++) {
            unsigned char *line = left + g * v->plane_stride + i * v->stride;
            for (int64_t j = inner; j < nmodgpu_i8_padded(inner); j++)
                check_that(line[j] == 0, "plane %u, line %lld: %d behind it\n", g, (long long)i, line[j]);
            memset(line, EXACT_POISON, (size_t)nmodgpu_i8_padded(inner));
        }
    for (size_t i = 0; i < x->size; i++)
        check_that(left[i] == EXACT_POISON, "written beside the planes\n");
    free(left);
}
