/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Host matrices in every layout, for the device tests.
 */
#include <stdlib.h>
#include <string.h>

#include "device_harness.h"
#include "support.h"

#define POISON 0xeeeeeeeeeeeeeeeeu

static uint64_t *words(int64_t count)
{
    uint64_t *w = malloc((size_t)(count + 1) * sizeof *w);
    if (!w)
        ck_abort_msg("out of memory");
    for (int64_t i = 0; i < count; i++)
        w[i] = POISON;
    return w;
}

static void swap_rows(uint64_t **table, int64_t i, int64_t j)
{
    uint64_t *row = table[i];
    table[i] = table[j];
    table[j] = row;
}

static void mix_rows(uint64_t **table, int64_t rows, host_layout layout)
{
    if (layout == LAYOUT_PERMUTED || layout == LAYOUT_WINDOW)
        for (int64_t i = rows - 1; i > 0; i--)
            swap_rows(table, i, (int64_t)test_below((uint64_t)i + 1));
    if (layout == LAYOUT_SWAPPED && rows > 1)
        for (int s = 0; s < 3; s++)
            swap_rows(table, (int64_t)test_below((uint64_t)rows), (int64_t)test_below((uint64_t)rows));
}

/** Memory for the layout, all poison, and the view of it. */
static host_case lay_out(int64_t rows, int64_t cols, uint64_t p, host_layout layout)
{
    host_case h = {.rows = rows, .cols = cols};
    const int64_t gap = layout == LAYOUT_DENSE ? 0 : 1 + (int64_t)test_below(9);
    const int64_t stride = cols + gap, offset = layout == LAYOUT_WINDOW ? gap / 2 : 0;
    h.memory_words = rows * stride;
    h.memory = words(h.memory_words);
    h.view = (nmodgpu_matrix){.representation = NMODGPU_WORDS,
                              .device = NMODGPU_HOST,
                              .rows = rows,
                              .cols = cols,
                              .modulus = p,
                              .element_bytes = 8,
                              .planes = 1,
                              .stride = stride,
                              .data = h.memory};
    if (layout == LAYOUT_DENSE || layout == LAYOUT_STRIDE)
        return h;
    h.table = malloc((size_t)(rows + 1) * sizeof *h.table);
    if (!h.table)
        ck_abort_msg("out of memory");
    for (int64_t i = 0; i < rows; i++)
        h.table[i] = h.memory + i * stride;
    mix_rows(h.table, rows, layout);
    h.view.row_table = h.table;
    h.view.col_offset = offset;
    h.view.data = NULL; /* never to be looked at in this layout, nor is the stride */
    h.view.stride = -1;
    return h;
}

host_case harness_host(int64_t rows, int64_t cols, uint64_t p, int pattern, host_layout layout)
{
    host_case h = lay_out(rows, cols, p, layout);
    h.plain = words(rows * cols);
    test_fill(h.plain, rows, cols, cols, p, (test_pattern)pattern);
    for (int64_t i = 0; i < rows && cols > 0; i++)
        memcpy(nmodgpu_matrix_row(&h.view, i), h.plain + i * cols, (size_t)cols * sizeof *h.plain);
    return h;
}

host_case harness_host_result(int64_t rows, int64_t cols, uint64_t p, host_layout layout)
{
    return lay_out(rows, cols, p, layout);
}

void harness_host_free(host_case *h)
{
    free(h->plain);
    free(h->memory);
    free(h->table);
    memset(h, 0, sizeof *h);
}

void harness_compare(const host_case *result, const uint64_t *expected, const char *what)
{
    const int64_t cols = result->cols;
    for (int64_t i = 0; i < result->rows; i++) {
        uint64_t *row = cols ? nmodgpu_matrix_row(&result->view, i) : NULL;
        for (int64_t j = 0; j < cols; j++) {
            if (row[j] != expected[i * cols + j])
                ck_abort_msg("%s: entry (%lld, %lld) is %llu, not %llu%s", what, (long long)i, (long long)j,
                             (unsigned long long)row[j], (unsigned long long)expected[i * cols + j],
                             row[j] == POISON ? " (never written)" : "");
            row[j] = POISON;
        }
    }
    for (int64_t i = 0; i < result->memory_words; i++)
        if (result->memory[i] != POISON)
            ck_abort_msg("%s: word %lld outside the matrix was written", what, (long long)i);
}
