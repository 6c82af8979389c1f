/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Calls of the public interface whose plan has a Strassen-Winograd step, on the stand-in device: with the step, and
 * without it where memory is short before or during the product.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "capture.h"
#include "device_harness.h"
#include "matrices.h"
#include "plan_i8.h"
#include "report.h"
#include "standin/standin.h"
#include "suite.h"
#include "support.h"

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

enum { SIZE = 150 };

static const struct {
    uint64_t p;
    nmodgpu_i8_kind kind;
} cases[] = {
    {251, NMODGPU_I8_DIRECT_WINOGRAD},
    {2147483647, NMODGPU_I8_CRT_WINOGRAD},
    {UINT64_C(18446744073709551557), NMODGPU_I8_CRT_WINOGRAD},
};
enum { CASES = sizeof cases / sizeof *cases };
/** Less than the step takes for each of them. */
static const char *const memory[CASES] = {"128K", "512K", "1M"};

/** The stand-in as the only device, with one plan for every call. */
static void serve(int index)
{
    nmodgpu_plan plan;
    fprintf(stderr, "seed %" PRIu64 "\n", test_seed());
    standin.major = 9;
    ck_assert(nmodgpu_i8_plan(&plan, cases[index].kind, cases[index].p, SIZE, SIZE, SIZE));
    setenv("NMODGPU", "cuda", 1);
    setenv("NMODGPU_MIN_DIM", "0", 1);
    setenv("NMODGPU_VERBOSE", "1", 1);
    setenv("NMODGPU_PLAN", plan.name, 1);
    OK(harness_enter(nmodgpu_module_entry));
    OK(nmodgpu_backend_register(device));
}

/** One call, compared entry by entry; what it has logged. */
static const char *call(nmodgpu_context *context, nmodgpu_op op, uint64_t p)
{
    test_matrix a = test_matrix_make(SIZE, SIZE, TEST_PADDED), b = test_matrix_make(SIZE, SIZE, TEST_TABLE);
    test_matrix c = test_matrix_make(SIZE, SIZE, TEST_DENSE), d = test_matrix_make(SIZE, SIZE, TEST_PADDED);
    test_view_fill(&a.view, p);
    test_view_fill(&b.view, p);
    test_view_fill(&c.view, p);
    uint64_t *expected = test_expected(op, &c.view, &a.view, &b.view, p);
    capture_begin();
    const nmodgpu_status status = op == NMODGPU_MUL
                                      ? nmodgpu_mul(context, &d.view, &a.view, &b.view, p)
                                      : nmodgpu_submul(context, &d.view, &c.view, &a.view, &b.view, p);
    const char *lines = capture_end();
    ck_assert_msg(status == NMODGPU_OK, "status %d: %s", (int)status, lines);
    test_compare(&d.view, expected, "a call");
    test_matrix_check_padding(&d);
    test_matrix_free(&a);
    test_matrix_free(&b);
    test_matrix_free(&c);
    test_matrix_free(&d);
    free(expected);
    ck_assert_int_eq(standin_mistakes(), 0);
    return lines;
}

static void served_with_the_step(const char *lines)
{
    ck_assert_msg(count_in(lines, "winograd") == 1, "logged: %s", lines);
}

static void served_without_it(const char *lines)
{
    ck_assert_msg(count_in(lines, "winograd") == 0 && count_in(lines, "i8 ") == 1, "logged: %s", lines);
}

START_TEST(a_call_takes_the_step)
{
    serve(_i);
    served_with_the_step(call(NULL, NMODGPU_MUL, cases[_i].p));
    served_with_the_step(call(NULL, NMODGPU_SUBMUL, cases[_i].p));
    ck_assert_uint_eq(nmodgpu_report_count_served("cuda"), 2);
}
END_TEST

START_TEST(a_context_with_little_memory_goes_without_it)
{
    static const char *const inherited[] = {"NMODGPU_MIN_DIM", "NMODGPU_VERBOSE", "NMODGPU_PLAN"};
    nmodgpu_context *context;
    serve(_i);
    ck_assert_int_eq(nmodgpu_context_create(&context), NMODGPU_OK);
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
        ck_assert_int_eq(nmodgpu_context_set(context, inherited[i], getenv(inherited[i])), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MEMORY", memory[_i]), NMODGPU_OK);
    served_without_it(call(context, NMODGPU_MUL, cases[_i].p));
    served_without_it(call(context, NMODGPU_SUBMUL, cases[_i].p));
    served_with_the_step(call(NULL, NMODGPU_MUL, cases[_i].p));
    nmodgpu_context_destroy(context);
    ck_assert_uint_eq(nmodgpu_report_count_served("cuda"), 3);
}
END_TEST

/** Every allocation of a call fails once: with the step, or without it, the call is served. */
START_TEST(a_product_that_runs_out_of_memory_goes_without_it)
{
    int without = 0;
    serve(_i);
    served_with_the_step(call(NULL, NMODGPU_MUL, cases[_i].p));
    for (int64_t n = 1;; n++) {
        standin_fail_call(n, cudaErrorMemoryAllocation, false);
        const char *lines = call(NULL, _i ? NMODGPU_MUL : NMODGPU_SUBMUL, cases[_i].p);
        const bool reached = standin_calls() >= n;
        standin_fail_call(0, 0, false);
        without += count_in(lines, "i8 ") == 1 && count_in(lines, "winograd") == 0;
        if (!reached)
            break;
    }
    ck_assert_int_gt(without, 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step");
    TCase *c = tcase_create("calls");
    tcase_set_timeout(c, 240);
    tcase_add_loop_test(c, a_call_takes_the_step, 0, CASES);
    tcase_add_loop_test(c, a_context_with_little_memory_goes_without_it, 0, CASES);
    tcase_add_loop_test(c, a_product_that_runs_out_of_memory_goes_without_it, 0, CASES);
    suite_add_tcase(suite, c);
    return test_run(suite, CK_FORK_GETENV);
}
