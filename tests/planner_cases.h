/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The parts of check_planner and what they share.
 */
#ifndef NMODGPU_TESTS_PLANNER_CASES_H
#define NMODGPU_TESTS_PLANNER_CASES_H

#include <check.h>
#include <gmp.h>
#include <stdint.h>

#include "planner.h"

/** More than any list holds. */
#define MANY_PLANS 300

typedef struct problem {
    uint64_t p;
    int64_t m, k, n;
    nmodgpu_rates rates;
} problem;

/** Seed of the running test, for failure texts. */
extern uint64_t planner_seed;
void planner_setup(void);

/** All bit sizes of p alike, sizes by their logarithm, k up to 2^31, rates of a GPU or of a CPU,
 *  of a GPU with or without int8 products of either kind. */
problem random_problem(void);
/** As random_problem, but with every kind of product, and so large that Strassen-Winograd steps are offered. */
problem large_problem(void);
nmodgpu_rates random_rates(void);
/** A list of plans of that problem into `plans` (MANY_PLANS of them); their number. */
size_t list_plans(nmodgpu_plan *plans, const problem *q);
/** Only those in double precision; only those in int8, of every kind that is exact. */
size_t list_f64_plans(nmodgpu_plan *plans, const problem *q);
size_t list_i8_plans(nmodgpu_plan *plans, const problem *q);
/** The first of that name, or whose name begins so; NULL when there is none. */
const nmodgpu_plan *plan_named(const nmodgpu_plan *plans, size_t count, const char *name);
const nmodgpu_plan *plan_beginning(const nmodgpu_plan *plans, size_t count, const char *prefix);

/** As ck_assert_msg, which writes a record even when it holds: too slow millions of times over. */
#define check_plan(condition, plan)                                                                                \
    do {                                                                                                           \
        if (!(condition))                                                                                          \
            ck_abort_msg("seed %llu: %s: p = %llu, k = %lld: %s", (unsigned long long)planner_seed, (plan)->name,  \
                         (unsigned long long)(plan)->modulus, (long long)(plan)->k, #condition);                   \
    } while (0)

/* The oracle, in GMP. */
/** Centred extreme entries modulo p: floor(p/2) and -(p-1-floor(p/2)). */
void oracle_extremes(mpz_t low, mpz_t high, uint64_t p);
/** Largest magnitude of digit j over all centred entries, from the closed form. */
void oracle_digit_bound(mpz_t bound, const nmodgpu_operand_plan *operand, uint32_t j, uint64_t p);
/** Largest magnitude that plane i can reach by that. */
void oracle_plane_bound(mpz_t bound, const nmodgpu_operand_plan *operand, uint32_t i, uint64_t p);
/** Growth of sum plane g per unit of inner length. */
void oracle_weight(mpz_t weight, const nmodgpu_plan *plan, uint32_t g);
/** sum over l of a[l] b[l], mod p. */
uint64_t oracle_dot(const uint64_t *a, const uint64_t *b, int64_t k, uint64_t p);
void mpz_set_u64(mpz_t x, uint64_t value);
void mpz_set_i64(mpz_t x, int64_t value);
uint64_t mpz_get_u64(const mpz_t x);

/** 4 M - 9 k h^2, M the product of the first moduli: positive where M > 2 k h^2 (1 + 2^-3). */
void oracle_spare(mpz_t spare, uint32_t moduli, int64_t k, uint64_t p);
/** Plane i of the centred entry x, taken by the arithmetic that backends use. */
int64_t plane_of(const nmodgpu_operand_plan *operand, uint32_t i, int64_t x);

TCase *bounds_case(void);
TCase *products_case(void);
TCase *schedule_case(void);
TCase *verify_case(void);
TCase *i8_case(void);
TCase *i8_products_case(void);
TCase *i8_verify_case(void);
TCase *winograd_case(void);

#endif
