/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu run: starts a program with the FLINT drop-in in front of its FLINT.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "preload.h"
#include "target.h"

static const char help[] =
    "Usage: nmodgpu run [--] PROGRAM [ARGUMENTS...]\n"
    "\n"
    "Runs PROGRAM with the products of its FLINT served by nmodgpu: puts this installation's\n"
    "libnmodgpu-flint.so into LD_PRELOAD, behind what is there already, and sets NMODGPU=auto unless\n"
    "NMODGPU is set.  PROGRAM is found as a shell finds it, and its standard streams, exit status and\n"
    "signals are its own: nmodgpu replaces itself by it.\n"
    "\n"
    "Options:\n"
    "  -h, --help   print this text\n"
    "\n"
    "Examples:\n"
    "  nmodgpu run ./my_flint_program 31 4096\n"
    "  nmodgpu run M2 script.m2\n"
    "  NMODGPU_VERBOSE=1 nmodgpu run python3 script.py      a line a product on standard error\n"
    "  NMODGPU=cuda NMODGPU_MIN_DIM=0 nmodgpu run ./prog    everything to the GPU\n"
    "\n"
    "Exit status: that of PROGRAM; 127 when it is not found, 126 when it cannot be executed,\n"
    "1 when this installation is incomplete, 2 for wrong usage.\n";

/** The line for a program that could not be started. */
static int explain(const char *program, const char *path, int error)
{
    if (error == ENOENT && *path)
        cmd_fail("%s: the file is there, but its interpreter or loader is not", path);
    else
        cmd_fail("%s: %s", program, error == ENOENT ? "command not found" : strerror(error));
    return error == ENOENT ? CMD_NOT_FOUND : CMD_CANNOT_EXECUTE;
}

static int start(char **words)
{
    char path[PATH_MAX] = "", why[PATH_MAX + 128], *preload = NULL;
    if (!preload_value(&preload, why, sizeof why))
        return cmd_fail("%s", why);
    const int failed = setenv("LD_PRELOAD", preload, 1) || setenv("NMODGPU", "auto", 0);
    free(preload);
    if (failed)
        return cmd_fail("no memory for the environment");
    /* Not left to execvp(), which says EACCES when any folder of PATH may not be looked into. */
    if (!target_find(words[0], path))
        return explain(words[0], "", ENOENT);
    if (target_refuses_preload(path, why, sizeof why))
        fprintf(stderr, "nmodgpu: %s: its products are not served\n", why);
    execvp(words[0], words);
    return explain(words[0], path, errno);
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "+h", options, NULL)) != -1;) {
        if (option == 'h')
            return cmd_help(&cmd_run);
        return cmd_usage_seen(&cmd_run);
    }
    if (optind >= argc)
        return cmd_usage(&cmd_run, "run: which program?");
    return start(argv + optind);
}

const cmd_command cmd_run = {"run", "run a program with its products on the GPU", help, run};
