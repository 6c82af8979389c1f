/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Large products of unchanged FLINT matrices, each proven: by Freivalds' test (R. Freivalds, "Probabilistic
 * machines can use less running time", 1977) with a chance below 2^-60 to pass a wrong product, and by exact
 * sums for 1000 entries.  Run it with the drop-in preloaded:
 *
 *     nmodgpu run acceptance [N]
 *
 * It prints a line a product and at last what NMODGPU_REPORT said of them; it fails when a product was wrong
 * or was not served by a backend.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <flint/nmod_mat.h>

#include "acceptance_check.h"

static int64_t products, wrong;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef enum form { MUL, ADDMUL, SUBMUL } form;

/* Runs D <- C op A B, timed, and prints the verdict.  c0, a0, b0 are the operands' values at entry, in memory that
   the product does not touch. */
static void product(const char *what, form op, nmod_mat_struct *d, nmod_mat_struct *c, nmod_mat_struct *a,
                    nmod_mat_struct *b, const nmod_mat_struct *c0, const nmod_mat_struct *a0,
                    const nmod_mat_struct *b0)
{
    const long m = nmod_mat_nrows(a0);
    const long k = nmod_mat_ncols(a0);
    const long n = nmod_mat_ncols(b0);
    const double start = now();
    if (op == MUL)
        nmod_mat_mul(d, a, b);
    else
        (op == ADDMUL ? nmod_mat_addmul : nmod_mat_submul)(d, c, a, b);
    const double seconds = now() - start;
    const verdict v = check_product(d, op == MUL ? NULL : c0, op == SUBMUL ? -1 : 1, a0, b0);
    const uint64_t p = a0->mod.n;
    products++;
    wrong += !v.right;
    printf("%4d  %20llu  %5ld x %5ld x %5ld  %-28s %9.4f s  %3d vectors, %4d entries  %s\n",
           64 - __builtin_clzll(p), (unsigned long long)p, m, k, n, what, seconds, v.vectors, v.samples,
           v.right ? "ok" : "WRONG");
    fflush(stdout);
}

static void square(long n, uint64_t p)
{
    nmod_mat_t a, b, c;
    nmod_mat_init(a, n, n, p);
    nmod_mat_init(b, n, n, p);
    nmod_mat_init(c, n, n, p);
    fill_random(a);
    fill_random(b);
    product("fresh C", MUL, c, NULL, a, b, NULL, a, b);
    spoil(c);
    product("C used before", MUL, c, NULL, a, b, NULL, a, b);
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
}

static void rectangular(long m, long k, long n, uint64_t p)
{
    nmod_mat_t a, b, c, d;
    nmod_mat_init(a, m, k, p);
    nmod_mat_init(b, k, n, p);
    nmod_mat_init(c, m, n, p);
    nmod_mat_init(d, m, n, p);
    fill_random(a);
    fill_random(b);
    fill_random(c);
    product("not square", MUL, d, NULL, a, b, NULL, a, b);
    spoil(d);
    product("addmul", ADDMUL, d, c, a, b, c, a, b);
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    nmod_mat_clear(d);
}

/* All three are windows of one matrix, as FLINT's LU makes them; some rows are swapped first. */
static void windowed(long n, uint64_t p)
{
    const long h = n / 2 - 3;
    nmod_mat_t whole, a, b, c, c0;
    nmod_mat_init(whole, n, n, p);
    fill_random(whole);
    for (long i = 0; i < n / 4; i++)
        nmod_mat_swap_rows(whole, NULL, 3 * i, n - 1 - i);
    nmod_mat_window_init(a, whole, n - h, 0, n, h);
    nmod_mat_window_init(b, whole, 0, n - h, h, n);
    nmod_mat_window_init(c, whole, n - h, n - h, n, n);
    nmod_mat_init_set(c0, c);
    product("windows, D == C in submul", SUBMUL, c, c, a, b, c0, a, b);
    nmod_mat_window_clear(a);
    nmod_mat_window_clear(b);
    nmod_mat_window_clear(c);
    nmod_mat_clear(whole);
    nmod_mat_clear(c0);
}

static void aliased(long n, uint64_t p)
{
    nmod_mat_t a, b, c, a0, b0, c0;
    nmod_mat_init(a, n, n, p);
    nmod_mat_init(b, n, n, p);
    nmod_mat_init(c, n, n, p);
    fill_random(a);
    fill_random(b);
    fill_random(c);
    nmod_mat_init_set(a0, a);
    nmod_mat_init_set(b0, b);
    nmod_mat_init_set(c0, c);
    product("D == C in submul", SUBMUL, c, c, a, b, c0, a, b);
    nmod_mat_set(c0, c);
    product("D == C in addmul", ADDMUL, c, c, a, b, c0, a, b);
    product("C == A", MUL, a, NULL, a, b, NULL, a0, b);
    nmod_mat_set(a0, a);
    product("C == B", MUL, b, NULL, a, b, NULL, a, b0);
    nmod_mat_set(a0, a);
    product("A == B", MUL, c, NULL, a, a, NULL, a0, a0);
    product("C == A == B", MUL, a, NULL, a, a, NULL, a0, a0);
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    nmod_mat_clear(a0);
    nmod_mat_clear(b0);
    nmod_mat_clear(c0);
}

static int all_products(long n)
{
    /* The largest primes below 2^8, ..., 2^64. */
    static const uint64_t primes[] = {251,
                                      65521,
                                      8388593,
                                      67108859,
                                      2147483647,
                                      1099511627689,
                                      1125899906842597,
                                      1152921504606846883,
                                      9223372036854775783u,
                                      18446744073709551557u};
    static const uint64_t some[] = {8388593, 2147483647, 18446744073709551557u};
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        square(n, primes[i]);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        rectangular(n / 2 - 5, n - 1, n / 4 + 3, some[i]);
        rectangular(n, n / 32 + 1, n / 2 + 7, some[i]);
        windowed(n, some[i]);
        aliased(n / 2, some[i]);
    }
    square(n / 2, (uint64_t)1 << 63); /* FLINT's fmpz_mat_mul uses this one */
    printf("%lld products, %lld wrong\n", (long long)products, (long long)wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The number after "name": in the report, or the sum of an object's. */
static long long count(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    long long sum = 0;
    if (!at)
        return -1;
    at += strlen(name);
    if (*at != '{')
        return strtoll(at, NULL, 10);
    for (const char *end = strchr(at, '}'); at && at < end; at = strchr(at + 1, ':'))
        if (*at == ':')
            sum += strtoll(at + 1, NULL, 10);
    return sum;
}

static int judge(const char *report)
{
    char line[8192] = "";
    FILE *in = fopen(report, "r");
    if (in) {
        line[fread(line, 1, sizeof line - 1, in)] = '\0';
        fclose(in);
    }
    unlink(report);
    if (!line[0]) {
        printf("no report: nmodgpu was not there or switched off\n");
        return EXIT_FAILURE;
    }
    printf("%s", line);
    const long long arrived = count(line, "\"arrived\":");
    const long long served = count(line, "\"served\":");
    printf("%lld of %lld calls served by backends: %s\n", served, arrived,
           arrived > 0 && served == arrived ? "ok" : "NOT ALL");
    return arrived > 0 && served == arrived ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The report is written when the process that multiplied ends, so that is a child. */
int main(int argc, char **argv)
{
    const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 8192;
    char report[] = "/tmp/acceptance-XXXXXX";
    const int fd = mkstemp(report);
    int status = 0;
    if (n < 64 || fd < 0) {
        fprintf(stderr, "usage: acceptance [N], N >= 64\n");
        return 2;
    }
    close(fd);
    setenv("NMODGPU_REPORT", report, 1);
    const pid_t child = fork();
    if (child == 0)
        exit(all_products(n));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return EXIT_FAILURE;
    const int served = judge(report);
    return status != 0 || served != EXIT_SUCCESS ? EXIT_FAILURE : EXIT_SUCCESS;
}
