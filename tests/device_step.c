/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "device_step.h"

#include <string.h>

#include "support.h"

enum { PRODUCTS = NMODGPU_WINOGRAD_PRODUCTS, POISON = 0xa5 };

bool step_plan(nmodgpu_plan *plan, nmodgpu_i8_kind kind, uint64_t p, int64_t m, int64_t k, int64_t n)
{
    const bool found = nmodgpu_i8_plan(plan, kind, p, m, k, n);
    plan->winograd = 1;
    return found;
}

/** Fills device memory, however it came to be and whatever it is for. */
static void poison(nmodgpu_queue *queue, const nmodgpu_matrix *x)
{
    const int64_t words = (int64_t)(device->matrix_bytes(x) / 8);
    nmodgpu_matrix all = harness_words(UINT64_MAX, 1, words, 8);
    host_case h = harness_host(1, words, UINT64_MAX, TEST_ZERO, LAYOUT_DENSE);
    memset(h.memory, POISON, (size_t)words * 8);
    all.data = x->data;
    all.device = x->device;
    all.stride = words;
    OK(device->import_words(queue, &all, &h.view));
    OK(device->wait(queue, NULL));
    harness_host_free(&h);
}

void step_make_seven(nmodgpu_queue *queue, nmodgpu_matrix *seven, const nmodgpu_matrix *like)
{
    for (int z = 0; z < PRODUCTS; z++) {
        seven[z] = *like;
        OK(device->matrix_alloc(queue, &seven[z]));
        poison(queue, &seven[z]);
    }
}

void step_free_seven(nmodgpu_queue *queue, nmodgpu_matrix *seven)
{
    for (int z = 0; z < PRODUCTS; z++)
        device->matrix_free(queue, &seven[z]);
}

/** Any width that the engine's words modulo p have. */
static uint32_t any_width(uint64_t p)
{
    uint32_t bytes = i8_width(p);
    while (bytes < 8 && test_below(2))
        bytes *= 2;
    return bytes;
}

void step_open(step *x, const nmodgpu_plan *plan, int64_t m, int64_t k, int64_t n, int patterns)
{
    const uint64_t p = plan->modulus;
    *x = (step){.plan = *plan, .m = m, .k = k, .n = n, .shift = (int64_t)test_below(2)};
    x->a_bytes = any_width(p);
    x->b_bytes = any_width(p);
    x->base_bytes = any_width(p);
    x->out_bytes = any_width(p);
    x->a = harness_host(m, k, p, patterns % TEST_PATTERNS, LAYOUT_DENSE);
    x->b = harness_host(k, n, p, patterns / TEST_PATTERNS, LAYOUT_STRIDE);
    x->c = harness_host(m, n, p, TEST_UNIFORM, LAYOUT_DENSE);
    OK(device->queue_open(0, &x->queue));
}

void step_close(step *x)
{
    device->queue_close(x->queue, false);
    harness_host_free(&x->a);
    harness_host_free(&x->b);
    harness_host_free(&x->c);
}

nmodgpu_matrix step_words(const step *x, nmodgpu_matrix *whole, const host_case *h, uint32_t bytes)
{
    const uint64_t p = x->plan.modulus;
    const int64_t rows = h->rows, cols = h->cols;
    *whole = harness_words(p, rows + 2 * x->shift, cols + 2 * x->shift, bytes);
    OK(device->matrix_alloc(x->queue, whole));
    host_case around = harness_host(whole->rows, whole->cols, p, TEST_ALL_MINUS_ONE, LAYOUT_DENSE);
    OK(device->import_words(x->queue, whole, &around.view));
    OK(device->wait(x->queue, NULL));
    harness_host_free(&around);
    nmodgpu_matrix w = nmodgpu_matrix_window(whole, x->shift, x->shift + rows, x->shift, x->shift + cols);
    OK(device->import_words(x->queue, &w, &h->view));
    return w;
}

void step_prepare(step *x, nmodgpu_side side, int64_t k0, int64_t k1)
{
    const bool right = side == NMODGPU_RIGHT;
    nmodgpu_matrix whole;
    const nmodgpu_matrix all = step_words(x, &whole, right ? &x->b : &x->a, right ? x->b_bytes : x->a_bytes);
    const nmodgpu_matrix words =
        right ? nmodgpu_matrix_window(&all, k0, k1, 0, x->n) : nmodgpu_matrix_window(&all, 0, x->m, k0, k1);
    const nmodgpu_matrix like =
        harness_planes(&x->plan, side, nmodgpu_winograd_half(words.rows), nmodgpu_winograd_half(words.cols));
    step_make_seven(x->queue, right ? x->right : x->left, &like);
    OK(device->prepare_winograd(x->queue, right ? x->right : x->left, &words));
    device->matrix_free(x->queue, &whole);
}

void step_multiply(step *x)
{
    const uint64_t all = (1ULL << x->plan.sums) - 1;
    const nmodgpu_matrix like = harness_sums(&x->plan, nmodgpu_winograd_half(x->m), nmodgpu_winograd_half(x->n));
    step_make_seven(x->queue, x->sums, &like);
    for (int z = 0; z < PRODUCTS; z++)
        OK(device->multiply_accumulate(x->queue, &x->sums[z], all, &x->left[z], &x->right[z], false));
}
