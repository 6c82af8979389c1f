/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Products that a program makes itself, against FLINT's nmod_mat_mul_classical.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <flint/nmod_mat.h>
#include <flint/ulong_extras.h>

#include "fakeflint/harness.h"
#include "nmodgpu.h"
#include "setups.h"
#include "support.h"

/* What the child tells its parent. */
typedef struct tally {
    const setup *s;
    uint64_t seed;
    int64_t calls;  /* made */
    int64_t served; /* of those, that a backend has to serve */
} tally;

static tally *shared_tally(const setup *s)
{
    tally *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(t != MAP_FAILED);
    memset(t, 0, sizeof *t);
    t->s = s;
    t->seed = test_seed();
    return t;
}

static void expect_served(tally *t, void (*body)(void *))
{
    const outcome o = run_well(t->s->mode, body, t);
    ck_assert_msg(t->served > 0 && o.arrived == t->calls && o.served == t->served,
                  "%s, seed %lu: %ld calls, %ld to be served: %s %s", t->s->what, t->seed, t->calls, t->served,
                  o.line, o.errors);
    munmap(t, sizeof *t);
}

/* A matrix in one of the forms that FLINT's users make: whole, or a window, with rows swapped or not. */
typedef struct operand {
    nmod_mat_t whole, used;
    int window;
} operand;

static void fill(nmod_mat_t a)
{
    const int64_t r = nmod_mat_nrows(a);
    const int64_t c = nmod_mat_ncols(a);
    const test_pattern pattern = test_below(3) ? (test_pattern)test_below(TEST_PATTERNS) : TEST_UNIFORM;
    uint64_t *entries = malloc(sizeof *entries * (size_t)(r * c + 1));
    ck_assert(entries != NULL);
    test_fill(entries, r, c, c, a->mod.n, pattern);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < c; j++)
            nmod_mat_entry(a, i, j) = entries[i * c + j];
    free(entries);
}

static void poison(nmod_mat_t a)
{
    for (int64_t i = 0; i < nmod_mat_nrows(a); i++)
        for (int64_t j = 0; j < nmod_mat_ncols(a); j++)
            nmod_mat_entry(a, i, j) = 0xdeadbeefdeadbeef;
}

static void make_operand(operand *x, int64_t r, int64_t c, uint64_t n)
{
    x->window = r > 0 && c > 0 && test_below(3) == 0;
    if (x->window) {
        const int64_t top = (int64_t)test_below(4);
        const int64_t left = (int64_t)test_below(4);
        nmod_mat_init(x->whole, r + top + (int64_t)test_below(3), c + left + (int64_t)test_below(3), n);
        poison(x->whole);
        nmod_mat_window_init(x->used, x->whole, top, left, top + r, left + c);
    } else {
        nmod_mat_init(x->whole, r, c, n);
        *x->used = *x->whole;
    }
    if (r > 1 && test_below(2))
        for (int i = 0; i < 5; i++)
            nmod_mat_swap_rows(x->used, NULL, (slong)test_below((uint64_t)r), (slong)test_below((uint64_t)r));
    fill(x->used);
}

static void free_operand(operand *x)
{
    if (x->window)
        nmod_mat_window_clear(x->used);
    nmod_mat_clear(x->whole);
}

/* All that belongs to the window's parent and not to the window still has to be as poison left it. */
static void check_surroundings(const operand *x)
{
    int64_t poisoned = 0;
    if (!x->window)
        return;
    for (int64_t i = 0; i < nmod_mat_nrows(x->whole); i++)
        for (int64_t j = 0; j < nmod_mat_ncols(x->whole); j++)
            poisoned += nmod_mat_entry(x->whole, i, j) == 0xdeadbeefdeadbeef;
    ck_assert(poisoned >= nmod_mat_nrows(x->whole) * nmod_mat_ncols(x->whole) -
                              nmod_mat_nrows(x->used) * nmod_mat_ncols(x->used));
}

/* D <- C op A B by FLINT's classical product, which nobody stands in front of. */
static void reference(nmod_mat_t want, int op, const nmod_mat_t c, const nmod_mat_t a, const nmod_mat_t b)
{
    nmod_mat_mul_classical(want, a, b);
    if (op == 1)
        nmod_mat_add(want, c, want);
    if (op == 2)
        nmod_mat_sub(want, c, want);
}

static void one_call(tally *t, int op, nmod_mat_struct *d, nmod_mat_struct *c, nmod_mat_struct *a,
                     nmod_mat_struct *b)
{
    const int64_t m = nmod_mat_nrows(a);
    const int64_t k = nmod_mat_ncols(a);
    const int64_t n = nmod_mat_ncols(b);
    nmod_mat_t want;
    nmod_mat_init(want, m, n, a->mod.n);
    reference(want, op, c, a, b);
    if (d != a && d != b && (d != c || op == 0))
        poison(d);
    if (op == 0)
        nmod_mat_mul(d, a, b);
    else
        (op == 1 ? nmod_mat_addmul : nmod_mat_submul)(d, c, a, b);
    t->calls++;
    t->served += m > 0 && k > 0 && n > 0 && a->mod.n > 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            ck_assert_msg(nmod_mat_entry(d, i, j) == nmod_mat_entry(want, i, j),
                          "seed %lu, call %ld: op %d, %ld x %ld x %ld mod %lu: entry (%ld, %ld) is %lu, not %lu",
                          t->seed, t->calls, op, m, k, n, a->mod.n, i, j, nmod_mat_entry(d, i, j),
                          nmod_mat_entry(want, i, j));
    nmod_mat_clear(want);
}

/* One product of random form: aliased as FLINT allows it, and as nobody asks it to. */
static void one_product(tally *t, int64_t m, int64_t k, int64_t n, uint64_t p)
{
    operand a, b, c, d;
    const int op = (int)test_below(3);
    const uint64_t alias = test_below(6);
    make_operand(&a, m, k, p);
    make_operand(&b, k, n, p);
    make_operand(&c, m, n, p);
    make_operand(&d, m, n, p);
    nmod_mat_struct *out = d.used;
    if (alias == 0 && op != 0)
        out = c.used;
    if (alias == 1 && op == 0 && k == n)
        out = a.used;
    if (alias == 2 && op == 0 && m == k)
        out = b.used;
    one_call(t, op, out, c.used, a.used, alias == 3 && m == k && k == n ? a.used : b.used);
    check_surroundings(&a);
    check_surroundings(&b);
    check_surroundings(&c);
    check_surroundings(&d);
    free_operand(&a);
    free_operand(&b);
    free_operand(&c);
    free_operand(&d);
}

static uint64_t modulus(unsigned bits)
{
    const uint64_t n = test_modulus(bits);
    if (test_below(2) || bits < 3 || n > UINT64_MAX - 59)
        return n;
    const uint64_t prime = n_nextprime(n, 0);
    return FLINT_BIT_COUNT(prime) == bits ? prime : n;
}

static int64_t dimension(void)
{
    static const uint64_t limits[] = {3, 3, 20, 20, 20, 20, 100, 100, 100, 100, 100, 300, 300, 300, 300, 700};
    return (int64_t)test_below(limits[test_below(sizeof limits / sizeof *limits)] + 1);
}

static void every_size_of_modulus(void *data)
{
    tally *t = data;
    use_setup(t->s);
    for (unsigned bits = 1; bits <= 64; bits++)
        for (int round = 0; round < 2; round++) {
            const int64_t m = dimension();
            const int64_t k = test_below(4) ? dimension() : m;
            one_product(t, m, k, test_below(4) ? dimension() : k, modulus(bits));
        }
    for (uint64_t p = 1; p <= 3; p++)
        for (int round = 0; round < 4; round++)
            one_product(t, dimension(), dimension(), dimension(), p);
    one_product(t, 30, 40, 20, UINT64_MAX);
    one_product(t, 30, 40, 20, (uint64_t)1 << 63);
}

START_TEST(random_products_are_right)
{
    expect_served(shared_tally(&setups[_i]), every_size_of_modulus);
}
END_TEST

static void long_and_flat(void *data)
{
    static const int64_t shapes[][3] = {{700, 3, 5}, {2, 700, 3},   {4, 5, 700},    {700, 1, 700}, {1, 700, 1},
                                        {1, 1, 700}, {700, 64, 9},  {33, 700, 31},  {9, 65, 700},  {513, 129, 257},
                                        {0, 5, 7},   {5, 0, 7},     {5, 7, 0},      {0, 0, 0},     {1, 1, 1},
                                        {0, 0, 9},   {700, 0, 700}, {256, 256, 256}};
    tally *t = data;
    use_setup(t->s);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int round = 0; round < 2; round++)
            one_product(t, shapes[i][0], shapes[i][1], shapes[i][2], modulus(1 + (unsigned)test_below(64)));
}

START_TEST(long_flat_and_empty_products_are_right)
{
    expect_served(shared_tally(&setups[_i]), long_and_flat);
}
END_TEST

/* A window of the result among the operands' own memory: the product of the values at entry. */
static void overlapping_windows(void *data)
{
    tally *t = data;
    use_setup(t->s);
    for (int round = 0; round < 10; round++) {
        const int64_t n = 1 + (int64_t)test_below(40);
        nmod_mat_t whole, a, b, d, want;
        nmod_mat_init(whole, 3 * n, 2 * n, modulus(1 + (unsigned)test_below(64)));
        fill(whole);
        nmod_mat_window_init(a, whole, 0, 0, n, n);
        nmod_mat_window_init(b, whole, n, n, 2 * n, 2 * n);
        nmod_mat_window_init(d, whole, n / 2, n / 2, n / 2 + n, n / 2 + n);
        nmod_mat_init(want, n, n, whole->mod.n);
        nmod_mat_mul_classical(want, a, b);
        nmod_mat_mul(d, a, b);
        t->calls++;
        t->served += whole->mod.n > 1;
        ck_assert_msg(whole->mod.n == 1 || nmod_mat_equal(want, d), "seed %lu, n %ld mod %lu", t->seed, n,
                      whole->mod.n);
        nmod_mat_clear(want);
        nmod_mat_window_clear(a);
        nmod_mat_window_clear(b);
        nmod_mat_window_clear(d);
        nmod_mat_clear(whole);
    }
}

START_TEST(overlapping_windows_are_right)
{
    expect_served(shared_tally(&setups[_i]), overlapping_windows);
}
END_TEST

static void switched(void *data)
{
    tally *t = data;
    use_setup(t->s);
    one_product(t, 40, 40, 40, 1009);
    ck_assert_int_eq(nmodgpu_enabled(), 1);
    ck_assert_int_eq(nmodgpu_enable("off"), NMODGPU_OK);
    const tally before = *t;
    one_product(t, 40, 40, 40, 1009);
    t->calls = before.calls;
    t->served = before.served;
    ck_assert_int_eq(nmodgpu_enable(t->s->mode), NMODGPU_OK);
    one_product(t, 40, 40, 40, 1009);
}

START_TEST(the_switch_works_at_run_time)
{
    expect_served(shared_tally(&setups[_i]), switched);
}
END_TEST

#define THREADS 4

static void *thread_of_products(void *data)
{
    tally *t = data;
    nmod_mat_t a, b, c, want;
    nmod_mat_init(a, 60, 70, t->seed | 1);
    nmod_mat_init(b, 70, 50, t->seed | 1);
    nmod_mat_init(c, 60, 50, t->seed | 1);
    nmod_mat_init(want, 60, 50, t->seed | 1);
    for (int64_t i = 0; i < 60; i++)
        for (int64_t j = 0; j < 70; j++)
            nmod_mat_entry(a, i, j) = (uint64_t)(i * 7919 + j * 104729) * t->seed % (t->seed | 1);
    for (int64_t i = 0; i < 70; i++)
        for (int64_t j = 0; j < 50; j++)
            nmod_mat_entry(b, i, j) = (uint64_t)(i * 1299709 + j * 15485863) * t->seed % (t->seed | 1);
    nmod_mat_mul_classical(want, a, b);
    for (int round = 0; round < 10; round++) {
        nmod_mat_mul(c, a, b);
        ck_assert(nmod_mat_equal(c, want));
        poison(c);
    }
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    nmod_mat_clear(want);
    return NULL;
}

static void from_threads(void *data)
{
    tally *t = data;
    pthread_t thread[THREADS];
    use_setup(t->s);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, thread_of_products, t), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    t->calls = t->served = THREADS * 10;
}

START_TEST(threads_may_call_at_once)
{
    expect_served(shared_tally(&setups[_i]), from_threads);
}
END_TEST

TCase *product_cases(int setup_count)
{
    TCase *products = tcase_create("products");
    tcase_set_timeout(products, 120);
    tcase_add_loop_test(products, random_products_are_right, 0, setup_count);
    tcase_add_loop_test(products, long_flat_and_empty_products_are_right, 0, setup_count);
    tcase_add_loop_test(products, overlapping_windows_are_right, 0, setup_count);
    tcase_add_loop_test(products, the_switch_works_at_run_time, 0, setup_count);
    tcase_add_loop_test(products, threads_may_call_at_once, 0, setup_count);
    return products;
}
