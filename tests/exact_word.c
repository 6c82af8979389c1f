/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * word.h: sums, differences and products modulo one word, centring, digits.
 */
#include <stdio.h>

#include "exact/word.h"
#include "exact_cases.h"
#include "support.h"

typedef unsigned long long ull;

static void check_ring(uint64_t a, uint64_t b, uint64_t p)
{
    const unsigned __int128 sum = ((unsigned __int128)a + b) % p;
    const unsigned __int128 difference = ((unsigned __int128)a + p - b) % p;
    check_that(nmodgpu_addmod(a, b, p) == sum, "%llu + %llu mod %llu\n", (ull)a, (ull)b, (ull)p);
    check_that(nmodgpu_submod(a, b, p) == difference, "%llu - %llu mod %llu\n", (ull)a, (ull)b, (ull)p);
}

START_TEST(addmod_and_submod_are_right_for_all_words_of_small_moduli)
{
    for (uint64_t p = 1; p <= 64; p++)
        for (uint64_t a = 0; a < p; a++)
            for (uint64_t b = 0; b < p; b++)
                check_ring(a, b, p);
}
END_TEST

START_TEST(addmod_and_submod_are_right_at_boundaries_of_all_moduli)
{
    for (int i = 0; i < 300000; i++) {
        const uint64_t p = exact_modulus(64);
        check_ring(exact_word(p), exact_word(p), p);
    }
}
END_TEST

static void check_product(uint64_t x, uint64_t w, uint64_t p)
{
    const uint64_t expected = (uint64_t)((unsigned __int128)x * w % p);
    const uint64_t got = nmodgpu_mulmod_fixed(x, w, nmodgpu_companion(w, p), p);
    check_that(got == expected, "%llu * %llu mod %llu: %llu, not %llu\n", (ull)x, (ull)w, (ull)p, (ull)got,
               (ull)expected);
}

START_TEST(mulmod_fixed_is_right_for_all_factors_of_small_moduli)
{
    for (uint64_t p = 1; p <= 48; p++)
        for (uint64_t w = 0; w < p; w++)
            for (uint64_t x = 0; x <= 4 * p; x++) {
                check_product(x, w, p);
                check_product(UINT64_MAX - x, w, p);
            }
}
END_TEST

START_TEST(mulmod_fixed_is_right_for_any_word_and_every_modulus)
{
    for (int i = 0; i < 500000; i++) {
        const uint64_t p = exact_modulus(64);
        const uint64_t x[] = {
            exact_word(p), p, p + 1, UINT64_MAX - exact_word(p), test_random(), test_random() >> test_below(64)};
        check_product(x[test_below(6)], exact_word(p), p);
    }
}
END_TEST

static void check_centre(uint64_t a, uint64_t p)
{
    const int64_t x = nmodgpu_centre(a, p);
    const __int128 h = p / 2;
    check_that(x <= h && x >= -((__int128)p - 1 - h), "centre of %llu mod %llu\n", (ull)a, (ull)p);
    check_that(((__int128)x - (__int128)a) % (__int128)p == 0, "centre of %llu mod %llu\n", (ull)a, (ull)p);
}

START_TEST(centre_is_the_representative_nearest_to_zero)
{
    for (uint64_t p = 1; p <= 300; p++)
        for (uint64_t a = 0; a < p; a++)
            check_centre(a, p);
    for (int i = 0; i < 200000; i++) {
        const uint64_t p = exact_modulus(64);
        check_centre(exact_word(p), p);
    }
}
END_TEST

static void check_digit(int64_t x, uint32_t bits)
{
    int64_t rest = x;
    const int64_t digit = nmodgpu_take_digit(&rest, bits);
    const __int128 half = (__int128)1 << (bits - 1);
    check_that(digit >= -half && digit < half, "digit %lld of %lld, %u bits\n", (long long)digit, (long long)x,
               bits);
    check_that(digit + (__int128)rest * 2 * half == x, "digit %lld of %lld, %u bits\n", (long long)digit,
               (long long)x, bits);
}

START_TEST(digits_are_balanced_and_lose_nothing)
{
    for (uint32_t bits = 1; bits <= 63; bits++) {
        for (int64_t x = -600; x <= 600; x++)
            check_digit(x, bits);
        for (int64_t d = -3; d <= 3; d++) {
            const int64_t half = (int64_t)(1ULL << (bits - 1));
            check_digit((int64_t)((uint64_t)half + (uint64_t)d), bits);
            check_digit((int64_t)(0 - (uint64_t)half + (uint64_t)d), bits);
        }
        check_digit(INT64_MAX, bits);
        check_digit(INT64_MIN, bits);
        for (int i = 0; i < 3000; i++)
            check_digit((int64_t)test_random() >> test_below(64), bits);
    }
}
END_TEST

START_TEST(small_integers_survive_double)
{
    const int64_t end = 1LL << 51;
    for (int i = 0; i < 100000; i++) {
        const int64_t edge[] = {0, 1, -1, end, -end, end - 1, 1 - end};
        const int64_t x = i < 7 ? edge[i] : (int64_t)(test_random() >> (13 + test_below(51))) * (i % 2 ? 1 : -1);
        check_that(nmodgpu_small_to_double(x) == (double)x, "%lld\n", (long long)x);
        check_that(nmodgpu_small_to_integer((double)x) == x, "%lld\n", (long long)x);
    }
}
END_TEST

TCase *exact_word_cases(void)
{
    TCase *c = tcase_create("words");
    tcase_add_test(c, addmod_and_submod_are_right_for_all_words_of_small_moduli);
    tcase_add_test(c, addmod_and_submod_are_right_at_boundaries_of_all_moduli);
    tcase_add_test(c, mulmod_fixed_is_right_for_all_factors_of_small_moduli);
    tcase_add_test(c, mulmod_fixed_is_right_for_any_word_and_every_modulus);
    tcase_add_test(c, centre_is_the_representative_nearest_to_zero);
    tcase_add_test(c, digits_are_balanced_and_lose_nothing);
    tcase_add_test(c, small_integers_survive_double);
    return c;
}
