/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Each FLINT is loaded in a process of its own, behind a preloaded drop-in: exactly as in a program that
 * `nmodgpu run` starts, and a file that crashes when it is loaded takes nothing else with it.
 */
#define _GNU_SOURCE 1
#include "flint_seen.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cmd.h"
#include "preload.h"

/* libflint.so.17 is FLINT 2.9 (Debian 12); later releases have higher numbers. */
#define FIRST_SONAME 17
#define LAST_SONAME 40
#define MAX_FLINTS (LAST_SONAME - FIRST_SONAME + 2)

/* ---- in the child */

static int describe(int argc, char **argv)
{
    if (argc != 2)
        return CMD_USAGE;
    struct stat s;
    if (strchr(argv[1], '/') && stat(argv[1], &s) == 0 && !S_ISREG(s.st_mode)) /* opening a pipe waits for ever */
        return cmd_fail("%s is no file", argv[1]);
    void *flint = dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL); /* stays loaded to the end of the process */
    if (!flint)
        return cmd_fail("%s", dlerror());
    if (!dlsym(flint, "nmod_mat_init"))
        return cmd_fail("%s is no FLINT: it has no nmod_mat_init", argv[1]);
    void (*print)(FILE *);
    void *symbol = dlsym(RTLD_DEFAULT, "nmodgpu_flint_describe");
    if (!symbol)
        return cmd_fail("the drop-in was not preloaded: libnmodgpu-flint.so cannot be loaded");
    memcpy(&print, &symbol, sizeof print);
    print(stdout);
    return CMD_OK;
}

const cmd_command cmd_describe_flint = {"describe-flint", "", "Usage: nmodgpu describe-flint FILE\n", describe};

/* ---- in the command */

static void print_indented(const char *text)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
}

bool flint_seen_print(const char *file)
{
    char why[PATH_MAX + 128], *preload = NULL;
    if (!preload_value(&preload, why, sizeof why)) {
        printf("  %s: not looked at: %s\n", file, why);
        return false;
    }
    /* Switched off: a look around is no use of a backend. */
    const child_variable variables[] = {{"LD_PRELOAD", preload}, {"NMODGPU", NULL}, {"NMODGPU_REPORT", NULL}};
    char name[] = "nmodgpu", command[] = "describe-flint";
    char *words[] = {name, command, (char *)file, NULL};
    child c = {.path = "/proc/self/exe",
               .words = words,
               .variables = variables,
               .variables_count = 3,
               .keep_errors = true};
    bool seen = child_run(&c);
    if (!seen)
        printf("  %s: not looked at: %s\n", file, strerror(errno));
    else
        print_indented(c.output);
    if (seen && c.signal)
        printf("  %s: loading it ended with signal %d\n", file, c.signal);
    seen = seen && c.exit_code == CMD_OK;
    child_free(&c);
    free(preload);
    return seen;
}

/** The file that the loader takes for a name; false when it finds none. */
static bool loader_finds(const char *name, char path[PATH_MAX])
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map = NULL;
    const bool found = handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, path);
    if (handle)
        dlclose(handle); /* a library that will not go away does no harm here */
    return found;
}

static bool is_new(char found[][PATH_MAX], int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(found[i], found[count]) == 0)
            return false;
    return true;
}

void flint_seen_print_all(void)
{
    char(*found)[PATH_MAX] = calloc(MAX_FLINTS, sizeof *found);
    int count = 0;
    if (!found) {
        cmd_fail("no memory for a list of FLINTs");
        return;
    }
    if (loader_finds("libflint.so", found[0]))
        count = 1;
    for (int number = FIRST_SONAME; number <= LAST_SONAME; number++) {
        char name[32];
        snprintf(name, sizeof name, "libflint.so.%d", number);
        if (loader_finds(name, found[count]) && is_new(found, count))
            count++;
    }
    for (int i = 0; i < count; i++)
        flint_seen_print(found[i]);
    if (!count)
        puts("  none where the loader looks (a program may bring its own; --flint FILE looks at one)");
    free(found);
}
