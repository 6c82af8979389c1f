/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A plain FLINT program, as a user would write it: multiplies two n x n matrices modulo p and prints a
 * checksum of the product and the time it took.  It knows nothing of nmodgpu.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <flint/nmod_mat.h>

static uint64_t next(uint64_t *state)
{
    /* xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016 */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static void fill(nmod_mat_t a, uint64_t *state)
{
    for (long i = 0; i < nmod_mat_nrows(a); i++)
        for (long j = 0; j < nmod_mat_ncols(a); j++)
            nmod_mat_entry(a, i, j) = next(state) % a->mod.n;
}

static uint64_t checksum(const nmod_mat_t a)
{
    uint64_t sum = 0;
    for (long i = 0; i < nmod_mat_nrows(a); i++)
        for (long j = 0; j < nmod_mat_ncols(a); j++)
            sum = (sum ^ nmod_mat_entry(a, i, j)) * 0x100000001b3u + (sum >> 29);
    return sum;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s N P [REPEAT]\nMultiplies pseudo-random N x N matrices modulo P (1 <= P < 2^64).\n",
            program);
    return 2;
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? strtol(argv[1], NULL, 10) : -1;
    const uint64_t p = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const long repeat = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    uint64_t state = 88172645463325252u;
    double best = 0;
    nmod_mat_t a, b, c;
    if (n < 0 || p == 0 || repeat < 1 || argc > 4)
        return usage(argv[0]);

    nmod_mat_init(a, n, n, p);
    nmod_mat_init(b, n, n, p);
    nmod_mat_init(c, n, n, p);
    fill(a, &state);
    fill(b, &state);

    for (long i = 0; i < repeat; i++) {
        const double start = now();
        nmod_mat_mul(c, a, b);
        const double seconds = now() - start;
        if (i == 0 || seconds < best)
            best = seconds;
    }
    printf("n = %ld, p = %llu: checksum %016llx, %.6f seconds\n", n, (unsigned long long)p,
           (unsigned long long)checksum(c), best);

    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    return 0;
}
