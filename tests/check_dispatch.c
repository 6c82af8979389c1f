/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The public interface and who serves its calls.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dispatch/cases.h"
#include "matrices.h"
#include "reference_backend.h"
#include "report.h"
#include "suite.h"

static void setup(void)
{
    fprintf(stderr, "seed %" PRIu64 "\n", test_seed());
    reference_reset();
}

TCase *dispatch_case(const char *name)
{
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, setup, NULL);
    return cases;
}

void dispatch_serve_everything(void)
{
    setenv("NMODGPU", "reference", 1);
    setenv("NMODGPU_MIN_DIM", "0", 1);
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
}

uint64_t dispatch_served(void)
{
    return nmodgpu_report_count_served("reference");
}

void dispatch_call(nmodgpu_context *context, int64_t m, int64_t k, int64_t n, uint64_t p)
{
    const nmodgpu_op op = (nmodgpu_op)test_below(3);
    test_matrix a = test_matrix_make(m, k, (test_layout)test_below(TEST_LAYOUTS));
    test_matrix b = test_matrix_make(k, n, (test_layout)test_below(TEST_LAYOUTS));
    test_matrix c = test_matrix_make(m, n, (test_layout)test_below(TEST_LAYOUTS));
    test_matrix d = test_matrix_make(m, n, (test_layout)test_below(TEST_LAYOUTS));
    test_view_fill(&a.view, p);
    test_view_fill(&b.view, p);
    test_view_fill(&c.view, p);
    uint64_t *expected = test_expected(op, &c.view, &a.view, &b.view, p);
    const nmodgpu_view *to = test_below(3) ? &d.view : &c.view;
    const nmodgpu_status status = op == NMODGPU_MUL ? nmodgpu_mul(context, to, &a.view, &b.view, p)
                                  : op == NMODGPU_ADDMUL
                                      ? nmodgpu_addmul(context, to, &c.view, &a.view, &b.view, p)
                                      : nmodgpu_submul(context, to, &c.view, &a.view, &b.view, p);
    ck_assert_int_eq(status, NMODGPU_OK);
    test_compare(to, expected, "public call");
    test_matrix_check_padding(&d);
    test_matrix_check_padding(&c);
    test_matrix_free(&a);
    test_matrix_free(&b);
    test_matrix_free(&c);
    test_matrix_free(&d);
    free(expected);
}

int main(void)
{
    Suite *suite = suite_create("dispatch");
    suite_add_tcase(suite, dispatch_calls_cases());
    suite_add_tcase(suite, dispatch_settings_cases());
    suite_add_tcase(suite, dispatch_failures_cases());
    suite_add_tcase(suite, dispatch_processes_cases());
    return test_run(suite, CK_FORK);
}
