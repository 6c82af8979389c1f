/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Threads, children, and the lines that a process writes of its calls.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "cases.h"
#include "dispatch.h"
#include "matrices.h"
#include "reference_backend.h"
#include "report.h"

/** Sets *wrong when a product is. */
static void *many_calls(void *wrong)
{
    /* The generator of support.h is for one thread: here entries follow from the loop. */
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t a[6 * 6], b[6 * 6], d[6 * 6], expected[6 * 6];
        const uint64_t p = UINT64_C(1) << 40;
        for (uint64_t j = 0; j < 36; j++) {
            a[j] = (j * j + i) * 123456789 % p;
            b[j] = (j + i * i) * 987654321 % p;
        }
        const nmodgpu_view va = {6, 6, 6, a, NULL}, vb = {6, 6, 6, b, NULL}, vd = {6, 6, 6, d, NULL};
        test_product(expected, 6, NULL, 0, 1, a, 6, b, 6, 6, 6, 6, p);
        if (nmodgpu_mul(NULL, &vd, &va, &vb, p) != NMODGPU_OK || memcmp(d, expected, sizeof d) != 0)
            *(bool *)wrong = true;
    }
    return NULL;
}

START_TEST(threads_call_at_once)
{
    pthread_t threads[4];
    bool wrong[4] = {false};
    dispatch_serve_everything();
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, many_calls, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert(!wrong[i]);
    }
    ck_assert_uint_eq(dispatch_served(), 800);
    ck_assert_int_eq(reference.opened, 1);
    ck_assert_int_eq(reference.breaches, 0);
}
END_TEST

/** Runs a check in a child process; true when it held. */
static bool in_child(bool (*holds)(void))
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(holds() ? 0 : 1);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool child_is_declined(void)
{
    const uint64_t before = dispatch_served();
    dispatch_call(NULL, 5, 5, 5, 11);
    return before == 0 && dispatch_served() == 0 && nmodgpu_report_count_declined(NMODGPU_REASON_FORKED) == 1;
}

static bool child_is_served(void)
{
    dispatch_call(NULL, 5, 5, 5, 11);
    return dispatch_served() == 1;
}

START_TEST(a_child_is_served_only_if_its_parent_used_no_backend)
{
    dispatch_serve_everything();
    ck_assert(nmodgpu_enabled());
    ck_assert(in_child(child_is_served));
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert(in_child(child_is_declined));
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 2);
}
END_TEST

static char report_file[] = "/tmp/nmodgpu-report-XXXXXX";

static void read_report(char *text, size_t capacity)
{
    FILE *file = fopen(report_file, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, capacity - 1, file)] = '\0';
    fclose(file);
}

/** Ends as a program does, handlers and all, but with nothing of Check's. */
static void product_and_exit(void)
{
    dispatch_call(NULL, 5, 5, 5, 11);
    dispatch_call(NULL, 5, 5, 5, 1);
    const pid_t child = fork();
    if (child == 0) {
        dispatch_call(NULL, 5, 5, 5, 11);
        exit(0);
    }
    waitpid(child, NULL, 0);
    exit(0);
}

START_TEST(the_report_is_one_line_a_process)
{
    char text[4096], start[64];
    ck_assert_int_ge(mkstemp(report_file), 0);
    dispatch_serve_everything();
    setenv("NMODGPU_REPORT", report_file, 1);
    program_invocation_short_name = (char *)"a \"b\"\\\n\xc3\xa9\xff";
    const pid_t child = fork();
    if (child == 0)
        product_and_exit();
    waitpid(child, NULL, 0);
    read_report(text, sizeof text);
    unlink(report_file);
    ck_assert_int_eq(count_in(text, "\n"), 2);
    snprintf(start, sizeof start, "{\"pid\":%ld,\"program\":", (long)child);
    ck_assert_int_eq(count_in(text, start), 1);
    ck_assert_int_eq(count_in(text, "\"program\":\"a \\\"b\\\"\\\\\\u000a\xc3\xa9\\ufffd\""), 2);
    ck_assert_int_eq(
        count_in(text, "\"arrived\":2,\"served\":{\"reference\":1},\"declined\":{\"small\":1},\"seconds\":{"), 1);
    ck_assert_int_eq(
        count_in(text, "\"arrived\":1,\"served\":{},\"declined\":{\"forked\":1},\"seconds\":{\"portable\":0."), 1);
}
END_TEST

START_TEST(a_report_that_cannot_be_written_costs_one_line)
{
    dispatch_serve_everything();
    setenv("NMODGPU_REPORT", "/nonexistent/report", 1);
    capture_begin();
    const pid_t child = fork();
    if (child == 0) {
        dispatch_call(NULL, 5, 5, 5, 11);
        exit(0);
    }
    waitpid(child, NULL, 0);
    const char *lines = capture_end();
    ck_assert_int_eq(count_in(lines, "NMODGPU_REPORT='/nonexistent/report' cannot be opened"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 1);
}
END_TEST

START_TEST(verbose_prints_a_line_a_call)
{
    dispatch_serve_everything();
    setenv("NMODGPU_VERBOSE", "1", 1);
    uint64_t x[4] = {1, 2, 3, 4}, y[4];
    const nmodgpu_view a = {2, 2, 2, x, NULL}, d = {2, 2, 2, y, NULL};
    capture_begin();
    ck_assert_int_eq(nmodgpu_submul(NULL, &d, &a, &a, &a, 1000003), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_mul(NULL, &d, &a, &a, 1), NMODGPU_OK);
    const char *lines = capture_end();
    ck_assert_int_eq(count_in(lines, "nmodgpu: submul 2x2x2 mod 1000003 (20 bits): reference, f64("), 1);
    ck_assert_int_eq(count_in(lines, "nmodgpu: mul 2x2x2 mod 1 (1 bits): portable, small, "), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 2);
}
END_TEST

START_TEST(the_drop_in_counts_each_call_once)
{
    dispatch_serve_everything();
    setenv("NMODGPU_MIN_DIM", "3", 1);
    uint64_t x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, y[9];
    const nmodgpu_view a = {3, 3, 3, x, NULL}, small = {2, 2, 3, x, NULL}, d = {3, 3, 3, y, NULL},
                       e = {2, 2, 3, y, NULL};
    nmodgpu_call call;
    ck_assert_int_eq(nmodgpu_priv_try(&call, NMODGPU_MUL, &d, NULL, &a, &a, 11), NMODGPU_OK);
    ck_assert_str_eq(call.served_by, "reference");
    ck_assert_int_eq(nmodgpu_priv_try(&call, NMODGPU_MUL, &e, NULL, &small, &small, 11), NMODGPU_DECLINED);
    ck_assert_int_eq(call.reason, NMODGPU_REASON_SMALL);
    nmodgpu_priv_host_served(&call, "flint", 0.25);
    nmodgpu_call unseen = {.op = NMODGPU_MUL, .m = 2, .k = 2, .n = 2, .p = 11, .reason = NMODGPU_REASON_SMALL};
    nmodgpu_priv_host_served(&unseen, "flint", 0.25);
    char line[1024];
    nmodgpu_report_format(line, sizeof line);
    ck_assert_int_eq(count_in(line, "\"arrived\":3,\"served\":{\"reference\":1},\"declined\":{\"small\":2}"), 1);
    ck_assert_int_eq(count_in(line, "\"flint\":0.500000"), 1);
}
END_TEST

TCase *dispatch_processes_cases(void)
{
    TCase *cases = dispatch_case("processes");
    tcase_add_test(cases, threads_call_at_once);
    tcase_add_test(cases, a_child_is_served_only_if_its_parent_used_no_backend);
    tcase_add_test(cases, the_report_is_one_line_a_process);
    tcase_add_test(cases, a_report_that_cannot_be_written_costs_one_line);
    tcase_add_test(cases, verbose_prints_a_line_a_call);
    tcase_add_test(cases, the_drop_in_counts_each_call_once);
    return cases;
}
