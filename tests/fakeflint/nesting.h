/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef NMODGPU_TESTS_NESTING_H
#define NMODGPU_TESTS_NESTING_H

#include <check.h>

/** A call of FLINT's function made by the drop-in does not come back to it; neither does an abandoned one. */
TCase *nesting_cases(void);

#endif
