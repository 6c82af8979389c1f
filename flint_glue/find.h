/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The FLINTs of this process, and which of them a call belongs to.
 *
 * Every loaded object that itself defines FLINT's products is a FLINT, wherever it was loaded from and in
 * whatever scope.  Layout and fallback belong to the call: each calling object is matched to its FLINT once.
 */
#ifndef NMODGPU_FLINT_FIND_H
#define NMODGPU_FLINT_FIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matrix.h"
#include "object.h"

#define NMODGPU_MAX_FLINTS 16
#define NMODGPU_MAX_CALLERS 64
#define NMODGPU_FLINT_SITES 16

typedef struct nmodgpu_flint {
    nmodgpu_object object;
    const char *version; /**< its flint_version; NULL when it exports none */
    nmodgpu_flint_mul *mul;
    nmodgpu_flint_addmul *addmul;
    nmodgpu_flint_addmul *submul;
    _Atomic int layout;                           /**< nmodgpu_layout; use nmodgpu_flint_layout() */
    _Atomic bool reach_checked;                   /**< by reach.c */
    _Atomic uintptr_t sites[NMODGPU_FLINT_SITES]; /**< by site.c */
    _Atomic bool ready;
} nmodgpu_flint;

/** A calling object that has been matched. */
typedef struct nmodgpu_caller {
    uintptr_t low;
    uintptr_t bytes;
    _Atomic(nmodgpu_flint *) flint; /**< NULL until the entry is complete */
} nmodgpu_caller;

/** Grows only; read without a lock by every call. */
extern nmodgpu_caller nmodgpu_callers[NMODGPU_MAX_CALLERS] __attribute__((visibility("hidden")));
extern _Atomic int nmodgpu_callers_used __attribute__((visibility("hidden")));

/** The FLINT that code at `site` calls, if that object has called before; NULL otherwise. */
static inline nmodgpu_flint *nmodgpu_flint_known(uintptr_t site)
{
    const int used = atomic_load_explicit(&nmodgpu_callers_used, memory_order_relaxed);
    for (int i = 0; i < used; i++) {
        nmodgpu_flint *flint = atomic_load_explicit(&nmodgpu_callers[i].flint, memory_order_acquire);
        if (flint && site - nmodgpu_callers[i].low < nmodgpu_callers[i].bytes)
            return flint;
    }
    return NULL;
}

/** The FLINT that code at `site` (a return address) calls.  `operands` (some may be NULL) are looked at only when
 *  there are several FLINTs and the calling object tells nothing, as where a library's last act is a tail call.
 *  NULL with the reason in *why when there is none, or when still nothing tells which. */
nmodgpu_flint *nmodgpu_flint_of_caller(uintptr_t site, const nmodgpu_flint_matrix *const *operands, int count,
                                       const char **why);

/** All FLINTs now in the process; returns how many were written to list. */
int nmodgpu_flint_list(nmodgpu_flint *list[NMODGPU_MAX_FLINTS]);

/** Whose nmod_mat_mul the program's own calls reach: the path of the object, *ours when it is this library;
 *  NULL when the global scope has none. */
const char *nmodgpu_flint_process_symbol(bool *ours);

/** True for an address in this library. */
bool nmodgpu_flint_is_own_code(uintptr_t address);

#endif
