/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_registry, and what they share.
 */
#ifndef NMODGPU_TESTS_REGISTRY_CASES_H
#define NMODGPU_TESTS_REGISTRY_CASES_H

#include <check.h>

TCase *registry_settings_cases(void);
TCase *registry_log_cases(void);
TCase *registry_registration_cases(void);
/** NULL, and a line, where the modules that it needs are not there. */
TCase *registry_modules_cases(void);
TCase *registry_off_cases(void);

/** An empty case with a fresh reference backend. */
TCase *registry_case(const char *name);

/** A product, small but served where anything is (with NMODGPU_MIN_DIM=0). */
void registry_product(void);

/** The lines of the first two products, with NMODGPU=auto and then one variable set. */
const char *registry_lines_with(const char *name, const char *value);

#endif
