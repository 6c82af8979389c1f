/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "backends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "child.h"
#include "cmd.h"

void backends_open(backends *b)
{
    capture c;
    capture_begin(&c);
    b->count = nmodgpu_priv_backends(b->list, BACKENDS_MAX);
    b->lines = capture_end(&c);
    if (b->count > BACKENDS_MAX)
        b->count = BACKENDS_MAX;
}

void backends_free(backends *b)
{
    free(b->lines);
    b->lines = NULL;
}

/** NMODGPU where it names one backend; NULL where it leaves the choice open. */
static const char *name_in_environment(void)
{
    static const char *const open[] = {"", "0", "off", "1", "on", "auto"};
    const char *mode = secure_getenv("NMODGPU");
    for (size_t i = 0; mode && i < sizeof open / sizeof open[0]; i++)
        if (strcmp(mode, open[i]) == 0)
            return NULL;
    return mode;
}

const nmodgpu_backend_listing *backends_choose(const backends *b, const char *name)
{
    if (!name)
        name = name_in_environment();
    for (size_t i = 0; i < b->count; i++)
        if (b->list[i].usable && (!name || strcmp(name, b->list[i].name) == 0))
            return &b->list[i];
    return NULL;
}

static int print_usable(int argc, char **argv)
{
    (void)argv;
    if (argc != 1)
        return CMD_USAGE;
    backends b;
    backends_open(&b);
    for (size_t i = 0; i < b.count; i++)
        if (b.list[i].usable)
            puts(b.list[i].name);
    backends_free(&b);
    return CMD_OK;
}

const cmd_command cmd_usable_backends = {"usable-backends", "", "Usage: nmodgpu usable-backends\n", print_usable};

bool backends_have_gpu(void)
{
    char name[] = "nmodgpu", command[] = "usable-backends";
    char *words[] = {name, command, NULL};
    child c = {.path = "/proc/self/exe", .words = words};
    if (!child_run(&c))
        return false;
    bool found = false;
    char *rest = c.output;
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        found = found || (*line && strcmp(line, BACKENDS_ON_CPU) != 0);
    found = found && c.exit_code == CMD_OK;
    child_free(&c);
    return found;
}
