/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Matrices of a fake FLINT in the forms that users make, and a product of them that is looked at.
 */
#ifndef NMODGPU_TESTS_OPERANDS_H
#define NMODGPU_TESTS_OPERANDS_H

#include "harness.h"

/** A window of a larger matrix, or a whole one, with some rows swapped. */
typedef struct operand {
    fake_mat whole, used;
    bool window;
} operand;

operand make_operand(const fake_api *api, int64_t rows, int64_t cols, uint64_t n);
void free_operand(const fake_api *api, operand *x);

/** D <- A B, C + A B or C - A B for op 0, 1, 2, with any of them the same matrix; asserts that every entry of D is
 *  what 128-bit sums of the values at entry give. */
void check_product(const fake_api *api, int op, fake_mat *d, const fake_mat *c, const fake_mat *a,
                   const fake_mat *b);

#endif
