/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * prepare.h: planes of an entry, against digits taken by GMP.
 */
#include <stdio.h>
#include <string.h>

#include "exact/prepare.h"
#include "exact_cases.h"
#include "support.h"

/** Digits of the centred word, by definition: the top one is what is left. */
static void digits_by_gmp(double *digit, const nmodgpu_operand_plan *operand, uint64_t word, uint64_t p)
{
    mpz_t x, t, modulus;
    mpz_init(x);
    mpz_init(t);
    mpz_init(modulus);
    exact_set(x, word);
    exact_set(modulus, p);
    exact_set(t, p / 2);
    if (mpz_cmp(x, t) > 0)
        mpz_sub(x, x, modulus);
    for (uint32_t j = 0; j + 1 < operand->digits; j++) {
        mpz_set_ui(t, 1);
        mpz_mul_2exp(t, t, operand->digit_bits - 1);
        mpz_add(t, t, x);
        mpz_fdiv_r_2exp(t, t, operand->digit_bits);
        mpz_set_ui(modulus, 1);
        mpz_mul_2exp(modulus, modulus, operand->digit_bits - 1);
        mpz_sub(t, t, modulus);
        digit[j] = mpz_get_d(t);
        mpz_sub(x, x, t);
        mpz_fdiv_q_2exp(x, x, operand->digit_bits);
    }
    digit[operand->digits - 1] = mpz_get_d(x);
    mpz_clear(x);
    mpz_clear(t);
    mpz_clear(modulus);
}

static void check_entry(const nmodgpu_plan *plan, int right, uint64_t word)
{
    const nmodgpu_operand_plan *operand = right ? &plan->right : &plan->left;
    const nmodgpu_preparer preparer = nmodgpu_preparer_make(plan, right);
    const int64_t plane_stride = 1 + (int64_t)test_below(3);
    double digit[NMODGPU_MAX_PLANES];
    double planes[3 * NMODGPU_MAX_PLANES + 1];
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        planes[i] = 0.5;
    digits_by_gmp(digit, operand, word, plan->modulus);
    nmodgpu_prepare_entry(&preparer, word, planes, plane_stride);
    for (uint32_t i = 0; i < operand->planes; i++) {
        double expected = 0;
        for (uint32_t j = 0; j < operand->digits; j++)
            if (operand->plane_digits[i] >> j & 1)
                expected += digit[j];
        check_that(planes[i * plane_stride] == expected, "p %llu, word %llu, %u digits of %u bits, plane %u\n",
                   (unsigned long long)plan->modulus, (unsigned long long)word, operand->digits,
                   operand->digit_bits, i);
        planes[i * plane_stride] = 0.5;
    }
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        check_that(planes[i] == 0.5, "a plane that is none was written\n");
}

START_TEST(every_word_of_small_moduli_gives_its_planes)
{
    for (uint64_t p = 1; p <= 200; p++) {
        const nmodgpu_plan plan = exact_digits_plan(p);
        for (uint64_t word = 0; word < p; word++)
            check_entry(&plan, 0, word);
    }
}
END_TEST

START_TEST(words_of_every_modulus_give_their_planes)
{
    for (int i = 0; i < 60000; i++) {
        const uint64_t p = exact_modulus(64);
        const nmodgpu_plan plan = exact_digits_plan(p);
        check_entry(&plan, (int)test_below(2), exact_word(p));
    }
}
END_TEST

START_TEST(single_digits_add_up_to_the_entry)
{
    for (int i = 0; i < 60000; i++) {
        const uint64_t p = exact_modulus(64);
        nmodgpu_plan plan = exact_digits_plan(p);
        plan.left.planes = plan.left.digits;
        for (uint32_t j = 0; j < plan.left.digits; j++)
            plan.left.plane_digits[j] = 1u << j;
        const nmodgpu_preparer preparer = nmodgpu_preparer_make(&plan, 0);
        const uint64_t word = exact_word(p);
        double planes[NMODGPU_MAX_PLANES];
        nmodgpu_prepare_entry(&preparer, word, planes, 1);
        __int128 x = 0;
        for (uint32_t j = plan.left.digits; j-- > 0;)
            x = x * ((__int128)1 << plan.left.digit_bits) + (int64_t)planes[j];
        check_that(x == nmodgpu_centre(word, p), "p %llu, word %llu\n", (unsigned long long)p,
                   (unsigned long long)word);
    }
}
END_TEST

/** Two digits of eight bits: every word of the moduli about which p/2 stops fitting, and of smaller ones. */
START_TEST(two_digits_of_int8_serve_to_sixteen_bits)
{
    static const uint64_t moduli[] = {2, 255, 256, 257, 32767, 65279, 65280, 65281, 65521, 65535, 65536};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        const uint64_t p = moduli[i];
        nmodgpu_plan plan = {.number = NMODGPU_I8, .encoding = NMODGPU_DIGITS, .modulus = p};
        plan.left = (nmodgpu_operand_plan){.digits = 2, .digit_bits = 8, .planes = 2, .plane_digits = {1, 2}};
        const nmodgpu_preparer c = nmodgpu_preparer_make(&plan, 0);
        for (uint64_t word = 0; word < p; word++) {
            const int64_t x = nmodgpu_prepare_start(&c, word);
            const int64_t low = nmodgpu_prepare_plane_integer(&c, 0, x);
            const int64_t high = nmodgpu_prepare_plane_integer(&c, 1, x);
            int32_t rest = (int32_t)x;
            check_that(nmodgpu_take_digit32(&rest, 8) == low && rest == high, "%lld in 32 bits\n", (long long)x);
            check_that((x == (int64_t)word || x == (int64_t)word - (int64_t)p) && low + 256 * high == x &&
                           low >= -128 && low <= 127 && high >= -128 && high <= 127,
                       "%llu mod %llu: %lld, digits %lld %lld\n", (unsigned long long)word, (unsigned long long)p,
                       (long long)x, (long long)low, (long long)high);
        }
    }
    ck_assert_uint_eq(nmodgpu_most_in_bytes(1, 0), 127);
    ck_assert_uint_eq(nmodgpu_most_in_bytes(2, 8), 32639);
    ck_assert_uint_eq(nmodgpu_most_in_bytes(3, 8), 127 * 65536 + 32639);
}
END_TEST

TCase *exact_prepare_cases(void)
{
    TCase *c = tcase_create("prepare");
    tcase_add_test(c, every_word_of_small_moduli_gives_its_planes);
    tcase_add_test(c, words_of_every_modulus_give_their_planes);
    tcase_add_test(c, single_digits_add_up_to_the_entry);
    tcase_add_test(c, two_digits_of_int8_serve_to_sixteen_bits);
    return c;
}
