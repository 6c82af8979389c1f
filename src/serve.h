/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Dispatch inside the core, for any context; dispatch.h is its door for the drop-in.
 */
#ifndef NMODGPU_SERVE_H
#define NMODGPU_SERVE_H

#include "cost.h"
#include "dispatch.h"

/** As nmodgpu_priv_try, for a context and a caller whose own product has these rates. */
nmodgpu_status nmodgpu_serve(nmodgpu_context *context, const nmodgpu_host_rates *host, nmodgpu_call *call,
                             nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                             const nmodgpu_view *b, uint64_t p);

/** As nmodgpu_priv_host_served, for a context. */
void nmodgpu_serve_host(nmodgpu_context *context, nmodgpu_call *call, const char *who, double seconds);

/** Monotonic seconds. */
double nmodgpu_now(void);

#endif
