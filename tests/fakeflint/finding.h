/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef NMODGPU_TESTS_FINDING_H
#define NMODGPU_TESTS_FINDING_H

#include <check.h>

/** Which FLINT a call belongs to, what reaches the drop-in, and what is said when it does not. */
TCase *finding_cases(void);

#endif
