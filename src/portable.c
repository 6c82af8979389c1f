/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "portable.h"

#include <stdlib.h>

#include "exact/word.h"
#include "host_matrix.h"

typedef unsigned __int128 wide;

/* A panel of B, transposed: 8 columns of 256 entries are 16 KiB, which stay in the first-level cache and do
 * not weigh on a thread's stack. */
enum { PANEL_COLS = 8, PANEL_ROWS = 256 };

typedef struct panel {
    int64_t row, col, rows, cols;
    uint64_t entry[PANEL_COLS][PANEL_ROWS];
} panel;

static void pack(panel *t, const nmodgpu_view *b)
{
    for (int64_t l = 0; l < t->rows; l++) {
        const uint64_t *row = nmodgpu_view_row(b, t->row + l) + t->col;
        for (int64_t j = 0; j < t->cols; j++)
            t->entry[j][l] = row[j];
    }
}

/** sum of x[i] y[i] mod p.  Three words hold the sum of 2^64 products, so that one reduction suffices. */
static uint64_t dot(const uint64_t *x, const uint64_t *y, int64_t length, uint64_t p)
{
    wide low = 0;
    uint64_t high = 0;
    for (int64_t i = 0; i < length; i++)
        high += __builtin_add_overflow(low, (wide)x[i] * y[i], &low);
    const uint64_t r = (uint64_t)(((wide)(high % p) << 64 | (uint64_t)(low >> 64)) % p);
    return (uint64_t)(((wide)r << 64 | (uint64_t)low) % p);
}

/** D's columns of a panel <- base +- A * panel. */
static void add_panel(const panel *t, nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *base,
                      const nmodgpu_view *a, uint64_t p)
{
    for (int64_t i = 0; i < d->rows; i++) {
        const uint64_t *row = t->rows ? nmodgpu_view_row(a, i) + t->row : NULL;
        uint64_t *to = nmodgpu_view_row(d, i) + t->col;
        const uint64_t *from = base ? nmodgpu_view_row(base, i) + t->col : NULL;
        for (int64_t j = 0; j < t->cols; j++) {
            const uint64_t s = dot(row, t->entry[j], t->rows, p);
            const uint64_t f = from ? from[j] : 0;
            to[j] = op == NMODGPU_SUBMUL ? nmodgpu_submod(f, s, p) : nmodgpu_addmod(f, s, p);
        }
    }
}

/** D overlaps no operand, but may be C. */
static void product(nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                    const nmodgpu_view *b, uint64_t p)
{
    panel t;
    for (t.col = 0; t.col < d->cols; t.col += PANEL_COLS) {
        t.cols = d->cols - t.col < PANEL_COLS ? d->cols - t.col : PANEL_COLS;
        t.row = 0;
        do { /* once for k == 0, which gives D its base */
            t.rows = a->cols - t.row < PANEL_ROWS ? a->cols - t.row : PANEL_ROWS;
            pack(&t, b);
            add_panel(&t, op, d, t.row ? d : c, a, p);
            t.row += PANEL_ROWS;
        } while (t.row < a->cols);
    }
}

nmodgpu_status nmodgpu_portable_product(nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                                        const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p)
{
    const nmodgpu_view *base = op == NMODGPU_MUL ? NULL : c;
    const nmodgpu_view *other = base && nmodgpu_views_same(d, base) ? NULL : base;
    if (!nmodgpu_needs_staging(d, other, a, b)) {
        product(op, d, base, a, b, p);
        return NMODGPU_OK;
    }
    nmodgpu_view staging;
    if (!nmodgpu_staging_alloc(&staging, d->rows, d->cols))
        return NMODGPU_ENOMEM;
    product(op, &staging, base, a, b, p);
    nmodgpu_view_copy(d, &staging);
    free(staging.data);
    return NMODGPU_OK;
}
