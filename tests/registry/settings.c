/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The table of settings and the environment.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "cases.h"
#include "context.h"
#include "introspect.h"

static const struct {
    const char *name, *value, *line;
} unusable[] = {
    {"NMODGPU", "Fast!", "NMODGPU='Fast!' cannot be used (accepted: off, 0, auto, on, 1, or a backend's name"},
    {"NMODGPU", "gpu\n\033[2J", "NMODGPU='gpu\\x0a\\x1b[2J' cannot be used"},
    {"NMODGPU", "a-name-that-is-far-too-long-for-a-backend", "using the default, off"},
    {"NMODGPU_MIN_DIM", "-1",
     "NMODGPU_MIN_DIM='-1' cannot be used (accepted: an integer >= 0); using the default, by"},
    {"NMODGPU_MIN_DIM", "12x", "NMODGPU_MIN_DIM='12x' cannot be used"},
    {"NMODGPU_MIN_DIM", "99999999999999999999", "NMODGPU_MIN_DIM='99999999999999999999' cannot be used"},
    {"NMODGPU_VERBOSE", "3", "NMODGPU_VERBOSE='3' cannot be used (accepted: 0, 1 or 2); using the default, 0"},
    {"NMODGPU_MEMORY", "0", "NMODGPU_MEMORY='0' cannot be used"},
    {"NMODGPU_MEMORY", "5GB", "NMODGPU_MEMORY='5GB' cannot be used (accepted: bytes, with K, M, G or T"},
    {"NMODGPU_MEMORY", "99999999T", "NMODGPU_MEMORY='99999999T' cannot be used"},
    {"NMODGPU_THREADS", "0", "NMODGPU_THREADS='0' cannot be used"},
    {"NMODGPU_THREADS", " 4", "NMODGPU_THREADS=' 4' cannot be used"},
};

START_TEST(a_value_that_cannot_be_used_costs_one_line)
{
    const char *lines = registry_lines_with(unusable[_i].name, unusable[_i].value);
    ck_assert_msg(count_in(lines, unusable[_i].line) == 1, "lines: %s", lines);
    ck_assert_int_eq(count_in(lines, unusable[_i].name), 1);
    for (const char *c = lines; *c; c++)
        ck_assert((*c >= 0x20 && *c < 0x7f) || *c == '\n');
}
END_TEST

START_TEST(unknown_variables_are_named)
{
    const char *lines = registry_lines_with("NMODGPU_VERBOUS", "1");
    ck_assert_int_eq(count_in(lines, "unknown in the environment, ignored: NMODGPU_VERBOUS (known: NMODGPU, "), 1);
    ck_assert_int_eq(count_in(lines, "NMODGPU_TEST"), 0);
}
END_TEST

static const struct {
    const char *value;
    int64_t bytes;
} sizes[] = {{"1", 1},        {"1000", 1000},    {"2k", 2048},     {"3K", 3072},
             {"5M", 5 << 20}, {"6g", 6LL << 30}, {"2T", 2LL << 40}};

START_TEST(sizes_take_suffixes)
{
    setenv("NMODGPU_MEMORY", sizes[_i].value, 1);
    ck_assert_int_eq(nmodgpu_setting_number(nmodgpu_context_settings(NULL), NMODGPU_SET_MEMORY), sizes[_i].bytes);
}
END_TEST

START_TEST(settings_are_printed_with_their_origin)
{
    char text[16384];
    setenv("NMODGPU_MIN_DIM", "77", 1);
    setenv("NMODGPU_PLAN", "f64\033(", 1);
    ck_assert_int_eq(nmodgpu_context_set(NULL, "NMODGPU_THREADS", "2"), NMODGPU_OK);
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    nmodgpu_priv_print_config(file);
    fclose(file);
    ck_assert_int_eq(count_in(text, "NMODGPU=off  (default)\n"), 1);
    ck_assert_int_eq(count_in(text, "NMODGPU_MIN_DIM=77  (environment)\n"), 1);
    ck_assert_int_eq(count_in(text, "NMODGPU_THREADS=2  (program)\n"), 1);
    ck_assert_int_eq(count_in(text, "NMODGPU_MEMORY=  (default: 80 % of what is free)\n"), 1);
    ck_assert_int_eq(count_in(text, "NMODGPU_PLAN=f64\\x1b(  (environment)\n"), 1);
    ck_assert_int_eq(count_in(text, "Accepted: "), NMODGPU_SETTINGS);
}
END_TEST

START_TEST(the_program_comes_before_the_environment)
{
    setenv("NMODGPU_THREADS", "3", 1);
    ck_assert_int_eq(nmodgpu_context_set(NULL, "NMODGPU_THREADS", "2"), NMODGPU_OK);
    ck_assert_int_eq(nmodgpu_setting_number(nmodgpu_context_settings(NULL), NMODGPU_SET_THREADS), 2);
}
END_TEST

TCase *registry_settings_cases(void)
{
    TCase *cases = registry_case("settings");
    tcase_add_loop_test(cases, a_value_that_cannot_be_used_costs_one_line, 0,
                        (int)(sizeof unusable / sizeof *unusable));
    tcase_add_test(cases, unknown_variables_are_named);
    tcase_add_loop_test(cases, sizes_take_suffixes, 0, (int)(sizeof sizes / sizeof *sizes));
    tcase_add_test(cases, settings_are_printed_with_their_origin);
    tcase_add_test(cases, the_program_comes_before_the_environment);
    return cases;
}
