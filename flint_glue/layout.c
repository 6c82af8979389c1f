/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "layout.h"

#include <string.h>

#include "dispatch.h"
#include "guard.h"
#include "hold.h"
#include "version.h"

/* Any prime above the largest entry that the test uses. */
#define TEST_MODULUS 251u
#define TEST_ROWS 3
#define TEST_COLS 4

const char *nmodgpu_layout_name(nmodgpu_layout layout)
{
    switch (layout) {
    case NMODGPU_LAYOUT_ROWS:
        return "rows";
    case NMODGPU_LAYOUT_STRIDE:
        return "stride";
    case NMODGPU_LAYOUT_UNTRIED:
        return "untried";
    default:
        return "unknown";
    }
}

nmodgpu_view nmodgpu_flint_view(const nmodgpu_flint_matrix *matrix, nmodgpu_layout layout)
{
    nmodgpu_view view = {.rows = matrix->r, .cols = matrix->c, .stride = matrix->c};
    if (layout == NMODGPU_LAYOUT_ROWS) {
        view.row_table = matrix->rows;
    } else {
        view.data = matrix->entries;
        /* A matrix with few columns may come with any stride where no second row makes it matter. */
        if (matrix->r > 1)
            view.stride = matrix->stride;
    }
    return view;
}

/* That FLINT's own functions.  These are real functions, not inline ones, in every version from 2.9 on; the
   last three are inline in some, and used where they are exported. */
typedef struct workshop {
    nmodgpu_flint *flint;
    nmodgpu_layout layout;
    void (*init)(void *, int64_t, int64_t, uint64_t);
    void (*clear)(void *);
    void (*one)(void *);
    void (*transpose)(void *, const void *);
    void (*window_init)(void *, const void *, int64_t, int64_t, int64_t, int64_t);
    void (*window_clear)(void *);
    void (*swap_rows)(void *, int64_t *, int64_t, int64_t);
} workshop;

/* A struct with room behind it, to see that FLINT's is not longer than ours. */
typedef union specimen {
    nmodgpu_flint_matrix m;
    unsigned char bytes[4 * sizeof(nmodgpu_flint_matrix)];
} specimen;

static bool equip(workshop *w)
{
    const nmodgpu_object *object = &w->flint->object;
    const struct {
        const char *name;
        void *place;
    } tools[] = {{"nmod_mat_init", &w->init},
                 {"nmod_mat_clear", &w->clear},
                 {"nmod_mat_one", &w->one},
                 {"nmod_mat_transpose", &w->transpose},
                 {"nmod_mat_window_init", &w->window_init},
                 {"nmod_mat_window_clear", &w->window_clear},
                 {"nmod_mat_swap_rows", &w->swap_rows}};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        const uintptr_t address = nmodgpu_object_definition(object, tools[i].name);
        memcpy(tools[i].place, &address, sizeof address);
    }
    return w->init && w->clear && w->one && w->transpose;
}

/* The struct alone: where shape and modulus are, that nothing lies beyond it, and that the fourth word is
   what the layout says.  Only after this may the entries be touched. */
static bool struct_is_right(const specimen *s, nmodgpu_layout layout, int64_t rows, int64_t cols,
                            unsigned char poison)
{
    for (size_t i = sizeof s->m; i < sizeof s->bytes; i++)
        if (s->bytes[i] != poison)
            return false;
    if (s->m.r != rows || s->m.c != cols || s->m.n != TEST_MODULUS || !s->m.entries)
        return false;
    if (layout == NMODGPU_LAYOUT_STRIDE)
        return s->m.stride >= cols && s->m.stride <= 16 * cols; /* some builds pad rows to test their users */
    const uintptr_t table = (uintptr_t)s->m.rows;
    return table >= 4096 && table % sizeof(uint64_t *) == 0 && s->m.rows[0] == s->m.entries &&
           s->m.rows[1] == s->m.entries + cols;
}

static bool make(const workshop *w, specimen *s, int64_t rows, int64_t cols, unsigned char poison)
{
    memset(s->bytes, poison, sizeof s->bytes);
    w->init(s, rows, cols, TEST_MODULUS);
    return struct_is_right(s, w->layout, rows, cols, poison);
}

static uint64_t value(int64_t i, int64_t j)
{
    return (uint64_t)(7 * i + 3 * j + 1);
}

static bool reads_what_flint_writes(const workshop *w, specimen *s)
{
    bool right = true;
    w->one(s);
    for (int64_t i = 0; i < s->m.r; i++)
        for (int64_t j = 0; j < s->m.c; j++)
            right = right && *nmodgpu_flint_entry(&s->m, w->layout, i, j) == (uint64_t)(i == j);
    return right;
}

static bool flint_reads_what_is_written(const workshop *w, specimen *a, specimen *t)
{
    bool right = true;
    for (int64_t i = 0; i < a->m.r; i++)
        for (int64_t j = 0; j < a->m.c; j++)
            *nmodgpu_flint_entry(&a->m, w->layout, i, j) = value(i, j);
    w->transpose(t, a);
    for (int64_t i = 0; i < a->m.r; i++)
        for (int64_t j = 0; j < a->m.c; j++)
            right = right && *nmodgpu_flint_entry(&t->m, w->layout, j, i) == value(i, j);
    return right;
}

static bool multiplies(const workshop *w, specimen *c, const specimen *a, const specimen *b)
{
    bool right = true;
    nmodgpu_guard guard;
    nmodgpu_guard_enter(&guard, w->flint);
    w->flint->mul(&c->m, &a->m, &b->m);
    nmodgpu_guard_leave(&guard);
    for (int64_t i = 0; i < TEST_ROWS; i++)
        for (int64_t j = 0; j < TEST_ROWS; j++) {
            uint64_t sum = 0;
            for (int64_t l = 0; l < TEST_COLS; l++)
                sum += value(i, l) * value(j, l);
            right = right && *nmodgpu_flint_entry(&c->m, w->layout, i, j) == sum % TEST_MODULUS;
        }
    return right;
}

static bool windows(const workshop *w, const specimen *a)
{
    specimen s;
    bool right = true;
    if (!w->window_init || !w->window_clear)
        return true;
    memset(&s, 0, sizeof s);
    w->window_init(&s, a, 1, 1, TEST_ROWS, TEST_COLS - 1);
    right = s.m.r == TEST_ROWS - 1 && s.m.c == TEST_COLS - 2 && s.m.n == TEST_MODULUS;
    for (int64_t i = 0; right && i < s.m.r; i++)
        for (int64_t j = 0; j < s.m.c; j++)
            right = right && *nmodgpu_flint_entry(&s.m, w->layout, i, j) == value(i + 1, j + 1);
    w->window_clear(&s);
    return right;
}

static bool swaps_rows(const workshop *w, specimen *a)
{
    bool right = true;
    if (!w->swap_rows)
        return true;
    w->swap_rows(a, NULL, 0, 2);
    for (int64_t i = 0; i < TEST_ROWS; i++)
        for (int64_t j = 0; j < TEST_COLS; j++)
            right = right && *nmodgpu_flint_entry(&a->m, w->layout, i, j) == value(2 - i, j);
    return right;
}

static const char *prove(const workshop *w)
{
    specimen a, b, c;
    const char *fault = NULL;
    const bool made_a = make(w, &a, TEST_ROWS, TEST_COLS, 0xa5);
    const bool made_b = make(w, &b, TEST_COLS, TEST_ROWS, 0x5a);
    const bool made_c = make(w, &c, TEST_ROWS, TEST_ROWS, 0xff);
    if (!made_a || !made_b || !made_c)
        fault = "its matrices are laid out otherwise";
    else if (!reads_what_flint_writes(w, &a) || !flint_reads_what_is_written(w, &a, &b))
        fault = "its entries are found elsewhere";
    else if (!multiplies(w, &c, &a, &b))
        fault = "its product is another function";
    else if (!windows(w, &a))
        fault = "its windows are laid out otherwise";
    else if (!swaps_rows(w, &a))
        fault = "its row swaps work otherwise";
    w->clear(&a);
    w->clear(&b);
    w->clear(&c);
    return fault;
}

static nmodgpu_layout test_layout(nmodgpu_flint *flint)
{
    workshop w = {.flint = flint, .layout = nmodgpu_layout_of_version(flint->version)};
    const char *fault = NULL;
    if (!flint->version)
        fault = "it does not tell its version";
    else if (w.layout == NMODGPU_LAYOUT_REFUSED)
        fault = "versions before 2.9 are not supported";
    else if (!equip(&w))
        fault = "it lacks the functions for the self-test";
    else
        fault = prove(&w);
    if (!fault)
        return w.layout;
    nmodgpu_priv_log_once(flint->object.name, "FLINT %s (%s) serves itself: %s",
                          flint->version ? flint->version : "of unknown version", flint->object.name, fault);
    return NMODGPU_LAYOUT_REFUSED;
}

nmodgpu_layout nmodgpu_flint_layout(nmodgpu_flint *flint)
{
    int layout = atomic_load_explicit(&flint->layout, memory_order_acquire);
    if (layout != NMODGPU_LAYOUT_UNTRIED)
        return (nmodgpu_layout)layout;
    /* Two threads may both test: they find the same. */
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    layout = test_layout(flint);
    nmodgpu_release_signals(&hold);
    atomic_store_explicit(&flint->layout, layout, memory_order_release);
    return (nmodgpu_layout)layout;
}
