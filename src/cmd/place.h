/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Where this installation's files are, wherever it has been moved to.
 */
#ifndef NMODGPU_CMD_PLACE_H
#define NMODGPU_CMD_PLACE_H

#include <limits.h>
#include <stdbool.h>

/** The FLINT drop-in: beside the libnmodgpu.so that this process uses. */
bool place_dropin(char path[PATH_MAX]);

/** The FLINT program of `nmodgpu demo`: in ../libexec/nmodgpu from this command, else beside it (a build that is
 *  not installed). */
bool place_flint_product(char path[PATH_MAX]);

/** A path to the same file that LD_PRELOAD can hold.  The loader splits that variable at spaces and colons and
 *  expands '$'; a file with one of these in its path is reached through a link to its folder.  (To the folder
 *  and not to the file, because the library finds its neighbours by the folder it was loaded from.) */
bool place_without_separators(const char *path, char safe[PATH_MAX]);

#endif
