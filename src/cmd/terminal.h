/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Colours and progress, both only on a terminal.
 */
#ifndef NMODGPU_CMD_TERMINAL_H
#define NMODGPU_CMD_TERMINAL_H

#include <stdbool.h>

typedef enum terminal_style { STYLE_NONE = 0, STYLE_BOLD, STYLE_GOOD, STYLE_BAD, STYLE_DIM } terminal_style;

/** The escape sequence that switches standard output to a style (STYLE_NONE: back); "" where standard output
 *  is no terminal, TERM is "dumb" or NO_COLOR is set. */
const char *terminal_paint(terminal_style style);

/** Seconds of a steady clock. */
double terminal_now(void);

/** A bar on standard error, rewritten in place, for work of more than two seconds. */
typedef struct terminal_progress {
    double start, shown_at;
    bool shown;
} terminal_progress;

void terminal_progress_begin(terminal_progress *progress);
/** `done` in [0, 1]; negative where it is not known.  Rewrites the line at most five times a second. */
void terminal_progress_show(terminal_progress *progress, double done, const char *what);
/** Takes the line away. */
void terminal_progress_end(terminal_progress *progress);

#endif
