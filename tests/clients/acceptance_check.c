/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "acceptance_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SAMPLES 1000
#define MIN_VECTORS 4
#define MAX_VECTORS 64
#define MAX_THREADS 256
#define DOUBT_BITS 60 /* a wrong product passes with a chance below 2^-60 */

/* splitmix64 of (seed, index): G. L. Steele, D. Lea, C. H. Flood, 2014. */
static uint64_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t n, uint64_t seed, uint64_t index)
{
    return (uint64_t)(((unsigned __int128)random_at(seed, index) * n) >> 64);
}

static uint64_t next_seed(void)
{
    static uint64_t seed = 20260;
    return seed = random_at(seed, 1);
}

/* ---- rows in parallel */

typedef struct team {
    void (*row)(void *data, long i);
    void *data;
    long rows;
    atomic_long next;
} team;

static void *work(void *data)
{
    team *t = data;
    for (long i = atomic_fetch_add(&t->next, 1); i < t->rows; i = atomic_fetch_add(&t->next, 1))
        t->row(t->data, i);
    return NULL;
}

static void for_rows(long rows, void (*row)(void *, long), void *data)
{
    team t = {.row = row, .data = data, .rows = rows};
    pthread_t thread[MAX_THREADS];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = 0;
    while (threads < processors - 1 && threads < MAX_THREADS &&
           pthread_create(&thread[threads], NULL, work, &t) == 0)
        threads++;
    work(&t);
    while (threads > 0)
        pthread_join(thread[--threads], NULL);
}

/* ---- exact sums */

typedef struct sum {
    unsigned __int128 low;
    uint64_t high; /* of weight 2^128; enough for 2^64 products */
} sum;

static inline void add_product(sum *s, uint64_t x, uint64_t y)
{
    const unsigned __int128 xy = (unsigned __int128)x * y;
    s->low += xy;
    s->high += s->low < xy;
}

static uint64_t mul_mod(uint64_t x, uint64_t y, uint64_t p)
{
    return (uint64_t)((unsigned __int128)x * y % p);
}

static uint64_t reduce(const sum *s, uint64_t p)
{
    const uint64_t two64 = (uint64_t)(((unsigned __int128)1 << 64) % p);
    const uint64_t two128 = mul_mod(two64, two64, p);
    return (uint64_t)((s->low % p + mul_mod(s->high % p, two128, p)) % p);
}

/* c + sign * s */
static uint64_t combine(uint64_t c, int sign, uint64_t s, uint64_t p)
{
    return (uint64_t)(((unsigned __int128)c + (sign < 0 && s ? p - s : s)) % p);
}

/* ---- filling */

typedef struct filling {
    nmod_mat_struct *a;
    uint64_t seed;
} filling;

static void fill_row(void *data, long i)
{
    const filling *f = data;
    for (long j = 0; j < nmod_mat_ncols(f->a); j++)
        nmod_mat_entry(f->a, i, j) =
            below(f->a->mod.n, f->seed, (uint64_t)i * (uint64_t)nmod_mat_ncols(f->a) + (uint64_t)j);
}

void fill_random(nmod_mat_t a)
{
    filling f = {a, next_seed()};
    for_rows(nmod_mat_nrows(a), fill_row, &f);
}

static void spoil_row(void *data, long i)
{
    nmod_mat_struct *a = data;
    for (long j = 0; j < nmod_mat_ncols(a); j++)
        nmod_mat_entry(a, i, j) = UINT64_MAX;
}

void spoil(nmod_mat_t a)
{
    for_rows(nmod_mat_nrows(a), spoil_row, a);
}

/* ---- Freivalds: d x = c x + sign a (b x) for random vectors x */

typedef struct tall { /* y <- a x, x and y with `vectors` columns, row-major */
    const nmod_mat_struct *a;
    const uint64_t *x;
    uint64_t *y;
    int vectors;
    atomic_bool impossible; /* an entry was not below p */
} tall;

static void tall_row(void *data, long i)
{
    tall *t = data;
    const uint64_t p = t->a->mod.n;
    sum s[MAX_VECTORS] = {{0, 0}};
    for (long j = 0; j < nmod_mat_ncols(t->a); j++) {
        const uint64_t entry = nmod_mat_entry(t->a, i, j);
        if (entry >= p)
            t->impossible = true;
        for (int v = 0; v < t->vectors; v++)
            add_product(&s[v], entry, t->x[j * t->vectors + v]);
    }
    for (int v = 0; v < t->vectors; v++)
        t->y[i * t->vectors + v] = reduce(&s[v], p);
}

static uint64_t *times(const nmod_mat_struct *a, const uint64_t *x, int vectors, bool *possible)
{
    uint64_t *y = malloc(sizeof *y * (size_t)(nmod_mat_nrows(a) * vectors + 1));
    tall t = {.a = a, .x = x, .y = y, .vectors = vectors};
    if (!y)
        abort();
    for_rows(nmod_mat_nrows(a), tall_row, &t);
    *possible = *possible && !t.impossible;
    return y;
}

/* Vectors that leave a doubt below 2^-DOUBT_BITS, and some in any case: each passes a wrong row with a chance of at
   most 1/q, q the smallest prime factor of p.  The moduli here are primes or have a small factor. */
static int vectors_for(uint64_t p)
{
    uint64_t q = p;
    for (uint64_t f = 2; f < 1000 && q == p; f++)
        if (p % f == 0)
            q = f;
    const int bits = 63 - __builtin_clzll(q); /* 2^bits <= q */
    const int vectors = DOUBT_BITS / bits + 1;
    return vectors < MIN_VECTORS ? MIN_VECTORS : vectors;
}

static bool freivalds(const nmod_mat_struct *d, const nmod_mat_struct *c, int sign, const nmod_mat_struct *a,
                      const nmod_mat_struct *b, int vectors)
{
    const uint64_t p = a->mod.n;
    const uint64_t seed = next_seed();
    const long n = nmod_mat_ncols(b);
    bool right = true;
    uint64_t *x = malloc(sizeof *x * (size_t)(n * vectors + 1));
    if (!x)
        abort();
    for (long i = 0; i < n * vectors; i++)
        x[i] = below(p, seed, (uint64_t)i);
    uint64_t *bx = times(b, x, vectors, &right);
    uint64_t *abx = times(a, bx, vectors, &right);
    uint64_t *dx = times(d, x, vectors, &right);
    uint64_t *cx = c ? times(c, x, vectors, &right) : NULL;
    for (long i = 0; i < nmod_mat_nrows(d) * vectors; i++)
        right = right && dx[i] == combine(cx ? cx[i] : 0, sign, abx[i], p);
    free(x);
    free(bx);
    free(abx);
    free(dx);
    free(cx);
    return right;
}

/* ---- sampled entries */

typedef struct sampling {
    const nmod_mat_struct *d, *c, *a, *b;
    int sign;
    uint64_t seed;
    atomic_int wrong;
} sampling;

static void sample(void *data, long index)
{
    sampling *s = data;
    const uint64_t p = s->a->mod.n;
    const long i = (long)below((uint64_t)nmod_mat_nrows(s->d), s->seed, 2 * (uint64_t)index);
    const long j = (long)below((uint64_t)nmod_mat_ncols(s->d), s->seed, 2 * (uint64_t)index + 1);
    sum t = {0, 0};
    for (long l = 0; l < nmod_mat_ncols(s->a); l++)
        add_product(&t, nmod_mat_entry(s->a, i, l), nmod_mat_entry(s->b, l, j));
    const uint64_t want = combine(s->c ? nmod_mat_entry(s->c, i, j) : 0, s->sign, reduce(&t, p), p);
    if (nmod_mat_entry(s->d, i, j) != want)
        s->wrong++;
}

verdict check_product(const nmod_mat_struct *d, const nmod_mat_struct *c, int sign, const nmod_mat_struct *a,
                      const nmod_mat_struct *b)
{
    verdict v = {.vectors = vectors_for(a->mod.n), .samples = SAMPLES};
    sampling s = {.d = d, .c = c, .a = a, .b = b, .sign = sign, .seed = next_seed()};
    for_rows(SAMPLES, sample, &s);
    v.right = freivalds(d, c, sign, a, b, v.vectors) && s.wrong == 0;
    return v;
}
