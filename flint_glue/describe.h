/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What libnmodgpu-flint.so exports besides FLINT's names, for `nmodgpu info`, which finds it by dlsym.
 */
#ifndef NMODGPU_FLINT_DESCRIBE_H
#define NMODGPU_FLINT_DESCRIBE_H

#include <stdio.h>

#include "nmodgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes, a line each: whose nmod_mat_mul the process has; for each FLINT in it the version, path, layout,
 *  self-test, and whether the products inside its own functions are served. */
NMODGPU_API void nmodgpu_flint_describe(FILE *out);

#ifdef __cplusplus
}
#endif

#endif
