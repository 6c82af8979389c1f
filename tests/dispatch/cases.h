/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_dispatch, and what they share.
 */
#ifndef NMODGPU_TESTS_DISPATCH_CASES_H
#define NMODGPU_TESTS_DISPATCH_CASES_H

#include <check.h>

#include "nmodgpu.h"

TCase *dispatch_calls_cases(void);
TCase *dispatch_settings_cases(void);
TCase *dispatch_failures_cases(void);
TCase *dispatch_processes_cases(void);

/** An empty case whose tests begin with a printed seed and a fresh reference backend. */
TCase *dispatch_case(const char *name);

/** The reference backend alone, for everything. */
void dispatch_serve_everything(void);

/** Calls that it has served. */
uint64_t dispatch_served(void);

/** One random call of the public interface, the result compared entry by entry. */
void dispatch_call(nmodgpu_context *context, int64_t m, int64_t k, int64_t n, uint64_t p);

#endif
