/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Settings, log lines, the list of backends and their modules, and that nothing happens while the switch is off.
 */
#include <check.h>
#include <stdlib.h>

#include "capture.h"
#include "nmodgpu.h"
#include "reference_backend.h"
#include "registry/cases.h"
#include "suite.h"

void registry_product(void)
{
    uint64_t x[4] = {1, 2, 3, 4}, y[4] = {0};
    const nmodgpu_view a = {2, 2, 2, x, NULL}, d = {2, 2, 2, y, NULL};
    ck_assert_int_eq(nmodgpu_mul(NULL, &d, &a, &a, 101), NMODGPU_OK);
    ck_assert(y[0] == 7 && y[1] == 10 && y[2] == 15 && y[3] == 22);
}

const char *registry_lines_with(const char *name, const char *value)
{
    setenv("NMODGPU", "auto", 1);
    setenv(name, value, 1);
    capture_begin();
    registry_product();
    registry_product();
    return capture_end();
}

static void setup(void)
{
    reference_reset();
}

TCase *registry_case(const char *name)
{
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, setup, NULL);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("registry");
    suite_add_tcase(suite, registry_settings_cases());
    suite_add_tcase(suite, registry_log_cases());
    suite_add_tcase(suite, registry_registration_cases());
    TCase *modules = registry_modules_cases();
    if (modules)
        suite_add_tcase(suite, modules);
    suite_add_tcase(suite, registry_off_cases());
    return test_run(suite, CK_FORK);
}
