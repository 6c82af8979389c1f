/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What happened to this process's products: counters, and the line that NMODGPU_REPORT asks for.
 */
#ifndef NMODGPU_REPORT_H
#define NMODGPU_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

/** Name of a reason as the report and the log show it. */
const char *nmodgpu_reason_name(nmodgpu_reason reason);

/** A call came in. */
void nmodgpu_report_arrived(void);
/** No backend serves it. */
void nmodgpu_report_declined(nmodgpu_reason reason);
/** A backend has served it.  `name` lives as long as the process, here and below. */
void nmodgpu_report_served(const char *name, double seconds);
/** The host has served it. */
void nmodgpu_report_host(const char *name, double seconds);

/** Calls that a backend has served in this process. */
uint64_t nmodgpu_report_count_served(const char *name);
/** Calls declined in this process. */
uint64_t nmodgpu_report_count_declined(nmodgpu_reason reason);

/** Has the line appended to `path` at exit; the last path given holds, and "" is no
 *  report.  A relative one is taken from the folder that is current now. */
void nmodgpu_report_start(const char *path);

/** The line, with its newline, cut to fit; returns its length. */
size_t nmodgpu_report_format(char *line, size_t capacity);

/** All counters to zero; for the child after fork(). */
void nmodgpu_report_reset(void);

#endif
