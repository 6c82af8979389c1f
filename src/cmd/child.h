/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Runs another program and keeps what it prints.
 */
#ifndef NMODGPU_CMD_CHILD_H
#define NMODGPU_CMD_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct child_variable {
    const char *name;
    const char *value; /**< NULL: not in the child's environment */
} child_variable;

typedef struct child {
    const char *path;
    char *const *words;              /**< argv, NULL at its end */
    const child_variable *variables; /**< differences from this environment */
    size_t variables_count;
    bool keep_errors;                            /**< standard error goes where standard output goes */
    void (*waiting)(void *data, double seconds); /**< called now and then, if not NULL */
    void *data;
    /* results */
    char *output;  /**< a text, also when empty; child_free() frees it */
    int exit_code; /**< -1 when a signal ended it */
    int signal;
} child;

/** Runs it to its end.  False (output is NULL) with errno set when it could not be started or followed. */
bool child_run(child *c);

void child_free(child *c);

#endif
