/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "operands.h"

#include <check.h>
#include <stdlib.h>

#include "support.h"

operand make_operand(const fake_api *api, int64_t rows, int64_t cols, uint64_t n)
{
    operand x = {.window = test_below(2) && rows > 0 && cols > 0};
    if (!x.window) {
        x.whole = x.used = fake_random(api, rows, cols, n);
    } else {
        const int64_t top = (int64_t)test_below(3);
        const int64_t left = (int64_t)test_below(3);
        x.whole = fake_random(api, rows + top + 2, cols + left + 1, n);
        api->window_init(&x.used, &x.whole, top, left, top + rows, left + cols);
    }
    for (int i = 0; i < 3 && rows > 0; i++)
        api->swap_rows(&x.used, NULL, (int64_t)test_below((uint64_t)rows), (int64_t)test_below((uint64_t)rows));
    return x;
}

void free_operand(const fake_api *api, operand *x)
{
    if (x->window)
        api->window_clear(&x->used);
    api->clear(&x->whole);
}

static uint64_t *contents(const fake_api *api, const fake_mat *a)
{
    uint64_t *copy = malloc(sizeof(uint64_t) * (size_t)(a->r * a->c + 1));
    ck_assert(copy != NULL);
    for (int64_t i = 0; i < a->r; i++)
        for (int64_t j = 0; j < a->c; j++)
            copy[i * a->c + j] = *api->entry(a, i, j);
    return copy;
}

void check_product(const fake_api *api, int op, fake_mat *d, const fake_mat *c, const fake_mat *a,
                   const fake_mat *b)
{
    uint64_t *ca = contents(api, a);
    uint64_t *cb = contents(api, b);
    uint64_t *cc = contents(api, c);
    uint64_t *want = calloc((size_t)(d->r * d->c + 1), sizeof *want);
    ck_assert(want != NULL);
    test_product(want, d->c, op ? cc : NULL, d->c, op == 2 ? -1 : 1, ca, a->c, cb, b->c, a->r, a->c, b->c, a->n);
    if (op == 0)
        api->mul(d, a, b);
    else
        (op == 1 ? api->addmul : api->submul)(d, c, a, b);
    for (int64_t i = 0; i < d->r; i++)
        for (int64_t j = 0; j < d->c; j++)
            ck_assert_msg(*api->entry(d, i, j) == want[i * d->c + j], "op %d, %ld x %ld x %ld mod %lu, (%ld, %ld)",
                          op, a->r, a->c, b->c, a->n, i, j);
    free(ca);
    free(cb);
    free(cc);
    free(want);
}
