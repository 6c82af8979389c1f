/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * residue.h: recombination.  Residues are made here from integers X, so that X may lie where rounding its
 * quotient by the moduli's product is hardest: about zero, at the ends of the range allowed, and about every
 * multiple of M/m_i.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact/residue.h"
#include "exact_cases.h"
#include "support.h"

typedef unsigned long long ull;

/** The moduli of one case, and words to reduce to. */
typedef struct recombination {
    nmodgpu_plan plan;
    uint32_t factor[NMODGPU_MAX_PLANES];
    mpz_t product, end; /* M, and the largest X allowed: 9 X < 4 M */
    mpz_t work, expected, modulus;
} recombination;

static void open_recombination(recombination *r, nmodgpu_plan plan)
{
    r->plan = plan;
    for (uint32_t i = 0; i < plan.left.planes; i++)
        r->factor[i] = exact_left_factor(&plan, i);
    mpz_inits(r->product, r->end, r->work, r->expected, r->modulus, NULL);
    exact_product_of_moduli(r->product, &plan);
    mpz_mul_ui(r->end, r->product, 4);
    mpz_sub_ui(r->end, r->end, 1);
    mpz_fdiv_q_ui(r->end, r->end, 9);
}

static void close_recombination(recombination *r)
{
    mpz_clears(r->product, r->end, r->work, r->expected, r->modulus, NULL);
}

/** A sum with that residue: anywhere in the range, or as near its ends as it goes. */
static int32_t sum_with_residue(uint32_t y, uint32_t m)
{
    const int64_t end = (1LL << 31) - 256;
    const int64_t most = (end - y) / m, least = -((end + y) / m);
    const int64_t turns = test_below(3) == 0 ? most
                          : test_below(2)    ? least
                                             : least + (int64_t)test_below((uint64_t)(most - least));
    return (int32_t)(y + turns * m);
}

/** The four residues of a group in one word. */
static uint32_t four_of(const uint32_t *y, uint32_t count, uint32_t g)
{
    uint32_t four = 0;
    for (uint32_t j = 0; j < 4 && 4 * g + j < count; j++)
        four |= y[4 * g + j] << (8 * j);
    return four;
}

/** Residues as they come, or from int32 sums; taken one by one, or four at once. */
static uint64_t recombined(const nmodgpu_crt *crt, const uint32_t *residues, uint64_t base, int sums, int fours)
{
    const int wide = crt->p >> 32 != 0;
    uint32_t y[NMODGPU_MAX_PLANES];
    nmodgpu_crt_sum sum = nmodgpu_crt_begin();
    for (uint32_t i = 0; i < crt->count; i++)
        y[i] = sums ? nmodgpu_residue_of_sum(sum_with_residue(residues[i], crt->m[i]), crt->m[i], crt->magic[i],
                                             crt->offset[i])
                    : residues[i];
    if (crt->direct)
        return nmodgpu_crt_direct(crt, y[0], base);
    for (uint32_t i = 0; i < crt->count && !fours; i++)
        nmodgpu_crt_take(&sum, crt, i, y[i], wide);
    for (uint32_t g = 0; 4 * g < crt->count && fours; g++)
        nmodgpu_crt_take4(&sum, crt, g, four_of(y, crt->count, g), wide);
    return nmodgpu_crt_end(crt, sum, base, wide);
}

/** base +- X mod p for one X, from bytes and from int32 sums; a p below 2^32 and one above.  Nothing when X is
 *  beyond the range allowed. */
static bool check_integer(recombination *r, const mpz_t x)
{
    uint32_t y[NMODGPU_MAX_PLANES];
    if (mpz_cmpabs(x, r->end) > 0)
        return false;
    for (uint32_t i = 0; i < r->plan.sums; i++) {
        const uint32_t m = r->plan.left.plane_digits[i];
        y[i] = (uint32_t)(mpz_fdiv_ui(x, m) * r->factor[i] % m);
    }
    for (int wide = 0; wide < 2; wide++) {
        const uint64_t p =
            wide ? test_modulus(33 + (unsigned)test_below(32)) : test_modulus(2 + (unsigned)test_below(31));
        const int sign = test_below(2) ? 1 : -1;
        const uint64_t base = exact_word(p);
        r->plan.modulus = p;
        const nmodgpu_crt crt = nmodgpu_crt_make(&r->plan, sign);
        exact_set(r->modulus, p);
        exact_set(r->work, base);
        (sign > 0 ? mpz_add : mpz_sub)(r->expected, r->work, x);
        mpz_fdiv_r(r->expected, r->expected, r->modulus);
        const uint64_t expected = exact_get(r->expected);
        for (int road = 0; road < 4; road++) {
            const uint64_t got = recombined(&crt, y, base, road & 1, road >> 1);
            if (got != expected)
                gmp_fprintf(stderr, "X = %Zd\n", x);
            check_that(got == expected, "%u moduli, p %llu, base %llu, sign %d, road %d: %llu, not %llu\n",
                       r->plan.sums, (ull)p, (ull)base, sign, road, (ull)got, (ull)expected);
        }
    }
    return true;
}

/** The integers within 2 of x; how many were in range. */
static int check_about(recombination *r, const mpz_t x)
{
    mpz_t near;
    int checked = 0;
    mpz_init(near);
    for (long j = -2; j <= 2; j++) {
        mpz_set_si(near, j);
        mpz_add(near, near, x);
        checked += check_integer(r, near);
    }
    mpz_clear(near);
    return checked;
}

START_TEST(integers_about_zero_and_at_the_ends)
{
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++) {
        recombination r;
        mpz_t x;
        mpz_init(x);
        open_recombination(&r, exact_residues_plan(2, count));
        for (long j = -300; j <= 300; j++) {
            mpz_set_si(x, j);
            if (mpz_cmpabs(x, r.end) <= 0)
                check_that(check_integer(&r, x), "not checked\n");
            mpz_set(x, r.end);
            j < 0 ? mpz_sub_ui(x, x, (unsigned long)-j) : mpz_sub_ui(x, x, (unsigned long)j);
            if (j < 0)
                mpz_neg(x, x);
            if (mpz_cmpabs(x, r.end) <= 0)
                check_that(check_integer(&r, x), "not checked\n");
        }
        close_recombination(&r);
        mpz_clear(x);
    }
}
END_TEST

/** j M/m_i for every i and every j in range, rounded down, and the integers beside it: there all residues but
 *  one are zero, or small. */
START_TEST(integers_about_every_multiple_of_every_cofactor)
{
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++) {
        recombination r;
        mpz_t x;
        mpz_init(x);
        open_recombination(&r, exact_residues_plan(2, count));
        for (uint32_t i = 0; i < count; i++) {
            const long m = (long)r.plan.left.plane_digits[i];
            int checked = 0;
            for (long j = -(m / 2); j <= m / 2; j++) {
                mpz_mul_si(x, r.product, j);
                mpz_fdiv_q_ui(x, x, (unsigned long)m);
                checked += check_about(&r, x);
            }
            check_that(checked >= 4 * (m - 3), "%d of %u, %ld\n", checked, count, m);
        }
        close_recombination(&r);
        mpz_clear(x);
    }
}
END_TEST

/** Residues that are all the largest, all alike, or nearly: as far as the sums of the recombination go. */
START_TEST(extreme_and_random_residues)
{
    gmp_randstate_t state;
    gmp_randinit_default(state);
    gmp_randseed_ui(state, (unsigned long)exact_seed);
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++) {
        recombination r;
        mpz_t x, term;
        mpz_inits(x, term, NULL);
        open_recombination(&r, exact_residues_plan(2, count));
        for (int round = 0; round < 800; round++) {
            const uint64_t kind = test_below(4);
            mpz_set_ui(x, 0);
            for (uint32_t i = 0; i < count && kind < 3; i++) { /* X = sum y_i M/m_i */
                const uint32_t m = r.plan.left.plane_digits[i];
                const uint32_t y =
                    kind == 0 ? m - 1 - (uint32_t)test_below(2) : (uint32_t)test_below(kind == 1 ? 3 : m);
                mpz_divexact_ui(term, r.product, m);
                mpz_addmul_ui(x, term, y);
            }
            if (kind == 3)
                mpz_urandomm(x, state, r.product);
            mpz_fdiv_r(x, x, r.product);
            if (mpz_cmp(x, r.end) > 0)
                mpz_sub(x, x, r.product);
            check_integer(&r, x);
        }
        close_recombination(&r);
        mpz_clears(x, term, NULL);
    }
    gmp_randclear(state);
}
END_TEST

/** The turns of all residues together err by less than what the plan's slack leaves of a half turn: 4/9 of M is the
 *  most that |X| may be. */
START_TEST(turns_err_by_less_than_the_slack)
{
    for (uint32_t count = 1; count <= NMODGPU_MAX_PLANES; count++) {
        const nmodgpu_plan plan = exact_residues_plan(2147483647, count);
        const nmodgpu_crt c = nmodgpu_crt_make(&plan, 1);
        double error = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t turn = 0;
            for (uint32_t j = 0; j < 2; j++)
                turn |= (c.turn[i / 4][j] >> (8 * (i % 4)) & 255) << (8 * j);
            error += (c.m[i] - 1) * fabs(turn - 65536.0 / c.m[i]);
        }
        check_that(error < 65536.0 * (0.5 - 4.0 / 9), "%u moduli: %g of 2^16\n", count, error);
    }
}
END_TEST

/** v mod p at both ends of the range and about multiples of p. */
START_TEST(quotients_by_every_modulus)
{
    for (unsigned bits = 2; bits <= 64; bits++)
        for (int i = 0; i < 40; i++) {
            const uint64_t p = i ? test_modulus(bits) : 1ULL << (bits - 1);
            const nmodgpu_plan plan = exact_residues_plan(p, 1);
            const nmodgpu_crt c = nmodgpu_crt_make(&plan, 1);
            for (int j = 0; j < 1000; j++) {
                const uint64_t factor = test_below(2) ? 8191 - test_below(3) : test_below(8192);
                const uint64_t rest = exact_word(p);
                const unsigned __int128 v = (unsigned __int128)factor * p + rest;
                /* the low part as the sums have it: up to 46 bits, above those of the high part */
                const uint64_t spare =
                    v >> 32 ? test_below((uint64_t)((v >> 32) < 16383 ? v >> 32 : 16383) + 1) : 0;
                const uint64_t got = p >> 32 ? nmodgpu_crt_reduce_wide(&c, (uint64_t)(uint32_t)v + (spare << 32),
                                                                       (uint64_t)(v >> 32) - spare)
                                             : nmodgpu_crt_reduce(&c, (uint64_t)v);
                check_that(got == rest, "%llu p + %llu, p = %llu: %llu\n", (ull)factor, (ull)rest, (ull)p,
                           (ull)got);
            }
        }
}
END_TEST

/** Every residue, base and sign for p up to 256; sums of both signs. */
START_TEST(direct_residues_are_added_and_subtracted)
{
    for (uint64_t p = 1; p <= 256; p++) {
        const nmodgpu_plan plan = exact_direct_plan(p);
        for (int sign = -1; sign <= 1; sign += 2) {
            const nmodgpu_crt crt = nmodgpu_crt_make(&plan, sign);
            check_that(crt.direct, "p %llu is not direct\n", (ull)p);
            for (uint64_t y = 0; y < p; y++)
                for (uint64_t base = 0; base < p; base++) {
                    const uint32_t residue = nmodgpu_residue_of_sum(sum_with_residue((uint32_t)y, crt.m[0]),
                                                                    crt.m[0], crt.magic[0], crt.offset[0]);
                    check_that(residue == y, "residue %llu mod %llu\n", (ull)y, (ull)p);
                    check_that(nmodgpu_crt_direct(&crt, residue, base) == (base + (sign > 0 ? y : p - y)) % p,
                               "%llu %+d * %llu mod %llu\n", (ull)base, sign, (ull)y, (ull)p);
                }
        }
    }
}
END_TEST

TCase *exact_crt_cases(void)
{
    TCase *c = tcase_create("recombination");
    tcase_add_test(c, integers_about_zero_and_at_the_ends);
    tcase_add_test(c, integers_about_every_multiple_of_every_cofactor);
    tcase_add_test(c, extreme_and_random_residues);
    tcase_add_test(c, turns_err_by_less_than_the_slack);
    tcase_add_test(c, quotients_by_every_modulus);
    tcase_add_test(c, direct_residues_are_added_and_subtracted);
    return c;
}
