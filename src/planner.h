/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The planner: from (modulus, m, k, n, rates) to plans that are proven exact.  Pure integer arithmetic
 * but for the predicted seconds.  Knows no backend.
 */
#ifndef NMODGPU_PLANNER_H
#define NMODGPU_PLANNER_H

#include "backend.h"
#include "plan.h"

/** Lists every valid plan, soonest first, into plans[0..capacity); returns how many there are in all.
 *  1 < p < 2^64; m, k, n >= 1, k <= 2^31. */
size_t nmodgpu_plan_list(nmodgpu_plan *plans, size_t capacity, uint64_t p, int64_t m, int64_t k, int64_t n,
                         const nmodgpu_rates *rates);

/** The soonest plan; with `name` not NULL the plan of just that name ("i8 crt(10) bytes"), or if there is none the
 *  soonest whose name begins with it ("f64(2,3)", "i8 crt(10) bytes w").  NMODGPU_DECLINED when there is none. */
nmodgpu_status nmodgpu_plan_best(nmodgpu_plan *plan, uint64_t p, int64_t m, int64_t k, int64_t n,
                                 const nmodgpu_rates *rates, const char *name);

/** Re-derives every bound of a plan and says whether it is exact; used by tests and before a plan from
 *  outside is trusted. */
bool nmodgpu_plan_verify(const nmodgpu_plan *plan);

/** Predicted seconds of a plan for operands on the device (conversion, products, reductions). */
double nmodgpu_plan_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates);

/** Makes of a plan with a Strassen-Winograd step the same without it, name and seconds too; any other stays what it
 *  is. */
void nmodgpu_plan_plain(nmodgpu_plan *plan, const nmodgpu_rates *rates);

/** Predicted seconds of a whole call from host memory: the above, plus copies and start-up. */
double nmodgpu_plan_call_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates, bool reads_c);

#endif
