/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * From canonical words to the planes of a prepared operand: take a representative about zero, cut it into
 * balanced digits, and let each plane be the sum of the digits that its plan names.  Proofs: doc/algorithms.md.
 */
#ifndef NMODGPU_EXACT_PREPARE_H
#define NMODGPU_EXACT_PREPARE_H

#include <string.h>

#include "../plan.h"
#include "word.h"

/** Constants of one preparation; plain data, passed to kernels by value. */
typedef struct nmodgpu_preparer {
    uint64_t p;
    uint64_t most; /**< the largest representative: p/2, or less where int8 digits end sooner */
    uint32_t digits;
    uint32_t digit_bits;
    uint32_t planes;
    uint32_t one_to_one; /**< plane i is digit i for all i, and planes == digits */
    uint32_t plane_digits[NMODGPU_MAX_PLANES];
} nmodgpu_preparer;

/** The largest integer whose balanced digits base 2^digit_bits are at most 127, the top one too: for two digits
 *  of eight bits 32639, so that representatives lie in [-32896, 32639] for p = 2^16. */
static inline uint64_t nmodgpu_most_in_bytes(uint32_t digits, uint32_t digit_bits)
{
    uint64_t most = 127;
    for (uint32_t j = 1; j < digits; j++)
        most = (most << digit_bits) + (1ULL << (digit_bits - 1)) - 1;
    return most;
}

/** The constants of one side of a plan in balanced digits; right != 0 for the right operand. */
static inline nmodgpu_preparer nmodgpu_preparer_make(const nmodgpu_plan *plan, int right)
{
    const nmodgpu_operand_plan *operand = right ? &plan->right : &plan->left;
    nmodgpu_preparer r;
    memset(&r, 0, sizeof r);
    r.p = plan->modulus;
    r.most = plan->modulus / 2;
    if (plan->number == NMODGPU_I8 && nmodgpu_most_in_bytes(operand->digits, operand->digit_bits) < r.most)
        r.most = nmodgpu_most_in_bytes(operand->digits, operand->digit_bits);
    r.digits = operand->digits;
    r.digit_bits = operand->digit_bits;
    r.planes = operand->planes;
    r.one_to_one = operand->planes == operand->digits;
    for (uint32_t i = 0; i < operand->planes; i++) {
        r.plane_digits[i] = operand->plane_digits[i];
        r.one_to_one = r.one_to_one && operand->plane_digits[i] == 1u << i;
    }
    return r;
}

/** Takes digit j of the plan off *x, lowest first.  The top digit is all that is left, so that any x is
 *  the sum of its digits times the powers of the base, without a bound on x. */
NMODGPU_HD int64_t nmodgpu_prepare_digit(const nmodgpu_preparer *c, uint32_t j, int64_t *x)
{
    return j + 1 < c->digits ? nmodgpu_take_digit(x, c->digit_bits) : *x;
}

/** What the digits are taken off. */
NMODGPU_HD int64_t nmodgpu_prepare_start(const nmodgpu_preparer *c, uint64_t word)
{
    return nmodgpu_represent(word, c->p, c->most);
}

/** Plane i of the entry whose representative is x. */
NMODGPU_HD int64_t nmodgpu_prepare_plane_integer(const nmodgpu_preparer *c, uint32_t i, int64_t x)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < c->digits; j++) {
        const int64_t digit = nmodgpu_prepare_digit(c, j, &x);
        sum += c->plane_digits[i] >> j & 1 ? digit : 0;
    }
    return sum;
}

/** nmodgpu_prepare_start for p <= 2^31. */
NMODGPU_HD int32_t nmodgpu_prepare_start32(const nmodgpu_preparer *c, uint32_t word)
{
    return (int32_t)(word > (uint32_t)c->most ? word - (uint32_t)c->p : word);
}

NMODGPU_HD double nmodgpu_prepare_plane(const nmodgpu_preparer *c, uint32_t i, int64_t x)
{
    return nmodgpu_small_to_double(nmodgpu_prepare_plane_integer(c, i, x));
}

/** All planes of one canonical word: plane i goes to out[i * plane_stride]. */
NMODGPU_HD void nmodgpu_prepare_entry(const nmodgpu_preparer *c, uint64_t word, double *out, int64_t plane_stride)
{
    int64_t x = nmodgpu_prepare_start(c, word);
    if (c->one_to_one) {
        for (uint32_t i = 0; i < c->planes; i++)
            out[i * plane_stride] = nmodgpu_small_to_double(nmodgpu_prepare_digit(c, i, &x));
        return;
    }
    for (uint32_t i = 0; i < c->planes; i++)
        out[i * plane_stride] = nmodgpu_prepare_plane(c, i, x);
}

#endif
