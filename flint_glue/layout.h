/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Which of its two layouts a FLINT's matrices have: its version says it, a self-test proves it.
 */
#ifndef NMODGPU_FLINT_LAYOUT_H
#define NMODGPU_FLINT_LAYOUT_H

#include "find.h"
#include "matrix.h"
#include "nmodgpu.h"

/** The proven layout, tested on the first call; NMODGPU_LAYOUT_REFUSED (one line logged) leaves that FLINT to
 *  itself. */
nmodgpu_layout nmodgpu_flint_layout(nmodgpu_flint *flint);

const char *nmodgpu_layout_name(nmodgpu_layout layout);

/** The matrix as the core sees it; for a proven layout. */
nmodgpu_view nmodgpu_flint_view(const nmodgpu_flint_matrix *matrix, nmodgpu_layout layout);

#endif
