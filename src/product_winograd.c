/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "product_winograd.h"

#include "exact/winograd.h"
#include "host_matrix.h"
#include "stream.h"
#include "tile.h"

enum { PRODUCTS = NMODGPU_WINOGRAD_PRODUCTS };

/** What one block of the inner dimension takes. */
typedef struct parts {
    nmodgpu_matrix left[PRODUCTS], right[PRODUCTS], sums[PRODUCTS];
} parts;

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/** Descriptors of the parts, without memory, for inner blocks of that length. */
static parts describe(const nmodgpu_plan *plan, int64_t m, int64_t k, int64_t n)
{
    const int64_t rows = nmodgpu_winograd_half(m), inner = nmodgpu_winograd_half(k),
                  cols = nmodgpu_winograd_half(n);
    parts x;
    for (int i = 0; i < PRODUCTS; i++) {
        x.left[i] = nmodgpu_planes_matrix(plan, NMODGPU_LEFT, rows, inner);
        x.right[i] = nmodgpu_planes_matrix(plan, NMODGPU_RIGHT, inner, cols);
        x.sums[i] = nmodgpu_sums_matrix(plan, rows, cols);
    }
    return x;
}

static nmodgpu_status take(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *seven)
{
    nmodgpu_status status = NMODGPU_OK;
    for (int i = 0; i < PRODUCTS && status == NMODGPU_OK; i++)
        status = backend->matrix_alloc(queue, &seven[i]);
    return status;
}

static void give(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *seven)
{
    for (int i = 0; i < PRODUCTS; i++)
        backend->matrix_free(queue, &seven[i]);
}

/** The seven products of a block; the sums of each are fresh. */
static nmodgpu_status multiply(const nmodgpu_backend *backend, nmodgpu_queue *queue, parts *x)
{
    const uint64_t all = UINT64_MAX >> (64 - x->sums[0].planes);
    nmodgpu_status status = NMODGPU_OK;
    for (int i = 0; i < PRODUCTS && status == NMODGPU_OK; i++)
        status = backend->multiply_accumulate(queue, &x->sums[i], all, &x->left[i], &x->right[i], false);
    return status;
}

/** One block: left of all rows, right of all columns. */
static nmodgpu_status block(const nmodgpu_backend *backend, nmodgpu_queue *queue, const nmodgpu_plan *plan,
                            nmodgpu_matrix *acc, const nmodgpu_matrix *base, int sign, const nmodgpu_matrix *left,
                            const nmodgpu_matrix *right)
{
    parts x = describe(plan, left->rows, left->cols, right->cols);
    nmodgpu_status status = take(backend, queue, x.left);
    if (status == NMODGPU_OK)
        status = backend->prepare_winograd(queue, x.left, left);
    if (status == NMODGPU_OK)
        status = take(backend, queue, x.right);
    if (status == NMODGPU_OK)
        status = backend->prepare_winograd(queue, x.right, right);
    if (status == NMODGPU_OK)
        status = take(backend, queue, x.sums);
    if (status == NMODGPU_OK)
        status = multiply(backend, queue, &x);
    give(backend, queue, x.left);
    give(backend, queue, x.right);
    if (status == NMODGPU_OK)
        status = backend->reduce_winograd(queue, acc, base, sign, x.sums);
    give(backend, queue, x.sums);
    return status;
}

nmodgpu_status nmodgpu_winograd_steps(const nmodgpu_backend *backend, nmodgpu_queue *queue,
                                      const nmodgpu_plan *plan, nmodgpu_matrix *acc, bool has_base, int sign,
                                      const nmodgpu_matrix *left, const nmodgpu_matrix *right)
{
    const int64_t k = left->cols, step = plan->block[0]; /* of all sums alike */
    nmodgpu_status status = NMODGPU_OK;
    for (int64_t k0 = 0; k0 < k && status == NMODGPU_OK; k0 += step) {
        const int64_t k1 = least(k0 + step, k);
        const nmodgpu_matrix l = nmodgpu_matrix_window(left, 0, left->rows, k0, k1);
        const nmodgpu_matrix r = nmodgpu_matrix_window(right, k0, k1, 0, right->cols);
        status = block(backend, queue, plan, acc, has_base ? acc : NULL, sign, &l, &r);
        has_base = true;
    }
    return status;
}

uint64_t nmodgpu_winograd_bytes(const nmodgpu_backend *backend, const nmodgpu_plan *plan)
{
    const parts x = describe(plan, plan->m, least(plan->k, plan->block[0]), plan->n);
    const nmodgpu_matrix left = nmodgpu_words_matrix(plan, plan->m, plan->k);
    const nmodgpu_matrix right = nmodgpu_words_matrix(plan, plan->k, plan->n);
    const nmodgpu_matrix result = nmodgpu_words_matrix(plan, plan->m, plan->n);
    return PRODUCTS *
               (backend->matrix_bytes(x.left) + backend->matrix_bytes(x.right) + backend->matrix_bytes(x.sums)) +
           backend->matrix_bytes(&left) + backend->matrix_bytes(&right) + backend->matrix_bytes(&result);
}

/* ---- a whole product */

typedef struct run {
    const nmodgpu_product *product;
    nmodgpu_queue *queue;
    nmodgpu_matrix left, right, acc; /**< words */
} run;

static nmodgpu_status import(run *r, nmodgpu_matrix *words, const nmodgpu_view *view)
{
    const nmodgpu_matrix host = nmodgpu_host_matrix(view, r->product->plan->modulus);
    const nmodgpu_status status = r->product->backend->matrix_alloc(r->queue, words);
    return status == NMODGPU_OK ? nmodgpu_stream_import(r->product->backend, r->queue, words, &host) : status;
}

/** A square's operand is imported once. */
static nmodgpu_status load(run *r, const nmodgpu_matrix **right)
{
    const nmodgpu_product *p = r->product;
    const bool square = nmodgpu_views_same(p->a, p->b);
    nmodgpu_status status = import(r, &r->left, p->a);
    *right = square ? &r->left : &r->right;
    if (status == NMODGPU_OK && !square)
        status = import(r, &r->right, p->b);
    if (status == NMODGPU_OK)
        status = p->op == NMODGPU_MUL ? p->backend->matrix_alloc(r->queue, &r->acc) : import(r, &r->acc, p->c);
    return status;
}

static nmodgpu_status compute(run *r, const nmodgpu_view *out)
{
    const nmodgpu_product *p = r->product;
    const nmodgpu_matrix *right, to = nmodgpu_host_matrix(out, p->plan->modulus);
    nmodgpu_status status = load(r, &right);
    if (status == NMODGPU_OK)
        status = nmodgpu_winograd_steps(p->backend, r->queue, p->plan, &r->acc, p->op != NMODGPU_MUL,
                                        p->op == NMODGPU_SUBMUL ? -1 : 1, &r->left, right);
    if (status == NMODGPU_OK)
        status = nmodgpu_stream_export(p->backend, r->queue, &to, &r->acc);
    return status == NMODGPU_OK ? p->backend->wait(r->queue, NULL) : status;
}

nmodgpu_status nmodgpu_winograd_run(const nmodgpu_product *product, const nmodgpu_view *out)
{
    const nmodgpu_plan *plan = product->plan;
    run r = {
        .product = product,
        .left = nmodgpu_words_matrix(plan, plan->m, plan->k),
        .right = nmodgpu_words_matrix(plan, plan->k, plan->n),
        .acc = nmodgpu_words_matrix(plan, plan->m, plan->n),
    };
    nmodgpu_status status = product->backend->queue_open(product->device, &r.queue);
    if (status != NMODGPU_OK)
        return status;
    status = compute(&r, out);
    product->backend->matrix_free(r.queue, &r.left);
    product->backend->matrix_free(r.queue, &r.right);
    product->backend->matrix_free(r.queue, &r.acc);
    product->backend->queue_close(r.queue, status != NMODGPU_OK);
    return status;
}
