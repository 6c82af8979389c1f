/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Backends that fail, run out of memory, cannot be opened or are interrupted.
 */
#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "capture.h"
#include "cases.h"
#include "reference_backend.h"
#include "report.h"

START_TEST(a_failing_backend_is_replaced_and_after_three_times_left_alone)
{
    dispatch_serve_everything();
    capture_begin();
    for (int i = 0; i < 6; i++) {
        reference.fail_at = reference.operations + 3;
        dispatch_call(NULL, 5, 5, 5, 11);
    }
    const char *lines = capture_end();
    ck_assert_uint_eq(dispatch_served(), 0);
    ck_assert_uint_eq(nmodgpu_report_count_declined(NMODGPU_REASON_FAILED), 3);
    ck_assert_uint_eq(nmodgpu_report_count_declined(NMODGPU_REASON_BACKEND), 3);
    ck_assert_int_eq(count_in(lines, "reference failed on 5x5x5"), 1);
    ck_assert_int_eq(count_in(lines, "not used any more"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 2);
}
END_TEST

START_TEST(a_success_between_failures_keeps_a_backend)
{
    dispatch_serve_everything();
    for (int i = 0; i < 8; i++) {
        reference.fail_at = i % 2 ? reference.operations + 4 : 0;
        dispatch_call(NULL, 5, 5, 5, 11);
    }
    ck_assert_uint_eq(dispatch_served(), 4);
}
END_TEST

START_TEST(a_product_that_runs_out_of_memory_tries_smaller_tiles)
{
    dispatch_serve_everything();
    dispatch_call(NULL, 5, 5, 5, 11); /* opens the backend, which then shows a lot of memory */
    reference.capacity_bytes = 40000;
    dispatch_call(NULL, 60, 60, 60, 11);
    ck_assert_uint_eq(dispatch_served(), 2);
    reference.capacity_bytes = 100;
    dispatch_call(NULL, 60, 60, 60, 11);
    ck_assert_uint_eq(dispatch_served(), 2);
    ck_assert_uint_eq(nmodgpu_report_count_declined(NMODGPU_REASON_MEMORY), 1);
}
END_TEST

START_TEST(a_context_keeps_to_its_memory)
{
    nmodgpu_context *context;
    dispatch_serve_everything();
    ck_assert_int_eq(nmodgpu_context_create(&context), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MIN_DIM", "0"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MEMORY", "64K"), NMODGPU_OK);
    dispatch_call(context, 60, 60, 60, 8388593);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_uint_le(reference.peak_bytes, 65536);
    dispatch_call(NULL, 60, 60, 60, 8388593);
    ck_assert_uint_gt(reference.peak_bytes, 65536);
    nmodgpu_context_destroy(context);
}
END_TEST

START_TEST(a_backend_that_cannot_be_opened_is_asked_once)
{
    dispatch_serve_everything();
    reference.open_status = NMODGPU_ENODEV;
    dispatch_call(NULL, 5, 5, 5, 11);
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_int_eq(reference.opened, 1);
    ck_assert_uint_eq(nmodgpu_report_count_declined(NMODGPU_REASON_BACKEND), 2);
}
END_TEST

static sigjmp_buf out;

static void leave(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void interrupt(void)
{
    raise(SIGUSR1);
}

/* The first call is interrupted while the backend is opened, the others in their operations. */
START_TEST(a_handler_that_leaves_by_longjmp_leaves_nothing_behind)
{
    enum { N = 8, CALLS = 4 };
    static uint64_t ones[N * N], result[N * N];
    const nmodgpu_view a = {.rows = N, .cols = N, .stride = N, .data = ones};
    const nmodgpu_view c = {.rows = N, .cols = N, .stride = N, .data = result};
    static volatile int left;
    for (int i = 0; i < N * N; i++)
        ones[i] = 1;
    dispatch_serve_everything();
    ck_assert(signal(SIGUSR1, leave) != SIG_ERR);
    reference.during = interrupt;
    for (left = 0; left < CALLS; left++) {
        if (sigsetjmp(out, 1) == 0) {
            nmodgpu_mul(NULL, &c, &a, &a, 11);
            ck_abort_msg("no signal came through");
        }
        ck_assert_int_eq(reference.queues, 0);
        ck_assert_int_eq(reference.matrices, 0);
        for (int i = 0; left > 0 && i < N * N; i++)
            ck_assert_uint_eq(result[i], N);
        for (int i = 0; i < N * N; i++)
            result[i] = UINT64_MAX;
    }
    reference.during = NULL;
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_int_eq(reference.opened, 1);
}
END_TEST

TCase *dispatch_failures_cases(void)
{
    TCase *cases = dispatch_case("failures");
    tcase_add_test(cases, a_failing_backend_is_replaced_and_after_three_times_left_alone);
    tcase_add_test(cases, a_success_between_failures_keeps_a_backend);
    tcase_add_test(cases, a_product_that_runs_out_of_memory_tries_smaller_tiles);
    tcase_add_test(cases, a_context_keeps_to_its_memory);
    tcase_add_test(cases, a_backend_that_cannot_be_opened_is_asked_once);
    tcase_add_test(cases, a_handler_that_leaves_by_longjmp_leaves_nothing_behind);
    return cases;
}
