/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "product.h"

#include <stdlib.h>

#include "host_matrix.h"
#include "log.h"
#include "product_winograd.h"
#include "schedule.h"
#include "stream.h"
#include "tile.h"

/** One operand: where it comes from, and the block of it that is prepared. */
typedef struct operand {
    nmodgpu_matrix host;
    nmodgpu_matrix planes;
    bool loaded;
    int64_t row, col; /**< the prepared block's place */
} operand;

typedef struct run {
    const nmodgpu_backend *backend;
    const nmodgpu_plan *plan;
    nmodgpu_queue *queue;
    nmodgpu_op op;
    nmodgpu_tiling tiling;
    operand left, right;
    nmodgpu_matrix words; /**< between import and prepare */
    nmodgpu_matrix sums;
    nmodgpu_matrix acc; /**< the tile of D, words */
    nmodgpu_matrix host_c;
    nmodgpu_matrix out; /**< host: D or what is copied to it in the end */
} run;

/** Makes a matrix have this shape; keeps its memory where it has it already. */
static nmodgpu_status shape(run *r, nmodgpu_matrix *matrix, int64_t rows, int64_t cols)
{
    if (matrix->data && matrix->rows == rows && matrix->cols == cols)
        return NMODGPU_OK;
    r->backend->matrix_free(r->queue, matrix);
    matrix->rows = rows;
    matrix->cols = cols;
    return r->backend->matrix_alloc(r->queue, matrix);
}

/** words <- rows [i, i + rows), columns [j, j + cols) of a host matrix. */
static nmodgpu_status import(run *r, nmodgpu_matrix *words, const nmodgpu_matrix *host, int64_t i, int64_t j,
                             int64_t rows, int64_t cols)
{
    const nmodgpu_matrix from = nmodgpu_matrix_window(host, i, i + rows, j, j + cols);
    const nmodgpu_status status = shape(r, words, rows, cols);
    return status == NMODGPU_OK ? nmodgpu_stream_import(r->backend, r->queue, words, &from) : status;
}

/** Planes of that block from r->words. */
static nmodgpu_status prepare(run *r, operand *o, int64_t row, int64_t col)
{
    o->loaded = false;
    nmodgpu_status status = shape(r, &o->planes, r->words.rows, r->words.cols);
    if (status == NMODGPU_OK)
        status = r->backend->prepare(r->queue, &o->planes, &r->words);
    o->loaded = status == NMODGPU_OK;
    o->row = row;
    o->col = col;
    return status;
}

/** Has the block of rows x cols entries at (row, col) prepared, if it is not yet. */
static nmodgpu_status load(run *r, operand *o, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    if (o->loaded && o->row == row && o->col == col && o->planes.rows == rows && o->planes.cols == cols)
        return NMODGPU_OK;
    nmodgpu_status status = import(r, &r->words, &o->host, row, col, rows, cols);
    if (status == NMODGPU_OK)
        status = prepare(r, o, row, col);
    r->backend->matrix_free(r->queue, &r->words);
    return status;
}

/** A * A: one import serves both sides. */
static nmodgpu_status load_square(run *r)
{
    nmodgpu_status status = import(r, &r->words, &r->left.host, 0, 0, r->plan->m, r->plan->k);
    if (status == NMODGPU_OK)
        status = prepare(r, &r->left, 0, 0);
    if (status == NMODGPU_OK)
        status = prepare(r, &r->right, 0, 0);
    r->backend->matrix_free(r->queue, &r->words);
    return status;
}

static nmodgpu_status load_kept(run *r, bool square)
{
    const nmodgpu_plan *plan = r->plan;
    if (square && r->tiling.keep_left && r->tiling.keep_right)
        return load_square(r);
    nmodgpu_status status = NMODGPU_OK;
    if (r->tiling.keep_left)
        status = load(r, &r->left, 0, 0, plan->m, plan->k);
    if (status == NMODGPU_OK && r->tiling.keep_right)
        status = load(r, &r->right, 0, 0, plan->k, plan->n);
    return status;
}

nmodgpu_status nmodgpu_product_steps(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *acc,
                                     bool has_base, int sign, nmodgpu_matrix *sums, const nmodgpu_matrix *left,
                                     const nmodgpu_matrix *right)
{
    nmodgpu_schedule schedule;
    nmodgpu_schedule_begin(&schedule, sums->plan, left->cols);
    for (;;) {
        const nmodgpu_step step = nmodgpu_schedule_next(&schedule);
        nmodgpu_status status;
        if (step.kind == NMODGPU_STEP_END)
            return NMODGPU_OK;
        if (step.kind == NMODGPU_STEP_MULTIPLY) {
            const nmodgpu_matrix l = nmodgpu_matrix_window(left, 0, left->rows, step.k0, step.k1);
            const nmodgpu_matrix r = nmodgpu_matrix_window(right, step.k0, step.k1, 0, right->cols);
            status = backend->multiply_accumulate(queue, sums, step.sum_mask, &l, &r, false);
        } else {
            status = backend->reduce(queue, acc, has_base ? acc : NULL, sign, sums, step.sum_mask);
            has_base = true;
        }
        if (status != NMODGPU_OK)
            return status;
    }
}

/** acc += (or -=) the product of one inner panel, for the tile at (i, j). */
static nmodgpu_status panel(run *r, int64_t i, int64_t j, int64_t l, int64_t length, bool has_base)
{
    const int64_t rows = r->acc.rows, cols = r->acc.cols;
    nmodgpu_status status = NMODGPU_OK;
    if (!r->tiling.keep_left)
        status = load(r, &r->left, i, l, rows, length);
    if (status == NMODGPU_OK && !r->tiling.keep_right)
        status = load(r, &r->right, l, j, length, cols);
    if (status != NMODGPU_OK)
        return status;
    const int64_t i0 = i - r->left.row, l0 = l - r->left.col;
    const int64_t l1 = l - r->right.row, j1 = j - r->right.col;
    const nmodgpu_matrix left = nmodgpu_matrix_window(&r->left.planes, i0, i0 + rows, l0, l0 + length);
    const nmodgpu_matrix right = nmodgpu_matrix_window(&r->right.planes, l1, l1 + length, j1, j1 + cols);
    return nmodgpu_product_steps(r->backend, r->queue, &r->acc, has_base, r->op == NMODGPU_SUBMUL ? -1 : 1,
                                 &r->sums, &left, &right);
}

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static nmodgpu_status tile(run *r, int64_t i, int64_t j)
{
    const int64_t rows = least(r->tiling.m, r->plan->m - i), cols = least(r->tiling.n, r->plan->n - j);
    bool has_base = r->op != NMODGPU_MUL;
    nmodgpu_status status = shape(r, &r->sums, rows, cols);
    if (status == NMODGPU_OK)
        status = has_base ? import(r, &r->acc, &r->host_c, i, j, rows, cols) : shape(r, &r->acc, rows, cols);
    for (int64_t l = 0; l < r->plan->k && status == NMODGPU_OK; l += r->tiling.k) {
        status = panel(r, i, j, l, least(r->tiling.k, r->plan->k - l), has_base);
        has_base = true;
    }
    if (status != NMODGPU_OK)
        return status;
    const nmodgpu_matrix to = nmodgpu_matrix_window(&r->out, i, i + rows, j, j + cols);
    status = nmodgpu_stream_export(r->backend, r->queue, &to, &r->acc);
    return status == NMODGPU_OK ? r->backend->submit(r->queue, NULL) : status;
}

/** With the left operand kept, columns go slowest, so that each panel of the right one is prepared once; else
 *  the other way round. */
static nmodgpu_status all_tiles(run *r)
{
    const int64_t m = r->plan->m, n = r->plan->n;
    nmodgpu_status status = NMODGPU_OK;
    if (r->tiling.keep_left) {
        for (int64_t j = 0; j < n; j += r->tiling.n)
            for (int64_t i = 0; i < m && status == NMODGPU_OK; i += r->tiling.m)
                status = tile(r, i, j);
    } else {
        for (int64_t i = 0; i < m; i += r->tiling.m)
            for (int64_t j = 0; j < n && status == NMODGPU_OK; j += r->tiling.n)
                status = tile(r, i, j);
    }
    return status == NMODGPU_OK ? r->backend->wait(r->queue, NULL) : status;
}

/** Gives everything back.  Closing a failed queue drains it: afterwards nothing touches the caller's memory. */
static void release(run *r, bool failed)
{
    r->backend->matrix_free(r->queue, &r->words);
    r->backend->matrix_free(r->queue, &r->left.planes);
    r->backend->matrix_free(r->queue, &r->right.planes);
    r->backend->matrix_free(r->queue, &r->sums);
    r->backend->matrix_free(r->queue, &r->acc);
    r->backend->queue_close(r->queue, failed);
}

static nmodgpu_status compute_tiles(const nmodgpu_product *product, const nmodgpu_view *out,
                                    const nmodgpu_tiling *tiling)
{
    const nmodgpu_plan *plan = product->plan;
    run r = {
        .backend = product->backend,
        .plan = plan,
        .op = product->op,
        .tiling = *tiling,
        .left = {.host = nmodgpu_host_matrix(product->a, plan->modulus),
                 .planes = nmodgpu_planes_matrix(plan, NMODGPU_LEFT, 0, 0)},
        .right = {.host = nmodgpu_host_matrix(product->b, plan->modulus),
                  .planes = nmodgpu_planes_matrix(plan, NMODGPU_RIGHT, 0, 0)},
        .words = nmodgpu_words_matrix(plan, 0, 0),
        .sums = nmodgpu_sums_matrix(plan, 0, 0),
        .acc = nmodgpu_words_matrix(plan, 0, 0),
        .out = nmodgpu_host_matrix(out, plan->modulus),
    };
    if (product->op != NMODGPU_MUL)
        r.host_c = nmodgpu_host_matrix(product->c, plan->modulus);
    nmodgpu_status status = r.backend->queue_open(product->device, &r.queue);
    if (status != NMODGPU_OK)
        return status;
    status = load_kept(&r, nmodgpu_views_same(product->a, product->b));
    if (status == NMODGPU_OK)
        status = all_tiles(&r);
    release(&r, status != NMODGPU_OK);
    return status;
}

/** The device's part, into the host matrix `out`; in tiles if need be. */
static nmodgpu_status compute(const nmodgpu_product *product, const nmodgpu_view *out)
{
    nmodgpu_tiling tiling;
    if (product->plan->winograd) {
        const bool fits = nmodgpu_winograd_bytes(product->backend, product->plan) <= product->limit_bytes;
        return fits ? nmodgpu_winograd_run(product, out) : NMODGPU_ENOMEM;
    }
    const nmodgpu_status status =
        nmodgpu_tiling_choose(&tiling, product->backend, product->plan, product->limit_bytes);
    if (status != NMODGPU_OK)
        return status;
    if (tiling.m < product->plan->m || tiling.k < product->plan->k || tiling.n < product->plan->n)
        nmodgpu_log(NMODGPU_LOG_DEBUG, NULL, "tiles of %lld x %lld, inner panels of %lld, %llu bytes",
                    (long long)tiling.m, (long long)tiling.n, (long long)tiling.k,
                    (unsigned long long)tiling.bytes);
    return compute_tiles(product, out, &tiling);
}

nmodgpu_status nmodgpu_product_run(const nmodgpu_product *product)
{
    if (!nmodgpu_needs_staging(product->d, product->c, product->a, product->b))
        return compute(product, product->d);
    nmodgpu_view staging;
    if (!nmodgpu_staging_alloc(&staging, product->d->rows, product->d->cols))
        return NMODGPU_ENOMEM;
    const nmodgpu_status status = compute(product, &staging);
    if (status == NMODGPU_OK)
        nmodgpu_view_copy(product->d, &staging);
    free(staging.data);
    return status;
}
