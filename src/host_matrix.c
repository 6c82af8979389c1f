/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "host_matrix.h"

#include <stdlib.h>
#include <string.h>

static bool is_empty(const nmodgpu_view *v)
{
    return v->rows == 0 || v->cols == 0;
}

bool nmodgpu_view_valid(const nmodgpu_view *v, int64_t rows, int64_t cols)
{
    if (!v || v->rows != rows || v->cols != cols || rows < 0 || cols < 0)
        return false;
    if (is_empty(v))
        return true;
    if (!v->row_table)
        return v->data && v->stride >= cols && v->stride <= INT64_MAX / 8 / rows;
    for (int64_t i = 0; i < rows; i++)
        if (!v->row_table[i])
            return false;
    return true;
}

bool nmodgpu_views_same(const nmodgpu_view *x, const nmodgpu_view *y)
{
    if (x->rows != y->rows || x->cols != y->cols || x->row_table != y->row_table)
        return false;
    return x->row_table || (x->data == y->data && (x->stride == y->stride || x->rows <= 1));
}

/** Where a view's entries are: addresses [low, high), rows step_bytes apart, 0 where that varies. */
typedef struct extent {
    uintptr_t low, high, first, step_bytes;
    uintptr_t rows, row_bytes;
} extent;

static extent table_extent(const nmodgpu_view *v, extent e)
{
    uint64_t *const *table = v->row_table;
    e.first = e.low = e.high = (uintptr_t)table[0];
    if (v->rows > 1 && (uintptr_t)table[1] > e.first && (uintptr_t)table[1] - e.first >= e.row_bytes)
        e.step_bytes = (uintptr_t)table[1] - e.first;
    for (int64_t i = 1; i < v->rows; i++) {
        const uintptr_t row = (uintptr_t)table[i];
        if (row - (uintptr_t)table[i - 1] != e.step_bytes)
            e.step_bytes = 0;
        e.low = row < e.low ? row : e.low;
        e.high = row > e.high ? row : e.high;
    }
    e.high += e.row_bytes;
    return e;
}

static extent view_extent(const nmodgpu_view *v)
{
    extent e = {0};
    e.rows = (uintptr_t)v->rows;
    e.row_bytes = (uintptr_t)v->cols * sizeof(uint64_t);
    if (v->row_table)
        return table_extent(v, e);
    e.first = e.low = (uintptr_t)v->data;
    e.step_bytes = v->rows > 1 ? (uintptr_t)v->stride * sizeof(uint64_t) : 0;
    e.high = e.low + (e.rows - 1) * e.step_bytes + e.row_bytes;
    return e;
}

/** Rows equally far apart in both, y not starting before x.  Row i of y starts `column` bytes into the step
 *  of row q + i of x, and reaches into the step of row q + i + 1 where column + y.row_bytes > step. */
static bool grids_overlap(const extent *x, const extent *y)
{
    const uintptr_t step = x->step_bytes;
    const uintptr_t q = (y->first - x->first) / step;
    const uintptr_t column = (y->first - x->first) % step;
    if (column < x->row_bytes && q < x->rows)
        return true;
    return column + y->row_bytes > step && q + 1 < x->rows;
}

bool nmodgpu_views_overlap(const nmodgpu_view *x, const nmodgpu_view *y)
{
    if (is_empty(x) || is_empty(y))
        return false;
    extent ex = view_extent(x), ey = view_extent(y);
    if (ex.high <= ey.low || ey.high <= ex.low)
        return false;
    /* One row fits every grid that it is not too long for. */
    if (ex.rows == 1 && ex.row_bytes <= ey.step_bytes)
        ex.step_bytes = ey.step_bytes;
    if (ey.rows == 1 && ey.row_bytes <= ex.step_bytes)
        ey.step_bytes = ex.step_bytes;
    if (ex.step_bytes == 0 || ex.step_bytes != ey.step_bytes)
        return true;
    return ex.first <= ey.first ? grids_overlap(&ex, &ey) : grids_overlap(&ey, &ex);
}

static int by_address(const void *x, const void *y)
{
    const uintptr_t a = (uintptr_t) * (uint64_t *const *)x, b = (uintptr_t) * (uint64_t *const *)y;
    return (a > b) - (a < b);
}

bool nmodgpu_view_rows_overlap(const nmodgpu_view *v)
{
    if (!v->row_table || is_empty(v) || v->rows == 1 || view_extent(v).step_bytes)
        return false;
    uint64_t **sorted = malloc((size_t)v->rows * sizeof *sorted);
    if (!sorted)
        return true;
    memcpy(sorted, v->row_table, (size_t)v->rows * sizeof *sorted);
    qsort(sorted, (size_t)v->rows, sizeof *sorted, by_address);
    bool overlap = false;
    for (int64_t i = 1; i < v->rows && !overlap; i++)
        overlap = (uintptr_t)sorted[i] - (uintptr_t)sorted[i - 1] < (uintptr_t)v->cols * sizeof(uint64_t);
    free(sorted);
    return overlap;
}

bool nmodgpu_needs_staging(const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                           const nmodgpu_view *b)
{
    return nmodgpu_views_overlap(d, a) || nmodgpu_views_overlap(d, b) || (c && nmodgpu_views_overlap(d, c)) ||
           nmodgpu_view_rows_overlap(d);
}

nmodgpu_matrix nmodgpu_host_matrix(const nmodgpu_view *view, uint64_t p)
{
    return (nmodgpu_matrix){
        .representation = NMODGPU_WORDS,
        .device = NMODGPU_HOST,
        .rows = view->rows,
        .cols = view->cols,
        .modulus = p,
        .element_bytes = sizeof(uint64_t),
        .planes = 1,
        .stride = view->row_table ? 0 : view->stride,
        .data = view->row_table ? NULL : view->data,
        .row_table = view->row_table,
    };
}

bool nmodgpu_staging_alloc(nmodgpu_view *view, int64_t rows, int64_t cols)
{
    size_t size_bytes;
    *view = (nmodgpu_view){.rows = rows, .cols = cols, .stride = cols};
    if (__builtin_mul_overflow((size_t)rows, (size_t)cols, &size_bytes) ||
        __builtin_mul_overflow(size_bytes, sizeof(uint64_t), &size_bytes))
        return false;
    view->data = malloc(size_bytes);
    return view->data != NULL;
}

void nmodgpu_view_copy(const nmodgpu_view *to, const nmodgpu_view *from)
{
    for (int64_t i = 0; i < to->rows; i++)
        memmove(nmodgpu_view_row(to, i), nmodgpu_view_row(from, i), (size_t)to->cols * sizeof(uint64_t));
}
