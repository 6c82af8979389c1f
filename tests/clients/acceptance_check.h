/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Filling and checking large FLINT matrices with every processor there is.
 */
#ifndef NMODGPU_TESTS_ACCEPTANCE_CHECK_H
#define NMODGPU_TESTS_ACCEPTANCE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <flint/nmod_mat.h>

void fill_random(nmod_mat_t a);
/** Every entry impossible. */
void spoil(nmod_mat_t a);

typedef struct verdict {
    bool right;
    int vectors; /**< of Freivalds' test */
    int samples; /**< entries computed anew */
} verdict;

/** Whether d = (c ? c : 0) + sign * a * b, every entry in [0, p). */
verdict check_product(const nmod_mat_struct *d, const nmod_mat_struct *c, int sign, const nmod_mat_struct *a,
                      const nmod_mat_struct *b);

#endif
