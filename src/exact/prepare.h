/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * From canonical words to the planes of a prepared operand: centre, cut into balanced digits, and let each
 * plane be the sum of the digits that its plan names.  Proofs: doc/algorithms.md.
 */
#ifndef NMODGPU_EXACT_PREPARE_H
#define NMODGPU_EXACT_PREPARE_H

#include <string.h>

#include "../plan.h"
#include "word.h"

/** Constants of one preparation; plain data, passed to kernels by value. */
typedef struct nmodgpu_preparer {
    uint64_t p;
    uint32_t digits;
    uint32_t digit_bits;
    uint32_t planes;
    uint32_t one_to_one; /**< plane i is digit i for all i, and planes == digits */
    uint32_t plane_digits[NMODGPU_MAX_PLANES];
} nmodgpu_preparer;

/** The constants of one side of a plan in balanced digits; right != 0 for the right operand. */
static inline nmodgpu_preparer nmodgpu_preparer_make(const nmodgpu_plan *plan, int right)
{
    const nmodgpu_operand_plan *operand = right ? &plan->right : &plan->left;
    nmodgpu_preparer r;
    memset(&r, 0, sizeof r);
    r.p = plan->modulus;
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

/** Plane i of the entry whose centred word is x. */
NMODGPU_HD double nmodgpu_prepare_plane(const nmodgpu_preparer *c, uint32_t i, int64_t x)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < c->digits; j++) {
        const int64_t digit = nmodgpu_prepare_digit(c, j, &x);
        sum += c->plane_digits[i] >> j & 1 ? digit : 0;
    }
    return nmodgpu_small_to_double(sum);
}

/** All planes of one canonical word: plane i goes to out[i * plane_stride]. */
NMODGPU_HD void nmodgpu_prepare_entry(const nmodgpu_preparer *c, uint64_t word, double *out, int64_t plane_stride)
{
    int64_t x = nmodgpu_centre(word, c->p);
    if (c->one_to_one) {
        for (uint32_t i = 0; i < c->planes; i++)
            out[i * plane_stride] = nmodgpu_small_to_double(nmodgpu_prepare_digit(c, i, &x));
        return;
    }
    for (uint32_t i = 0; i < c->planes; i++)
        out[i * plane_stride] = nmodgpu_prepare_plane(c, i, x);
}

#endif
