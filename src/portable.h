/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The product in plain C, for calls of the public interface that no backend serves.  (The drop-in has FLINT.)
 */
#ifndef NMODGPU_PORTABLE_H
#define NMODGPU_PORTABLE_H

#include "dispatch.h"

/** D <- (op).  Views are checked, p >= 1.  NMODGPU_ENOMEM, D untouched, where D overlaps an operand and there is
 *  no memory for a copy; nothing is allocated otherwise. */
nmodgpu_status nmodgpu_portable_product(nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                                        const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p);

#endif
