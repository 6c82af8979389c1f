/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The backends that the tests against the real FLINT run with.
 */
#ifndef NMODGPU_TESTS_SETUPS_H
#define NMODGPU_TESTS_SETUPS_H

#include <check.h>

typedef struct setup {
    const char *mode;        /**< for NMODGPU */
    const char *plugin_path; /**< for NMODGPU_PLUGIN_PATH, or NULL */
    const char *what;        /**< for people */
} setup;

/** cblas and cuda where they are usable here, and cuda on the stand-in device; found once, before the tests.
 *  Prints what is left out.  Returns how many there are; at least one. */
int find_setups(void);
extern setup setups[3];

/** Puts a setup into this process's environment; before its first product. */
void use_setup(const setup *s);

/** Products of random shapes, moduli, windows and aliases. */
TCase *product_cases(int setup_count);
/** FLINT's own functions that multiply. */
TCase *caller_cases(int setup_count);

#endif
