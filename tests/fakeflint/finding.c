/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "finding.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "harness.h"
#include "operands.h"
#include "support.h"

static const char *const layouts[] = {"fakeflint-rows", "fakeflint-stride"};

static void one_lu(void *data)
{
    const fake_api api = load_behind_dropin(data);
    fake_mat a = fake_random(&api, 24, 24, 1009);
    fake_mat b = fake_random(&api, 24, 24, 1009);
    api.lu(NULL, &a, 0);
    check_product(&api, 0, &a, &a, &a, &b);
    api.clear(&a);
    api.clear(&b);
}

START_TEST(calls_inside_flint_arrive)
{
    const outcome o = run_well(test_backend(), one_lu, (void *)layouts[_i]);
    ck_assert_msg(o.arrived == 2 && o.served == 2, "%s", o.line);
    ck_assert_msg(!strstr(o.errors, "directly"), "%s", o.errors);
}
END_TEST

START_TEST(symbolic_flint_is_told_of)
{
    const outcome o = run_well(test_backend(), one_lu, (void *)"fakeflint-symbolic");
    ck_assert_msg(o.arrived == 1 && o.served == 1, "%s", o.line);
    const char *said = strstr(o.errors, "calls its own nmod_mat_mul directly");
    ck_assert_msg(said && !strstr(said + 1, "calls its own"), "%s", o.errors);
}
END_TEST

static void behind_flint(void *data)
{
    void *fake = load_module("fakeflint-rows", RTLD_NOW | RTLD_GLOBAL);
    load_dropin();
    const fake_api api = fake_functions(fake, true);
    fake_mat a = fake_random(&api, 5, 5, 1009);
    (void)data;
    check_product(&api, 0, &a, &a, &a, &a);
    api.clear(&a);
}

START_TEST(a_dropin_behind_flint_says_so)
{
    const outcome on = run_well("auto", behind_flint, NULL);
    ck_assert_msg(!on.reported || on.arrived == 0, "%s", on.line);
    ck_assert_msg(strstr(on.errors, "nmod_mat_mul is taken from") != NULL, "%s", on.errors);
    const outcome off = run_well(NULL, behind_flint, NULL);
    ck_assert_msg(off.errors[0] == '\0', "%s", off.errors);
}
END_TEST

/* Two FLINTs of different layouts, each private to the library that uses it. */
static void two_private_flints(void *data)
{
    static const char *const callers[] = {"fakecaller-rows", "fakecaller-stride"};
    (void)data;
    load_dropin();
    for (int i = 0; i < 2; i++) {
        void *caller = load_module(callers[i], RTLD_NOW | RTLD_LOCAL);
        fake_api api = fake_functions(load_module(layouts[i], RTLD_NOW | RTLD_NOLOAD), true);
        void *mul = dlsym(caller, "caller_mul");
        ck_assert(mul != NULL);
        memcpy(&api.mul, &mul, sizeof mul);
        for (int round = 0; round < 20; round++) {
            fake_mat a = fake_random(&api, 9, 11, 1000003);
            fake_mat b = fake_random(&api, 11, 10, 1000003);
            fake_mat c = fake_random(&api, 9, 10, 1000003);
            check_product(&api, 0, &c, &c, &a, &b);
            api.clear(&a);
            api.clear(&b);
            api.clear(&c);
        }
    }
}

START_TEST(each_caller_gets_its_own_flint)
{
    test_seed();
    const outcome on = run_well(test_backend(), two_private_flints, NULL);
    ck_assert_msg(on.arrived == 40 && on.served == 40, "%s", on.line);
    run_well(NO_BACKEND, two_private_flints, NULL);
    run_well(NULL, two_private_flints, NULL);
}
END_TEST

/* The test program depends on neither, so only the matrices tell whose they are. */
static void caller_of_neither(void *data)
{
    (void)data;
    load_dropin();
    for (int i = 0; i < 2; i++) {
        const fake_api api = fake_functions(load_module(layouts[i], RTLD_NOW | RTLD_LOCAL), true);
        operand a = make_operand(&api, 9, 9, 1009);
        operand b = make_operand(&api, 9, 9, 1009);
        for (int op = 0; op < 3; op++)
            check_product(&api, op, &b.used, &b.used, &a.used, &b.used);
        free_operand(&api, &a);
        free_operand(&api, &b);
    }
}

START_TEST(operands_tell_their_flint)
{
    test_seed();
    const outcome on = run_well(test_backend(), caller_of_neither, NULL);
    ck_assert_msg(on.arrived == 6 && on.served == 6, "%s", on.line);
    run_well(NULL, caller_of_neither, NULL);
}
END_TEST

/* A row table at an address so low that it might be a stride. */
static void operands_that_tell_nothing(void *data)
{
    fake_api api;
    fake_mat a;
    (void)data;
    load_dropin();
    api = fake_functions(load_module("fakeflint-rows", RTLD_NOW | RTLD_LOCAL), true);
    load_module("fakeflint-stride", RTLD_NOW | RTLD_LOCAL);
    a = fake_random(&api, 9, 9, 1009);
    void *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ck_assert(low != MAP_FAILED);
    a.rows = memcpy(low, a.rows, 9 * sizeof *a.rows);
    api.mul(&a, &a, &a);
}

static void without_flint(void *data)
{
    void *dropin = load_dropin();
    void (*mul)(fake_mat *, const fake_mat *, const fake_mat *);
    void *address = dlsym(dropin, "nmod_mat_mul");
    fake_mat a = {.n = 7};
    (void)data;
    memcpy(&mul, &address, sizeof mul);
    mul(&a, &a, &a);
}

START_TEST(without_a_way_on_there_is_one_line)
{
    static const char *const modes[] = {NULL, "auto"};
    const outcome several = run_apart(modes[_i], operands_that_tell_nothing, NULL);
    ck_assert(WIFSIGNALED(several.status) && WTERMSIG(several.status) == SIGABRT);
    ck_assert_msg(strstr(several.errors, "several FLINTs") != NULL, "%s", several.errors);
    const outcome none = run_apart(modes[_i], without_flint, NULL);
    ck_assert(WIFSIGNALED(none.status) && WTERMSIG(none.status) == SIGABRT);
    ck_assert_msg(strstr(none.errors, "no FLINT is loaded") != NULL, "%s", none.errors);
}
END_TEST

static void describe(void *data)
{
    const char *variant = data;
    void *dropin = load_dropin();
    void *address = dlsym(dropin, "nmodgpu_flint_describe");
    void (*write_to)(FILE *);
    ck_assert(address != NULL);
    memcpy(&write_to, &address, sizeof write_to);
    if (variant)
        load_module(variant, RTLD_NOW | RTLD_GLOBAL);
    write_to(stderr);
}

START_TEST(describe_tells_what_is_served)
{
    const outcome rows = run_well(NULL, describe, (void *)"fakeflint-rows");
    ck_assert_msg(strstr(rows.errors, "FLINT 3.1.3-p1") && strstr(rows.errors, "layout: rows, proven") &&
                      strstr(rows.errors, "...): served") && strstr(rows.errors, "nmod_mat_mul: nmodgpu's"),
                  "%s", rows.errors);
    const outcome symbolic = run_well(NULL, describe, (void *)"fakeflint-symbolic");
    ck_assert_msg(strstr(symbolic.errors, "...): not served") != NULL, "%s", symbolic.errors);
    const outcome lying = run_well(NULL, describe, (void *)"fakeflint-lying");
    ck_assert_msg(strstr(lying.errors, "this FLINT serves itself") != NULL, "%s", lying.errors);
    const outcome none = run_well(NULL, describe, NULL);
    ck_assert_msg(strstr(none.errors, "FLINT: none loaded") != NULL, "%s", none.errors);
}
END_TEST

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    ck_assert(tasks != NULL);
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks))
        count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* The files that are mapped, a line each. */
static void list_mappings(char *list, size_t capacity)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert(maps != NULL);
    list[0] = '\0';
    while (fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        if (path && !strstr(list, path))
            strncat(list, path, capacity - strlen(list) - 1);
    }
    fclose(maps);
}

static void off_and_quiet(void *data)
{
    static char before[65536], after[65536];
    (void)data;
    const int threads = count_threads();
    list_mappings(before, sizeof before);
    const fake_api api = load_behind_dropin("fakeflint-rows");
    fake_mat a = fake_random(&api, 20, 20, 1009);
    for (int i = 0; i < 3; i++)
        check_product(&api, i, &a, &a, &a, &a);
    api.clear(&a);
    list_mappings(after, sizeof after);
    ck_assert_int_eq(count_threads(), threads);
    for (char *path = strtok(after, "\n"); path; path = strtok(NULL, "\n"))
        ck_assert_msg(strstr(before, path) || strstr(path, "/libnmodgpu-flint.so") ||
                          strstr(path, "/libnmodgpu.so") || strstr(path, "/fakeflint-rows.so"),
                      "%s has been mapped", path);
}

START_TEST(off_adds_no_thread_and_no_mapping)
{
    run_well(NULL, off_and_quiet, NULL);
    run_well("off", off_and_quiet, NULL);
    run_well("0", off_and_quiet, NULL);
    run_well("", off_and_quiet, NULL);
}
END_TEST

TCase *finding_cases(void)
{
    TCase *found = tcase_create("finding");
    tcase_set_timeout(found, 120);
    tcase_add_loop_test(found, calls_inside_flint_arrive, 0, 2);
    tcase_add_test(found, symbolic_flint_is_told_of);
    tcase_add_test(found, a_dropin_behind_flint_says_so);
    tcase_add_test(found, each_caller_gets_its_own_flint);
    tcase_add_test(found, operands_tell_their_flint);
    tcase_add_loop_test(found, without_a_way_on_there_is_one_line, 0, 2);
    tcase_add_test(found, describe_tells_what_is_served);
    tcase_add_test(found, off_adds_no_thread_and_no_mapping);
    return found;
}
