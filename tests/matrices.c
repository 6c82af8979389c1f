/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "matrices.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *row_of(const nmodgpu_view *v, int64_t i)
{
    return v->row_table ? v->row_table[i] : v->data + i * v->stride;
}

static void shuffle(uint64_t **table, int64_t rows)
{
    for (int64_t i = rows - 1; i > 0; i--) {
        const int64_t j = (int64_t)test_below((uint64_t)i + 1);
        uint64_t *t = table[i];
        table[i] = table[j];
        table[j] = t;
    }
}

test_matrix test_matrix_make(int64_t rows, int64_t cols, test_layout layout)
{
    const int64_t stride = layout == TEST_DENSE ? cols : cols + 1 + (int64_t)test_below(5);
    test_matrix a = {.words = (size_t)(rows * stride) + 8};
    a.memory = malloc(a.words * sizeof *a.memory);
    ck_assert_ptr_nonnull(a.memory);
    for (size_t i = 0; i < a.words; i++)
        a.memory[i] = TEST_POISON;
    a.view = (nmodgpu_view){.rows = rows, .cols = cols, .stride = stride, .data = a.memory + 4};
    if (layout != TEST_TABLE)
        return a;
    a.table = malloc(((size_t)rows + 1) * sizeof *a.table);
    ck_assert_ptr_nonnull(a.table);
    for (int64_t i = 0; i < rows; i++)
        a.table[i] = a.view.data + i * stride;
    shuffle(a.table, rows);
    a.view.row_table = a.table;
    a.view.data = NULL;
    a.view.stride = -7;
    return a;
}

void test_matrix_free(test_matrix *a)
{
    free(a->memory);
    free(a->table);
}

void test_view_fill(const nmodgpu_view *view, uint64_t p)
{
    const test_pattern pattern = (test_pattern)test_below(TEST_PATTERNS);
    uint64_t *dense = calloc((size_t)(view->rows * view->cols) + 1, sizeof *dense);
    ck_assert_ptr_nonnull(dense);
    test_fill(dense, view->rows, view->cols, view->cols, p, pattern);
    for (int64_t i = 0; i < view->rows; i++)
        memcpy(row_of(view, i), dense + i * view->cols, (size_t)view->cols * sizeof *dense);
    free(dense);
}

uint64_t *test_view_dense(const nmodgpu_view *view)
{
    uint64_t *dense = malloc(((size_t)(view->rows * view->cols) + 1) * sizeof *dense);
    ck_assert_ptr_nonnull(dense);
    for (int64_t i = 0; i < view->rows; i++)
        memcpy(dense + i * view->cols, row_of(view, i), (size_t)view->cols * sizeof *dense);
    return dense;
}

uint64_t *test_expected(nmodgpu_op op, const nmodgpu_view *c, const nmodgpu_view *a, const nmodgpu_view *b,
                        uint64_t p)
{
    uint64_t *da = test_view_dense(a), *db = test_view_dense(b);
    uint64_t *dc = op == NMODGPU_MUL ? NULL : test_view_dense(c);
    uint64_t *d = malloc(((size_t)(a->rows * b->cols) + 1) * sizeof *d);
    ck_assert_ptr_nonnull(d);
    test_product(d, b->cols, dc, b->cols, op == NMODGPU_SUBMUL ? -1 : 1, da, a->cols, db, b->cols, a->rows, a->cols,
                 b->cols, p);
    free(da);
    free(db);
    free(dc);
    return d;
}

void test_compare(const nmodgpu_view *view, const uint64_t *dense, const char *what)
{
    for (int64_t i = 0; i < view->rows; i++)
        for (int64_t j = 0; j < view->cols; j++)
            if (row_of(view, i)[j] != dense[i * view->cols + j])
                ck_abort_msg("%s: entry (%" PRId64 ", %" PRId64 ") of %" PRId64 " x %" PRId64 " is %" PRIu64
                             ", not %" PRIu64,
                             what, i, j, view->rows, view->cols, row_of(view, i)[j], dense[i * view->cols + j]);
}

void test_matrix_check_padding(const test_matrix *a)
{
    uint64_t *rest = malloc(a->words * sizeof *rest);
    ck_assert_ptr_nonnull(rest);
    memcpy(rest, a->memory, a->words * sizeof *rest);
    for (int64_t i = 0; i < a->view.rows; i++)
        for (int64_t j = 0; j < a->view.cols; j++)
            rest[row_of(&a->view, i) - a->memory + j] = TEST_POISON;
    for (size_t i = 0; i < a->words; i++)
        if (rest[i] != TEST_POISON)
            ck_abort_msg("a word beside the matrix was written");
    free(rest);
}
