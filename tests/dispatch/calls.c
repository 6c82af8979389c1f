/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Calls of the public interface, served or not: right, or refused.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "matrices.h"
#include "reference_backend.h"

static void random_calls(nmodgpu_context *context, int calls)
{
    for (int i = 0; i < calls; i++)
        dispatch_call(context, (int64_t)test_below(20), (int64_t)test_below(i % 16 ? 30 : 600),
                      (int64_t)test_below(20), test_modulus(1 + (unsigned)test_below(64)));
}

START_TEST(every_call_is_right_without_backends)
{
    random_calls(NULL, 400);
    ck_assert_int_eq(nmodgpu_enabled(), 0);
}
END_TEST

START_TEST(every_call_is_right_with_a_backend)
{
    dispatch_serve_everything();
    random_calls(NULL, 400);
    ck_assert_uint_gt(dispatch_served(), 300);
    ck_assert_int_eq(reference.matrices, 0);
    ck_assert_int_eq(reference.breaches, 0);
}
END_TEST

START_TEST(the_plain_product_takes_overlapping_operands)
{
    for (int i = 0; i < 200; i++) {
        const uint64_t p = test_modulus(1 + (unsigned)test_below(64));
        const int64_t n = 1 + (int64_t)test_below(12);
        test_matrix parent = test_matrix_make(2 * n, 2 * n, TEST_DENSE);
        test_view_fill(&parent.view, p);
        nmodgpu_view v[4];
        for (int s = 0; s < 4; s++)
            v[s] = (nmodgpu_view){n, n, 2 * n,
                                  parent.view.data + test_below((uint64_t)n + 1) * (uint64_t)(2 * n + 1), NULL};
        uint64_t *expected = test_expected(NMODGPU_SUBMUL, &v[1], &v[2], &v[3], p);
        ck_assert_int_eq(nmodgpu_submul(NULL, &v[0], &v[1], &v[2], &v[3], p), NMODGPU_OK);
        test_compare(&v[0], expected, "overlap");
        free(expected);
        test_matrix_free(&parent);
    }
}
END_TEST

START_TEST(impossible_arguments_are_refused_and_nothing_written)
{
    uint64_t x[16] = {0}, d[16];
    memset(d, 0x77, sizeof d);
    uint64_t *no_row[2] = {x, NULL};
    const nmodgpu_view ok = {2, 2, 2, x, NULL}, to = {2, 2, 2, d, NULL};
    const nmodgpu_view bad[] = {
        {-1, 2, 2, x, NULL}, {2, -1, 2, x, NULL}, {2, 2, 1, x, NULL},      {2, 2, 2, NULL, NULL},
        {3, 2, 2, x, NULL},  {2, 3, 3, x, NULL},  {2, 2, 0, NULL, no_row}, {2, 2, INT64_MAX, x, NULL},
    };
    dispatch_serve_everything();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(nmodgpu_mul(NULL, &bad[i], &ok, &ok, 7), NMODGPU_EINVAL);
        ck_assert_int_eq(nmodgpu_addmul(NULL, &to, &bad[i], &ok, &ok, 7), NMODGPU_EINVAL);
        ck_assert_int_eq(nmodgpu_submul(NULL, &to, &ok, &bad[i], &ok, 7), NMODGPU_EINVAL);
        ck_assert_int_eq(nmodgpu_mul(NULL, &to, &ok, &bad[i], 7), NMODGPU_EINVAL);
    }
    ck_assert_int_eq(nmodgpu_mul(NULL, &to, &ok, &ok, 0), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_mul(NULL, &to, NULL, &ok, 7), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_mul(NULL, NULL, &ok, &ok, 7), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_addmul(NULL, &to, NULL, &ok, &ok, 7), NMODGPU_EINVAL);
    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(d[i], UINT64_C(0x7777777777777777));
    ck_assert_int_eq(nmodgpu_mul(NULL, &to, &ok, &ok, 7), NMODGPU_OK);
    ck_assert_uint_eq(dispatch_served(), 1);
}
END_TEST

START_TEST(empty_products_need_no_pointers)
{
    const nmodgpu_view tall = {3, 0, 0, NULL, NULL}, flat = {0, 3, 0, NULL, NULL}, none = {0, 0, 0, NULL, NULL};
    uint64_t d[9];
    memset(d, 0x77, sizeof d);
    const nmodgpu_view to = {3, 3, 3, d, NULL};
    dispatch_serve_everything();
    ck_assert_int_eq(nmodgpu_mul(NULL, &none, &flat, &tall, 7), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_mul(NULL, &to, &tall, &flat, 7), NMODGPU_OK);
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(d[i], 0);
}
END_TEST

START_TEST(every_status_has_a_text)
{
    for (int s = NMODGPU_OK; s <= NMODGPU_EABI; s++)
        ck_assert_str_ne(nmodgpu_status_text((nmodgpu_status)s), nmodgpu_status_text((nmodgpu_status)99));
    ck_assert_ptr_nonnull(strchr(nmodgpu_version(), '.'));
}
END_TEST

TCase *dispatch_calls_cases(void)
{
    TCase *cases = dispatch_case("calls");
    tcase_add_test(cases, every_call_is_right_without_backends);
    tcase_add_test(cases, every_call_is_right_with_a_backend);
    tcase_add_test(cases, the_plain_product_takes_overlapping_operands);
    tcase_add_test(cases, impossible_arguments_are_refused_and_nothing_written);
    tcase_add_test(cases, empty_products_need_no_pointers);
    tcase_add_test(cases, every_status_has_a_text);
    return cases;
}
