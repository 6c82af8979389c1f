/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The order of multiply-accumulates and reductions for one tile of C, from a plan's block lengths.
 * Used by the product to run it and by the planner to price it, so that both mean the same.
 */
#ifndef NMODGPU_SCHEDULE_H
#define NMODGPU_SCHEDULE_H

#include "plan.h"

typedef enum nmodgpu_step_kind {
    NMODGPU_STEP_MULTIPLY = 1,
    NMODGPU_STEP_REDUCE = 2,
    NMODGPU_STEP_END = 0
} nmodgpu_step_kind;

typedef struct nmodgpu_step {
    nmodgpu_step_kind kind;
    uint64_t sum_mask; /**< planes concerned */
    int64_t k0, k1;    /**< MULTIPLY: the inner range */
    bool last;         /**< REDUCE: the final one */
} nmodgpu_step;

/** An iterator: all blocks of all sum planes over the inner range [0, k), reductions in between only where a
 *  plane must take its next block, one final reduction of every plane that still holds sums. */
typedef struct nmodgpu_schedule {
    const nmodgpu_plan *plan;
    int64_t k;
    int64_t done[NMODGPU_MAX_SUMS]; /**< inner length taken so far */
    uint64_t holding;               /**< planes with unreduced sums */
    bool finished;
} nmodgpu_schedule;

void nmodgpu_schedule_begin(nmodgpu_schedule *schedule, const nmodgpu_plan *plan, int64_t k);
nmodgpu_step nmodgpu_schedule_next(nmodgpu_schedule *schedule);

#endif
