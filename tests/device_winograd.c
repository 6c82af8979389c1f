/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One step of Strassen's algorithm on a device: planes of the combined quarters, seven products of half the size,
 * and the result from their sums.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_cases.h"
#include "device_step.h"
#include "exact/residue.h"

typedef unsigned long long ull;

enum { PRODUCTS = NMODGPU_WINOGRAD_PRODUCTS, QUARTERS = NMODGPU_WINOGRAD_QUARTERS };

/** out, a window of *whole, holds the result, and its surroundings what they held before. */
static void check_result(const step *x, const nmodgpu_matrix *whole, const uint64_t *expected, const char *what)
{
    const int64_t rows = whole->rows, cols = whole->cols, s = x->shift;
    host_case d = harness_host_result(rows, cols, x->plan.modulus, LAYOUT_STRIDE);
    uint64_t *all = malloc((size_t)(rows * cols) * sizeof *all);
    ck_assert_ptr_nonnull(all);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            const bool inside = i >= s && i < s + x->m && j >= s && j < s + x->n;
            all[i * cols + j] = inside ? expected[(i - s) * x->n + j - s] : x->plan.modulus - 1;
        }
    OK(device->export_words(x->queue, &d.view, whole));
    OK(device->wait(x->queue, NULL));
    harness_compare(&d, all, what);
    harness_host_free(&d);
    free(all);
}

typedef enum onto { ONTO_NOTHING, ONTO_BASE, ONTO_ITSELF, ONTOS } onto;

/** (nothing, base) + sign A B in blocks of the inner dimension, all after the first onto the result. */
static void check_step(step *x, int64_t block, int sign, onto what_onto)
{
    char what[250];
    nmodgpu_matrix out_whole, base_whole;
    uint64_t *expected = malloc((size_t)(x->m * x->n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    const nmodgpu_matrix base = step_words(x, &base_whole, &x->c, x->base_bytes);
    nmodgpu_matrix apart = step_words(x, &out_whole, &x->c, x->out_bytes), itself = base;
    nmodgpu_matrix *out = what_onto == ONTO_ITSELF ? &itself : &apart;
    for (int64_t k0 = 0; k0 < x->k; k0 += block) {
        step_prepare(x, NMODGPU_LEFT, k0, k0 + block < x->k ? k0 + block : x->k);
        step_prepare(x, NMODGPU_RIGHT, k0, k0 + block < x->k ? k0 + block : x->k);
        step_multiply(x);
        const nmodgpu_matrix *from = k0 ? out : what_onto == ONTO_NOTHING ? NULL : &base;
        OK(device->reduce_winograd(x->queue, out, from, sign, x->sums));
        ck_assert_int_eq(x->sums[PRODUCTS - 1].inner_used[0], 0);
        step_free_seven(x->queue, x->left);
        step_free_seven(x->queue, x->right);
        step_free_seven(x->queue, x->sums);
    }
    snprintf(
        what, sizeof what,
        "seed %llu: %lld x %lld x %lld mod %llu, %s, block %lld, sign %d, onto %d, widths %u %u %u %u, shift %d",
        (ull)i8_seed, (long long)x->m, (long long)x->k, (long long)x->n, (ull)x->plan.modulus, x->plan.name,
        (long long)block, sign, what_onto, x->a_bytes, x->b_bytes, x->base_bytes, x->out_bytes, (int)x->shift);
    harness_expect(expected, what_onto == ONTO_NOTHING ? NULL : x->c.plain, sign, x->a.plain, x->b.plain, x->m,
                   x->k, x->n, x->plan.modulus);
    check_result(x, what_onto == ONTO_ITSELF ? &base_whole : &out_whole, expected, what);
    device->matrix_free(x->queue, &out_whole);
    device->matrix_free(x->queue, &base_whole);
    free(expected);
}

/* Words of one, two, four and eight bytes; modulo p itself, in 32 bits and in 64.  The first four reach all
 * kernels. */
static const uint64_t moduli[] = {251, 65521, (1ULL << 31) - 1,  UINT64_MAX - 58,
                                  3,   256,   (1ULL << 50) - 27, 1ULL << 63};

static size_t moduli_count(void)
{
    return device_brief() ? 4 : sizeof moduli / sizeof *moduli;
}

/** Both kinds of plans in bytes, by a case of their own each. */
typedef void (*step_case)(const nmodgpu_plan *plan);

static void with_plans(step_case run, int64_t m, int64_t k, int64_t n)
{
    static const nmodgpu_i8_kind kinds[] = {NMODGPU_I8_DIRECT_BYTES, NMODGPU_I8_CRT_BYTES};
    for (size_t i = 0; i < moduli_count(); i++)
        for (int kind = 0; kind < 2; kind++) {
            nmodgpu_plan plan;
            if (step_plan(&plan, kinds[kind], moduli[i], m, k, n) && i8_has_bytes())
                run(&plan);
        }
}

static int64_t any_size(void)
{
    return test_below(4) ? i8_awkward_size() : 128 + (int64_t)test_below(140);
}

static void any_widths_signs_and_bases(const nmodgpu_plan *plan)
{
    for (int i = 0; i < (device_brief() ? 1 : 2 * ONTOS); i++) {
        step x;
        step_open(&x, plan, device_brief() ? 33 : any_size(), plan->k, device_brief() ? 47 : any_size(),
                  TEST_UNIFORM);
        check_step(&x, x.k, i & 1 ? -1 : 1, (onto)((i + 1) % ONTOS));
        step_close(&x);
    }
}

START_TEST(steps_are_exact)
{
    for (int i = 0; i < (device_brief() ? 1 : 3); i++)
        with_plans(any_widths_signs_and_bases, 64, device_brief() ? 65 : any_size(), 64);
}
END_TEST

/** Every pair of widths of operands, and of base and result, at even and odd addresses. */
static void every_width(const nmodgpu_plan *plan)
{
    for (uint32_t first = i8_width(plan->modulus); first <= 8; first *= 2)
        for (uint32_t second = i8_width(plan->modulus); second <= 8; second *= 2) {
            const bool narrowest = first == i8_width(plan->modulus);
            if (device_brief() && (first != second || (plan->sums > 1 && !narrowest)))
                continue; /* kernels know the widths of one side at a time */
            for (int64_t shift = 0; shift < 2; shift++) {
                step x;
                step_open(&x, plan, plan->m, plan->k, plan->n, TEST_UNIFORM);
                x.a_bytes = x.base_bytes = first;
                x.b_bytes = x.out_bytes = second;
                x.shift = shift;
                check_step(&x, x.k, 1, ONTO_BASE);
                step_close(&x);
            }
        }
}

START_TEST(steps_from_and_to_every_width_of_words)
{
    if (device_brief())
        with_plans(every_width, 36, 40, 44);
    else
        with_plans(every_width, i8_awkward_size(), 64 + i8_awkward_size(), i8_awkward_size());
}
END_TEST

/** All the shapes about 16, 32 and 64, with quarters that are full, in part or not at all there. */
START_TEST(steps_of_every_shape)
{
    static const int64_t sizes_[] = {1, 16, 17, 32, 33, 63, 64, 65};
    const int count = (int)(sizeof sizes_ / sizeof *sizes_);
    for (int i = 0; i < count * count * count; i += device_brief() ? 171 : 1) {
        const int64_t m = sizes_[i % count], k = sizes_[i / count % count], n = sizes_[i / count / count];
        const uint64_t p = moduli[test_below(moduli_count())];
        nmodgpu_plan plan;
        step x;
        ck_assert(step_plan(&plan, p <= 256 ? NMODGPU_I8_DIRECT_BYTES : NMODGPU_I8_CRT_BYTES, p, m, k, n));
        if (!i8_has_bytes())
            continue;
        step_open(&x, &plan, m, k, n, (int)test_below(TEST_PATTERNS * TEST_PATTERNS));
        check_step(&x, k, test_below(2) ? 1 : -1, (onto)test_below(ONTOS));
        step_close(&x);
    }
}
END_TEST

static void every_pattern(const nmodgpu_plan *plan)
{
    const int step_by = device_brief() ? 4 * (TEST_PATTERNS + 1) : 3;
    const int first = device_brief() ? 0 : (int)test_below(3); /* a third of the pairs for each plan */
    for (int i = first; i < TEST_PATTERNS * TEST_PATTERNS; i += step_by) {
        step x;
        step_open(&x, plan, plan->m, plan->k, plan->n, i);
        check_step(&x, x.k, i & 1 ? -1 : 1, (onto)(i % ONTOS));
        step_close(&x);
    }
}

/** Identities, permutations and the like give products about zero, worst-case ones products at the ends. */
START_TEST(steps_of_structured_operands)
{
    with_plans(every_pattern, 37, 50, 21);
}
END_TEST

static void several_blocks(const nmodgpu_plan *plan)
{
    for (int i = 0; i < (device_brief() ? 1 : ONTOS); i++) {
        step x;
        step_open(&x, plan, plan->m, plan->k, plan->n, TEST_ALL_HALF * (TEST_PATTERNS + 1));
        check_step(&x, device_brief() ? 80 : 64, i & 1 ? -1 : 1, (onto)((i + 2) % ONTOS));
        step_close(&x);
    }
}

START_TEST(steps_over_blocks_of_the_inner_dimension)
{
    with_plans(several_blocks, 50, 150, 70);
}
END_TEST

START_TEST(large_steps)
{
    for (size_t i = 0; i < moduli_count(); i += device_brief() ? 3 : 1) {
        const int64_t m = sizes.large - (int64_t)test_below(40), k = sizes.large - (int64_t)test_below(40),
                      n = sizes.large - (int64_t)test_below(40);
        nmodgpu_plan plan;
        step x;
        ck_assert(step_plan(&plan, moduli[i] <= 256 ? NMODGPU_I8_DIRECT_BYTES : NMODGPU_I8_CRT_BYTES, moduli[i], m,
                            k, n));
        if (!i8_has_bytes())
            continue;
        step_open(&x, &plan, m, k, n, TEST_UNIFORM);
        check_step(&x, k, 1, ONTO_ITSELF);
        step_close(&x);
    }
}
END_TEST

/* ---- planes by themselves */

/** Entry (i, j) of the z-th combination, modulo m. */
static int64_t combined(const host_case *h, bool right, int z, int64_t i, int64_t j, uint64_t p, int64_t m)
{
    const int64_t half_rows = nmodgpu_winograd_half(h->rows), half_cols = nmodgpu_winograd_half(h->cols);
    int64_t sum = 0;
    for (int q = 0; q < QUARTERS; q++) {
        const int64_t row = i + (q & 2 ? half_rows : 0), col = j + (q & 1 ? half_cols : 0);
        if (row < h->rows && col < h->cols)
            sum += (right ? nmodgpu_winograd_right(z, q) : nmodgpu_winograd_left(z, q)) *
                   (nmodgpu_centre(h->plain[row * h->cols + col], p) % m);
    }
    return sum;
}

/** Every byte of plane g of the z-th combination, read back as words of one byte. */
static void check_plane(const step *x, bool right, int z, uint32_t g)
{
    const nmodgpu_matrix *planes = right ? &x->right[z] : &x->left[z];
    const int64_t lines = right ? planes->cols : planes->rows, inner = right ? planes->rows : planes->cols;
    const int64_t m = x->plan.left.plane_digits[g];
    const int64_t factor =
        right ? 1 : nmodgpu_small_inverse((uint32_t)nmodgpu_cofactor(&x->plan.left, g, (uint64_t)m), (uint32_t)m);
    nmodgpu_matrix bytes = harness_words(256, lines, inner, 1);
    host_case d = harness_host_result(lines, inner, 256, LAYOUT_DENSE);
    bytes.device = planes->device;
    bytes.stride = planes->stride;
    bytes.data = (char *)planes->data + g * planes->plane_stride;
    OK(device->export_words(x->queue, &d.view, &bytes));
    OK(device->wait(x->queue, NULL));
    for (int64_t i = 0; i < planes->rows; i++)
        for (int64_t j = 0; j < planes->cols; j++) {
            const int64_t got = (int8_t)d.memory[right ? j * inner + i : i * inner + j];
            const int64_t expected = combined(right ? &x->b : &x->a, right, z, i, j, x->plan.modulus, m) * factor;
            if ((got - expected) % m || got < -(m / 2) || got > m - 1 - m / 2)
                ck_abort_msg("seed %llu: side %d of %s mod %llu, product %d, modulus %lld, widths %u %u, shift %d: "
                             "entry (%lld, %lld) is %lld",
                             (ull)i8_seed, right, x->plan.name, (ull)x->plan.modulus, z, (long long)m, x->a_bytes,
                             x->b_bytes, (int)x->shift, (long long)i, (long long)j, (long long)got);
        }
    harness_host_free(&d);
}

static void every_plane(const nmodgpu_plan *plan)
{
    step x;
    step_open(&x, plan, plan->m, plan->k, plan->n, (int)test_below(TEST_PATTERNS * TEST_PATTERNS));
    step_prepare(&x, NMODGPU_LEFT, 0, x.k);
    step_prepare(&x, NMODGPU_RIGHT, 0, x.k);
    for (int z = 0; z < PRODUCTS; z++)
        for (uint32_t g = 0; g < plan->sums; g++) {
            check_plane(&x, false, z, g);
            check_plane(&x, true, z, g);
        }
    step_free_seven(x.queue, x.left);
    step_free_seven(x.queue, x.right);
    step_close(&x);
}

START_TEST(planes_of_combined_quarters)
{
    for (int i = 0; i < (device_brief() ? 1 : 3); i++)
        with_plans(every_plane, 1 + (int64_t)test_below(90), 1 + (int64_t)test_below(90),
                   1 + (int64_t)test_below(90));
}
END_TEST

/* ---- what is refused */

static void check_refused(step *x, const nmodgpu_matrix *words, nmodgpu_matrix *out)
{
    nmodgpu_plan plain = x->plan;
    plain.winograd = 0;
    for (int what = 0; what < 6; what++) {
        nmodgpu_matrix planes[PRODUCTS], sums[PRODUCTS];
        memcpy(planes, x->left, sizeof planes);
        memcpy(sums, x->sums, sizeof sums);
        for (int side = 0; side < 2; side++) {
            nmodgpu_matrix *part = side ? &sums[what] : &planes[what];
            switch (what) {
            case 0:
                part->plan = &plain;
                break;
            case 1:
                part->stride += 16;
                break;
            case 2:
                part->plane_stride += 16;
                break;
            case 3:
                part->rows -= 16;
                break;
            case 4:
                part->data = (char *)part->data + 8;
                break;
            default:
                part->transposed = !part->transposed;
            }
        }
        ck_assert_int_eq(device->prepare_winograd(x->queue, planes, words), NMODGPU_EINVAL);
        ck_assert_int_eq(device->reduce_winograd(x->queue, out, NULL, 1, sums), NMODGPU_EINVAL);
    }
    const nmodgpu_matrix part = nmodgpu_matrix_window(out, 0, x->m - 1, 0, x->n);
    ck_assert_int_eq(device->reduce_winograd(x->queue, out, &part, 1, x->sums), NMODGPU_EINVAL);
    nmodgpu_matrix narrow = *words;
    narrow.element_bytes = 2;
    ck_assert_int_eq(device->prepare_winograd(x->queue, x->left, &narrow), NMODGPU_EINVAL);
}

START_TEST(steps_off_their_layout_are_refused)
{
    nmodgpu_plan plan;
    nmodgpu_matrix words_whole, out_whole;
    step x;
    ck_assert(step_plan(&plan, NMODGPU_I8_CRT_BYTES, 2147483647, 40, 50, 60));
    step_open(&x, &plan, 40, 50, 60, TEST_UNIFORM);
    const nmodgpu_matrix words = step_words(&x, &words_whole, &x.a, 4);
    nmodgpu_matrix out = step_words(&x, &out_whole, &x.c, 8);
    const nmodgpu_matrix planes = harness_planes(&x.plan, NMODGPU_LEFT, 32, 32),
                         sums = harness_sums(&x.plan, 32, 32);
    step_make_seven(x.queue, x.left, &planes);
    step_make_seven(x.queue, x.sums, &sums);
    check_refused(&x, &words, &out);
    OK(device->prepare_winograd(x.queue, x.left, &words)); /* as they are */
    OK(device->wait(x.queue, NULL));
    step_free_seven(x.queue, x.left);
    step_free_seven(x.queue, x.sums);
    device->matrix_free(x.queue, &words_whole);
    device->matrix_free(x.queue, &out_whole);
    step_close(&x);
}
END_TEST

void i8_add_winograd_tests(TCase *tc)
{
    tcase_add_test(tc, steps_are_exact);
    tcase_add_test(tc, steps_from_and_to_every_width_of_words);
    tcase_add_test(tc, steps_of_every_shape);
    tcase_add_test(tc, steps_of_structured_operands);
    tcase_add_test(tc, steps_over_blocks_of_the_inner_dimension);
    tcase_add_test(tc, large_steps);
    tcase_add_test(tc, planes_of_combined_quarters);
    tcase_add_test(tc, steps_off_their_layout_are_refused);
}
