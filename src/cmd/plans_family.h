/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Which plans are ways of the same kind: the grid measures the best of each.
 */
#ifndef NMODGPU_CMD_PLANS_FAMILY_H
#define NMODGPU_CMD_PLANS_FAMILY_H

#include "plan.h"

/** Plans of one family are computed alike and differ in bases or in the number of moduli: "f64(2,3) base 2^25,2^17"
 *  and "f64(2,3) base 2^26,2^17"; "i8 crt(9) bytes" and "i8 crt(10) bytes", but neither "i8 crt(10) sums" nor
 *  "i8 crt(10) bytes winograd". */
bool plans_same_family(const nmodgpu_plan *a, const nmodgpu_plan *b);

#endif
