/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Plans in int8 products with int32 sums: residues modulo small moduli, or modulo p itself where that is small,
 * and two balanced digits.  Which of them are exact is decided here; which is soonest is not.
 * Proofs: doc/algorithms.md#residues, #winograd and #int8-digits.
 */
#ifndef NMODGPU_PLAN_I8_H
#define NMODGPU_PLAN_I8_H

#include "plan.h"

/** Pairwise coprime, each the largest number that is coprime to those before it, from 256 on. */
extern const uint32_t nmodgpu_i8_moduli[NMODGPU_MAX_PLANES];

/** No launch takes a longer inner length: 128 * 128 * 131071 < 2^31. */
#define NMODGPU_I8_MAX_INNER 131071
/** Blocks are multiples of this, so that windows of int8 planes begin where tensor cores can load. */
#define NMODGPU_I8_BLOCK_STEP 64
/** With fewer moduli than the whole inner length takes, at most as many times as many blocks. */
#define NMODGPU_I8_MAX_SPLIT 8
/** Each dimension of a plan with a Strassen-Winograd step has two halves with something in them. */
#define NMODGPU_I8_WINOGRAD_LEAST 32
/** The end of its name; without that it is the name of the same plan without the step. */
#define NMODGPU_I8_WINOGRAD_NAME " winograd"

/** All plans for one product: at most one of each kind. */
typedef enum nmodgpu_i8_kind {
    NMODGPU_I8_DIRECT_BYTES = 0, /**< residues modulo p <= 256, sums reduced to bytes by the device */
    NMODGPU_I8_DIRECT_SUMS,      /**< the same with int32 sums */
    NMODGPU_I8_DIRECT_WINOGRAD,  /**< as DIRECT_BYTES, by one Strassen-Winograd step */
    NMODGPU_I8_CRT_BYTES,        /**< residues modulo the first t moduli of the list, enough for the inner length */
    NMODGPU_I8_CRT_SUMS,
    NMODGPU_I8_CRT_WINOGRAD,
    NMODGPU_I8_FEWER_BYTES, /**< one modulus less and so shorter blocks */
    NMODGPU_I8_FEWER_SUMS,
    NMODGPU_I8_FEWER_WINOGRAD,
    NMODGPU_I8_DIGITS,    /**< two digits base 2^8, four terms in three sums */
    NMODGPU_I8_KARATSUBA, /**< two digits base 2^7, three terms */
    NMODGPU_I8_KINDS
} nmodgpu_i8_kind;

/** Bytes of a sum of that kind: 1 or 4. */
uint32_t nmodgpu_i8_sum_bytes(nmodgpu_i8_kind kind);
/** Whether it is one with a Strassen-Winograd step. */
bool nmodgpu_i8_winograd(nmodgpu_i8_kind kind);

/** The plan of that kind, all but its seconds; false when there is none, and *plan is then anything.
 *  1 < p < 2^64; m, k, n >= 1, k <= 2^31. */
bool nmodgpu_i8_plan(nmodgpu_plan *plan, nmodgpu_i8_kind kind, uint64_t p, int64_t m, int64_t k, int64_t n);

#endif
