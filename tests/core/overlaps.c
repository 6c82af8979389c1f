/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Results that overlap operands, and failures: what the caller needs stays as it was.
 */
#include <check.h>
#include <stdlib.h>

#include "cases.h"
#include "host_matrix.h"
#include "matrices.h"
#include "reference_backend.h"

/** A window of a parent matrix, at random, in either layout. */
static nmodgpu_view window(const nmodgpu_view *parent, uint64_t **table, int64_t rows, int64_t cols)
{
    const int64_t r = (int64_t)test_below((uint64_t)(parent->rows - rows) + 1);
    const int64_t c = (int64_t)test_below((uint64_t)(parent->cols - cols) + 1);
    nmodgpu_view w = {.rows = rows, .cols = cols, .stride = parent->stride};
    w.data = parent->data + r * parent->stride + c;
    if (!table)
        return w;
    for (int64_t i = 0; i < rows; i++) /* upwards or downwards */
        table[i] = w.data + (r & 1 ? i : rows - 1 - i) * parent->stride;
    w.row_table = table;
    return w;
}

static uint64_t **table_or_none(uint64_t **table)
{
    return test_below(2) ? table : NULL;
}

typedef struct tangle {
    test_matrix parent;
    uint64_t *table[4][64];
    nmodgpu_view a, b, c, d;
    uint64_t *expected, *before;
    nmodgpu_op op;
    nmodgpu_plan plan;
    bool overlap;
} tangle;

/** Operands and result all over each other in one parent; now and then the very same. */
static void tangle_make(tangle *t, int64_t size)
{
    const int64_t m = 1 + (int64_t)test_below((uint64_t)size), k = test_below(2) ? m : 1 + (int64_t)test_below(20);
    const int64_t n = test_below(2) ? m : 1 + (int64_t)test_below((uint64_t)size);
    const uint64_t p = core_random_modulus();
    t->op = (nmodgpu_op)test_below(3);
    t->plan = core_random_plan(p, m, k, n);
    t->parent = test_matrix_make(45, 45, TEST_PADDED);
    test_view_fill(&t->parent.view, p);
    t->a = window(&t->parent.view, table_or_none(t->table[0]), m, k);
    t->b = window(&t->parent.view, table_or_none(t->table[1]), k, n);
    t->c = window(&t->parent.view, table_or_none(t->table[2]), m, n);
    t->d = window(&t->parent.view, table_or_none(t->table[3]), m, n);
    if (test_below(3) == 0 && k == n)
        t->d = t->a;
    else if (test_below(3) == 0 && k == m)
        t->d = t->b;
    else if (test_below(3) == 0)
        t->d = t->c;
    if (test_below(3) == 0 && m == k && k == n)
        t->b = t->a;
    t->expected = test_expected(t->op, &t->c, &t->a, &t->b, p);
    t->before = test_view_dense(&t->parent.view);
    t->overlap = nmodgpu_needs_staging(&t->d, t->op == NMODGPU_MUL ? NULL : &t->c, &t->a, &t->b);
}

static void tangle_free(tangle *t)
{
    test_matrix_free(&t->parent);
    free(t->expected);
    free(t->before);
}

static nmodgpu_status tangle_run(const tangle *t, uint64_t limit_bytes)
{
    nmodgpu_product product = core_product(&t->plan, t->op, &t->d, &t->c, &t->a, &t->b);
    product.limit_bytes = limit_bytes;
    return nmodgpu_product_run(&product);
}

START_TEST(overlapping_operands_count_as_they_were)
{
    for (int i = 0; i < 300; i++) {
        static tangle t;
        tangle_make(&t, 30);
        const uint64_t limit = test_below(2) ? UINT64_MAX : 1 + test_below(40000);
        const nmodgpu_status status = tangle_run(&t, limit);
        ck_assert(status == NMODGPU_OK || (status == NMODGPU_ENOMEM && limit != UINT64_MAX));
        if (status == NMODGPU_OK)
            test_compare(&t.d, t.expected, "overlap");
        else
            test_compare(&t.parent.view, t.before, "out of memory");
        tangle_free(&t);
        core_check_tidy();
    }
}
END_TEST

/** Fails every operation of one product in turn.  An overlapped D is untouched; otherwise the operands are. */
static void fail_everywhere(tangle *t, uint64_t limit)
{
    int64_t at = 0;
    for (nmodgpu_status status = NMODGPU_EBACKEND; status != NMODGPU_OK;) {
        reference_reset();
        reference.fail_at = ++at;
        status = tangle_run(t, limit);
        if (status == NMODGPU_ENOMEM && limit != UINT64_MAX)
            return;
        if (status != NMODGPU_OK) {
            uint64_t *again = test_expected(t->op, &t->c, &t->a, &t->b, t->plan.modulus);
            ck_assert_int_eq(status, NMODGPU_EBACKEND);
            ck_assert_int_eq(reference.queues_failed, at > 1);
            for (int64_t i = 0; i < t->d.rows * t->d.cols; i++)
                ck_assert_uint_eq(again[i], t->expected[i]);
            if (t->overlap)
                test_compare(&t->parent.view, t->before, "failed operation");
            free(again);
        }
        core_check_tidy();
    }
    ck_assert_int_gt(at, 8);
    test_compare(&t->d, t->expected, "after failures");
}

START_TEST(a_failure_at_any_operation_leaves_what_the_caller_needs)
{
    for (int i = 0; i < 40; i++) {
        static tangle t;
        tangle_make(&t, 12);
        fail_everywhere(&t, i % 2 ? UINT64_MAX : 3000 + test_below(10000));
        tangle_free(&t);
    }
}
END_TEST

START_TEST(a_result_with_rows_twice_is_written_from_its_last_row)
{
    const uint64_t p = 101;
    const nmodgpu_plan plan = core_random_plan(p, 3, 2, 4);
    test_matrix a = test_matrix_make(3, 2, TEST_DENSE), b = test_matrix_make(2, 4, TEST_DENSE);
    test_matrix d = test_matrix_make(2, 4, TEST_DENSE);
    uint64_t *twice[3] = {d.view.data, d.view.data + 4, d.view.data};
    const nmodgpu_view result = {.rows = 3, .cols = 4, .row_table = twice};
    test_view_fill(&a.view, p);
    test_view_fill(&b.view, p);
    uint64_t *expected = test_expected(NMODGPU_MUL, NULL, &a.view, &b.view, p);
    const nmodgpu_product product = core_product(&plan, NMODGPU_MUL, &result, NULL, &a.view, &b.view);
    ck_assert(nmodgpu_view_rows_overlap(&result));
    ck_assert_int_eq(nmodgpu_product_run(&product), NMODGPU_OK);
    ck_assert_mem_eq(d.view.data, expected + 8, 4 * sizeof *expected);
    ck_assert_mem_eq(d.view.data + 4, expected + 4, 4 * sizeof *expected);
    test_matrix_free(&a);
    test_matrix_free(&b);
    test_matrix_free(&d);
    free(expected);
    core_check_tidy();
}
END_TEST

/** By marking: does any entry belong to both? */
static bool share_an_entry(const nmodgpu_view *x, const nmodgpu_view *y)
{
    for (int64_t i = 0; i < x->rows && x->cols && y->cols; i++)
        for (int64_t j = 0; j < y->rows; j++) {
            const uint64_t *u = nmodgpu_view_row(x, i), *v = nmodgpu_view_row(y, j);
            if (u < v + y->cols && v < u + x->cols)
                return true;
        }
    return false;
}

START_TEST(overlap_is_never_overlooked_and_exact_for_equal_strides)
{
    static uint64_t memory[4096];
    static uint64_t *tables[2][8];
    int differ = 0, exact = 0;
    for (int i = 0; i < 200000; i++) {
        nmodgpu_view v[2];
        const int64_t stride = 1 + (int64_t)test_below(12);
        for (int s = 0; s < 2; s++) {
            const int64_t own = test_below(4) ? stride : stride + (int64_t)test_below(3);
            v[s] = (nmodgpu_view){(int64_t)test_below(7), (int64_t)test_below((uint64_t)own + 1), own,
                                  memory + 1000 + test_below(60), NULL};
            if (test_below(4))
                continue;
            for (int64_t r = 0; r < v[s].rows; r++)
                tables[s][r] = v[s].data + (test_below(8) ? r : (int64_t)test_below(7)) * own;
            v[s].row_table = tables[s];
        }
        const bool truth = share_an_entry(&v[0], &v[1]), said = nmodgpu_views_overlap(&v[0], &v[1]);
        ck_assert_msg(said || !truth, "overlap overlooked");
        if (!v[0].row_table && !v[1].row_table && v[0].stride == v[1].stride) {
            ck_assert_int_eq(said, truth);
            exact++;
        }
        differ += said != truth;
    }
    ck_assert_int_gt(exact, 1000);
    ck_assert_int_lt(differ, 60000);
}
END_TEST

TCase *core_overlap_cases(void)
{
    TCase *cases = core_case("overlap");
    tcase_add_test(cases, overlapping_operands_count_as_they_were);
    tcase_add_test(cases, a_failure_at_any_operation_leaves_what_the_caller_needs);
    tcase_add_test(cases, a_result_with_rows_twice_is_written_from_its_last_row);
    tcase_add_test(cases, overlap_is_never_overlooked_and_exact_for_equal_strides);
    return cases;
}
