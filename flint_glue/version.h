/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef NMODGPU_FLINT_VERSION_H
#define NMODGPU_FLINT_VERSION_H

#include "matrix.h"

/** What a version text such as "2.9.0", "3.1.3-p1" or "3.7.0-dev" claims: rows before 3.3, stride from then
 *  on.  NMODGPU_LAYOUT_REFUSED for NULL, for a text that is no version and for versions before 2.9. */
nmodgpu_layout nmodgpu_layout_of_version(const char *version);

#endif
