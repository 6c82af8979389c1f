/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the operands themselves tell of their layout.  Only for calls that nothing else can match to one of
 * several FLINTs.
 */
#ifndef NMODGPU_FLINT_EVIDENCE_H
#define NMODGPU_FLINT_EVIDENCE_H

#include "matrix.h"

/** The only layout that all these matrices can have; NMODGPU_LAYOUT_UNTRIED when they can have either, as
 *  matrices without entries do; NMODGPU_LAYOUT_REFUSED when they can have none. */
nmodgpu_layout nmodgpu_layout_by_evidence(const nmodgpu_flint_matrix *const *matrices, int count);

#endif
