/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "schedule.h"

#include <string.h>

void nmodgpu_schedule_begin(nmodgpu_schedule *schedule, const nmodgpu_plan *plan, int64_t k)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->plan = plan;
    schedule->k = k;
}

/** The plane that is furthest behind; -1 when all are done. */
static int hindmost(const nmodgpu_schedule *s)
{
    int best = -1;
    for (uint32_t g = 0; g < s->plan->sums; g++)
        if (s->done[g] < s->k && (best < 0 || s->done[g] < s->done[best]))
            best = (int)g;
    return best;
}

static int64_t block_end(const nmodgpu_schedule *s, uint32_t g)
{
    const int64_t end = s->done[g] + s->plan->block[g];
    return end < s->k ? end : s->k;
}

nmodgpu_step nmodgpu_schedule_next(nmodgpu_schedule *s)
{
    nmodgpu_step step = {NMODGPU_STEP_END, 0, 0, 0, false};
    if (s->finished)
        return step;
    const int first = hindmost(s);
    if (first < 0) {
        s->finished = true;
        step.kind = NMODGPU_STEP_REDUCE;
        step.sum_mask = s->holding;
        step.last = true;
        return step;
    }
    step.k0 = s->done[first];
    step.k1 = block_end(s, (uint32_t)first);
    for (uint32_t g = 0; g < s->plan->sums; g++)
        if (s->done[g] == step.k0 && step.k0 < s->k && block_end(s, g) == step.k1)
            step.sum_mask |= 1ULL << g;
    if (step.sum_mask & s->holding) {
        step.kind = NMODGPU_STEP_REDUCE;
        step.sum_mask = s->holding;
        s->holding = 0;
        return step;
    }
    step.kind = NMODGPU_STEP_MULTIPLY;
    s->holding |= step.sum_mask;
    for (uint32_t g = 0; g < s->plan->sums; g++)
        if (step.sum_mask >> g & 1)
            s->done[g] = step.k1;
    return step;
}
