/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The switch, contexts, thresholds, and what the command asks of the core.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "dispatch.h"
#include "introspect.h"
#include "reference_backend.h"
#include "report.h"

START_TEST(the_environment_is_read_at_the_first_product)
{
    ck_assert_int_eq(nmodgpu_priv_switch, NMODGPU_SWITCH_UNREAD);
    dispatch_serve_everything();
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    setenv("NMODGPU", "off", 1);
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 2);
}
END_TEST

START_TEST(the_program_switches_on_and_off)
{
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(NULL, "NMODGPU_MIN_DIM", "0"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_enabled(), 0);
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 0);
    ck_assert_int_eq(nmodgpu_enable("reference"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_enabled(), 1);
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_int_eq(nmodgpu_enable("No Such"), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_enabled(), 1);
    ck_assert_int_eq(nmodgpu_enable("off"), NMODGPU_OK);
    ck_assert(!nmodgpu_priv_worth_trying(1000, 1000, 1000, 11));
    dispatch_call(NULL, 5, 5, 5, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_int_eq(nmodgpu_enable(NULL), NMODGPU_EINVAL);
}
END_TEST

START_TEST(a_context_has_its_own_settings)
{
    nmodgpu_context *context;
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_create(&context), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU", "reference"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MIN_DIM", "6"), NMODGPU_OK);
    dispatch_call(context, 6, 6, 6, 11);
    dispatch_call(context, 6, 5, 6, 11);
    dispatch_call(NULL, 6, 6, 6, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MIN_DIM", "many"), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_NONE", "1"), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_context_set(context, NULL, "1"), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_REPORT", "x"), NMODGPU_EINVAL);
    dispatch_call(context, 6, 5, 6, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_MIN_DIM", "0"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_PLAN", "f64(9,9)"), NMODGPU_OK);
    dispatch_call(context, 6, 6, 6, 11);
    ck_assert_uint_eq(nmodgpu_report_count_declined(NMODGPU_REASON_UNSUPPORTED), 1);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU_PLAN", ""), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_context_set(context, "NMODGPU", "0"), NMODGPU_OK);
    dispatch_call(context, 6, 6, 6, 11);
    ck_assert_uint_eq(dispatch_served(), 1);
    nmodgpu_context_destroy(context);
    nmodgpu_context_destroy(NULL);
    ck_assert_int_eq(nmodgpu_context_create(NULL), NMODGPU_EINVAL);
}
END_TEST

START_TEST(the_sooner_of_host_and_backend_serves)
{
    setenv("NMODGPU", "auto", 1);
    /* In the host's way 128 x 128 at 31 bits take 1.3 ms (FLINT) or 2.7 ms (plain C), 64 x 64 0.2 ms or 0.4 ms. */
    reference.call_start = 0.6e-3;
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    dispatch_call(NULL, 128, 128, 128, 2147483647);
    ck_assert_uint_eq(dispatch_served(), 1);
    dispatch_call(NULL, 64, 64, 64, 2147483647);
    ck_assert_uint_eq(dispatch_served(), 1);
    ck_assert(nmodgpu_priv_worth_trying(128, 128, 128, 2147483647));
    ck_assert(!nmodgpu_priv_worth_trying(64, 64, 64, 2147483647));
    ck_assert(!nmodgpu_priv_worth_trying(4000, 0, 4000, 2147483647));
    ck_assert(!nmodgpu_priv_worth_trying(4000, 4000, 4000, 1));
}
END_TEST

START_TEST(a_plan_can_be_timed)
{
    static nmodgpu_plan plans[64];
    double seconds = -1;
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    const size_t count = nmodgpu_priv_plans("reference", 0, 2147483647, 20, 30, 40, plans, 64);
    ck_assert_uint_ge(count, 1);
    ck_assert_int_eq(nmodgpu_priv_time_plan("reference", 0, &plans[0], 3, &seconds), NMODGPU_OK);
    ck_assert(seconds >= 4e-3); /* two preparations, a product, a reduction: a millisecond each in this backend */
    ck_assert_int_eq(nmodgpu_priv_time_plan("reference", 1, &plans[0], 3, &seconds), NMODGPU_EINVAL);
    ck_assert_int_eq(nmodgpu_priv_time_plan("nothing", 0, &plans[0], 3, &seconds), NMODGPU_ENODEV);
    plans[0].block[0] = plans[0].lambda[0] = INT64_MAX / 2;
    ck_assert_int_eq(nmodgpu_priv_time_plan("reference", 0, &plans[0], 3, &seconds), NMODGPU_EINVAL);
    nmodgpu_status status = NMODGPU_EBACKEND;
    for (int64_t at = 1; status != NMODGPU_OK; at++) {
        reference.fail_at = reference.operations + at;
        status = nmodgpu_priv_time_plan("reference", 0, &plans[1 % count], 2, &seconds);
        ck_assert_int_eq(status == NMODGPU_OK, reference.operations < reference.fail_at);
    }
    ck_assert_int_eq(reference.matrices, 0);
    ck_assert_int_eq(reference.queues, 0);
    ck_assert_int_eq(reference.breaches, 0);
}
END_TEST

START_TEST(backends_and_devices_are_listed)
{
    nmodgpu_backend_listing list[4];
    nmodgpu_device_info info;
    ck_assert_int_eq(nmodgpu_backend_register(&reference_backend), NMODGPU_OK);
    const size_t count = nmodgpu_priv_backends(list, 4);
    ck_assert_uint_ge(count, 1);
    size_t at = 0;
    while (at < count && strcmp(list[at].name, "reference") != 0)
        at++;
    ck_assert_uint_lt(at, count);
    ck_assert(list[at].usable);
    ck_assert_int_eq(list[at].devices, 1);
    ck_assert_str_eq(list[at].file, "");
    ck_assert_int_eq(nmodgpu_priv_device_info("reference", 0, &info), NMODGPU_OK);
    ck_assert_str_eq(info.name, "plain loops");
    ck_assert_int_eq(nmodgpu_priv_device_info("reference", 1, &info), NMODGPU_EINVAL);
}
END_TEST

TCase *dispatch_settings_cases(void)
{
    TCase *cases = dispatch_case("settings");
    tcase_add_test(cases, the_environment_is_read_at_the_first_product);
    tcase_add_test(cases, the_program_switches_on_and_off);
    tcase_add_test(cases, a_context_has_its_own_settings);
    tcase_add_test(cases, the_sooner_of_host_and_backend_serves);
    tcase_add_test(cases, a_plan_can_be_timed);
    tcase_add_test(cases, backends_and_devices_are_listed);
    return cases;
}
