/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * residue.h: dot products of the bytes of words, sums of those of up to four words, and the quotients that make
 * residues of them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/residue.h"
#include "exact_cases.h"
#include "support.h"

typedef unsigned long long ull;

static int64_t dot4_by_definition(uint32_t a, uint32_t b)
{
    uint8_t x[4];
    int8_t y[4];
    int64_t sum = 0;
    memcpy(x, &a, 4);
    memcpy(y, &b, 4);
    for (int j = 0; j < 4; j++)
        sum += (int64_t)x[j] * y[j];
    return sum;
}

static uint32_t unsigned_dot4_by_definition(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int j = 0; j < 32; j += 8)
        sum += (a >> j & 255) * (b >> j & 255);
    return sum;
}

START_TEST(dot_products_of_four_bytes)
{
    for (uint32_t a = 0; a < 256; a++)
        for (uint32_t b = 0; b < 256; b++)
            for (uint32_t j = 0; j < 32; j += 8) {
                check_that(nmodgpu_dot4_unsigned(a << j, b << j, 7) == 7 + a * b, "%x by %x\n", a << j, b << j);
                check_that((int32_t)nmodgpu_dot4(a << j, b << j, 7) == 7 + dot4_by_definition(a << j, b << j),
                           "%x by %x\n", a << j, b << j);
            }
    for (int i = 0; i < 200000; i++) {
        const uint32_t ends[] = {0, 0xffffffff, 0x80808080, 0x7f7f7f7f, (uint32_t)test_random()};
        const uint32_t a = ends[test_below(5)], b = ends[test_below(5)], start = (uint32_t)test_below(1u << 20);
        check_that((int32_t)nmodgpu_dot4(a, b, start) == (int32_t)start + dot4_by_definition(a, b), "%x by %x\n", a,
                   b);
        check_that(nmodgpu_dot4_unsigned(a, b, start) == start + unsigned_dot4_by_definition(a, b), "%x by %x\n", a,
                   b);
    }
}
END_TEST

/** What the device does, in single precision; the host's version is another. */
static uint32_t quotient_as_on_devices(uint32_t float_x, float inverse)
{
    float x;
    uint32_t bits;
    memcpy(&x, &float_x, sizeof x);
    x = fmaf(x - 8388608.0f, inverse, 12582912.0f);
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/** The least x that rounds to that multiple of m, ties going upwards. */
static uint32_t first_of(uint32_t quotient, uint32_t m)
{
    return quotient ? quotient * m - m / 2 : 0;
}

static void check_quotient(uint32_t x, uint32_t m, uint32_t quotient, float inverse)
{
    const uint32_t float_x = NMODGPU_FLOAT_2_23 + x, expected = NMODGPU_FLOAT_3_2_22 + quotient;
    check_that(nmodgpu_small_quotient(float_x, inverse) == expected, "host: %u over %u\n", x, m);
    check_that(quotient_as_on_devices(float_x, inverse) == expected, "device: %u over %u\n", x, m);
}

/** Both quotients never fall when x rises, so that the ends of each run of m integers with one quotient speak for
 * all of the run. */
START_TEST(every_modulus_reduces_every_sum_of_conversions)
{
    for (uint32_t m = 1; m <= 256; m++) {
        const nmodgpu_plan plan = exact_direct_plan(m);
        const float inverse = nmodgpu_residuer_make(&plan, 0).inverse[0];
        for (uint32_t q = 0; first_of(q, m) < 1u << 21; q++) {
            const uint32_t last = first_of(q + 1, m) - 1;
            check_quotient(first_of(q, m), m, q, inverse);
            check_quotient(last < (1u << 21) - 1 ? last : (1u << 21) - 1, m, q, inverse);
        }
    }
}
END_TEST

/** The same without that argument. */
START_TEST(every_modulus_of_the_list_reduces_every_sum_of_conversions)
{
    const nmodgpu_plan plan = exact_residues_plan(2, NMODGPU_MAX_PLANES);
    const nmodgpu_residuer c = nmodgpu_residuer_make(&plan, 0);
    for (uint32_t i = 0; i < plan.left.planes; i++)
        for (uint32_t x = 0, quotient = 0; x < 1u << 21; x++) {
            quotient += x == first_of(quotient + 1, c.m[i]);
            check_quotient(x, c.m[i], quotient, c.inverse[i]);
        }
}
END_TEST

/** Sums of eight bytes' products stay in that range. */
START_TEST(sums_of_conversions_stay_below_two_to_the_20)
{
    static const uint64_t moduli[] = {2, 2147483647, (1ULL << 32) - 1, 1ULL << 32, UINT64_MAX};
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++)
        for (int i = 0; i < 10; i++) {
            const nmodgpu_plan plan = exact_residues_plan(moduli[i / 2], count);
            const nmodgpu_residuer c = nmodgpu_residuer_make(&plan, i & 1);
            for (uint32_t g = 0; g < count; g++) {
                int64_t low = (int64_t)(c.bias[g] - NMODGPU_FLOAT_2_23), high = low;
                for (uint32_t j = 0; j < (c.wide ? 8 : 4); j++) {
                    const int8_t weight = (int8_t)(c.weight[g][j / 4] >> (8 * (j % 4)));
                    *(weight < 0 ? &low : &high) += 255 * weight;
                }
                check_that(low >= 0 && high < 1 << 20, "modulus %u of %u: %lld to %lld\n", g, count, (long long)low,
                           (long long)high);
            }
        }
}
END_TEST

/** The least and the largest that nmodgpu_residue_dot comes to for any bytes. */
static void dot_range(const nmodgpu_residuer *c, uint32_t g, int64_t *low, int64_t *high)
{
    *low = *high = c->centre[g];
    for (uint32_t j = 0; j < (c->wide ? 8 : 4); j++) {
        const int8_t weight = (int8_t)(c->weight[g][j / 4] >> (8 * (j % 4)));
        *(weight < 0 ? low : high) += 255 * weight;
    }
}

/** Four of them, whatever their signs, stay in the range of the quotient: for every modulus and every factor. */
static void check_range_of_four(const nmodgpu_plan *plan)
{
    for (int right = 0; right < 2; right++) {
        const nmodgpu_residuer c = nmodgpu_residuer_make(plan, right);
        for (uint32_t g = 0; g < c.count; g++) {
            int64_t low, high;
            dot_range(&c, g, &low, &high);
            const int64_t most = high > -low ? high : -low, lift = (int64_t)(c.lift[g] - NMODGPU_FLOAT_2_23);
            check_that(lift % c.m[g] == 0 && lift - 4 * most >= 0 && lift + 4 * most < (1 << 21) - (1 << 11),
                       "p %llu, modulus %u of %u: 4 times %lld about %lld\n", (ull)plan->modulus, g, c.count,
                       (long long)most, (long long)lift);
        }
    }
}

START_TEST(four_dots_stay_in_range)
{
    static const uint64_t moduli[] = {2, 2147483647, (1ULL << 32) - 1, 1ULL << 32, 1ULL << 63, UINT64_MAX};
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++)
        for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
            const nmodgpu_plan plan = exact_residues_plan(moduli[i], count);
            check_range_of_four(&plan);
        }
    for (uint64_t p = 1; p <= 256; p++) {
        const nmodgpu_plan plan = exact_direct_plan(p);
        check_range_of_four(&plan);
    }
}
END_TEST

/** A signed sum of four words with its residues by definition. */
static void check_four(const nmodgpu_residuer *c, const uint32_t *factor, const uint64_t word[4], int signs)
{
    uint64_t x[4];
    int sign[4];
    for (int q = 0; q < 4; q++, signs /= 3) {
        x[q] = nmodgpu_offset_word(c, word[q]);
        sign[q] = signs % 3 - 1;
    }
    for (uint32_t g = 0; g < c->count; g++) {
        const int64_t m = c->m[g];
        uint32_t dots = 0;
        int64_t expected = 0;
        for (int q = 0; q < 4; q++) {
            dots +=
                (uint32_t)sign[q] * nmodgpu_residue_dot(c, g, (uint32_t)x[q], (uint32_t)(x[q] >> 32), c->wide != 0);
            expected += sign[q] * (nmodgpu_centre(word[q], c->p) % m) * (int64_t)factor[g];
        }
        const int64_t got = (int8_t)nmodgpu_residue_byte_of_dots(c, g, dots);
        check_that((got - expected) % m == 0 && got >= -(m / 2) && got <= m - 1 - m / 2,
                   "p %llu, words %llu %llu %llu %llu, signs %d %d %d %d, modulus %lld: %lld\n", (ull)c->p,
                   (ull)word[0], (ull)word[1], (ull)word[2], (ull)word[3], sign[0], sign[1], sign[2], sign[3],
                   (long long)m, (long long)got);
    }
}

/** All signs by all of the words at which representatives end, and by any words. */
static void check_signed_sums(const nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus, ends[] = {0, p - 1, p / 2, (p / 2 + 1) % p};
    for (int right = 0; right < 2; right++) {
        const nmodgpu_residuer c = nmodgpu_residuer_make(plan, right);
        uint32_t factor[NMODGPU_MAX_PLANES];
        for (uint32_t i = 0; i < plan->left.planes; i++)
            factor[i] = right ? 1 : exact_left_factor(plan, i);
        for (int signs = 0; signs < 81; signs++)
            for (int i = 0; i < 300; i++) {
                uint64_t word[4];
                for (int q = 0; q < 4; q++)
                    word[q] = i < 256 ? ends[i >> (2 * q) & 3] : exact_word(p);
                check_four(&c, factor, word, signs);
            }
    }
}

START_TEST(signed_sums_of_four_words_have_their_residues)
{
    static const uint64_t moduli[] = {2,          2147483647,        (1ULL << 32) - 5, (1ULL << 32) - 1,
                                      1ULL << 32, (1ULL << 50) - 27, 1ULL << 63,       UINT64_MAX - 58,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++)
        for (uint32_t count = 6; count <= NMODGPU_MAX_PLANES; count += 6) {
            const nmodgpu_plan plan = exact_residues_plan(moduli[i], count);
            check_signed_sums(&plan);
        }
    for (uint64_t p = 1; p <= 256; p++) {
        const nmodgpu_plan plan = exact_direct_plan(p);
        check_signed_sums(&plan);
    }
}
END_TEST

TCase *exact_dots_cases(void)
{
    TCase *c = tcase_create("dot products");
    tcase_add_test(c, dot_products_of_four_bytes);
    tcase_add_test(c, every_modulus_reduces_every_sum_of_conversions);
    tcase_add_test(c, every_modulus_of_the_list_reduces_every_sum_of_conversions);
    tcase_add_test(c, sums_of_conversions_stay_below_two_to_the_20);
    tcase_add_test(c, four_dots_stay_in_range);
    tcase_add_test(c, signed_sums_of_four_words_have_their_residues);
    return c;
}
