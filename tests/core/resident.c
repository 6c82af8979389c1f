/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Prepared operands by themselves, through the backend interface.
 */
#include <check.h>
#include <stdlib.h>

#include "cases.h"
#include "host_matrix.h"
#include "matrices.h"
#include "reference_backend.h"
#include "tile.h"

typedef struct resident {
    nmodgpu_queue *queue;
    const nmodgpu_plan *plan;
} resident;

static nmodgpu_matrix prepared(const resident *r, nmodgpu_side side, const nmodgpu_view *view)
{
    const nmodgpu_matrix host = nmodgpu_host_matrix(view, r->plan->modulus);
    nmodgpu_matrix words = nmodgpu_words_matrix(r->plan, view->rows, view->cols);
    nmodgpu_matrix planes = nmodgpu_planes_matrix(r->plan, side, view->rows, view->cols);
    ck_assert_int_eq(reference_backend.matrix_alloc(r->queue, &words), NMODGPU_OK);
    ck_assert_int_eq(reference_backend.matrix_alloc(r->queue, &planes), NMODGPU_OK);
    ck_assert_int_eq(reference_backend.import_words(r->queue, &words, &host), NMODGPU_OK);
    ck_assert_int_eq(reference_backend.prepare(r->queue, &planes, &words), NMODGPU_OK);
    reference_backend.matrix_free(r->queue, &words);
    return planes;
}

/** D = left * right for prepared operands or windows, compared with the expected entries. */
static void multiply_prepared(const resident *r, const nmodgpu_matrix *left, const nmodgpu_matrix *right,
                              const nmodgpu_view *a, const nmodgpu_view *b)
{
    test_matrix d = test_matrix_make(left->rows, right->cols, TEST_PADDED);
    const nmodgpu_matrix host = nmodgpu_host_matrix(&d.view, r->plan->modulus);
    nmodgpu_matrix sums = nmodgpu_sums_matrix(r->plan, left->rows, right->cols);
    nmodgpu_matrix acc = nmodgpu_words_matrix(r->plan, left->rows, right->cols);
    uint64_t *expected = test_expected(NMODGPU_MUL, NULL, a, b, r->plan->modulus);
    ck_assert_int_eq(reference_backend.matrix_alloc(r->queue, &sums), NMODGPU_OK);
    ck_assert_int_eq(reference_backend.matrix_alloc(r->queue, &acc), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_product_steps(&reference_backend, r->queue, &acc, false, 1, &sums, left, right),
                     NMODGPU_OK);
    ck_assert_int_eq(reference_backend.export_words(r->queue, &host, &acc), NMODGPU_OK);
    ck_assert_int_eq(reference_backend.wait(r->queue, NULL), NMODGPU_OK);
    test_compare(&d.view, expected, r->plan->name);
    reference_backend.matrix_free(r->queue, &sums);
    reference_backend.matrix_free(r->queue, &acc);
    test_matrix_free(&d);
    free(expected);
}

static nmodgpu_view part(const nmodgpu_view *v, int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    return (nmodgpu_view){r1 - r0, c1 - c0, v->stride, v->data + r0 * v->stride + c0, NULL};
}

START_TEST(a_prepared_operand_serves_several_products_and_windows)
{
    for (int i = 0; i < 30; i++) {
        const nmodgpu_plan plan = core_random_plan(core_random_modulus(), 40, 50, 30);
        resident r = {.plan = &plan};
        ck_assert_int_eq(reference_backend.queue_open(0, &r.queue), NMODGPU_OK);
        test_matrix a = test_matrix_make(40, 50, TEST_PADDED);
        test_view_fill(&a.view, plan.modulus);
        nmodgpu_matrix left = prepared(&r, NMODGPU_LEFT, &a.view);
        for (int other = 0; other < 3; other++) {
            test_matrix b = test_matrix_make(50, 30, TEST_PADDED);
            test_view_fill(&b.view, plan.modulus);
            nmodgpu_matrix right = prepared(&r, NMODGPU_RIGHT, &b.view);
            multiply_prepared(&r, &left, &right, &a.view, &b.view);
            const int64_t r0 = (int64_t)test_below(40), k0 = (int64_t)test_below(50), c0 = (int64_t)test_below(30);
            const nmodgpu_matrix l = nmodgpu_matrix_window(&left, r0, 40, k0, 50);
            const nmodgpu_matrix w = nmodgpu_matrix_window(&right, k0, 50, 0, c0 + 1);
            const nmodgpu_view va = part(&a.view, r0, 40, k0, 50), vb = part(&b.view, k0, 50, 0, c0 + 1);
            multiply_prepared(&r, &l, &w, &va, &vb);
            reference_backend.matrix_free(r.queue, &right);
            test_matrix_free(&b);
        }
        reference_backend.matrix_free(r.queue, &left);
        reference_backend.queue_close(r.queue, false);
        test_matrix_free(&a);
        core_check_tidy();
    }
}
END_TEST

TCase *core_resident_cases(void)
{
    TCase *cases = core_case("resident");
    tcase_add_test(cases, a_prepared_operand_serves_several_products_and_windows);
    return cases;
}
