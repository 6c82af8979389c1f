/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Whether calls reach this library at all: the program's, and those that FLINT makes itself.
 */
#ifndef NMODGPU_FLINT_REACH_H
#define NMODGPU_FLINT_REACH_H

#include "find.h"

/** True when that FLINT's own calls of nmod_mat_mul (from nmod_mat_lu, fmpz_mat_mul, ...) come here: false when
 *  it has no relocation for it (-Bsymbolic-functions) or is bound to its own. */
bool nmodgpu_reach_inner_calls(const nmodgpu_flint *flint);

/** One line, once, for what a FLINT does not send here; cheap after the first call. */
void nmodgpu_reach_check(nmodgpu_flint *flint);

#endif
