/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Who serves a product.  The door between the core and those who own a fallback of their own (the FLINT
 * drop-in): exported under the private symbol version, not part of the public interface.
 */
#ifndef NMODGPU_DISPATCH_H
#define NMODGPU_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "nmodgpu.h"

typedef enum nmodgpu_op { NMODGPU_MUL = 0, NMODGPU_ADDMUL = 1, NMODGPU_SUBMUL = 2 } nmodgpu_op;

/** Why a call was not served by a backend. */
typedef enum nmodgpu_reason {
    NMODGPU_REASON_NONE = 0,
    NMODGPU_REASON_SMALL,       /**< below the threshold, or the host predicted to be sooner */
    NMODGPU_REASON_BACKEND,     /**< no usable backend */
    NMODGPU_REASON_UNSUPPORTED, /**< no plan, impossible layout */
    NMODGPU_REASON_MEMORY,
    NMODGPU_REASON_FORKED, /**< child of a process that used a backend */
    NMODGPU_REASON_FAILED, /**< a backend failed */
    NMODGPU_REASONS
} nmodgpu_reason;

/** State of the default context: 0 not read yet, 1 off, 2 on.  Read it before anything else. */
enum { NMODGPU_SWITCH_UNREAD = 0, NMODGPU_SWITCH_OFF = 1, NMODGPU_SWITCH_ON = 2 };
extern NMODGPU_API _Atomic int nmodgpu_priv_switch;

/** Reads the environment if that has not been done; returns the switch. */
NMODGPU_API int nmodgpu_priv_read_switch(void);

/** One call on its way; filled by nmodgpu_priv_try, kept on the caller's stack. */
typedef struct nmodgpu_call {
    nmodgpu_op op;
    int64_t m, k, n;
    uint64_t p;
    nmodgpu_reason reason;
    const char *served_by; /**< backend's name, or NULL */
    double seconds;
    char plan[64];
    bool counted; /**< nmodgpu_priv_try has; else nmodgpu_priv_host_served does */
} nmodgpu_call;

/** D <- (op) with C, A, B as in the public calls (C is NULL for NMODGPU_MUL), by a backend of the default
 *  context or not at all.  NMODGPU_OK: D is complete; the call has been counted and logged.
 *  Anything else: call->reason says why.  D may then hold garbage where it overlaps no operand, and is
 *  untouched where it overlaps one; the caller computes the product itself, then reports it with
 *  nmodgpu_priv_host_served.  Never longjmps. */
NMODGPU_API nmodgpu_status nmodgpu_priv_try(nmodgpu_call *call, nmodgpu_op op, const nmodgpu_view *d,
                                            const nmodgpu_view *c, const nmodgpu_view *a, const nmodgpu_view *b,
                                            uint64_t p);

/** Counts and logs a call that the caller served itself in `seconds`, for instance as "flint".  A call that never
 *  went through nmodgpu_priv_try is zeroed but for op, m, k, n, p and reason.  `who` lives as long as the process.
 */
NMODGPU_API void nmodgpu_priv_host_served(nmodgpu_call *call, const char *who, double seconds);

/** A cheap look before views are built: false when no backend would take this shape for sure. */
NMODGPU_API bool nmodgpu_priv_worth_trying(int64_t m, int64_t k, int64_t n, uint64_t p);

/** One line on standard error, at most once per process and cause, for the drop-in. */
NMODGPU_API void nmodgpu_priv_log_once(const char *cause, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
