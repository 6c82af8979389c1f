/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The schedule: what it visits, what it counts, and that prices mean the same counts.
 */
#include <math.h>

#include "planner_cases.h"
#include "schedule.h"
#include "support.h"

#define MOST_BLOCKS 4000

static nmodgpu_plan plans[MANY_PLANS];

typedef struct counts {
    int64_t reductions;
    int64_t reads; /* sum planes read by reductions */
    int64_t gemms;
    int64_t inner; /* inner lengths of all GEMMs */
} counts;

typedef struct walk {
    const nmodgpu_plan *plan;
    int64_t k;
    int64_t done[NMODGPU_MAX_SUMS];
    int64_t used[NMODGPU_MAX_SUMS];
    counts n;
} walk;

static void check_multiply(walk *w, nmodgpu_step step)
{
    check_plan(step.k0 < step.k1 && step.k1 <= w->k, w->plan);
    check_plan(step.sum_mask != 0 && step.sum_mask >> w->plan->sums == 0, w->plan);
    for (uint32_t g = 0; g < w->plan->sums; g++) {
        if (!(step.sum_mask >> g & 1))
            continue;
        check_plan(step.k0 == w->done[g], w->plan); /* in order, nothing twice, nothing left out */
        w->done[g] = step.k1;
        w->used[g] += step.k1 - step.k0;
        check_plan(w->used[g] <= w->plan->block[g] && w->used[g] <= w->plan->lambda[g], w->plan);
    }
    for (uint32_t t = 0; t < w->plan->terms; t++) {
        if (!(step.sum_mask >> w->plan->term[t].sum & 1))
            continue;
        w->n.gemms++;
        w->n.inner += step.k1 - step.k0;
    }
}

static void check_reduce(walk *w, nmodgpu_step step)
{
    for (uint32_t g = 0; g < w->plan->sums; g++) {
        const bool holds = w->used[g] > 0;
        check_plan((step.sum_mask >> g & 1) == holds, w->plan); /* all that hold sums, and only those */
        check_plan(!step.last || w->done[g] == w->k, w->plan);
        w->n.reads += holds;
        w->used[g] = 0;
    }
    check_plan(step.sum_mask >> w->plan->sums == 0, w->plan);
    check_plan(step.last || step.sum_mask != 0, w->plan);
    w->n.reductions++;
}

/** Walks through a whole schedule; every promise of schedule.h is checked on the way. */
static counts walk_schedule(const nmodgpu_plan *plan, int64_t k)
{
    walk w = {.plan = plan, .k = k};
    nmodgpu_schedule schedule;
    bool last = false;
    nmodgpu_schedule_begin(&schedule, plan, k);
    for (;;) {
        const nmodgpu_step step = nmodgpu_schedule_next(&schedule);
        if (step.kind == NMODGPU_STEP_END)
            break;
        check_plan(!last, plan); /* nothing comes after the final reduction */
        if (step.kind == NMODGPU_STEP_MULTIPLY)
            check_multiply(&w, step);
        else
            check_reduce(&w, step);
        last = step.last;
    }
    check_plan(last, plan);
    check_plan(nmodgpu_schedule_next(&schedule).kind == NMODGPU_STEP_END, plan); /* and it stays ended */
    return w.n;
}

static int64_t blocks_of(const nmodgpu_plan *plan, uint32_t g, int64_t k)
{
    return (k + plan->block[g] - 1) / plan->block[g];
}

static int64_t most_blocks(const nmodgpu_plan *plan, int64_t k)
{
    int64_t most = 0;
    for (uint32_t g = 0; g < plan->sums; g++)
        if (most < blocks_of(plan, g, k))
            most = blocks_of(plan, g, k);
    return most;
}

static void check_counts(const nmodgpu_plan *plan, int64_t k)
{
    const counts n = walk_schedule(plan, k);
    int64_t reads = 0;
    int64_t gemms = 0;
    for (uint32_t g = 0; g < plan->sums; g++)
        reads += blocks_of(plan, g, k);
    for (uint32_t t = 0; t < plan->terms; t++)
        gemms += blocks_of(plan, plan->term[t].sum, k);
    check_plan(n.reductions == most_blocks(plan, k), plan);
    check_plan(n.reads == reads, plan);
    check_plan(n.gemms == gemms, plan);
    check_plan(n.inner == k * (int64_t)plan->terms, plan);
}

START_TEST(every_block_is_taken_once)
{
    int64_t budget = 3000000; /* blocks walked through in all */
    for (int round = 0; round < 2000 && budget > 0; round++) {
        const problem q = random_problem();
        const nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
        /* Tiles of the inner dimension walk the same plan over a shorter one. */
        const int64_t k = test_below(3) ? q.k : 1 + (int64_t)test_below((uint64_t)q.k);
        if (most_blocks(plan, k) > MOST_BLOCKS)
            continue;
        check_counts(plan, k);
        budget -= most_blocks(plan, k) * plan->sums;
    }
}
END_TEST

/** Block lengths that no planner would choose are walked just as well. */
START_TEST(odd_blocks_are_taken_once)
{
    for (int round = 0; round < 2000; round++) {
        const problem q = random_problem();
        nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
        const int64_t k = 1 + (int64_t)test_below(200);
        for (uint32_t g = 0; g < plan->sums; g++) {
            plan->block[g] = 1 + (int64_t)test_below(test_below(2) ? 8 : 250);
            plan->lambda[g] = plan->block[g];
        }
        check_counts(plan, k);
    }
}
END_TEST

START_TEST(nothing_to_multiply_is_one_reduction)
{
    const problem q = random_problem();
    const nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
    const counts n = walk_schedule(plan, 0);
    check_plan(n.reductions == 1 && n.reads == 0 && n.gemms == 0, plan);
}
END_TEST

/** Seconds of the GEMMs that a walk counted, with a price of this test's own. */
static double walked_gemms(const nmodgpu_plan *plan, const nmodgpu_rates *r, counts n)
{
    const bool i8 = plan->number == NMODGPU_I8, bytes = plan->sum_bytes == 1;
    const double i8_tile = r->i8_tile > 0 ? r->i8_tile : 1;
    const double tile_rows = i8 ? i8_tile : r->f64_tile_rows, tile_cols = i8 ? i8_tile : r->f64_tile_cols;
    const double rate = bytes ? r->i8_fused_flops : i8 ? r->i8_flops : r->f64_flops;
    const double k_half = bytes ? r->i8_fused_k_half : i8 ? r->i8_k_half : r->f64_k_half;
    /* With sums of bytes one launch multiplies all planes, and their tiles fill the rounds together. */
    const double at_once = bytes ? plan->terms : 1;
    const double tiles = ceil((double)plan->m / tile_rows) * ceil((double)plan->n / tile_cols) * at_once;
    const double rounds = tiles / r->processors;
    const double paid = rounds < 1 ? 1 : rounds / 2 + ceil(rounds) / 2;
    const double entries = paid * r->processors * tile_rows * tile_cols / at_once;
    const double launches = (double)n.gemms / at_once;
    return 2 * entries * ((double)n.inner + (double)n.gemms * k_half) / rate + launches * r->gemm_start;
}

/** Seconds by walking through the schedule. */
static double walked_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *r)
{
    const counts n = walk_schedule(plan, plan->k);
    const bool i8 = plan->number == NMODGPU_I8;
    const double m = (double)plan->m, k = (double)plan->k, cols = (double)plan->n;
    const double word = plan->modulus >> 32 ? 8 : 4;
    const double plane = i8 ? 1 : 8;
    const double made = i8 && r->residues > 0 ? 1 / r->residues : 0;
    const double left = fmax((word + plane * plan->left.planes) / r->pass_bytes, made * plan->left.planes);
    const double right = fmax((word + plane * plan->right.planes) / r->pass_bytes, made * plan->right.planes);
    const bool integer_road = !i8 && plan->modulus >= 1ULL << 49 && r->integer_sums > 0;
    const double sum = fmax(plan->sum_bytes / r->pass_bytes, integer_road ? 1 / r->integer_sums : made);
    return walked_gemms(plan, r, n) + m * k * left + k * cols * right +
           m * cols * word * (double)(2 * n.reductions - 1) / r->pass_bytes + m * cols * (double)n.reads * sum +
           (double)(n.reductions + 2) * r->pass_start;
}

START_TEST(prices_are_those_of_the_schedule)
{
    int64_t budget = 2000000;
    for (int round = 0; round < 1000 && budget > 0; round++) {
        const problem q = random_problem();
        const nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
        if (most_blocks(plan, q.k) > MOST_BLOCKS)
            continue;
        const double walked = walked_seconds(plan, &q.rates);
        check_plan(fabs(plan->seconds - walked) <= 1e-9 * walked, plan);
        check_plan(nmodgpu_plan_seconds(plan, &q.rates) == plan->seconds, plan);
        budget -= most_blocks(plan, q.k) * plan->sums;
    }
}
END_TEST

START_TEST(a_call_costs_its_copies_besides)
{
    for (int round = 0; round < 200; round++) {
        const problem q = random_problem();
        const nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
        const double m = (double)q.m, k = (double)q.k, n = (double)q.n;
        const double word = q.p >> 32 ? 8 : 4;
        const double copies = 8 * (m * k + k * n) / q.rates.import_bytes + 8 * m * n / q.rates.export_bytes;
        const double base = 8 * m * n / q.rates.import_bytes + word * m * n / q.rates.pass_bytes;
        const double plain = plan->seconds + copies + q.rates.call_start;
        check_plan(fabs(nmodgpu_plan_call_seconds(plan, &q.rates, false) - plain) <= 1e-9 * plain, plan);
        check_plan(fabs(nmodgpu_plan_call_seconds(plan, &q.rates, true) - plain - base) <= 1e-9 * (plain + base),
                   plan);
    }
}
END_TEST

TCase *schedule_case(void)
{
    TCase *tc = tcase_create("schedule");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, every_block_is_taken_once);
    tcase_add_test(tc, odd_blocks_are_taken_once);
    tcase_add_test(tc, nothing_to_multiply_is_one_reduction);
    tcase_add_test(tc, prices_are_those_of_the_schedule);
    tcase_add_test(tc, a_call_costs_its_copies_besides);
    return tc;
}
