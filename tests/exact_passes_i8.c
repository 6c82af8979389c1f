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
#include "exact_matrices.h"
#include "support.h"

typedef struct product {
    nmodgpu_plan plan;
    int64_t m, k, n;
    int sign;
    bool has_base, in_place;
    uint64_t *a, *b, *c, *d; /* dense; d is what must come */
    exact_matrix left, right;
} product;

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
    x->a = exact_entries(x->m, x->k, p);
    x->b = exact_entries(x->k, x->n, p);
    x->c = exact_entries(x->m, x->n, p);
    x->d = malloc((size_t)(x->m * x->n) * sizeof *x->d);
    ck_assert_ptr_nonnull(x->d);
    test_product(x->d, x->n, x->has_base ? x->c : NULL, x->n, x->sign, x->a, x->k, x->b, x->n, x->m, x->k, x->n, p);
    x->left = exact_matrix_make(x->m, x->k, 1, plan.left.planes, false, 16);
    x->right = exact_matrix_make(x->k, x->n, 1, plan.right.planes, true, 16);
}

static void close_product(product *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->d);
    exact_matrix_free(&x->left);
    exact_matrix_free(&x->right);
}

/** Both operands' planes from words of any width. */
static void prepare(product *x)
{
    const uint64_t p = x->plan.modulus;
    exact_matrix a = exact_matrix_words(x->a, x->m, x->k, exact_width(p)),
                 b = exact_matrix_words(x->b, x->k, x->n, exact_width(p));
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
    exact_check_padding(&x->left);
    exact_check_padding(&x->right);
    exact_matrix_free(&a);
    exact_matrix_free(&b);
}

/** int32 sums, term by term, from rows filled up. */
static exact_matrix multiply(const product *x)
{
    exact_matrix s = exact_matrix_make(x->m, x->n, 4, x->plan.sums, false, 4);
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
static exact_matrix multiply_fused(const product *x)
{
    exact_matrix s = exact_matrix_make(x->m, x->n, 1, x->plan.sums, false, 16);
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

static void recombine(const product *x, const exact_matrix *sums, const nmodgpu_matrix *out,
                      const nmodgpu_matrix *base)
{
    if (x->plan.encoding == NMODGPU_RESIDUES) {
        const nmodgpu_crt how = nmodgpu_crt_make(&x->plan, x->sign);
        nmodgpu_host_crt(&how, out, base, &sums->view);
    } else {
        const nmodgpu_reducer how = nmodgpu_reducer_make(&x->plan, ~0ULL, x->sign);
        nmodgpu_host_reduce_sum32(&how, out, base, &sums->view);
    }
}

static void reduce(const product *x, const exact_matrix *sums, const char *what)
{
    const uint64_t p = x->plan.modulus;
    exact_matrix base = exact_matrix_words(x->c, x->m, x->n, exact_width(p));
    exact_matrix apart = exact_matrix_make(x->m, x->n, exact_width(p), 1, false, 1 + (int64_t)test_below(3));
    const exact_matrix *out = x->in_place ? &base : &apart;
    recombine(x, sums, &out->view, x->has_base ? &base.view : NULL);
    exact_check_words(out, x->d, p, what);
    exact_matrix_free(&base);
    exact_matrix_free(&apart);
}

static void check_product(nmodgpu_plan plan, const char *what)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const int mode = modes[test_below(4)];
    product x;
    open_product(&x, plan);
    fesetround(mode);
    prepare(&x);
    exact_matrix sums = multiply(&x);
    reduce(&x, &sums, what);
    exact_matrix_free(&sums);
    if (plan.encoding == NMODGPU_RESIDUES) {
        sums = multiply_fused(&x);
        reduce(&x, &sums, what);
        exact_matrix_free(&sums);
    }
    check_that(fegetround() == mode, "the rounding mode changed\n");
    fesetround(FE_TONEAREST);
    close_product(&x);
}

START_TEST(products_by_residues_of_moduli_of_every_size)
{
    for (unsigned bits = 2; bits <= 64; bits++)
        for (int i = 0; i < 12; i++) {
            const uint64_t p = test_modulus(bits);
            check_product(exact_residues_plan(p, exact_moduli_needed(p, 50)), "residues");
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
