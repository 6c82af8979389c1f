/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What a piece of a test writes to standard error.
 */
#ifndef NMODGPU_TESTS_CAPTURE_H
#define NMODGPU_TESTS_CAPTURE_H

/** Sends standard error to a file. */
void capture_begin(void);
/** Gives standard error back; what was written, until the next call. */
const char *capture_end(void);
/** How many times `part` stands in `text`. */
int count_in(const char *text, const char *part);

#endif
