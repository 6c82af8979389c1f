/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A plan says how one exact product is computed from machine products, and proves that it is exact.
 * It is plain data: the planner (plan_f64.c, plan_i8.c) makes it, the core schedules it, backends obey it.
 *
 * The mathematics stands in doc/algorithms.md.  In short: each operand becomes a few PLANES of small
 * integers (balanced digits, sums of digits for Karatsuba, or residues modulo small moduli); each TERM
 * multiplies one left plane by one right plane and adds into one SUM plane; a reduction combines the
 * sum planes into canonical words.
 */
#ifndef NMODGPU_PLAN_H
#define NMODGPU_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NMODGPU_MAX_PLANES 24
#define NMODGPU_MAX_TERMS 32
#define NMODGPU_MAX_SUMS 24

/** The machine type of planes and sums. */
typedef enum nmodgpu_number {
    NMODGPU_F64 = 1, /**< double planes, double sums: partial sums up to 2^53 */
    NMODGPU_I8 = 2   /**< int8 planes, int32 accumulators: partial sums up to 2^31 - 1 */
} nmodgpu_number;

/** Largest magnitude up to which every partial sum of that number type is exact. */
static inline uint64_t nmodgpu_number_limit(nmodgpu_number number)
{
    return number == NMODGPU_I8 ? INT32_MAX : 1ULL << 53;
}

/** How planes are made from centred entries and sums recombined. */
typedef enum nmodgpu_encoding {
    NMODGPU_DIGITS = 1,  /**< balanced digits base 2^digit_bits; linear recombination */
    NMODGPU_RESIDUES = 2 /**< residues modulo small coprime moduli; Chinese remaindering */
} nmodgpu_encoding;

/** How one operand is prepared. */
typedef struct nmodgpu_operand_plan {
    uint32_t digits;     /**< number of words u */
    uint32_t digit_bits; /**< base 2^digit_bits; unused when digits == 1 */
    uint32_t planes;     /**< number of planes */
    /** DIGITS: plane i is the sum of the digits j whose bit j is set in plane_digits[i].
     *  RESIDUES: plane i holds residues modulo plane_digits[i]. */
    uint32_t plane_digits[NMODGPU_MAX_PLANES];
    uint64_t plane_bound[NMODGPU_MAX_PLANES]; /**< every entry of plane i is at most this in magnitude */
} nmodgpu_operand_plan;

/** sum plane += left plane * right plane. */
typedef struct nmodgpu_term {
    uint8_t left;
    uint8_t right;
    uint8_t sum;
} nmodgpu_term;

typedef struct nmodgpu_plan {
    nmodgpu_number number;
    nmodgpu_encoding encoding;
    uint64_t modulus;
    int64_t m, k, n;
    /** Steps of Strassen's algorithm, 0 or 1: with 1 each block of the inner dimension is multiplied by seven
     *  products of half the size (exact/winograd.h) instead of one.  Only for RESIDUES with sum_bytes 1. */
    uint32_t winograd;
    nmodgpu_operand_plan left, right;
    uint32_t terms;
    uint32_t sums;
    /** Bytes of one entry of a sum plane: 8 for F64; for I8 4 (int32 sums), or 1 where the encoding is RESIDUES
     *  and the device reduces each sum modulo its small modulus before it stores it, as a byte in [0, m). */
    uint32_t sum_bytes;
    nmodgpu_term term[NMODGPU_MAX_TERMS]; /**< grouped by sum, ascending */
    /** DIGITS: A*B = sum over g of coefficient[g] * sum plane g, modulo the modulus. */
    uint64_t coefficient[NMODGPU_MAX_SUMS];
    uint64_t weight[NMODGPU_MAX_SUMS]; /**< largest growth of sum plane g per unit of inner length */
    /** Inner length for which sum plane g is proven exact; RESIDUES: and the residues' recombination, which takes
     *  all sums together, so that lambda and block are the same for all. */
    int64_t lambda[NMODGPU_MAX_SUMS];
    int64_t block[NMODGPU_MAX_SUMS]; /**< inner length taken between reductions, <= lambda */
    double seconds;                  /**< predicted time with operands and result on the device */
    char name[48];                   /**< for people: "f64(2,3) base 2^25,2^17", "i8 crt(10) bytes" */
} nmodgpu_plan;

/** Bytes of a word of the operands and of the result on the device: 8, or 4 for p < 2^32; for int8 plans also 1 and
 *  2, for p <= 2^8 and 2^16. */
static inline uint32_t nmodgpu_plan_word_bytes(const nmodgpu_plan *plan)
{
    const uint64_t p = plan->modulus;
    if (p >> 32)
        return 8;
    if (plan->number != NMODGPU_I8 || p > 1 << 16)
        return 4;
    return p > 1 << 8 ? 2 : 1;
}

#endif
