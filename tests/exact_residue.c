/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * residue.h: constants, residues of words, residues of sums.  The dot products below them: exact_dots.c;
 * recombination: exact_crt.c.
 */
#include <stdio.h>
#include <string.h>

#include "exact/residue.h"
#include "exact_cases.h"
#include "support.h"

typedef unsigned long long ull;

/** From 256 down, whatever has no factor in common with those before: the first `count`. */
static void greedy_moduli(uint32_t *moduli, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t m = 256; found < count && m > 1; m--) {
        bool coprime = true;
        for (uint32_t i = 0; i < found; i++)
            for (uint32_t d = 2; d <= m; d++)
                coprime = coprime && (m % d || moduli[i] % d);
        if (coprime)
            moduli[found++] = m;
    }
    ck_assert_uint_eq(found, count);
}

nmodgpu_plan exact_residues_plan(uint64_t p, uint32_t count)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.number = NMODGPU_I8;
    plan.encoding = NMODGPU_RESIDUES;
    plan.modulus = p;
    plan.sums = plan.terms = plan.left.planes = count;
    greedy_moduli(plan.left.plane_digits, count);
    plan.right = plan.left;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bound = plan.left.plane_digits[i] / 2;
        plan.left.plane_bound[i] = plan.right.plane_bound[i] = bound;
        plan.term[i] = (nmodgpu_term){(uint8_t)i, (uint8_t)i, (uint8_t)i};
        plan.weight[i] = bound * bound;
    }
    return plan;
}

nmodgpu_plan exact_direct_plan(uint64_t p)
{
    nmodgpu_plan plan = exact_residues_plan(p, 1);
    plan.left.plane_digits[0] = plan.right.plane_digits[0] = (uint32_t)p;
    return plan;
}

void exact_product_of_moduli(mpz_t product, const nmodgpu_plan *plan)
{
    mpz_set_ui(product, 1);
    for (uint32_t i = 0; i < plan->left.planes; i++)
        mpz_mul_ui(product, product, plan->left.plane_digits[i]);
}

uint32_t exact_moduli_needed(uint64_t p, int64_t k)
{
    mpz_t need, product;
    mpz_inits(need, product, NULL);
    exact_set(need, p / 2);
    mpz_mul(need, need, need);
    mpz_mul_ui(need, need, 9 * (unsigned long)k);
    uint32_t count = 0;
    do {
        const nmodgpu_plan plan = exact_residues_plan(p, ++count);
        exact_product_of_moduli(product, &plan);
        mpz_mul_2exp(product, product, 2);
    } while (mpz_cmp(product, need) <= 0);
    mpz_clears(need, product, NULL);
    return count;
}

uint32_t exact_left_factor(const nmodgpu_plan *plan, uint32_t i)
{
    mpz_t x, m;
    mpz_init(x);
    mpz_init_set_ui(m, plan->left.plane_digits[i]);
    exact_product_of_moduli(x, plan);
    mpz_divexact(x, x, m);
    const int invertible = mpz_cmp_ui(m, 1) == 0 || mpz_invert(x, x, m);
    ck_assert(invertible);
    const uint32_t factor = (uint32_t)mpz_fdiv_ui(x, mpz_get_ui(m));
    mpz_clear(x);
    mpz_clear(m);
    return factor;
}

/** magic as the constants have it. */
static bool small_mod_holds(uint32_t x, uint32_t m)
{
    return nmodgpu_small_mod(x, m, UINT32_MAX / m) == x % m;
}

START_TEST(every_modulus_reduces_words_up_to_two_to_the_20)
{
    for (uint32_t m = 1; m <= 256; m++)
        for (uint32_t x = 0; x < 1u << 20; x++)
            check_that(small_mod_holds(x, m), "%u mod %u\n", x, m);
}
END_TEST

/** Four at once: every residue of every modulus beside any others. */
START_TEST(bytes_are_centred_four_at_once)
{
    for (uint32_t m = 1; m <= 256; m++)
        for (uint32_t y = 0; y < m; y++)
            for (uint32_t j = 0; j < 32; j += 8) {
                const uint32_t other[] = {0, m - 1, (uint32_t)test_below(m), (uint32_t)test_below(m)};
                const uint32_t all = other[0] | other[1] << 8 | other[2] << 16 | other[3] << 24;
                const uint32_t four = (all & ~(255u << j)) | y << j, got = nmodgpu_centre_bytes(four, m);
                for (uint32_t i = 0; i < 32; i += 8) {
                    const int32_t in = (int32_t)(four >> i & 255), half = (int32_t)(m - m / 2);
                    check_that((int8_t)(got >> i) == (in >= half ? in - (int32_t)m : in), "%x mod %u: %x\n", four,
                               m, got);
                }
            }
}
END_TEST

/** The halves that kernels work with are those of the whole. */
START_TEST(offset_words_are_centred_words_with_an_offset)
{
    for (int i = 0; i < 100000; i++) {
        const uint64_t p = exact_modulus(64), word = exact_word(p);
        const nmodgpu_plan plan = exact_residues_plan(p, 1);
        const nmodgpu_residuer c = nmodgpu_residuer_make(&plan, 1);
        const uint64_t x = (uint64_t)nmodgpu_centre(word, p);
        check_that(nmodgpu_offset_word64(&c, word) == x + (1ULL << 63), "%llu mod %llu\n", (ull)word, (ull)p);
        if (p >> 32 == 0)
            check_that(nmodgpu_offset_word32(&c, (uint32_t)word) == (uint32_t)(x + (1ULL << 31)), "%llu mod %llu\n",
                       (ull)word, (ull)p);
    }
}
END_TEST

/** The estimated quotient never falls when x rises, so that the ends of each run of m integers with one quotient
 *  speak for all of the run: all of the 2^32 words. */
START_TEST(every_modulus_of_the_list_reduces_every_word)
{
    const nmodgpu_plan plan = exact_residues_plan(2, NMODGPU_MAX_PLANES);
    for (uint32_t i = 0; i < plan.left.planes; i++) {
        const uint32_t m = plan.left.plane_digits[i], magic = UINT32_MAX / m;
        uint32_t wrong = 0;
        for (uint64_t x = 0; x + m <= 1ULL << 32; x += m) {
            wrong |= nmodgpu_small_mod((uint32_t)x, m, magic);
            wrong |= nmodgpu_small_mod((uint32_t)x + m - 1, m, magic) ^ (m - 1);
        }
        check_that(!wrong && small_mod_holds(UINT32_MAX, m), "mod %u\n", m);
    }
}
END_TEST

/** int32 sums of both signs from the ends of their range inwards, about zero, and anywhere. */
START_TEST(sums_have_their_residues_for_every_modulus)
{
    const int64_t end = (1LL << 31) - 256;
    for (uint32_t m = 1; m <= 256; m++) {
        const uint32_t magic = UINT32_MAX / m, offset = m * ((1u << 31) / m);
        for (int64_t j = 0; j < 6000; j++) {
            const int64_t x = j < 2000   ? end - j
                              : j < 4000 ? j - 3000
                                         : (int64_t)test_below(2 * (uint64_t)end) - end;
            for (int sign = -1; sign <= 1; sign += 2) {
                const uint32_t expected = (uint32_t)(((sign * x) % (int64_t)m + m) % m);
                check_that(nmodgpu_residue_of_sum((int32_t)(sign * x), m, magic, offset) == expected,
                           "%lld mod %u\n", (long long)(sign * x), m);
            }
        }
    }
}
END_TEST

/** Both operands' planes of one word: the centred residues of f x and of x. */
static void check_word(const nmodgpu_plan *plan, const nmodgpu_residuer side[2], const uint32_t *factor,
                       uint64_t word)
{
    const int64_t x = nmodgpu_centre(word, plan->modulus);
    for (int right = 0; right < 2; right++) {
        const uint64_t offset_word = nmodgpu_offset_word(&side[right], word);
        for (uint32_t i = 0; i < plan->left.planes; i++) {
            const int64_t m = plan->left.plane_digits[i];
            const int64_t got = nmodgpu_residue(&side[right], i, offset_word);
            const int64_t residue = (x % m + m) % m * (right ? 1 : factor[i]) % m;
            check_that((got + m) % m == residue && got >= -(m / 2) && got <= m - 1 - m / 2,
                       "word %llu mod %llu, modulus %lld of %u, side %d: %lld, not %lld\n", (ull)word,
                       (ull)plan->modulus, (long long)m, plan->left.planes, right, (long long)got,
                       (long long)residue);
        }
    }
}

typedef struct conversion {
    nmodgpu_plan plan;
    nmodgpu_residuer side[2];
    uint32_t factor[NMODGPU_MAX_PLANES];
} conversion;

static conversion conversion_of(nmodgpu_plan plan)
{
    conversion c = {.plan = plan, .side = {nmodgpu_residuer_make(&plan, 0), nmodgpu_residuer_make(&plan, 1)}};
    for (uint32_t i = 0; i < plan.left.planes; i++)
        c.factor[i] = exact_left_factor(&plan, i);
    return c;
}

/** 600 words each from zero up, about p/2 where the representative turns negative, and from p - 1 down: every
 *  residue of every modulus. */
static void check_runs(const conversion *c)
{
    const uint64_t p = c->plan.modulus;
    for (uint64_t j = 0; j < 600 && j < p; j++) {
        const uint64_t about_half = p / 2 > 300 ? p / 2 - 300 + j : j;
        check_word(&c->plan, c->side, c->factor, j);
        check_word(&c->plan, c->side, c->factor, p - 1 - j);
        check_word(&c->plan, c->side, c->factor, about_half < p ? about_half : p - 1);
    }
}

START_TEST(every_residue_of_every_modulus_for_every_count)
{
    static const uint64_t moduli[] = {(1ULL << 32) - 5,
                                      (1ULL << 32) - 1,
                                      1ULL << 32,
                                      (1ULL << 32) + 15,
                                      1ULL << 63,
                                      UINT64_MAX - 58,
                                      UINT64_MAX,
                                      2147483647,
                                      97,
                                      2};
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++)
        for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
            const conversion c = conversion_of(exact_residues_plan(moduli[i], count));
            check_runs(&c);
        }
}
END_TEST

START_TEST(words_of_every_modulus_have_their_residues)
{
    for (unsigned bits = 1; bits <= 64; bits++)
        for (int i = 0; i < 6; i++) {
            const uint64_t p = i ? test_modulus(bits) : exact_modulus(64);
            const conversion c =
                conversion_of(exact_residues_plan(p, 1 + (uint32_t)test_below(NMODGPU_MAX_PLANES)));
            for (int j = 0; j < 300; j++)
                check_word(&c.plan, c.side, c.factor, exact_word(p));
        }
}
END_TEST

START_TEST(every_word_of_a_direct_modulus_is_its_own_residue)
{
    for (uint64_t p = 1; p <= 256; p++) {
        const conversion c = conversion_of(exact_direct_plan(p));
        for (uint64_t word = 0; word < p; word++)
            check_word(&c.plan, c.side, c.factor, word);
    }
}
END_TEST

/** Four at once, in every place among any neighbours. */
START_TEST(words_of_a_direct_modulus_are_centred_four_at_once)
{
    for (uint32_t p = 1; p <= 256; p++)
        for (uint32_t word = 0; word < 4 * p; word++) {
            uint8_t four[4];
            int8_t got[4];
            for (int j = 0; j < 4; j++)
                four[j] = (uint8_t)(test_below(2) ? test_below(p) : test_below(2) * (p - 1));
            four[word / p] = (uint8_t)(word % p);
            uint32_t packed;
            memcpy(&packed, four, 4);
            packed = nmodgpu_centre_bytes(packed, p);
            memcpy(got, &packed, 4);
            for (int j = 0; j < 4; j++)
                check_that(got[j] == (four[j] < p - p / 2 ? (int)four[j] : (int)four[j] - (int)p),
                           "%u mod %u, byte %d: %d\n", four[j], p, j, got[j]);
        }
}
END_TEST

/** What a direct plan may sum stays within what nmodgpu_residue_of_sum takes. */
START_TEST(direct_sums_stay_in_range)
{
    for (int64_t p = 2; p <= 256; p++) {
        const int64_t low = -(p / 2), high = p - 1 - p / 2, inner = 131071;
        ck_assert_int_ge(inner * low * high, -((1LL << 31) - 256));
        ck_assert_int_le(inner * low * low, (1LL << 31) - 256);
    }
}
END_TEST

TCase *exact_residue_cases(void)
{
    TCase *c = tcase_create("residues");
    tcase_add_test(c, every_modulus_reduces_words_up_to_two_to_the_20);
    tcase_add_test(c, bytes_are_centred_four_at_once);
    tcase_add_test(c, offset_words_are_centred_words_with_an_offset);
    tcase_add_test(c, every_modulus_of_the_list_reduces_every_word);
    tcase_add_test(c, sums_have_their_residues_for_every_modulus);
    tcase_add_test(c, every_residue_of_every_modulus_for_every_count);
    tcase_add_test(c, words_of_every_modulus_have_their_residues);
    tcase_add_test(c, every_word_of_a_direct_modulus_is_its_own_residue);
    tcase_add_test(c, words_of_a_direct_modulus_are_centred_four_at_once);
    tcase_add_test(c, direct_sums_stay_in_range);
    return c;
}
