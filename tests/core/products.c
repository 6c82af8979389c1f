/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Products in every shape and layout, and cut to fit the memory.
 */
#include <check.h>
#include <stdlib.h>

#include "cases.h"
#include "matrices.h"
#include "planner.h"
#include "reference_backend.h"
#include "tile.h"

/** A product of separate matrices by this plan with at most limit_bytes; says what the core said. */
static nmodgpu_status try_plan(const nmodgpu_plan *plan, uint64_t limit_bytes)
{
    const int64_t m = plan->m, k = plan->k, n = plan->n;
    const uint64_t p = plan->modulus;
    const nmodgpu_op op = (nmodgpu_op)test_below(3);
    test_matrix a = test_matrix_make(m, k, core_random_layout()), b = test_matrix_make(k, n, core_random_layout());
    test_matrix c = test_matrix_make(m, n, core_random_layout()), d = test_matrix_make(m, n, core_random_layout());
    test_view_fill(&a.view, p);
    test_view_fill(&b.view, p);
    test_view_fill(&c.view, p);
    uint64_t *expected = test_expected(op, &c.view, &a.view, &b.view, p);
    nmodgpu_product product = core_product(plan, op, &d.view, &c.view, &a.view, &b.view);
    product.limit_bytes = limit_bytes;
    atomic_store(&reference.peak_bytes, 0);
    const nmodgpu_status status = nmodgpu_product_run(&product);
    ck_assert_uint_le(reference.peak_bytes, limit_bytes);
    if (status == NMODGPU_OK)
        test_compare(&d.view, expected, plan->name);
    test_matrix_check_padding(&d);
    test_matrix_free(&a);
    test_matrix_free(&b);
    test_matrix_free(&c);
    test_matrix_free(&d);
    free(expected);
    core_check_tidy();
    return status;
}

static nmodgpu_status try_product(int64_t m, int64_t k, int64_t n, uint64_t limit_bytes)
{
    const nmodgpu_plan plan = core_random_plan(core_random_modulus(), m, k, n);
    return try_plan(&plan, limit_bytes);
}

START_TEST(products_of_random_shapes_are_right)
{
    for (int i = 0; i < 400; i++) {
        const int64_t longest = i % 8 ? 24 : 90;
        const int64_t m = 1 + (int64_t)test_below((uint64_t)longest), k = 1 + (int64_t)test_below(90);
        const int64_t n = 1 + (int64_t)test_below((uint64_t)longest);
        ck_assert_int_eq(try_product(m, k, n, UINT64_MAX), NMODGPU_OK);
    }
}
END_TEST

START_TEST(products_in_little_memory_are_right)
{
    int served = 0;
    for (int i = 0; i < 100; i++) {
        const int64_t m = 1 + (int64_t)test_below(80), k = 1 + (int64_t)test_below(80);
        const nmodgpu_plan plan = core_random_plan(core_random_modulus(), m, k, 1 + (int64_t)test_below(80));
        const uint64_t limit = nmodgpu_untiled_bytes(&reference_backend, &plan) / (1 + test_below(8));
        const nmodgpu_status status = try_plan(&plan, limit);
        ck_assert(status == NMODGPU_OK || status == NMODGPU_ENOMEM);
        served += status == NMODGPU_OK;
    }
    ck_assert_int_ge(served, 20);
}
END_TEST

/** Takes memory away from what the untiled product needs until nothing fits any more.  Bits of the result:
 *  which operands were kept (0 to 3), whether there were panels (4) and tiles (5). */
static int tilings_seen(int64_t m, int64_t k, int64_t n)
{
    int seen = 0;
    nmodgpu_tiling tiling;
    nmodgpu_device_info info;
    nmodgpu_plan plan;
    reference_backend.device_info(0, &info);
    ck_assert_int_eq(nmodgpu_plan_best(&plan, 8388593, m, k, n, &info.rates, "f64(1,1)"), NMODGPU_OK);
    for (uint64_t limit = nmodgpu_untiled_bytes(&reference_backend, &plan); limit > 1000; limit = limit / 8 * 5) {
        if (nmodgpu_tiling_choose(&tiling, &reference_backend, &plan, limit) != NMODGPU_OK)
            break;
        ck_assert_uint_le(tiling.bytes, limit);
        seen |= 1 << (2 * tiling.keep_left + tiling.keep_right) | (tiling.k < k) << 4 |
                (tiling.m < m || tiling.n < n) << 5;
        ck_assert_int_eq(try_plan(&plan, limit), NMODGPU_OK);
    }
    return seen;
}

START_TEST(every_way_of_tiling_is_right)
{
    const int64_t shapes[][3] = {{1300, 16, 8}, {8, 16, 1300},  {1100, 4, 1100},
                                 {3, 5000, 5},  {600, 40, 700}, {700, 40, 600}};
    int seen = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        seen |= tilings_seen(shapes[i][0], shapes[i][1], shapes[i][2]);
    ck_assert_msg(seen == 63, "kept operands (4 bits), panels, tiles: %#x", (unsigned)seen);
}
END_TEST

START_TEST(a_kept_operand_is_prepared_once)
{
    const nmodgpu_plan plan = core_random_plan(8388593, 1200, 8, 1200);
    test_matrix a = test_matrix_make(1200, 8, TEST_DENSE), b = test_matrix_make(8, 1200, TEST_DENSE);
    test_matrix d = test_matrix_make(1200, 1200, TEST_DENSE);
    test_view_fill(&a.view, plan.modulus);
    test_view_fill(&b.view, plan.modulus);
    nmodgpu_product product = core_product(&plan, NMODGPU_MUL, &d.view, NULL, &a.view, &b.view);
    product.limit_bytes = nmodgpu_untiled_bytes(&reference_backend, &plan) / 2;
    ck_assert_int_eq(nmodgpu_product_run(&product), NMODGPU_OK);
    ck_assert_int_ge(reference.exports, 2);
    ck_assert_int_eq(reference.prepares, 2);
    test_matrix_free(&a);
    test_matrix_free(&b);
    test_matrix_free(&d);
    core_check_tidy();
}
END_TEST

START_TEST(a_square_is_imported_once)
{
    const nmodgpu_plan plan = core_random_plan(65521, 20, 20, 20);
    test_matrix a = test_matrix_make(20, 20, TEST_TABLE), d = test_matrix_make(20, 20, TEST_DENSE);
    test_view_fill(&a.view, plan.modulus);
    uint64_t *expected = test_expected(NMODGPU_MUL, NULL, &a.view, &a.view, plan.modulus);
    const nmodgpu_product product = core_product(&plan, NMODGPU_MUL, &d.view, NULL, &a.view, &a.view);
    ck_assert_int_eq(nmodgpu_product_run(&product), NMODGPU_OK);
    ck_assert_int_eq(reference.imports, 1);
    test_compare(&d.view, expected, "square");
    test_matrix_free(&a);
    test_matrix_free(&d);
    free(expected);
    core_check_tidy();
}
END_TEST

TCase *core_product_cases(void)
{
    TCase *cases = core_case("product");
    tcase_add_test(cases, products_of_random_shapes_are_right);
    tcase_add_test(cases, products_in_little_memory_are_right);
    tcase_add_test(cases, every_way_of_tiling_is_right);
    tcase_add_test(cases, a_kept_operand_is_prepared_once);
    tcase_add_test(cases, a_square_is_imported_once);
    return cases;
}
