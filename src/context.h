/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Contexts and the switch.  The environment is read for the default context only: NMODGPU at the first
 * product, the rest when it is first on.  What the program sets itself comes before the environment.
 */
#ifndef NMODGPU_CONTEXT_H
#define NMODGPU_CONTEXT_H

#include "settings.h"

/** The settings of a context; of NULL those of the default context, the environment having been read. */
nmodgpu_settings *nmodgpu_context_settings(nmodgpu_context *context);

/** Mode of a context: "off", "auto" or a backend's name. */
const char *nmodgpu_context_mode(nmodgpu_context *context);

#endif
