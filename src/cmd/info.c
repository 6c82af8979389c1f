/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu info: what is here and how it is set.
 */
#define _GNU_SOURCE 1
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "cmd.h"
#include "flint_seen.h"
#include "nmodgpu.h"
#include "place.h"
#include "terminal.h"

static const char help[] =
    "Usage: nmodgpu info [--config] [--flint FILE]\n"
    "\n"
    "Shows the version, the backends (which can be used and why others cannot), their devices, the FLINT\n"
    "libraries here and whether their products can be served, and every setting with its value and origin.\n"
    "Backends are loaded for that, whatever NMODGPU says.\n"
    "\n"
    "Options:\n"
    "  -c, --config       only the settings\n"
    "  -f, --flint FILE   look at this FLINT: a file, or a name for the loader (default: libflint.so and\n"
    "                     libflint.so.N as the loader finds them)\n"
    "  -h, --help         print this text\n"
    "\n"
    "Examples:\n"
    "  nmodgpu info\n"
    "  nmodgpu info --flint /opt/flint/lib/libflint.so\n"
    "  NMODGPU_MIN_DIM=100 nmodgpu info --config\n"
    "\n"
    "Exit status: 0 done, 1 when FILE cannot be loaded as a FLINT, 2 wrong usage.\n";

static void print_title(const char *title)
{
    printf("\n%s%s%s\n", terminal_paint(STYLE_BOLD), title, terminal_paint(STYLE_NONE));
}

/* ---- backends */

static void print_size(const char *what, uint64_t bytes)
{
    printf("%.1f GiB %s", (double)bytes / (1 << 30), what);
}

static void print_device(const char *backend, int32_t device)
{
    nmodgpu_device_info info;
    const nmodgpu_status status = nmodgpu_priv_device_info(backend, device, &info);
    if (status != NMODGPU_OK) {
        printf("    device %d: %s\n", (int)device, nmodgpu_status_text(status));
        return;
    }
    printf("    device %d: %s\n      ", (int)device, info.name);
    print_size("of memory, ", info.memory_bytes);
    print_size("free", info.free_bytes);
    if (info.detail[0])
        printf("\n      %s", info.detail);
    printf("\n      planned with %.3g TFLOP/s in double precision, copies %.3g GB/s in, %.3g GB/s out\n",
           info.rates.f64_flops * 1e-12, info.rates.import_bytes * 1e-9, info.rates.export_bytes * 1e-9);
}

/** Whether a line is about a backend: begins with its name as a word. */
static bool is_about(const char *line, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':');
}

static bool is_about_any(const char *line, const backends *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_about(line, b->list[i].name))
            return true;
    return false;
}

/** Prints the lines about a backend; with NULL those about none.  All of them begin alike, which is left out. */
static void print_lines(const backends *b, const char *name)
{
    static const char prefix[] = "nmodgpu: ";
    for (const char *line = b->lines ? b->lines : ""; *line;) {
        const size_t whole = strcspn(line, "\n");
        const char *text = strncmp(line, prefix, sizeof prefix - 1) == 0 ? line + sizeof prefix - 1 : line;
        if (name ? is_about(text, name) : !is_about_any(text, b))
            printf("    %.*s\n", (int)(line + whole - text), text);
        line += whole + (line[whole] != '\0');
    }
}

static void print_backend(const backends *b, const nmodgpu_backend_listing *backend)
{
    printf("  %s: %s%s%s, priority %d%s%s\n", backend->name,
           terminal_paint(backend->usable ? STYLE_GOOD : STYLE_BAD), backend->usable ? "usable" : "not usable",
           terminal_paint(STYLE_NONE), (int)backend->priority, backend->file[0] ? ", " : "", backend->file);
    print_lines(b, backend->name);
    for (int32_t device = 0; device < backend->devices; device++)
        print_device(backend->name, device);
}

/** The GPU's module is left out of a build without CUDA. */
static void print_missing_module(const backends *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->list[i].name, "cuda") == 0)
            return;
    puts("  cuda: not built, or not installed (./configure's summary says why it leaves it out)");
}

static void print_backends(void)
{
    backends b;
    backends_open(&b);
    print_title("Backends");
    for (size_t i = 0; i < b.count; i++)
        print_backend(&b, &b.list[i]);
    print_lines(&b, NULL);
    print_missing_module(&b);
    const nmodgpu_backend_listing *first = backends_choose(&b, NULL);
    const char *mode = secure_getenv("NMODGPU");
    if (first)
        printf("  products that are large enough go to %s%s\n", first->name,
               mode && *mode ? "" : " with NMODGPU=auto");
    else
        puts("  every product stays with FLINT");
    backends_free(&b);
}

/* ---- FLINT */

static int print_flint(const char *file)
{
    char path[PATH_MAX];
    print_title("FLINT");
    if (place_dropin(path))
        printf("  drop-in: %s\n", path);
    if (!file) {
        flint_seen_print_all();
        return CMD_OK;
    }
    /* A file in this folder may be meant by its bare name, which the loader would take for one of its own. */
    char *resolved = access(file, F_OK) == 0 ? realpath(file, NULL) : NULL;
    const bool seen = flint_seen_print(resolved ? resolved : file);
    free(resolved);
    return seen ? CMD_OK : CMD_FAILED;
}

/* ---- all of it */

static int print_all(const char *flint)
{
    /* Made first: what is wrong with the settings is said before backends are loaded by them. */
    char *settings = NULL;
    size_t settings_bytes;
    FILE *text = open_memstream(&settings, &settings_bytes);
    if (text)
        nmodgpu_priv_print_config(text);
    if (!text || fclose(text) != 0)
        return cmd_fail("info: out of memory");
    printf("%snmodgpu %s%s\n", terminal_paint(STYLE_BOLD), nmodgpu_version(), terminal_paint(STYLE_NONE));
    print_backends();
    const int status = print_flint(flint);
    print_title("Settings");
    fputs(settings, stdout);
    free(settings);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"config", no_argument, NULL, 'c'},
                                            {"flint", required_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *flint = NULL;
    bool config = false;
    for (int option; (option = getopt_long(argc, argv, "cf:h", options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            config = true;
            break;
        case 'f':
            flint = optarg;
            break;
        case 'h':
            return cmd_help(&cmd_info);
        default:
            return cmd_usage_seen(&cmd_info);
        }
    }
    if (optind < argc)
        return cmd_usage(&cmd_info, "info: '%s' is no option", argv[optind]);
    if (config && flint)
        return cmd_usage(&cmd_info, "info: --config shows settings only; --flint has no place there");
    if (!config)
        return print_all(flint);
    nmodgpu_priv_print_config(stdout);
    return CMD_OK;
}

const cmd_command cmd_info = {"info", "show backends, devices, FLINT and settings", help, run};
