/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One step of Strassen's algorithm in Winograd's form: its tables, its residues, and whole products through
 * passes_i8.h.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/passes_i8.h"
#include "exact_cases.h"
#include "exact_matrices.h"
#include "support.h"

typedef unsigned long long ull;

enum { PRODUCTS = NMODGPU_WINOGRAD_PRODUCTS, QUARTERS = NMODGPU_WINOGRAD_QUARTERS };

/* ---- tables */

/** The coefficient of each product of a quarter of A by one of B in each quarter of the result, without a rest. */
START_TEST(the_tables_expand_to_the_product)
{
    for (int q = 0; q < QUARTERS; q++)
        for (int a = 0; a < QUARTERS; a++)
            for (int b = 0; b < QUARTERS; b++) {
                int coefficient = 0;
                for (int i = 0; i < PRODUCTS; i++)
                    coefficient +=
                        nmodgpu_winograd_result(q, i) * nmodgpu_winograd_left(i, a) * nmodgpu_winograd_right(i, b);
                const bool wanted = a / 2 == q / 2 && b % 2 == q % 2 && a % 2 == b / 2;
                check_that(coefficient == wanted, "A%d B%d in C%d: %d\n", a, b, q, coefficient);
            }
}
END_TEST

START_TEST(the_tables_multiply_matrices_of_two_by_two)
{
    for (int round = 0; round < 20000; round++) {
        int64_t a[QUARTERS], b[QUARTERS], product[PRODUCTS];
        for (int q = 0; q < QUARTERS; q++) {
            a[q] = (int64_t)test_below(1u << 20) - (1 << 19);
            b[q] = (int64_t)test_below(1u << 20) - (1 << 19);
        }
        for (int i = 0; i < PRODUCTS; i++) {
            int64_t left = 0, right = 0;
            for (int q = 0; q < QUARTERS; q++) {
                left += nmodgpu_winograd_left(i, q) * a[q];
                right += nmodgpu_winograd_right(i, q) * b[q];
            }
            product[i] = left * right;
        }
        for (int q = 0; q < QUARTERS; q++) {
            int64_t c = 0;
            for (int i = 0; i < PRODUCTS; i++)
                c += nmodgpu_winograd_result(q, i) * product[i];
            check_that(c == a[q & 2] * b[q & 1] + a[(q & 2) + 1] * b[(q & 1) + 2], "quarter %d\n", q);
        }
    }
}
END_TEST

/** The least multiple of 16 that is half or more. */
START_TEST(halves_are_the_least_multiples_of_16)
{
    for (int64_t x = 0; x < 5000; x++) {
        const int64_t half = nmodgpu_winograd_half(x);
        check_that(half % 16 == 0 && 2 * half >= x && (half == 0 || 2 * (half - 16) < x), "%lld: %lld\n",
                   (long long)x, (long long)half);
    }
}
END_TEST

/* ---- residues */

/** What the device does: the lesser of x and x - m, both without a sign, in each lane. */
static uint32_t lanes_below_as_on_devices(uint32_t x, uint32_t m)
{
    uint32_t result = 0;
    for (int j = 0; j < 32; j += 16) {
        const uint16_t lane = (uint16_t)(x >> j), less = (uint16_t)(lane - m);
        result |= (uint32_t)(less < lane ? less : lane) << j;
    }
    return result;
}

/** Every x in either lane beside any other, for every m that is asked for: once or twice a modulus. */
START_TEST(lanes_go_below_every_modulus)
{
    for (uint32_t m = 1; m <= 512; m++)
        for (uint32_t x = 0; x < 1u << 15; x++) {
            const uint32_t other = x * 40503 >> 4 & 0x7fff;
            const uint32_t expected = (x >= m ? x - m : x) | (other >= m ? other - m : other) << 16,
                           both = x | other << 16;
            check_that(nmodgpu_lanes_below(both, m) == expected, "%x over %u\n", both, m);
            check_that(lanes_below_as_on_devices(both, m) == expected, "device: %x over %u\n", both, m);
            check_that(nmodgpu_lanes_below(both >> 16 | both << 16, m) == (expected >> 16 | expected << 16),
                       "%x over %u, lanes exchanged\n", both, m);
        }
}
END_TEST

/** Four entries' residues of all products, [entry][product]. */
static void check_residues4(uint32_t y[4][PRODUCTS], uint32_t m)
{
    uint32_t products[PRODUCTS] = {0};
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < PRODUCTS; i++)
            products[i] |= y[j][i] << (8 * j);
    for (int q = 0; q < QUARTERS; q++) {
        const uint32_t got = nmodgpu_winograd_residues4(products, q, m);
        for (int j = 0; j < 4; j++) {
            int32_t sum = 4 * (int32_t)m;
            for (int i = 0; i < PRODUCTS; i++)
                sum += nmodgpu_winograd_result(q, i) * (int32_t)y[j][i];
            check_that((got >> (8 * j) & 255) == (uint32_t)sum % m, "modulus %u, quarter %d, lane %d: %x\n", m, q,
                       j, got);
        }
    }
}

/** The ends of the range in all combinations, each in every lane beside others. */
START_TEST(residues_of_quarters_at_the_ends_of_the_range)
{
    enum { COMBINATIONS = 2187 };
    for (uint32_t m = 1; m <= 256; m++)
        for (int i = 0; i < COMBINATIONS; i++) {
            const uint32_t ends[] = {0, 1 % m, m - 1};
            uint32_t y[4][PRODUCTS];
            for (int j = 0; j < 4; j++) {
                int combination = (i + j * 547) % COMBINATIONS;
                for (int z = 0; z < PRODUCTS; z++, combination /= 3)
                    y[j][z] = ends[combination % 3];
            }
            check_residues4(y, m);
        }
}
END_TEST

START_TEST(residues_of_quarters_in_independent_lanes)
{
    for (uint32_t m = 1; m <= 256; m++)
        for (int i = 0; i < 1000; i++) {
            uint32_t y[4][PRODUCTS];
            for (int j = 0; j < 4; j++) {
                const uint64_t kind = test_below(3);
                for (int z = 0; z < PRODUCTS; z++)
                    y[j][z] = kind == 0 ? 0 : kind == 1 ? m - 1 : (uint32_t)test_below(m);
            }
            check_residues4(y, m);
        }
}
END_TEST

/* ---- whole products */

typedef struct step {
    nmodgpu_plan plan;
    int64_t m, k, n;
    uint64_t *a, *b;
    exact_matrix left[PRODUCTS], right[PRODUCTS], sums[PRODUCTS];
} step;

/** Seven matrices of the same strides. */
static void make_seven(exact_matrix *seven, int64_t rows, int64_t cols, uint32_t planes, nmodgpu_side side)
{
    exact_matrix like = exact_matrix_make(rows, cols, 1, planes, side == NMODGPU_RIGHT, 16);
    like.view.side = side;
    for (int z = 0; z < PRODUCTS; z++) {
        seven[z] = like;
        seven[z].bytes = malloc(like.size);
        ck_assert_ptr_nonnull(seven[z].bytes);
        memset(seven[z].bytes, EXACT_POISON, like.size);
        seven[z].view.data = seven[z].bytes;
    }
    exact_matrix_free(&like);
}

static void views(nmodgpu_matrix *view, const exact_matrix *seven)
{
    for (int z = 0; z < PRODUCTS; z++)
        view[z] = seven[z].view;
}

static void open_step(step *x, nmodgpu_plan plan, int64_t m, int64_t k, int64_t n)
{
    const int64_t mm = nmodgpu_winograd_half(m), kk = nmodgpu_winograd_half(k), nn = nmodgpu_winograd_half(n);
    *x = (step){.plan = plan, .m = m, .k = k, .n = n};
    x->a = exact_entries(m, k, plan.modulus);
    x->b = exact_entries(k, n, plan.modulus);
    make_seven(x->left, mm, kk, plan.left.planes, NMODGPU_LEFT);
    make_seven(x->right, kk, nn, plan.right.planes, NMODGPU_RIGHT);
    make_seven(x->sums, mm, nn, plan.sums, NMODGPU_LEFT);
}

static void close_step(step *x)
{
    free(x->a);
    free(x->b);
    for (int z = 0; z < PRODUCTS; z++) {
        exact_matrix_free(&x->left[z]);
        exact_matrix_free(&x->right[z]);
        exact_matrix_free(&x->sums[z]);
    }
}

/** Entry (i, j) of the z-th combination modulo m, from the words. */
static int64_t combined(const step *x, bool right, int z, int64_t i, int64_t j, int64_t m)
{
    const uint64_t *words = right ? x->b : x->a;
    const nmodgpu_matrix *shape = right ? &x->right[0].view : &x->left[0].view;
    const int64_t rows = right ? x->k : x->m, cols = right ? x->n : x->k;
    int64_t sum = 0;
    for (int q = 0; q < QUARTERS; q++) {
        const int64_t row = i + (q & 2 ? shape->rows : 0), col = j + (q & 1 ? shape->cols : 0);
        if (row < rows && col < cols)
            sum += (right ? nmodgpu_winograd_right(z, q) : nmodgpu_winograd_left(z, q)) *
                   (nmodgpu_centre(words[row * cols + col], x->plan.modulus) % m);
    }
    return sum;
}

/** Every entry of every plane. */
static void check_planes(const step *x, bool right)
{
    for (uint32_t g = 0; g < x->plan.left.planes; g++) {
        const int64_t m = x->plan.left.plane_digits[g], factor = right ? 1 : exact_left_factor(&x->plan, g);
        for (int z = 0; z < PRODUCTS; z++) {
            const nmodgpu_matrix *v = right ? &x->right[z].view : &x->left[z].view;
            for (int64_t i = 0; i < v->rows; i++)
                for (int64_t j = 0; j < v->cols; j++) {
                    const int64_t at = v->transposed ? j * v->stride + i : i * v->stride + j;
                    const int64_t got = ((int8_t *)v->data)[g * v->plane_stride + at];
                    const int64_t expected = combined(x, right, z, i, j, m) * factor;
                    check_that((got - expected) % m == 0 && got >= -(m / 2) && got <= m - 1 - m / 2,
                               "p %llu, side %d, product %d, modulus %lld: entry (%lld, %lld) is %lld\n",
                               (ull)x->plan.modulus, right, z, (long long)m, (long long)i, (long long)j,
                               (long long)got);
                }
        }
    }
}

static void prepare_step(step *x)
{
    const uint64_t p = x->plan.modulus;
    for (int right = 0; right < 2; right++) {
        nmodgpu_matrix planes[PRODUCTS];
        exact_matrix words = right ? exact_matrix_words(x->b, x->k, x->n, exact_width(p))
                                   : exact_matrix_words(x->a, x->m, x->k, exact_width(p));
        const nmodgpu_residuer how = nmodgpu_residuer_make(&x->plan, right);
        views(planes, right ? x->right : x->left);
        nmodgpu_host_winograd_residues(&how, planes, &words.view);
        check_planes(x, right);
        for (int z = 0; z < PRODUCTS; z++)
            exact_check_padding(right ? &x->right[z] : &x->left[z]);
        exact_matrix_free(&words);
    }
}

static void multiply_step(step *x)
{
    const nmodgpu_crt c = nmodgpu_crt_make(&x->plan, 1);
    const nmodgpu_small_moduli moduli = {c.m, c.magic, c.offset};
    for (int z = 0; z < PRODUCTS; z++)
        nmodgpu_host_fused(&moduli, &x->sums[z].view, &x->left[z].view, &x->right[z].view, false);
}

static void reduce_step(const step *x, int sign, bool has_base, bool in_place, const char *what)
{
    const uint64_t p = x->plan.modulus;
    uint64_t *c = exact_entries(x->m, x->n, p), *expected = malloc((size_t)(x->m * x->n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    nmodgpu_matrix sums[PRODUCTS];
    views(sums, x->sums);
    exact_matrix base = exact_matrix_words(c, x->m, x->n, exact_width(p));
    exact_matrix apart = exact_matrix_make(x->m, x->n, exact_width(p), 1, false, 1 + (int64_t)test_below(3));
    const exact_matrix *out = in_place ? &base : &apart;
    const nmodgpu_crt how = nmodgpu_crt_make(&x->plan, sign);
    nmodgpu_host_winograd_crt(&how, &out->view, has_base ? &base.view : NULL, sums);
    test_product(expected, x->n, has_base ? c : NULL, x->n, sign, x->a, x->k, x->b, x->n, x->m, x->k, x->n, p);
    exact_check_words(out, expected, p, what);
    exact_matrix_free(&base);
    exact_matrix_free(&apart);
    free(c);
    free(expected);
}

static void run_step(step *x, const char *what)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const int mode = modes[test_below(4)];
    fesetround(mode);
    prepare_step(x);
    multiply_step(x);
    for (int sign = -1; sign <= 1; sign += 2) {
        reduce_step(x, sign, false, false, what);
        reduce_step(x, sign, true, false, what);
        reduce_step(x, sign, true, true, what);
    }
    check_that(fegetround() == mode, "the rounding mode changed\n");
    fesetround(FE_TONEAREST);
}

/** floor(sqrt((4 M - 1) / (9 k))): the largest h that the slack of `count` moduli allows, as far as 2 h + 1 fits.
 */
static uint64_t largest_half(uint32_t count, int64_t k)
{
    const nmodgpu_plan plan = exact_residues_plan(2, count);
    mpz_t h;
    mpz_init(h);
    exact_product_of_moduli(h, &plan);
    mpz_mul_ui(h, h, 4);
    mpz_sub_ui(h, h, 1);
    mpz_fdiv_q_ui(h, h, 9 * (unsigned long)k);
    mpz_sqrt(h, h);
    const uint64_t half = mpz_sizeinbase(h, 2) < 64 ? exact_get(h) : INT64_MAX;
    mpz_clear(h);
    return half;
}

/** h or -h everywhere, so that every entry of the integer product is k h^2 or -k h^2. */
static void fill_with_ends(uint64_t *x, int64_t rows, int64_t cols, uint64_t h, bool by_rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            x[i * cols + j] = h + ((by_rows ? i : j) * 5 >> 2 & 1);
}

/** As near +-M/2 as a plan lets a product come. */
START_TEST(products_at_the_ends_of_the_range)
{
    for (uint32_t count = 1; count <= 17; count++)
        for (int i = 0; i < 4; i++) {
            const int64_t k = 2 + (int64_t)test_below(count == 1 ? 12 : 60);
            const uint64_t h = largest_half(count, k);
            step x;
            open_step(&x, exact_residues_plan(2 * h + 1, count), 1 + (int64_t)test_below(40), k,
                      1 + (int64_t)test_below(40));
            fill_with_ends(x.a, x.m, x.k, h, true);
            fill_with_ends(x.b, x.k, x.n, h, false);
            run_step(&x, "at the ends");
            close_step(&x);
        }
}
END_TEST

/** Sizes about those where quarters fill up, or have nothing in them. */
static int64_t awkward(void)
{
    static const int64_t sizes[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 47, 48, 50};
    return sizes[test_below(sizeof sizes / sizeof *sizes)];
}

START_TEST(products_of_structured_operands)
{
    for (int i = 0; i < TEST_PATTERNS * TEST_PATTERNS; i++) {
        const uint64_t p = exact_modulus(64);
        step x;
        open_step(&x, exact_residues_plan(p, exact_moduli_needed(p, 50)), awkward(), awkward(), awkward());
        test_fill(x.a, x.m, x.k, x.k, p, (test_pattern)(i % TEST_PATTERNS));
        test_fill(x.b, x.k, x.n, x.n, p, (test_pattern)(i / TEST_PATTERNS));
        run_step(&x, test_pattern_name((test_pattern)(i % TEST_PATTERNS)));
        close_step(&x);
    }
}
END_TEST

START_TEST(products_modulo_moduli_of_every_size)
{
    for (unsigned bits = 2; bits <= 64; bits++) {
        const uint64_t p = test_modulus(bits);
        step x;
        open_step(&x, exact_residues_plan(p, exact_moduli_needed(p, 50)), awkward(), awkward(), awkward());
        run_step(&x, "random");
        close_step(&x);
    }
}
END_TEST

START_TEST(products_modulo_the_modulus_itself)
{
    for (uint64_t p = 1; p <= 256; p++) {
        step x;
        open_step(&x, exact_direct_plan(p), awkward(), awkward(), awkward());
        run_step(&x, "direct");
        close_step(&x);
    }
}
END_TEST

TCase *exact_winograd_cases(void)
{
    TCase *c = tcase_create("Strassen-Winograd step");
    tcase_add_test(c, the_tables_expand_to_the_product);
    tcase_add_test(c, the_tables_multiply_matrices_of_two_by_two);
    tcase_add_test(c, halves_are_the_least_multiples_of_16);
    tcase_add_test(c, lanes_go_below_every_modulus);
    tcase_add_test(c, residues_of_quarters_at_the_ends_of_the_range);
    tcase_add_test(c, residues_of_quarters_in_independent_lanes);
    tcase_add_test(c, products_at_the_ends_of_the_range);
    tcase_add_test(c, products_of_structured_operands);
    tcase_add_test(c, products_modulo_moduli_of_every_size);
    tcase_add_test(c, products_modulo_the_modulus_itself);
    return c;
}
