/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * How a test program ends.
 */
#ifndef NMODGPU_TESTS_SUITE_H
#define NMODGPU_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/** Runs all tests of a suite and frees it; the program's exit status.  fork: as Check's, CK_FORK_GETENV for what
 *  the environment says. */
static inline int test_run(Suite *suite, enum fork_status fork)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, fork);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
