/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * This process and its children.  A device's context does not survive fork(), nor do helper threads: once
 * a module has been loaded, children are not served by backends.  A child forked before that may load
 * its own.
 */
#ifndef NMODGPU_PROCESS_H
#define NMODGPU_PROCESS_H

#include <stdbool.h>

/** Installs the fork handler, once; called before anything that a child must know of. */
void nmodgpu_process_watch(void);

/** Marks this process as one whose children are not served.  Called before a module is loaded. */
void nmodgpu_process_engage(void);

/** Whether this is the child of a process that had engaged. */
bool nmodgpu_process_forked(void);

#endif
