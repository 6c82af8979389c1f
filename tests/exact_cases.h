/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_exact and what they share.
 */
#ifndef NMODGPU_TESTS_EXACT_CASES_H
#define NMODGPU_TESTS_EXACT_CASES_H

#include <check.h>
#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

/** Seed of the running test, for failure texts. */
extern uint64_t exact_seed;

/** As ck_assert_msg, which writes a record even when it holds: too slow millions of times over. */
#define check_that(condition, ...)                                                                                 \
    do {                                                                                                           \
        if (!(condition)) {                                                                                        \
            fprintf(stderr, __VA_ARGS__);                                                                          \
            ck_abort_msg("seed %llu: %s", (unsigned long long)exact_seed, #condition);                             \
        }                                                                                                          \
    } while (0)

/** Moduli at which word arithmetic breaks, besides random ones of every size: `count` of them. */
extern const uint64_t exact_moduli[];
extern const int exact_moduli_count;

/** A modulus from that list, or of 1 to `bits` bits, all sizes alike. */
uint64_t exact_modulus(unsigned bits);

/** An entry of [0, p): one of 0, 1, h, h + 1, p - 1 with h = floor(p/2), or uniform. */
uint64_t exact_word(uint64_t p);

/** A sum of magnitude up to 2^53: one of the ends, a multiple of p or of p/2 or nearly so, or uniform. */
double exact_sum(uint64_t p);

/** A plan with coefficients only, for reductions: 1 to 8 sums, coefficients as exact_word. */
nmodgpu_plan exact_sums_plan(uint64_t p);

/** An operand plan in digits whose planes are single digits or any sums of them. */
nmodgpu_plan exact_digits_plan(uint64_t p);

/** A plan in residues modulo the first `count` of 256, 255, 253, ...: whatever has no factor in common with those
 *  before.  Without the bound that ties their number to p. */
nmodgpu_plan exact_residues_plan(uint64_t p, uint32_t count);
/** One residue modulo p itself, p <= 256. */
nmodgpu_plan exact_direct_plan(uint64_t p);
/** The product M of a plan's moduli, and (M/m_i)^-1 mod m_i, by GMP. */
void exact_product_of_moduli(mpz_t product, const nmodgpu_plan *plan);
/** The least number of moduli for which 9 k h^2 < 4 M. */
uint32_t exact_moduli_needed(uint64_t p, int64_t k);
uint32_t exact_left_factor(const nmodgpu_plan *plan, uint32_t i);

void exact_set(mpz_t z, uint64_t value);
void exact_set_signed(mpz_t z, int64_t value);
uint64_t exact_get(const mpz_t z);

/** base + sign * sum over the mask of coefficient * s, reduced by GMP; plane g is s[g * plane_stride]. */
uint64_t exact_reduced(const nmodgpu_plan *plan, uint64_t mask, int sign, uint64_t base, const double *s,
                       int64_t plane_stride);

TCase *exact_word_cases(void);
TCase *exact_prepare_cases(void);
TCase *exact_reduce_cases(void);
TCase *exact_rows_cases(void);
TCase *exact_dots_cases(void);
TCase *exact_residue_cases(void);
TCase *exact_crt_cases(void);
TCase *exact_passes_i8_cases(void);
TCase *exact_winograd_cases(void);

#endif
