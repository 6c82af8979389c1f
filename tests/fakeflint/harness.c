/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* Not Check's assertions: this is used before and beside its tests as well. */
static void must(bool well, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void must(bool well, const char *format, ...)
{
    va_list arguments;
    if (well)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static void temporary(char *path, size_t capacity)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, capacity, "%s/nmodgpu-test-XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    must(fd >= 0, "cannot make %s", path);
    close(fd);
}

static void slurp(const char *path, char *text, size_t capacity)
{
    FILE *in = fopen(path, "r");
    must(in != NULL, "cannot read %s", path);
    text[fread(text, 1, capacity - 1, in)] = '\0';
    fclose(in);
    unlink(path);
}

/* The sum of the numbers in the object {"name":number,...} that follows `key`, or the number itself. */
static int64_t total(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    int64_t sum = 0;
    must(at != NULL, "no %s in the report: %s", key, line);
    at += strlen(key);
    if (*at != '{')
        return strtoll(at, NULL, 10);
    for (const char *end = strchr(at, '}'); at && at < end; at = strchr(at + 1, ':'))
        if (*at == ':')
            sum += strtoll(at + 1, NULL, 10);
    return sum;
}

static void set_environment(const char *mode, const char *report)
{
    if (mode)
        setenv("NMODGPU", mode, 1);
    else
        unsetenv("NMODGPU");
    setenv("NMODGPU_MIN_DIM", "0", 1);
    setenv("NMODGPU_REPORT", report, 1);
}

outcome run_apart(const char *mode, void (*body)(void *data), void *data)
{
    outcome o = {.status = 0};
    char report[PATH_MAX], errors[PATH_MAX];
    temporary(report, sizeof report);
    temporary(errors, sizeof errors);
    fflush(NULL);
    const pid_t child = fork();
    must(child >= 0, "fork fails");
    if (child == 0) {
        const int fd = open(errors, O_WRONLY | O_TRUNC);
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
            _exit(99);
        set_environment(mode, report);
        body(data);
        exit(0);
    }
    must(waitpid(child, &o.status, 0) == child, "waitpid fails");
    slurp(report, o.line, sizeof o.line);
    slurp(errors, o.errors, sizeof o.errors);
    o.reported = o.line[0] != '\0';
    if (o.reported) {
        o.arrived = total(o.line, "\"arrived\":");
        o.served = total(o.line, "\"served\":");
        o.declined = total(o.line, "\"declined\":");
    }
    return o;
}

outcome run_well(const char *mode, void (*body)(void *data), void *data)
{
    const outcome o = run_apart(mode, body, data);
    must(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0, "the child ended with status %#x: %s", o.status,
         o.errors);
    return o;
}

/* The folder that this program is in. */
static const char *own_folder(void)
{
    static char self[PATH_MAX];
    must(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "no /proc/self/exe");
    return dirname(self);
}

/* Without the variable, as when the program is run by hand: beside the tests in the build folder. */
static const char *stage(void)
{
    static char folder[PATH_MAX + 32];
    const char *given = getenv("NMODGPU_TEST_STAGE");
    if (given)
        return given;
    snprintf(folder, sizeof folder, "%s/../stage", own_folder());
    return folder;
}

const char *standin_folder(void)
{
    static char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/standin/.libs", own_folder());
    return folder;
}

const char *test_backend(void)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib/nmodgpu/cblas.so", stage());
    if (access(path, R_OK) == 0)
        return "cblas";
    setenv("NMODGPU_PLUGIN_PATH", standin_folder(), 1);
    return "cuda";
}

static void *load(const char *path, int flags)
{
    void *handle = dlopen(path, flags);
    must(handle != NULL, "%s", dlerror());
    return handle;
}

void *load_dropin(void)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib/libnmodgpu-flint.so", stage());
    return load(path, RTLD_NOW | RTLD_GLOBAL);
}

void *load_module(const char *name, int flags)
{
    char path[PATH_MAX + 64];
    const char *folder = own_folder(); /* itself .libs where libtool has put a wrapper in front */
    snprintf(path, sizeof path, "%s/.libs/%s.so", folder, name);
    if (access(path, R_OK) != 0)
        snprintf(path, sizeof path, "%s/%s.so", folder, name);
    return load(path, flags);
}

static void find(void *handle, const char *name, void *place)
{
    void *address = dlsym(handle, name);
    must(address != NULL, "no %s", name);
    memcpy(place, &address, sizeof address);
}

fake_api fake_functions(void *fake, bool global)
{
    fake_api api;
    void *products = global ? RTLD_DEFAULT : fake;
    find(products, "nmod_mat_mul", &api.mul);
    find(products, "nmod_mat_addmul", &api.addmul);
    find(products, "nmod_mat_submul", &api.submul);
    find(fake, "nmod_mat_mul_classical", &api.mul_classical);
    find(fake, "nmod_mat_mul_strassen", &api.mul_strassen);
    find(fake, "nmod_mat_lu", &api.lu);
    find(fake, "nmod_mat_init", &api.init);
    find(fake, "nmod_mat_clear", &api.clear);
    find(fake, "nmod_mat_window_init", &api.window_init);
    find(fake, "nmod_mat_window_clear", &api.window_clear);
    find(fake, "nmod_mat_swap_rows", &api.swap_rows);
    find(fake, "nmod_mat_entry_ptr", &api.entry);
    find(fake, "fakeflint_probe", &api.probe);
    return api;
}

fake_api load_behind_dropin(const char *variant)
{
    load_dropin();
    return fake_functions(load_module(variant, RTLD_NOW | RTLD_GLOBAL), true);
}

fake_mat fake_random(const fake_api *api, int64_t rows, int64_t cols, uint64_t n)
{
    fake_mat a;
    api->init(&a, rows, cols, n);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            *api->entry(&a, i, j) = test_below(n);
    return a;
}
