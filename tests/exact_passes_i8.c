/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * passes_i8.h: whole products through residues and digits in every layout, and what passes may not write.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/passes_i8.h"
#include "exact_cases.h"
#include "support.h"

typedef unsigned long long ull;

#define POISON 0xa5

/** A matrix in memory of its own, all poison. */
typedef struct owned {
    nmodgpu_matrix view;
    unsigned char *bytes;
    size_t size;
} owned;

/** `length` contiguous entries in each of `lines` stored rows (columns, of transposed ones). */
static owned own(int64_t rows, int64_t cols, uint32_t element_bytes, uint32_t planes, bool transposed, int64_t step)
{
    owned o;
    memset(&o, 0, sizeof o);
    const int64_t length = transposed ? rows : cols, lines = transposed ? cols : rows;
    o.view.rows = rows;
    o.view.cols = cols;
    o.view.element_bytes = element_bytes;
    o.view.planes = planes;
    o.view.transposed = transposed;
    o.view.stride = ((length + step - 1) / step + (int64_t)test_below(2)) * step;
    o.view.plane_stride = (lines + (int64_t)test_below(3)) * o.view.stride;
    o.size = (size_t)(o.view.plane_stride * planes + 8) * element_bytes;
    o.bytes = malloc(o.size);
    ck_assert_ptr_nonnull(o.bytes);
    memset(o.bytes, POISON, o.size);
    o.view.data = o.bytes;
    return o;
}

static uint64_t word_at(const nmodgpu_matrix *a, int64_t i, int64_t j)
{
    uint64_t word = 0; /* little-endian, as all that CUDA runs on */
    memcpy(&word, (unsigned char *)a->data + (i * a->stride + j) * a->element_bytes, a->element_bytes);
    return word;
}

static owned own_words(const uint64_t *dense, int64_t rows, int64_t cols, uint32_t element_bytes)
{
    owned o = own(rows, cols, element_bytes, 1, false, 1 + (int64_t)test_below(3));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            memcpy(o.bytes + (i * o.view.stride + j) * element_bytes, &dense[i * cols + j], element_bytes);
    return o;
}

/** Compares with dense entries and counts what lies around them. */
static void check_words(const owned *o, const uint64_t *expected, uint64_t p, const char *what)
{
    const nmodgpu_matrix *v = &o->view;
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t j = 0; j < v->cols; j++) {
            check_that(word_at(v, i, j) == expected[i * v->cols + j], "%s, p %llu: entry (%lld, %lld) is %llu\n",
                       what, (ull)p, (long long)i, (long long)j, (ull)word_at(v, i, j));
            memset(o->bytes + (i * v->stride + j) * v->element_bytes, POISON, v->element_bytes);
        }
    for (size_t i = 0; i < o->size; i++)
        check_that(o->bytes[i] == POISON, "%s: written beside the result\n", what);
}

/** Planes end in zeros up to a multiple of 16, and nothing is written behind that. */
static void check_padding(const owned *o)
{
    const nmodgpu_matrix *v = &o->view;
    const int64_t inner = v->transposed ? v->rows : v->cols, lines = v->transposed ? v->cols : v->rows;
    unsigned char *left = malloc(o->size);
    ck_assert_ptr_nonnull(left);
    memcpy(left, o->bytes, o->size);
    for (uint32_t g = 0; g < v->planes; g++)
        for (int64_t i = 0; i < lines; i++) {
            unsigned char *line = left + g * v->plane_stride + i * v->stride;
            for (int64_t j = inner; j < nmodgpu_i8_padded(inner); j++)
                check_that(line[j] == 0, "plane %u, line %lld: %d behind it\n", g, (long long)i, line[j]);
            memset(line, POISON, (size_t)nmodgpu_i8_padded(inner));
        }
    for (size_t i = 0; i < o->size; i++)
        check_that(left[i] == POISON, "written beside the planes\n");
    free(left);
}

typedef struct product {
    nmodgpu_plan plan;
    int64_t m, k, n;
    int sign;
    bool has_base, in_place;
    uint64_t *a, *b, *c, *d; /* dense; d is what must come */
    owned left, right;
} product;

static uint32_t width(uint64_t p)
{
    uint32_t bytes = 1;
    while (bytes < 8 && p > 1ULL << (8 * bytes))
        bytes *= 2;
    while (bytes < 8 && test_below(2))
        bytes *= 2;
    return bytes;
}

static uint64_t *random_entries(int64_t rows, int64_t cols, uint64_t p)
{
    uint64_t *x = malloc((size_t)(rows * cols + 1) * sizeof *x);
    ck_assert_ptr_nonnull(x);
    test_fill(x, rows, cols, cols, p, (test_pattern)test_below(TEST_PATTERNS));
    return x;
}

static void open_product(product *x, nmodgpu_plan plan)
{
    const uint64_t p = plan.modulus;
    x->plan = plan;
    x->m = 1 + (int64_t)test_below(9);
    x->k = (int64_t)test_below(50);
    x->n = 1 + (int64_t)test_below(20);
    x->sign = test_below(2) ? 1 : -1;
    x->has_base = test_below(2);
    x->in_place = x->has_base && test_below(2);
    x->a = random_entries(x->m, x->k, p);
    x->b = random_entries(x->k, x->n, p);
    x->c = random_entries(x->m, x->n, p);
    x->d = malloc((size_t)(x->m * x->n) * sizeof *x->d);
    ck_assert_ptr_nonnull(x->d);
    test_product(x->d, x->n, x->has_base ? x->c : NULL, x->n, x->sign, x->a, x->k, x->b, x->n, x->m, x->k, x->n, p);
    x->left = own(x->m, x->k, 1, plan.left.planes, false, 16);
    x->right = own(x->k, x->n, 1, plan.right.planes, true, 16);
}

static void close_product(product *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->d);
    free(x->left.bytes);
    free(x->right.bytes);
}

/** Both operands' planes from words of any width. */
static void prepare(product *x)
{
    const uint64_t p = x->plan.modulus;
    owned a = own_words(x->a, x->m, x->k, width(p)), b = own_words(x->b, x->k, x->n, width(p));
    for (int right = 0; right < 2; right++) {
        const nmodgpu_matrix *words = right ? &b.view : &a.view, *planes = right ? &x->right.view : &x->left.view;
        if (x->plan.encoding == NMODGPU_RESIDUES) {
            const nmodgpu_residuer how = nmodgpu_residuer_make(&x->plan, right);
            nmodgpu_host_residues(&how, planes, words);
        } else {
            const nmodgpu_preparer how = nmodgpu_preparer_make(&x->plan, right);
            nmodgpu_host_digits(&how, planes, words);
        }
    }
    check_padding(&x->left);
    check_padding(&x->right);
    free(a.bytes);
    free(b.bytes);
}

/** int32 sums, term by term, from rows filled up. */
static owned multiply(const product *x)
{
    owned s = own(x->m, x->n, 4, x->plan.sums, false, 4);
    const nmodgpu_matrix *l = &x->left.view, *r = &x->right.view;
    for (uint32_t t = 0; t < x->plan.terms; t++) {
        const nmodgpu_term *term = &x->plan.term[t];
        const bool first = t == 0 || x->plan.term[t - 1].sum != term->sum;
        for (int64_t i = 0; i < x->m; i++)
            for (int64_t j = 0; j < x->n; j++) {
                int32_t *to = (int32_t *)s.view.data + term->sum * s.view.plane_stride + i * s.view.stride + j;
                const int8_t *u = (int8_t *)l->data + term->left * l->plane_stride + i * l->stride;
                const int8_t *v = (int8_t *)r->data + term->right * r->plane_stride + j * r->stride;
                *to = (first ? 0 : *to) + (int32_t)nmodgpu_host_dot_i8(u, v, nmodgpu_i8_padded(x->k));
            }
    }
    return s;
}

/** Bytes from two calls, of which the second accumulates. */
static owned multiply_fused(const product *x)
{
    owned s = own(x->m, x->n, 1, x->plan.sums, false, 16);
    const nmodgpu_crt c = nmodgpu_crt_make(&x->plan, 1);
    const nmodgpu_small_moduli moduli = {c.m, c.magic, c.offset};
    const int64_t cut = x->k / 2 / 16 * 16;
    nmodgpu_matrix l = x->left.view, r = x->right.view;
    l.cols = r.rows = cut;
    nmodgpu_host_fused(&moduli, &s.view, &l, &r, false);
    l = nmodgpu_matrix_window(&x->left.view, 0, x->m, cut, x->k);
    r = nmodgpu_matrix_window(&x->right.view, cut, x->k, 0, x->n);
    nmodgpu_host_fused(&moduli, &s.view, &l, &r, true);
    for (uint32_t g = 0; g < x->plan.sums; g++)
        for (int64_t i = 0; i < x->m; i++)
            for (int64_t j = 0; j < x->n; j++)
                check_that(s.bytes[g * s.view.plane_stride + i * s.view.stride + j] < c.m[g], "plane %u\n", g);
    return s;
}

static void recombine(const product *x, const owned *sums, const nmodgpu_matrix *out, const nmodgpu_matrix *base)
{
    if (x->plan.encoding == NMODGPU_RESIDUES) {
        const nmodgpu_crt how = nmodgpu_crt_make(&x->plan, x->sign);
        nmodgpu_host_crt(&how, out, base, &sums->view);
    } else {
        const nmodgpu_reducer how = nmodgpu_reducer_make(&x->plan, ~0ULL, x->sign);
        nmodgpu_host_reduce_sum32(&how, out, base, &sums->view);
    }
}

static void reduce(const product *x, const owned *sums, const char *what)
{
    const uint64_t p = x->plan.modulus;
    owned base = own_words(x->c, x->m, x->n, width(p));
    owned apart = own(x->m, x->n, width(p), 1, false, 1 + (int64_t)test_below(3));
    const owned *out = x->in_place ? &base : &apart;
    recombine(x, sums, &out->view, x->has_base ? &base.view : NULL);
    check_words(out, x->d, p, what);
    free(base.bytes);
    free(apart.bytes);
}

static void check_product(nmodgpu_plan plan, const char *what)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const int mode = modes[test_below(4)];
    product x;
    open_product(&x, plan);
    fesetround(mode);
    prepare(&x);
    owned sums = multiply(&x);
    reduce(&x, &sums, what);
    free(sums.bytes);
    if (plan.encoding == NMODGPU_RESIDUES) {
        sums = multiply_fused(&x);
        reduce(&x, &sums, what);
        free(sums.bytes);
    }
    check_that(fegetround() == mode, "the rounding mode changed\n");
    fesetround(FE_TONEAREST);
    close_product(&x);
}

/** As many moduli as p and k = 50 take: 2 k h^2 (1 + 2^-10) < M. */
static uint32_t moduli_needed(uint64_t p)
{
    mpz_t need, product;
    mpz_inits(need, product, NULL);
    exact_set(need, p / 2);
    mpz_mul(need, need, need);
    mpz_mul_ui(need, need, 2 * 50 * 1025);
    mpz_cdiv_q_ui(need, need, 1024);
    uint32_t count = 0;
    do {
        const nmodgpu_plan plan = exact_residues_plan(p, ++count);
        exact_product_of_moduli(product, &plan);
    } while (mpz_cmp(product, need) <= 0);
    mpz_clears(need, product, NULL);
    return count;
}

START_TEST(products_by_residues_of_moduli_of_every_size)
{
    for (unsigned bits = 2; bits <= 64; bits++)
        for (int i = 0; i < 12; i++) {
            const uint64_t p = test_modulus(bits);
            check_product(exact_residues_plan(p, moduli_needed(p)), "residues");
        }
}
END_TEST

START_TEST(products_modulo_every_direct_modulus)
{
    for (uint64_t p = 1; p <= 256; p++)
        for (int i = 0; i < 3; i++)
            check_product(exact_direct_plan(p), "direct");
}
END_TEST

/** Two digits a side, sums by weight; or three products of sums of digits (Karatsuba). */
static nmodgpu_plan digits_plan(uint64_t p, uint32_t bits, bool karatsuba)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.number = NMODGPU_I8;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = p;
    plan.left = (nmodgpu_operand_plan){.digits = 2, .digit_bits = bits, .planes = 2, .plane_digits = {1, 2, 3}};
    plan.left.planes = karatsuba ? 3 : 2;
    plan.right = plan.left;
    plan.sums = 3;
    const uint64_t s = (1ULL << bits) % p, s2 = (1ULL << 2 * bits) % p;
    if (karatsuba) {
        plan.terms = 3;
        for (uint8_t i = 0; i < 3; i++)
            plan.term[i] = (nmodgpu_term){i, i, i};
        plan.coefficient[0] = (1 + p - s) % p;
        plan.coefficient[1] = (s2 + p - s) % p;
        plan.coefficient[2] = s;
    } else {
        plan.terms = 4;
        plan.term[0] = (nmodgpu_term){0, 0, 0};
        plan.term[1] = (nmodgpu_term){0, 1, 1};
        plan.term[2] = (nmodgpu_term){1, 0, 1};
        plan.term[3] = (nmodgpu_term){1, 1, 2};
        plan.coefficient[0] = 1 % p;
        plan.coefficient[1] = s;
        plan.coefficient[2] = s2;
    }
    return plan;
}

START_TEST(products_by_digits)
{
    for (unsigned bits = 1; bits <= 16; bits++)
        for (int i = 0; i < 30; i++) {
            check_product(digits_plan(bits < 16 || i > 3 ? test_modulus(bits) : 65536, 8, false), "digits");
            if (bits <= 13)
                check_product(digits_plan(test_modulus(bits), 7, true), "Karatsuba");
        }
}
END_TEST

/** Longer than one partial sum of int32 allows. */
START_TEST(long_scalar_products)
{
    const int64_t length = 200000;
    int8_t *a = malloc((size_t)length), *b = malloc((size_t)length);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    memset(a, -128, (size_t)length);
    memset(b, -128, (size_t)length);
    ck_assert_int_eq(nmodgpu_host_dot_i8(a, b, length), 16384 * length);
    memset(b, 127, (size_t)length);
    ck_assert_int_eq(nmodgpu_host_dot_i8(a, b, length - 3), -16256 * (length - 3));
    int64_t expected = 0;
    for (int64_t i = 0; i < length; i++) {
        a[i] = (int8_t)test_random();
        b[i] = (int8_t)test_random();
        expected += a[i] * b[i];
    }
    ck_assert_int_eq(nmodgpu_host_dot_i8(a, b, length), expected);
    free(a);
    free(b);
}
END_TEST

TCase *exact_passes_i8_cases(void)
{
    TCase *c = tcase_create("int8 passes");
    tcase_add_test(c, products_by_residues_of_moduli_of_every_size);
    tcase_add_test(c, products_modulo_every_direct_modulus);
    tcase_add_test(c, products_by_digits);
    tcase_add_test(c, long_scalar_products);
    return c;
}
