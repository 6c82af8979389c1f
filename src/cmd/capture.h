/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Keeps what this process writes on standard error for a while: the reasons why a backend is not usable are
 * lines there, and the command shows them in their place.
 */
#ifndef NMODGPU_CMD_CAPTURE_H
#define NMODGPU_CMD_CAPTURE_H

typedef struct capture {
    int file, original; /* -1: nothing is kept, lines go where they always go */
} capture;

void capture_begin(capture *c);
/** Gives standard error back; returns what was written, a text that the caller frees, or NULL. */
char *capture_end(capture *c);

#endif
