/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * While the switch is off, nothing happens.
 */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "cases.h"
#include "dispatch.h"

static int count_threads(void)
{
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *found = readdir(tasks); found; found = readdir(tasks))
        threads += found->d_name[0] != '.';
    closedir(tasks);
    return threads;
}

/** Number of mapped files. */
static int count_mappings(void)
{
    char line[PATH_MAX + 128];
    int mappings = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        mappings += strchr(line, '/') != NULL;
    fclose(maps);
    return mappings;
}

static const char *const off[] = {NULL, "", "0", "off"};

START_TEST(off_starts_no_thread_and_maps_nothing)
{
    if (off[_i])
        setenv("NMODGPU", off[_i], 1);
    setenv("NMODGPU_REPORT", "/nonexistent/report", 1);
    setenv("NMODGPU_UNKNOWN", "1", 1);
    capture_begin(); /* what reading /proc maps and allocates is there before the count */
    count_mappings();
    count_threads();
    const int threads = count_threads(), mappings = count_mappings();
    for (int i = 0; i < 10; i++) {
        registry_product();
        ck_assert_int_eq(nmodgpu_priv_read_switch(), NMODGPU_SWITCH_OFF);
        ck_assert(!nmodgpu_priv_worth_trying(5000, 5000, 5000, 7));
    }
    ck_assert_int_eq(count_threads(), threads);
    ck_assert_int_eq(count_mappings(), mappings);
    ck_assert_str_eq(capture_end(), "");
}
END_TEST

TCase *registry_off_cases(void)
{
    TCase *cases = registry_case("off");
    tcase_add_loop_test(cases, off_starts_no_thread_and_maps_nothing, 0, (int)(sizeof off / sizeof *off));
    return cases;
}
