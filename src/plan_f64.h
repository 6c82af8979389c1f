/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Plans in double precision: one to four balanced words an operand, their products summed apart, summed
 * together where they carry the same power of two, or taken by Karatsuba.  Which of them are exact is
 * decided here; which is soonest is not.  Proofs: doc/algorithms.md#planes and #sums.
 */
#ifndef NMODGPU_PLAN_F64_H
#define NMODGPU_PLAN_F64_H

#include "plan.h"

#define NMODGPU_F64_MAX_DIGITS 4
/** Ways to cut one operand: one word, or 2 to 4 digits in three bases each. */
#define NMODGPU_F64_MAX_CUTS 10

typedef enum nmodgpu_f64_scheme {
    NMODGPU_F64_SEPARATE = 0, /**< one sum a pair of digits */
    NMODGPU_F64_GROUPED,      /**< pairs with the same power of two share a sum */
    NMODGPU_F64_KARATSUBA     /**< one term a digit and one a pair of digits, of (a_i + a_j)(b_i + b_j) */
} nmodgpu_f64_scheme;

/** A family of plans: all that is known before bases are chosen. */
typedef struct nmodgpu_f64_family {
    uint8_t left_digits, right_digits;
    uint8_t scheme;
    uint8_t left_planes, right_planes;
    uint8_t terms;
    uint8_t least_sums; /**< no plan of the family has fewer */
} nmodgpu_f64_family;

/** A way to cut centred entries into digits, with the largest magnitude of each digit. */
typedef struct nmodgpu_f64_cut {
    uint32_t digits, digit_bits;
    uint64_t bound[NMODGPU_F64_MAX_DIGITS];
} nmodgpu_f64_cut;

/** All plans for one product, in a fixed order. */
typedef struct nmodgpu_f64_cursor {
    uint64_t p;
    int64_t m, k, n;
    uint32_t cuts;
    nmodgpu_f64_cut cut[NMODGPU_F64_MAX_CUTS];
    uint32_t first_cut[NMODGPU_F64_MAX_DIGITS + 2]; /**< of u digits: [first_cut[u], first_cut[u + 1]) */
    uint32_t family, left, right;                   /**< the candidate to be tried next; cuts by index */
} nmodgpu_f64_cursor;

/** Names a plan: small, ordered as the cursor comes upon them. */
typedef struct nmodgpu_f64_candidate {
    uint8_t family, left, right;
} nmodgpu_f64_candidate;

/** 1 < p < 2^64; m, k, n >= 1. */
void nmodgpu_f64_begin(nmodgpu_f64_cursor *cursor, uint64_t p, int64_t m, int64_t k, int64_t n);

/** The family of the candidate to be tried next; NULL at the end. */
const nmodgpu_f64_family *nmodgpu_f64_family_next(const nmodgpu_f64_cursor *cursor);
/** Leaves the rest of that family out. */
void nmodgpu_f64_family_skip(nmodgpu_f64_cursor *cursor);

/** Tries one candidate of that family and steps on.  True when it is exact: *candidate names it, and of
 *  *plan everything is set that a price depends on (not coefficients, name and seconds). */
bool nmodgpu_f64_try(nmodgpu_f64_cursor *cursor, nmodgpu_plan *plan, nmodgpu_f64_candidate *candidate);

/** The whole plan of a candidate that nmodgpu_f64_try gave. */
void nmodgpu_f64_plan(const nmodgpu_f64_cursor *cursor, nmodgpu_f64_candidate candidate, nmodgpu_plan *plan);
/** Its name alone. */
void nmodgpu_f64_name(const nmodgpu_f64_cursor *cursor, nmodgpu_f64_candidate candidate, char *name,
                      size_t capacity);

#endif
