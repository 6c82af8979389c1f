/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Backends from modules in a plugin folder.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "cases.h"
#include "nmodgpu.h"
#include "report.h"

static char modules_built[PATH_MAX]; /* where high.so and low.so are */
static char folder[] = "/tmp/nmodgpu-modules-XXXXXX";

/** Modules are built as libtool does, in .libs beside this program. */
static bool find_modules(void)
{
    char self[PATH_MAX], probe[PATH_MAX + 32];
    if (!realpath("/proc/self/exe", self))
        return false;
    *strrchr(self, '/') = '\0';
    const char *const places[] = {"/.libs", "", "/../.libs"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(probe, sizeof probe, "%s%s/high.so", self, places[i]);
        if (access(probe, R_OK) == 0)
            return snprintf(modules_built, sizeof modules_built, "%s%s", self, places[i]) < PATH_MAX;
    }
    return false;
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void add_module(const char *name, const char *priority)
{
    char file[64], from[PATH_MAX + 64], to[PATH_MAX + 64];
    snprintf(from, sizeof from, "%s/%s.so", modules_built, name);
    snprintf(to, sizeof to, "%s/%s.so", folder, name);
    ck_assert_int_eq(symlink(from, to), 0);
    snprintf(file, sizeof file, "%s.priority", name);
    if (priority)
        write_file(file, priority);
}

static void remove_folder(void)
{
    DIR *listing = opendir(folder);
    ck_assert_ptr_nonnull(listing);
    for (const struct dirent *found = readdir(listing); found; found = readdir(listing))
        if (found->d_name[0] != '.')
            unlinkat(dirfd(listing), found->d_name, 0);
    closedir(listing);
    rmdir(folder);
}

static void module_setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("NMODGPU_PLUGIN_PATH", folder, 1);
    setenv("NMODGPU_MIN_DIM", "0", 1);
}

/** Whether a file is mapped into this process. */
static bool is_mapped(const char *name)
{
    char line[PATH_MAX + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        found = found || strstr(line, name);
    fclose(maps);
    return found;
}

START_TEST(auto_loads_the_module_of_highest_priority_and_no_other)
{
    add_module("low", "1\n");
    add_module("high", "9\n");
    const char *lines = registry_lines_with("NMODGPU_THREADS", "3");
    ck_assert_uint_eq(nmodgpu_report_count_served("high"), 2);
    ck_assert(is_mapped("/high.so"));
    ck_assert(!is_mapped("/low.so"));
    ck_assert_int_eq(count_in(lines, "nmodgpu: high sees three threads\n"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 1);
}
END_TEST

START_TEST(auto_goes_down_until_one_is_usable)
{
    add_module("low", "1\n");
    add_module("high", "9\n");
    const char *lines = registry_lines_with("NMODGPU_TEST_MODULES", "high unusable");
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 2);
    ck_assert_int_eq(count_in(lines, "nmodgpu: high: no device here\n"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 1);
}
END_TEST

START_TEST(a_name_loads_that_module_alone)
{
    add_module("low", NULL);
    add_module("high", "9\n");
    const char *lines = registry_lines_with("NMODGPU", "low");
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 2);
    ck_assert(!is_mapped("/high.so"));
    ck_assert_str_eq(lines, "");
}
END_TEST

START_TEST(a_module_without_priority_is_not_tried_by_auto)
{
    add_module("low", NULL);
    add_module("high", "very high\n");
    const char *lines = registry_lines_with("NMODGPU", "auto");
    ck_assert(!is_mapped("/low.so"));
    ck_assert(!is_mapped("/high.so"));
    ck_assert_int_eq(count_in(lines, "high.priority holds no integer"), 1);
    ck_assert_int_eq(count_in(lines, "no usable backend"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 2);
}
END_TEST

START_TEST(a_module_of_another_interface_is_refused)
{
    add_module("high", "9\n");
    const char *lines = registry_lines_with("NMODGPU_TEST_MODULES", "other interface");
    ck_assert_uint_eq(nmodgpu_report_count_served("high"), 0);
    ck_assert_int_eq(count_in(lines, "high module not usable: built for another version of nmodgpu; going on"), 1);
}
END_TEST

START_TEST(a_file_that_is_no_module_costs_one_line)
{
    add_module("low", "1\n");
    write_file("broken.so", "not a shared object\n");
    write_file("broken.priority", "5\n");
    write_file("Odd name.priority", "7\n");
    write_file("Odd name.so", "");
    write_file("missing.priority", "8\n");
    const char *lines = registry_lines_with("NMODGPU", "auto");
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 2);
    ck_assert_int_eq(count_in(lines, "nmodgpu: broken module not usable: "), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 1);
}
END_TEST

/* Opening one would wait for a writer. */
START_TEST(named_pipes_are_no_modules)
{
    char path[PATH_MAX];
    add_module("low", "1\n");
    add_module("high", NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "pipe.so" : "high.priority");
        ck_assert_int_eq(mkfifo(path, 0600), 0);
    }
    write_file("pipe.priority", "9\n");
    const char *lines = registry_lines_with("NMODGPU", "auto");
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 2);
    ck_assert_str_eq(lines, "");
    ck_assert_int_eq(nmodgpu_enable("pipe"), NMODGPU_OK);
    capture_begin();
    registry_product();
    ck_assert_int_eq(count_in(capture_end(), "there is no backend named pipe"), 1);
}
END_TEST

START_TEST(a_name_that_nobody_has_costs_one_line)
{
    const char *lines = registry_lines_with("NMODGPU", "nosuch");
    ck_assert_str_eq(lines, "nmodgpu: there is no backend named nosuch; the host's own product is used\n");
}
END_TEST

START_TEST(a_plugin_folder_that_is_not_there_costs_one_line)
{
    const char *lines = registry_lines_with("NMODGPU_PLUGIN_PATH", "/nonexistent");
    ck_assert_int_eq(count_in(lines, "the plugin folder /nonexistent cannot be read"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 2);
    ck_assert_int_eq(nmodgpu_context_set(NULL, "NMODGPU_PLUGIN_PATH", folder), NMODGPU_OK);
    add_module("low", "1\n");
    registry_product();
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 1);
}
END_TEST

/** From now on no thread can be started: its stack would not fit into the address space. */
static void forbid_threads(void)
{
    pthread_attr_t attributes;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)1 << 50), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
}

/* OpenBLAS kills the process or hangs it when its threads cannot be started while it is loaded. */
START_TEST(a_module_that_starts_threads_is_loaded_only_where_they_can_be_had)
{
    add_module("low", "1\n");
    add_module("high", "9 threads\n");
    forbid_threads();
    const char *lines = registry_lines_with("NMODGPU", "auto");
    ck_assert_uint_eq(nmodgpu_report_count_served("low"), 2);
    ck_assert(!is_mapped("/high.so"));
    ck_assert_int_eq(count_in(lines, "nmodgpu: high module not usable: a thread for each processor"), 1);
    ck_assert_int_eq(count_in(lines, "\n"), 1);
}
END_TEST

START_TEST(a_module_that_starts_threads_is_loaded_as_a_rule)
{
    add_module("high", "9 threads\n");
    const char *lines = registry_lines_with("NMODGPU", "auto");
    ck_assert_uint_eq(nmodgpu_report_count_served("high"), 2);
    ck_assert_str_eq(lines, "");
}
END_TEST

static void *first_product(void *barrier)
{
    pthread_barrier_wait(barrier);
    registry_product();
    return NULL;
}

START_TEST(threads_that_call_first_at_once_open_it_once)
{
    pthread_t threads[8];
    pthread_barrier_t barrier;
    add_module("high", "9\n");
    setenv("NMODGPU", "auto", 1);
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, first_product, &barrier), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(nmodgpu_report_count_served("high"), 8);
}
END_TEST

TCase *registry_modules_cases(void)
{
    if (!find_modules()) {
        fprintf(stderr, "high.so and low.so are not in .libs beside this program: tests of modules are left out\n");
        return NULL;
    }
    TCase *cases = registry_case("modules");
    tcase_add_checked_fixture(cases, module_setup, remove_folder);
    tcase_add_test(cases, auto_loads_the_module_of_highest_priority_and_no_other);
    tcase_add_test(cases, auto_goes_down_until_one_is_usable);
    tcase_add_test(cases, a_name_loads_that_module_alone);
    tcase_add_test(cases, a_module_without_priority_is_not_tried_by_auto);
    tcase_add_test(cases, a_module_of_another_interface_is_refused);
    tcase_add_test(cases, a_file_that_is_no_module_costs_one_line);
    tcase_add_test(cases, named_pipes_are_no_modules);
    tcase_add_test(cases, a_name_that_nobody_has_costs_one_line);
    tcase_add_test(cases, a_plugin_folder_that_is_not_there_costs_one_line);
    tcase_add_test(cases, a_module_that_starts_threads_is_loaded_only_where_they_can_be_had);
    tcase_add_test(cases, a_module_that_starts_threads_is_loaded_as_a_rule);
    tcase_add_test(cases, threads_that_call_first_at_once_open_it_once);
    return cases;
}
