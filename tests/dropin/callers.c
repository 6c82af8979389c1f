/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * FLINT's own functions that multiply inside: with the drop-in on they have to give what they give without,
 * and their products have to arrive and be served.
 */
#include <stdlib.h>
#include <string.h>

#include <flint/fmpz.h>
#include <flint/fmpz_mat.h>
#include <flint/nmod_mat.h>
#include <flint/nmod_poly.h>
#include <flint/ulong_extras.h>

#include "fakeflint/harness.h"
#include "nmodgpu.h"
#include "setups.h"
#include "support.h"

static void randomise(nmod_mat_t a)
{
    for (int64_t i = 0; i < nmod_mat_nrows(a); i++)
        for (int64_t j = 0; j < nmod_mat_ncols(a); j++)
            nmod_mat_entry(a, i, j) = test_below(a->mod.n);
}

/* A square matrix of full rank as a rule, and one whose rank is lower. */
static void make(nmod_mat_t a, nmod_mat_t low, int64_t n, uint64_t p)
{
    nmod_mat_init(a, n, n, p);
    nmod_mat_init(low, n, n, p);
    randomise(a);
    randomise(low);
    for (int64_t i = 0; i < n / 3; i++)
        for (int64_t j = 0; j < n; j++)
            nmod_mat_entry(low, n - 1 - i, j) = nmod_mat_entry(low, i, j);
}

/* Runs work once unaccelerated and once on a backend; it writes into `result`, which must agree. */
typedef struct trial {
    const setup *s;
    void (*work)(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p);
    int64_t n;
    uint64_t p;
} trial;

static void compare(void *data)
{
    const trial *x = data;
    nmod_mat_t a, low, without, with;
    use_setup(x->s);
    make(a, low, x->n, x->p);
    nmod_mat_init(without, x->n, x->n, x->p);
    nmod_mat_init(with, x->n, x->n, x->p);
    ck_assert_int_eq(nmodgpu_enable("off"), NMODGPU_OK);
    x->work(without, a, low, x->p);
    ck_assert_int_eq(nmodgpu_enable(x->s->mode), NMODGPU_OK);
    x->work(with, a, low, x->p);
    ck_assert(nmod_mat_equal(without, with));
    ck_assert(!nmod_mat_is_zero(with));
    nmod_mat_clear(a);
    nmod_mat_clear(low);
    nmod_mat_clear(without);
    nmod_mat_clear(with);
}

static void work_lu(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    slong *perm = malloc(sizeof *perm * (size_t)nmod_mat_nrows(low));
    (void)p;
    (void)a;
    ck_assert(perm != NULL);
    nmod_mat_set(result, low);
    const slong rank = nmod_mat_lu(perm, result, 0);
    for (slong i = 0; i < nmod_mat_nrows(low); i++) /* the permutation and the rank are part of the result */
        nmod_mat_entry(result, i, 0) ^= (uint64_t)perm[i];
    nmod_mat_entry(result, 0, 0) ^= (uint64_t)rank;
    free(perm);
}

/* A matrix whose rows LU has permuted goes into a product. */
static void work_product_of_lu(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    nmod_mat_t lu;
    nmod_mat_init(lu, nmod_mat_nrows(a), nmod_mat_ncols(a), p);
    work_lu(lu, a, a, p);
    for (slong i = 0; i < nmod_mat_nrows(lu); i++)
        nmod_mat_entry(lu, i, 0) %= p;
    nmod_mat_mul(result, lu, low);
    nmod_mat_submul(lu, lu, result, lu);
    nmod_mat_add(result, result, lu);
    nmod_mat_clear(lu);
}

static void work_rref(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    (void)a;
    nmod_mat_set(result, low);
    nmod_mat_entry(result, 0, 0) = (nmod_mat_entry(result, 0, 0) + (uint64_t)nmod_mat_rref(result)) % p;
}

static void work_inv(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    (void)p;
    (void)low;
    nmod_mat_entry(result, 0, 0) = (uint64_t)nmod_mat_inv(result, a);
    ck_assert(nmod_mat_inv(result, a));
}

static void work_det_and_rank(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    (void)p;
    nmod_mat_zero(result);
    nmod_mat_entry(result, 0, 0) = nmod_mat_det(a);
    nmod_mat_entry(result, 0, 1) = (uint64_t)nmod_mat_rank(low);
    nmod_mat_entry(result, 0, 2) = (uint64_t)nmod_mat_rank(a);
}

static void work_solve(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    (void)p;
    ck_assert(nmod_mat_solve(result, a, low));
}

static void work_fmpz_mat_mul(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    fmpz_mat_t x, y, z;
    const slong n = nmod_mat_nrows(a);
    const ulong power = 250 / FLINT_BIT_COUNT(p) + 1;
    fmpz_mat_init(x, n, n);
    fmpz_mat_init(y, n, n);
    fmpz_mat_init(z, n, n);
    for (slong i = 0; i < n; i++)
        for (slong j = 0; j < n; j++) { /* 250 bits and more, either sign */
            fmpz_set_ui(fmpz_mat_entry(x, i, j), nmod_mat_entry(a, i, j));
            fmpz_set_ui(fmpz_mat_entry(y, i, j), nmod_mat_entry(low, i, j) + 1);
            fmpz_pow_ui(fmpz_mat_entry(x, i, j), fmpz_mat_entry(x, i, j), power);
            fmpz_pow_ui(fmpz_mat_entry(y, i, j), fmpz_mat_entry(y, i, j), power);
            if ((i ^ j) & 1)
                fmpz_neg(fmpz_mat_entry(x, i, j), fmpz_mat_entry(x, i, j));
        }
    fmpz_mat_mul(z, x, y);
    /* Two residues tell the integers apart well enough. */
    for (slong i = 0; i < n; i++)
        for (slong j = 0; j < n; j++)
            nmod_mat_entry(result, i, j) =
                fmpz_fdiv_ui(fmpz_mat_entry(z, i, j), p) ^ fmpz_fdiv_ui(fmpz_mat_entry(z, i, j), UINT64_MAX);
    fmpz_mat_clear(x);
    fmpz_mat_clear(y);
    fmpz_mat_clear(z);
}

static void work_compose_mod(nmod_mat_t result, const nmod_mat_t a, const nmod_mat_t low, uint64_t p)
{
    nmod_poly_t f, g, h, r;
    const slong n = nmod_mat_nrows(a);
    const slong degree = n * n / 4;
    nmod_poly_init(f, p);
    nmod_poly_init(g, p);
    nmod_poly_init(h, p);
    nmod_poly_init(r, p);
    for (slong i = 0; i < degree; i++) {
        nmod_poly_set_coeff_ui(f, i, nmod_mat_entry(a, i / n, i % n));
        nmod_poly_set_coeff_ui(g, i, nmod_mat_entry(low, i / n, i % n));
        nmod_poly_set_coeff_ui(h, i, nmod_mat_entry(a, n - 1 - i / n, i % n));
    }
    nmod_poly_set_coeff_ui(h, degree, 1);
    nmod_poly_compose_mod(r, f, g, h);
    for (slong i = 0; i < degree; i++)
        nmod_mat_entry(result, i / n, i % n) = nmod_poly_get_coeff_ui(r, i);
    nmod_poly_clear(f);
    nmod_poly_clear(g);
    nmod_poly_clear(h);
    nmod_poly_clear(r);
}

static const struct {
    const char *name;
    void (*work)(nmod_mat_t, const nmod_mat_t, const nmod_mat_t, uint64_t);
    int64_t n;
} works[] = {{"nmod_mat_lu", work_lu, 300},
             {"a product of permuted rows", work_product_of_lu, 120},
             {"nmod_mat_rref", work_rref, 300},
             {"nmod_mat_inv", work_inv, 200},
             {"nmod_mat_det and nmod_mat_rank", work_det_and_rank, 300},
             {"nmod_mat_solve", work_solve, 200},
             {"fmpz_mat_mul", work_fmpz_mat_mul, 100},
             {"nmod_poly_compose_mod", work_compose_mod, 60}};
#define WORKS ((int)(sizeof works / sizeof *works))

/* Primes, because FLINT divides by pivots. */
static const unsigned bits[] = {10, 23, 31, 50, 64};

START_TEST(flint_callers_agree)
{
    const uint64_t seed = test_seed();
    const setup *s = &setups[_i / WORKS];
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
        trial x = {.s = s, .work = works[_i % WORKS].work, .n = works[_i % WORKS].n};
        x.p = bits[b] == 64 ? 0xffffffffffffffc5u : n_nextprime(((uint64_t)1 << (bits[b] - 1)) + 5, 0);
        const outcome o = run_well(s->mode, compare, &x);
        ck_assert_msg(o.served > 0, "%s, %s mod %lu, seed %lu: %s", s->what, works[_i % WORKS].name, x.p, seed,
                      o.line);
    }
}
END_TEST

TCase *caller_cases(int setup_count)
{
    TCase *callers = tcase_create("callers");
    tcase_set_timeout(callers, 120);
    tcase_add_loop_test(callers, flint_callers_agree, 0, setup_count * WORKS);
    return callers;
}
