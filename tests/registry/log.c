/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Lines on standard error.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "cases.h"
#include "dispatch.h"
#include "log.h"

START_TEST(a_line_is_bounded_printable_and_once_a_cause)
{
    char *longest = calloc(1, 100001);
    memset(longest, '\t', 100000);
    capture_begin();
    errno = 77;
    nmodgpu_log(NMODGPU_LOG_ERROR, "cause", "first %s", longest);
    nmodgpu_log(NMODGPU_LOG_ERROR, "cause", "second");
    nmodgpu_log(NMODGPU_LOG_ERROR, "another", "third");
    nmodgpu_priv_log_once("another", "fourth");
    nmodgpu_log(NMODGPU_LOG_CALL, NULL, "fifth");
    ck_assert_int_eq(errno, 77);
    const char *lines = capture_end();
    ck_assert_int_eq(count_in(lines, "\n"), 2);
    ck_assert_int_eq(count_in(lines, "nmodgpu: first \\x09\\x09"), 1);
    ck_assert_int_eq(count_in(lines, "nmodgpu: third\n"), 1);
    ck_assert_int_eq(count_in(lines, "\t"), 0);
    ck_assert_uint_le(strlen(lines), 4200);
    free(longest);
}
END_TEST

START_TEST(more_causes_than_can_be_kept_do_not_flood)
{
    capture_begin();
    for (int i = 0; i < 2000; i++) {
        char cause[16];
        snprintf(cause, sizeof cause, "%d", i % 1000);
        nmodgpu_log(NMODGPU_LOG_ERROR, cause, "cause %s", cause);
    }
    ck_assert_int_eq(count_in(capture_end(), "\n"), 512);
}
END_TEST

START_TEST(a_broken_pipe_or_closed_standard_error_is_survived)
{
    int ends[2];
    const int kept = dup(STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    nmodgpu_log_line("nobody reads this");
    close(STDERR_FILENO);
    nmodgpu_log_line("nor this");
    dup2(kept, STDERR_FILENO);
    sigset_t pending;
    sigpending(&pending);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
}
END_TEST

TCase *registry_log_cases(void)
{
    TCase *cases = registry_case("log");
    tcase_add_test(cases, a_line_is_bounded_printable_and_once_a_cause);
    tcase_add_test(cases, more_causes_than_can_be_kept_do_not_flood);
    tcase_add_test(cases, a_broken_pipe_or_closed_standard_error_is_survived);
    return cases;
}
