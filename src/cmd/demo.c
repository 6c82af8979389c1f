/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu demo: a FLINT program, as it is and with the drop-in.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "child.h"
#include "cmd.h"
#include "number.h"
#include "place.h"
#include "preload.h"
#include "served.h"
#include "terminal.h"

/* FLINT on one thread takes seconds at the first and tens of seconds at the second. */
#define SIZE_ON_CPU 2000
#define SIZE_ON_GPU 4096
#define MAX_SIZE 100000
#define DEFAULT_BITS_LOW 23
#define DEFAULT_BITS_HIGH 31

static const char help[] =
    "Usage: nmodgpu demo [--n N] [--p P]\n"
    "\n"
    "Runs a real FLINT program, which multiplies two N x N matrices modulo P, as it is and then with its\n"
    "products served by nmodgpu.  Shows what it prints, compares the results, and says who served it.\n"
    "The second run multiplies twice and keeps the better time: the first product also starts the device.\n"
    "\n"
    "Options:\n"
    "  -n, --n N    size of the matrices (default: 2000, with a GPU 4096)\n"
    "  -p, --p P    modulus (default: a prime of 23 bits, then one of 31 bits):\n"
    "               " NUMBER_MODULUS_FORMS "\n"
    "  -h, --help   print this text\n"
    "\n"
    "Examples:\n"
    "  nmodgpu demo\n"
    "  nmodgpu demo --n 8192 --p 2^31-1\n"
    "  NMODGPU=cblas nmodgpu demo --p 16bits\n"
    "\n"
    "Exit status: 0 done, 1 when results differ or no backend served the product, 2 wrong usage.\n";

typedef struct demo {
    int64_t n;
    bool has_gpu;
    bool on_cpu; /* some product was served there */
    char program[PATH_MAX];
    char *preload;
} demo;

/** What one run of the program printed and took. */
typedef struct outcome {
    char checksum[32];
    double seconds;
} outcome;

typedef struct waiting {
    terminal_progress progress;
    const char *what;
    double expected_seconds; /* 0 where nothing is known */
} waiting;

static void show_waiting(void *data, double seconds)
{
    waiting *w = data;
    terminal_progress_show(&w->progress, w->expected_seconds > 0 ? seconds / w->expected_seconds : -1, w->what);
}

/** Takes the program's line apart: "... checksum X, Y seconds". */
static bool parse(const char *output, outcome *o)
{
    const char *found = strstr(output, "checksum ");
    return found && sscanf(found, "checksum %31[0-9a-f], %lf seconds", o->checksum, &o->seconds) == 2;
}

/** Runs the program and shows what it prints. */
static bool run_program(const demo *d, uint64_t p, const char *repeat, child *c, waiting *w, outcome *o)
{
    char name[] = "flint-product", n[32], modulus[32];
    snprintf(n, sizeof n, "%" PRId64, d->n);
    snprintf(modulus, sizeof modulus, "%" PRIu64, p);
    char *words[] = {name, n, modulus, (char *)repeat, NULL};
    c->path = d->program;
    c->words = words;
    c->waiting = show_waiting;
    c->data = w;
    fflush(stdout);
    terminal_progress_begin(&w->progress);
    const bool ran = child_run(c);
    terminal_progress_end(&w->progress);
    if (!ran) {
        cmd_fail("%s: %s", d->program, strerror(errno));
        return false;
    }
    printf("    %s", c->output);
    const bool good = c->exit_code == 0 && parse(c->output, o);
    if (!good && c->signal)
        cmd_fail("%s ended with signal %d", d->program, c->signal);
    else if (!good)
        cmd_fail("%s failed (exit status %d)", d->program, c->exit_code);
    child_free(c);
    return good;
}

static bool run_plain(const demo *d, uint64_t p, outcome *o)
{
    const child_variable variables[] = {{"NMODGPU", "off"}};
    child c = {.variables = variables, .variables_count = 1};
    waiting w = {.what = "FLINT alone", .expected_seconds = nmodgpu_priv_host_seconds(d->n, d->n, d->n, p)};
    printf("  as it is:      flint-product %" PRId64 " %" PRIu64 "\n", d->n, p);
    return run_program(d, p, "1", &c, &w, o);
}

static bool run_served(const demo *d, uint64_t p, outcome *o, served *s)
{
    const char *mode = secure_getenv("NMODGPU");
    const child_variable variables[] = {
        {"LD_PRELOAD", d->preload}, {"NMODGPU", mode ? mode : "auto"}, {"NMODGPU_REPORT", s->path}};
    child c = {.variables = variables, .variables_count = 3};
    waiting w = {.what = "with nmodgpu"};
    printf("  with nmodgpu:  nmodgpu run flint-product %" PRId64 " %" PRIu64 " 2\n", d->n, p);
    return run_program(d, p, "2", &c, &w, o) && served_read(s);
}

static bool print_verdict(demo *d, const outcome *plain, const outcome *ours, const served *s)
{
    const bool same = strcmp(plain->checksum, ours->checksum) == 0;
    const bool good = same && s->by[0];
    printf("  %s%s%s", terminal_paint(good ? STYLE_GOOD : STYLE_BAD), same ? "same result" : "THE RESULTS DIFFER",
           terminal_paint(STYLE_NONE));
    if (!s->by[0]) {
        printf("; no backend served it%s%s\n", s->declined[0] ? ", declined: " : "", s->declined);
        if (strstr(s->declined, "small"))
            puts("  FLINT itself is predicted to be sooner; NMODGPU_MIN_DIM=0 sends every product");
        return false;
    }
    printf(", served by %s: %.3g s instead of %.3g s", s->by, ours->seconds, plain->seconds);
    if (ours->seconds > 0)
        printf(", %.1f times as fast", plain->seconds / ours->seconds);
    putchar('\n');
    d->on_cpu = d->on_cpu || strcmp(s->by, BACKENDS_ON_CPU) == 0;
    return good;
}

static bool show_modulus(demo *d, uint64_t p)
{
    outcome plain, ours;
    served s;
    printf("\n%sn = %" PRId64 ", p = %" PRIu64 " (%d bits)%s\n", terminal_paint(STYLE_BOLD), d->n, p,
           64 - __builtin_clzll(p), terminal_paint(STYLE_NONE));
    if (!served_begin(&s)) {
        cmd_fail("no temporary file for the report: %s", strerror(errno));
        return false;
    }
    const bool ran = run_plain(d, p, &plain) && run_served(d, p, &ours, &s);
    served_end(&s);
    return ran && print_verdict(d, &plain, &ours, &s);
}

static int show(demo *d, uint64_t p)
{
    char why[PATH_MAX + 128];
    if (!place_flint_product(d->program))
        return cmd_fail(
            "demo: the FLINT program is not here: nmodgpu was built without FLINT; install FLINT with its "
            "headers (Debian: libflint-dev), configure and build again");
    if (!preload_value(&d->preload, why, sizeof why))
        return cmd_fail("demo: %s", why);
    d->has_gpu = backends_have_gpu();
    if (!d->n)
        d->n = d->has_gpu ? SIZE_ON_GPU : SIZE_ON_CPU;
    printf("A FLINT program multiplies two n x n matrices modulo p:\n%s\n", d->program);
    bool good = show_modulus(d, p ? p : number_largest_prime(DEFAULT_BITS_LOW));
    if (!p)
        good = show_modulus(d, number_largest_prime(DEFAULT_BITS_HIGH)) && good;
    if (d->on_cpu)
        printf("\n%s: served by %s on the CPU\n",
               d->has_gpu ? "the GPU was not used" : "no usable GPU (nmodgpu info)", BACKENDS_ON_CPU);
    free(d->preload);
    return good ? CMD_OK : CMD_FAILED;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"n", required_argument, NULL, 'n'},
                                            {"p", required_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    demo d = {0};
    uint64_t p = 0;
    for (int option; (option = getopt_long(argc, argv, "n:p:h", options, NULL)) != -1;) {
        switch (option) {
        case 'n':
            if (!number_parse_integer(optarg, 1, MAX_SIZE, &d.n))
                return cmd_usage(&cmd_demo, "demo: --n takes an integer from 1 to %d", MAX_SIZE);
            break;
        case 'p':
            if (!number_parse_modulus(optarg, &p))
                return cmd_usage(&cmd_demo, "demo: --p takes %s", NUMBER_MODULUS_FORMS);
            break;
        case 'h':
            return cmd_help(&cmd_demo);
        default:
            return cmd_usage_seen(&cmd_demo);
        }
    }
    if (optind < argc)
        return cmd_usage(&cmd_demo, "demo: '%s' is no option", argv[optind]);
    return show(&d, p);
}

const cmd_command cmd_demo = {"demo", "show a FLINT program with and without nmodgpu", help, run};
