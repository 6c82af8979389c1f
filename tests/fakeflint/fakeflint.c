/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * FAKE_VERSION is what flint_version says.  With FAKE_ROWS matrices have a row table, otherwise a stride.
 * Sizes are small, so the arithmetic is classical and the recursion begins early.
 */
#include "fakeflint.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
/* noinline: clang would put one exported function into another; FLINT's are in files of their own. */
#define FUNCTION EXPORT __attribute__((noinline))
#define RECURSE_FROM 8 /* smallest dimension from which a product is cut in two */

EXPORT char flint_version[] = FAKE_VERSION;
EXPORT fake_probe fakeflint_probe;

FUNCTION void nmod_mat_init(fake_mat *a, int64_t r, int64_t c, uint64_t n);
FUNCTION void nmod_mat_clear(fake_mat *a);
FUNCTION void nmod_mat_one(fake_mat *a);
FUNCTION void nmod_mat_transpose(fake_mat *b, const fake_mat *a);
FUNCTION void nmod_mat_window_init(fake_mat *w, const fake_mat *a, int64_t r1, int64_t c1, int64_t r2, int64_t c2);
FUNCTION void nmod_mat_window_clear(fake_mat *w);
FUNCTION void nmod_mat_swap_rows(fake_mat *a, int64_t *perm, int64_t r, int64_t s);
FUNCTION uint64_t *nmod_mat_entry_ptr(const fake_mat *a, int64_t i, int64_t j);
FUNCTION void nmod_mat_mul_classical(fake_mat *c, const fake_mat *a, const fake_mat *b);
FUNCTION void nmod_mat_mul_strassen(fake_mat *c, const fake_mat *a, const fake_mat *b);
FUNCTION void nmod_mat_mul(fake_mat *c, const fake_mat *a, const fake_mat *b);
FUNCTION void nmod_mat_addmul(fake_mat *d, const fake_mat *c, const fake_mat *a, const fake_mat *b);
FUNCTION void nmod_mat_submul(fake_mat *d, const fake_mat *c, const fake_mat *a, const fake_mat *b);
FUNCTION int64_t nmod_mat_lu(int64_t *perm, fake_mat *a, int rank_check);

uint64_t *nmod_mat_entry_ptr(const fake_mat *a, int64_t i, int64_t j)
{
#ifdef FAKE_ROWS
    return a->rows[i] + j;
#else
    return a->entries + i * a->stride + j;
#endif
}

#define ENTRY(a, i, j) (*nmod_mat_entry_ptr(a, i, j))

void nmod_mat_init(fake_mat *a, int64_t r, int64_t c, uint64_t n)
{
    const size_t count = (size_t)(r * c);
    a->entries = count ? calloc(count, sizeof(uint64_t)) : NULL;
    if (count && !a->entries)
        abort();
#ifdef FAKE_ROWS
    a->rows = r ? calloc((size_t)r, sizeof(uint64_t *)) : NULL;
    if (r && !a->rows)
        abort();
    for (int64_t i = 0; i < r && a->entries; i++)
        a->rows[i] = a->entries + i * c;
#else
    a->stride = c;
#endif
    a->r = r;
    a->c = c;
    a->n = n;
    a->ninv = 0;
    a->norm = (uint64_t)__builtin_clzll(n);
}

void nmod_mat_clear(fake_mat *a)
{
    free(a->entries);
#ifdef FAKE_ROWS
    free(a->rows);
#endif
}

void nmod_mat_one(fake_mat *a)
{
    for (int64_t i = 0; i < a->r; i++)
        for (int64_t j = 0; j < a->c; j++)
            ENTRY(a, i, j) = i == j ? 1 % a->n : 0;
}

void nmod_mat_transpose(fake_mat *b, const fake_mat *a)
{
    for (int64_t i = 0; i < a->r; i++)
        for (int64_t j = 0; j < a->c; j++)
            ENTRY(b, j, i) = ENTRY(a, i, j);
}

void nmod_mat_window_init(fake_mat *w, const fake_mat *a, int64_t r1, int64_t c1, int64_t r2, int64_t c2)
{
    *w = *a;
    w->r = r2 - r1;
    w->c = c2 - c1;
#ifdef FAKE_ROWS
    w->entries = NULL;
    w->rows = w->r ? calloc((size_t)w->r, sizeof(uint64_t *)) : NULL;
    if (w->r && !w->rows)
        abort();
    for (int64_t i = 0; i < w->r; i++)
        w->rows[i] = a->rows[r1 + i] + c1;
#else
    w->entries = a->entries + r1 * a->stride + c1;
#endif
}

void nmod_mat_window_clear(fake_mat *w)
{
#ifdef FAKE_ROWS
    free(w->rows);
#else
    (void)w;
#endif
}

void nmod_mat_swap_rows(fake_mat *a, int64_t *perm, int64_t r, int64_t s)
{
    if (perm) {
        const int64_t p = perm[r];
        perm[r] = perm[s];
        perm[s] = p;
    }
#ifdef FAKE_ROWS
    uint64_t *row = a->rows[r];
    a->rows[r] = a->rows[s];
    a->rows[s] = row;
#else
    for (int64_t j = 0; j < a->c; j++) {
        const uint64_t x = ENTRY(a, r, j);
        ENTRY(a, r, j) = ENTRY(a, s, j);
        ENTRY(a, s, j) = x;
    }
#endif
}

void nmod_mat_mul_classical(fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    for (int64_t i = 0; i < a->r; i++)
        for (int64_t j = 0; j < b->c; j++) {
            unsigned __int128 sum = 0;
            for (int64_t l = 0; l < a->c; l++)
                sum = (sum + (unsigned __int128)ENTRY(a, i, l) * ENTRY(b, l, j) % a->n) % a->n;
            ENTRY(c, i, j) = (uint64_t)sum;
        }
}

/* Not Strassen's formulas but the calls that they make: products of windows, through the PLT. */
void nmod_mat_mul_strassen(fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    const int64_t m = a->r / 2;
    const int64_t k = a->c / 2;
    for (int half = 0; half < 2; half++) {
        fake_mat ci, a0, a1, b0, b1;
        const int64_t first = half ? m : 0;
        const int64_t last = half ? a->r : m;
        nmod_mat_window_init(&ci, c, first, 0, last, b->c);
        nmod_mat_window_init(&a0, a, first, 0, last, k);
        nmod_mat_window_init(&a1, a, first, k, last, a->c);
        nmod_mat_window_init(&b0, b, 0, 0, k, b->c);
        nmod_mat_window_init(&b1, b, k, 0, b->r, b->c);
        nmod_mat_mul(&ci, &a0, &b0);
        nmod_mat_addmul(&ci, &ci, &a1, &b1);
        nmod_mat_window_clear(&ci);
        nmod_mat_window_clear(&a0);
        nmod_mat_window_clear(&a1);
        nmod_mat_window_clear(&b0);
        nmod_mat_window_clear(&b1);
    }
}

static void probe(_Atomic int64_t *count)
{
    ++*count;
    if (fakeflint_probe.inside)
        fakeflint_probe.inside();
}

static void copy(fake_mat *to, const fake_mat *from)
{
    for (int64_t i = 0; i < to->r; i++)
        for (int64_t j = 0; j < to->c; j++)
            ENTRY(to, i, j) = ENTRY(from, i, j);
}

void nmod_mat_mul(fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    probe(&fakeflint_probe.mul);
    if (c == a || c == b) {
        fake_mat t;
        nmod_mat_init(&t, a->r, b->c, a->n);
        nmod_mat_mul(&t, a, b);
        copy(c, &t);
        nmod_mat_clear(&t);
    } else if (a->r < RECURSE_FROM || a->c < RECURSE_FROM || b->c < RECURSE_FROM) {
        nmod_mat_mul_classical(c, a, b);
    } else {
        nmod_mat_mul_strassen(c, a, b);
    }
}

static void combine(fake_mat *d, const fake_mat *c, const fake_mat *a, const fake_mat *b, int subtract)
{
    fake_mat t;
    nmod_mat_init(&t, a->r, b->c, a->n);
    nmod_mat_mul(&t, a, b);
    for (int64_t i = 0; i < d->r; i++)
        for (int64_t j = 0; j < d->c; j++) {
            const uint64_t x = ENTRY(&t, i, j);
            const uint64_t y = subtract && x ? a->n - x : x;
            ENTRY(d, i, j) = (uint64_t)(((unsigned __int128)ENTRY(c, i, j) + y) % a->n);
        }
    nmod_mat_clear(&t);
}

void nmod_mat_addmul(fake_mat *d, const fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    probe(&fakeflint_probe.addmul);
    combine(d, c, a, b, 0);
}

void nmod_mat_submul(fake_mat *d, const fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    probe(&fakeflint_probe.submul);
    combine(d, c, a, b, 1);
}

/* Not a decomposition: the update of the lower right quarter, which is the product that one makes. */
int64_t nmod_mat_lu(int64_t *perm, fake_mat *a, int rank_check)
{
    fake_mat corner, left, top;
    const int64_t r = a->r / 2;
    const int64_t c = a->c / 2;
    (void)perm;
    (void)rank_check;
    nmod_mat_window_init(&corner, a, r, c, a->r, a->c);
    nmod_mat_window_init(&left, a, r, 0, a->r, c);
    nmod_mat_window_init(&top, a, 0, c, c, a->c);
    nmod_mat_submul(&corner, &corner, &left, &top);
    nmod_mat_window_clear(&corner);
    nmod_mat_window_clear(&left);
    nmod_mat_window_clear(&top);
    return r;
}
