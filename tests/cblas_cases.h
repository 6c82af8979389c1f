/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_cblas and what they share.
 */
#ifndef NMODGPU_TESTS_CBLAS_CASES_H
#define NMODGPU_TESTS_CBLAS_CASES_H

#include <check.h>

#include "backend.h"

/** The module's entry point; linked in. */
nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

/** Opened for the running test, with two threads. */
extern const nmodgpu_backend *cblas_backend;
extern uint64_t cblas_seed;

TCase *cblas_interface_cases(void);
TCase *cblas_parts_cases(void);

#endif
