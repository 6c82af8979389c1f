/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Tells FLINT's own nested calls (its Strassen recursion, its addmul calling mul) from calls of the program.
 *
 * A guard lies in the frame that calls FLINT's function.  A call is nested when its return address may lie in
 * a product of that FLINT (site.h), when the stack is deeper than the guarded frame, and when that frame is
 * still whole: a longjmp out of FLINT, or an exception, leaves a guard behind that nobody removes.
 * A guard lost or missed costs time, never correctness: the nested product is then dispatched like any other.
 */
#ifndef NMODGPU_FLINT_GUARD_H
#define NMODGPU_FLINT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "find.h"

typedef struct nmodgpu_guard {
    uintptr_t canary;
    struct nmodgpu_guard *previous;
    nmodgpu_flint *previous_flint;
    uintptr_t previous_canary;
} nmodgpu_guard;

/** Functions that hold a guard keep it in their real frame, also under AddressSanitizer. */
#define NMODGPU_REAL_FRAME __attribute__((noinline, no_sanitize("address")))

void nmodgpu_guard_enter(nmodgpu_guard *guard, nmodgpu_flint *flint);
void nmodgpu_guard_leave(nmodgpu_guard *guard);

/** True when a call of `flint` from `site`, whose frame is at `frame`, comes from inside a guarded call. */
bool nmodgpu_guard_nested(nmodgpu_flint *flint, uintptr_t site, uintptr_t frame);

#endif
