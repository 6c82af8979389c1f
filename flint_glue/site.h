/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What a return address tells about a call of nmod_mat_mul: whether it can come from inside one of FLINT's
 * products at all.
 */
#ifndef NMODGPU_FLINT_SITE_H
#define NMODGPU_FLINT_SITE_H

#include "find.h"

typedef enum nmodgpu_site {
    NMODGPU_SITE_OUTSIDE = 1, /**< not in that FLINT: cannot be nested */
    NMODGPU_SITE_CALLER,      /**< in a function of FLINT's that is no product, as nmod_mat_lu: cannot be nested */
    NMODGPU_SITE_PRODUCT,     /**< in one of FLINT's products, or a tail call from one */
    NMODGPU_SITE_UNNAMED      /**< in FLINT, in a function that is not exported */
} nmodgpu_site;

/** Looked up once a call site and remembered; takes no lock. */
nmodgpu_site nmodgpu_site_of(nmodgpu_flint *flint, uintptr_t address);

#endif
