/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu plans: the ways to compute a product exactly, and whether the planner takes the best of them.
 */
#include "plans.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends.h"
#include "cmd.h"
#include "number.h"

#define MAX_DIMENSION (INT64_C(1) << 31)
#define GRID_SECONDS 600.0
#define GRID_TOP 6

static const char help[] =
    "Usage: nmodgpu plans --p P (--size N | --m M --k K --n N) [OPTIONS]\n"
    "       nmodgpu plans --grid [OPTIONS]\n"
    "\n"
    "Lists every valid plan for an M x K by K x N product modulo P on a device, soonest predicted first, with\n"
    "predicted and, on request, measured time: operands and result on the device.  With --grid, measures the\n"
    "best predicted plans for sizes 256 to 8192 and moduli of 8 to 64 bits and compares the planner's choice\n"
    "with the best of them.\n"
    "\n"
    "Options:\n"
    "  -p, --p P           modulus: " NUMBER_MODULUS_FORMS "\n"
    "  -s, --size N        M = K = N\n"
    "      --m, --k, --n   the dimensions, each for itself\n"
    "  -b, --backend NAME  backend (default: the one that NMODGPU=auto takes)\n"
    "  -d, --device D      device of the backend (default: 0)\n"
    "      --measure       measure the plans listed\n"
    "  -t, --top T         only the T soonest predicted (default: all); of the grid: measure at least as many\n"
    "                      (default: 6), besides the best of each other kind\n"
    "      --seconds S     stop measuring after S seconds (default: never; of the grid: 600)\n"
    "      --json          print JSON; of the grid: an object a line\n"
    "  -g, --grid          the grid\n"
    "  -h, --help          print this text\n"
    "\n"
    "Examples:\n"
    "  nmodgpu plans --p 2^31-1 --size 4096\n"
    "  nmodgpu plans --p 23bits --m 100 --k 50000 --n 2000 --measure --top 10\n"
    "  nmodgpu plans --p 2^64-59 --size 1000 --backend cblas --json\n"
    "  nmodgpu plans --grid --seconds 120\n"
    "\n"
    "Exit status: 0 done, 1 no such backend, no plan or no measurement, 2 wrong usage.\n";

enum { OPTION_M = 256, OPTION_K, OPTION_N, OPTION_MEASURE, OPTION_SECONDS, OPTION_JSON };

static const struct option options[] = {
    {"p", required_argument, NULL, 'p'},      {"size", required_argument, NULL, 's'},
    {"m", required_argument, NULL, OPTION_M}, {"k", required_argument, NULL, OPTION_K},
    {"n", required_argument, NULL, OPTION_N}, {"backend", required_argument, NULL, 'b'},
    {"device", required_argument, NULL, 'd'}, {"measure", no_argument, NULL, OPTION_MEASURE},
    {"top", required_argument, NULL, 't'},    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"json", no_argument, NULL, OPTION_JSON}, {"grid", no_argument, NULL, 'g'},
    {"help", no_argument, NULL, 'h'},         {0}};

typedef struct arguments {
    plans_request request;
    const char *backend;
    int64_t device;
    bool grid, help;
} arguments;

/** NULL, or what the option takes. */
static const char *take_number(arguments *a, int option, const char *value)
{
    plans_request *r = &a->request;
    switch (option) {
    case 'p':
        return number_parse_modulus(value, &r->p) ? NULL : "--p takes " NUMBER_MODULUS_FORMS;
    case 's':
        if (!number_parse_integer(value, 1, MAX_DIMENSION, &r->n))
            return "--size takes an integer from 1 to 2^31";
        r->m = r->k = r->n;
        return NULL;
    case OPTION_M:
        return number_parse_integer(value, 1, MAX_DIMENSION, &r->m) ? NULL : "--m takes an integer from 1 to 2^31";
    case OPTION_K:
        return number_parse_integer(value, 1, MAX_DIMENSION, &r->k) ? NULL : "--k takes an integer from 1 to 2^31";
    case OPTION_N:
        return number_parse_integer(value, 1, MAX_DIMENSION, &r->n) ? NULL : "--n takes an integer from 1 to 2^31";
    case 'd':
        return number_parse_integer(value, 0, INT32_MAX, &a->device) ? NULL : "--device takes an integer >= 0";
    case 't':
        return number_parse_integer(value, 1, INT32_MAX, &r->top) ? NULL : "--top takes an integer >= 1";
    default:
        return number_parse_seconds(value, &r->seconds) ? NULL : "--seconds takes a number >= 0";
    }
}

/** CMD_OK, or the exit code. */
static int take_arguments(arguments *a, int argc, char **argv)
{
    for (int option; (option = getopt_long(argc, argv, "p:s:b:d:t:gh", options, NULL)) != -1;) {
        const char *wrong = NULL;
        if (option == '?')
            return cmd_usage_seen(&cmd_plans);
        else if (option == 'h')
            a->help = true;
        else if (option == 'g')
            a->grid = true;
        else if (option == 'b')
            a->backend = optarg;
        else if (option == OPTION_MEASURE)
            a->request.measure = true;
        else if (option == OPTION_JSON)
            a->request.json = true;
        else
            wrong = take_number(a, option, optarg);
        if (wrong)
            return cmd_usage(&cmd_plans, "plans: %s", wrong);
    }
    return optind < argc ? cmd_usage(&cmd_plans, "plans: '%s' is no option", argv[optind]) : CMD_OK;
}

/** CMD_OK when the arguments go together. */
static int check_arguments(const arguments *a)
{
    const plans_request *r = &a->request;
    if (a->grid)
        return r->p || r->m || r->k || r->n
                   ? cmd_usage(&cmd_plans, "plans: the grid has its own sizes and moduli; leave --p and sizes out")
                   : CMD_OK;
    if (!r->p)
        return cmd_usage(&cmd_plans, "plans: which modulus (--p)?");
    if (r->p == 1)
        return cmd_usage(&cmd_plans, "plans: modulo 1 everything is 0, which takes no plan");
    return r->m && r->k && r->n ? CMD_OK
                                : cmd_usage(&cmd_plans, "plans: which size (--size, or --m, --k and --n)?");
}

static int no_backend(const backends *b, const char *name)
{
    if (b->lines)
        fputs(b->lines, stderr);
    return name ? cmd_fail("plans: there is no usable backend named %s", name)
                : cmd_fail("plans: there is no usable backend");
}

static int show(arguments *a)
{
    plans_request *r = &a->request;
    backends b;
    backends_open(&b);
    const nmodgpu_backend_listing *chosen = backends_choose(&b, a->backend);
    int status;
    if (!chosen) {
        status = no_backend(&b, a->backend);
    } else if (a->device >= chosen->devices) {
        status = cmd_fail("plans: %s has %d device%s, counted from 0", chosen->name, (int)chosen->devices,
                          chosen->devices == 1 ? "" : "s");
    } else {
        r->on.backend = chosen->name;
        r->on.device = (int32_t)a->device;
        const nmodgpu_status known = nmodgpu_priv_device_info(chosen->name, r->on.device, &r->on.info);
        status = known != NMODGPU_OK ? cmd_fail("plans: %s: %s", chosen->name, nmodgpu_status_text(known))
                 : a->grid           ? plans_grid(r)
                                     : plans_list(r);
    }
    backends_free(&b);
    return status;
}

static int run(int argc, char **argv)
{
    arguments a = {.request = {.seconds = -1}};
    int status = take_arguments(&a, argc, argv);
    if (status == CMD_OK && a.help)
        return cmd_help(&cmd_plans);
    if (status == CMD_OK)
        status = check_arguments(&a);
    if (status != CMD_OK)
        return status;
    if (a.request.seconds < 0)
        a.request.seconds = a.grid ? GRID_SECONDS : HUGE_VAL;
    if (a.grid && !a.request.top)
        a.request.top = GRID_TOP;
    return show(&a);
}

const cmd_command cmd_plans = {"plans", "list the ways to compute a product, measure them", help, run};
