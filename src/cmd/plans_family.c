/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plans_family.h"

#include <string.h>

/** Modulo p itself, so that nothing is recombined. */
static bool is_direct(const nmodgpu_plan *plan)
{
    return plan->sums == 1 && plan->left.plane_digits[0] == plan->modulus;
}

/** Digits' names up to their bases. */
static bool same_digits(const nmodgpu_plan *a, const nmodgpu_plan *b)
{
    const size_t length = strcspn(a->name, " ");
    return strcspn(b->name, " ") == length && memcmp(a->name, b->name, length) == 0;
}

bool plans_same_family(const nmodgpu_plan *a, const nmodgpu_plan *b)
{
    if (a->number != b->number || a->encoding != b->encoding || a->sum_bytes != b->sum_bytes ||
        a->winograd != b->winograd)
        return false;
    return a->encoding == NMODGPU_RESIDUES ? is_direct(a) == is_direct(b) : same_digits(a, b);
}
