/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Backend modules as files: where they are, their priorities, loading one.  registry.h says what a module is.
 */
#ifndef NMODGPU_MODULES_H
#define NMODGPU_MODULES_H

#include "backend.h"

typedef void (*nmodgpu_module_visitor)(const char *name, int32_t priority, const char *file);

/** Visits the modules that have a priority file, in the plugin folder (`path`, or "" for the one beside this code).
 */
void nmodgpu_modules_list(const char *path, nmodgpu_module_visitor visit);

/** Visits the one module of that name, if its file is there; priority 0 where it has no priority file. */
void nmodgpu_module_find(const char *path, const char *name, nmodgpu_module_visitor visit);

/** Loads a module and calls its entry point.  On failure one line has been logged. */
nmodgpu_status nmodgpu_module_load(const char *name, const char *file, const nmodgpu_host_api *host);

#endif
