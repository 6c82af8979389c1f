/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tile.h"

#include "product_winograd.h"

nmodgpu_matrix nmodgpu_words_matrix(const nmodgpu_plan *plan, int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){
        .representation = NMODGPU_WORDS,
        .rows = rows,
        .cols = cols,
        .modulus = plan->modulus,
        .element_bytes = nmodgpu_plan_word_bytes(plan),
        .planes = 1,
    };
}

nmodgpu_matrix nmodgpu_planes_matrix(const nmodgpu_plan *plan, nmodgpu_side side, int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){
        .representation = NMODGPU_PLANES,
        .rows = rows,
        .cols = cols,
        .modulus = plan->modulus,
        .element_bytes = plan->number == NMODGPU_F64 ? 8 : 1,
        .planes = side == NMODGPU_LEFT ? plan->left.planes : plan->right.planes,
        .side = side,
        .plan = plan,
    };
}

nmodgpu_matrix nmodgpu_sums_matrix(const nmodgpu_plan *plan, int64_t rows, int64_t cols)
{
    return (nmodgpu_matrix){
        .representation = NMODGPU_SUMS,
        .rows = rows,
        .cols = cols,
        .modulus = plan->modulus,
        .element_bytes = plan->sum_bytes,
        .planes = plan->sums,
        .plan = plan,
    };
}

static uint64_t larger(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/** Follows product.c: words live only from import to prepare; kept operands are prepared before the tile's
 *  sums and result are there, others while they are. */
static uint64_t peak_bytes(const nmodgpu_backend *backend, const nmodgpu_plan *plan, const nmodgpu_tiling *t)
{
    const int64_t left_rows = t->keep_left ? plan->m : t->m, left_cols = t->keep_left ? plan->k : t->k;
    const int64_t right_rows = t->keep_right ? plan->k : t->k, right_cols = t->keep_right ? plan->n : t->n;
    const nmodgpu_matrix left = nmodgpu_planes_matrix(plan, NMODGPU_LEFT, left_rows, left_cols);
    const nmodgpu_matrix right = nmodgpu_planes_matrix(plan, NMODGPU_RIGHT, right_rows, right_cols);
    const nmodgpu_matrix left_words = nmodgpu_words_matrix(plan, left_rows, left_cols);
    const nmodgpu_matrix right_words = nmodgpu_words_matrix(plan, right_rows, right_cols);
    const nmodgpu_matrix sums = nmodgpu_sums_matrix(plan, t->m, t->n);
    const nmodgpu_matrix result = nmodgpu_words_matrix(plan, t->m, t->n);
    const uint64_t left_import = backend->matrix_bytes(&left_words);
    const uint64_t right_import = backend->matrix_bytes(&right_words);
    const uint64_t before = larger(t->keep_left ? left_import : 0, t->keep_right ? right_import : 0);
    const uint64_t during = larger(t->keep_left ? 0 : left_import, t->keep_right ? 0 : right_import);
    return backend->matrix_bytes(&left) + backend->matrix_bytes(&right) +
           larger(before, during + backend->matrix_bytes(&sums) + backend->matrix_bytes(&result));
}

uint64_t nmodgpu_untiled_bytes(const nmodgpu_backend *backend, const nmodgpu_plan *plan)
{
    if (plan->winograd)
        return nmodgpu_winograd_bytes(backend, plan);
    const nmodgpu_tiling whole = {plan->m, plan->k, plan->n, true, true, 0};
    return peak_bytes(backend, plan, &whole);
}

/** Half, in multiples of 64 that suit every kernel's tiles; at least `least`. */
static int64_t halved(int64_t size, int64_t least)
{
    int64_t half = size / 2;
    if (half > 64)
        half = (half + 63) / 64 * 64;
    return half > least ? half : least;
}

/** Halves the longest of those dimensions that are above their least; false when none is. */
static bool shrink(nmodgpu_tiling *t, int64_t least_m, int64_t least_k, int64_t least_n)
{
    const bool m = t->m > least_m, k = t->k > least_k, n = t->n > least_n;
    if (!m && !k && !n)
        return false;
    /* Shorter panels cost reductions only, smaller tiles cost copies: panels first. */
    if (k)
        t->k = halved(t->k, least_k);
    else if (m && (!n || t->m >= t->n))
        t->m = halved(t->m, least_m);
    else
        t->n = halved(t->n, least_n);
    return true;
}

/** Shrinks until it fits; false when that takes less than the least sizes. */
static bool fit(nmodgpu_tiling *t, const nmodgpu_backend *backend, const nmodgpu_plan *plan, uint64_t limit_bytes,
                int64_t least, int64_t least_inner)
{
    if (t->keep_left || t->keep_right)
        least_inner = plan->k;
    while ((t->bytes = peak_bytes(backend, plan, t)) > limit_bytes)
        if (!shrink(t, least, least_inner, least))
            return false;
    return true;
}

/** Equal tiles instead of full ones and a rest. */
static int64_t evened(int64_t total, int64_t tile)
{
    const int64_t parts = (total + tile - 1) / tile;
    int64_t even = (total + parts - 1) / parts;
    if (even > 64)
        even = (even + 63) / 64 * 64;
    return even < tile ? even : tile;
}

/* Below 512 rows or columns a GEMM no longer hides its own loads: shorter sides are tried when nothing else
 * fits, and below 16 giving up is better.  Panels four times as long keep the reductions between them cheap. */
enum { GOOD_TILE = 512, LEAST_TILE = 16, PANEL_TILES = 4 };

nmodgpu_status nmodgpu_tiling_choose(nmodgpu_tiling *tiling, const nmodgpu_backend *backend,
                                     const nmodgpu_plan *plan, uint64_t limit_bytes)
{
    const bool left_smaller = plan->m <= plan->n;
    const struct {
        bool left, right;
    } kept[] = {{true, true}, {left_smaller, !left_smaller}, {!left_smaller, left_smaller}, {false, false}};
    for (int64_t least = GOOD_TILE; least >= LEAST_TILE; least /= 2)
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            *tiling = (nmodgpu_tiling){plan->m, plan->k, plan->n, kept[i].left, kept[i].right, 0};
            if (!fit(tiling, backend, plan, limit_bytes, least, PANEL_TILES * least))
                continue;
            tiling->m = evened(plan->m, tiling->m);
            tiling->k = evened(plan->k, tiling->k);
            tiling->n = evened(plan->n, tiling->n);
            return NMODGPU_OK;
        }
    return NMODGPU_ENOMEM;
}
