/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The schedule: what it visits, what it counts, and that prices mean the same counts.
 */
#include <math.h>

#include "plan_i8.h"
#include "planner_cases.h"
#include "schedule.h"
#include "support.h"

#define MOST_BLOCKS 4000

static nmodgpu_plan plans[MANY_PLANS];

typedef struct counts {
    int64_t reductions;
    int64_t reads; /* sum planes read by reductions */
    int64_t gemms;
    int64_t inner;  /* inner lengths of all GEMMs */
    int64_t steps;  /* multiplications one after the other */
    int64_t halves; /* half inner lengths of all GEMMs, each filled up */
} counts;

/** The least multiple of 16 that is at least half of x. */
static int64_t half_of(int64_t x)
{
    return (x + 31) / 32 * 16;
}

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
        w->n.halves += half_of(step.k1 - step.k0);
    }
    w->n.steps++;
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
    /* A Strassen-Winograd step is seven products of halves. */
    const double products = plan->winograd ? 7 : 1;
    const double rows = (double)(plan->winograd ? half_of(plan->m) : plan->m);
    const double cols = (double)(plan->winograd ? half_of(plan->n) : plan->n);
    const double inner = (double)(plan->winograd ? n.halves : n.inner);
    const double tiles = ceil(rows / tile_rows) * ceil(cols / tile_cols) * at_once;
    const double rounds = tiles / r->processors;
    const double paid = rounds < 1 ? 1 : rounds / 2 + ceil(rounds) / 2;
    const double entries = paid * r->processors * tile_rows * tile_cols / at_once;
    const double launches = products * (double)n.gemms / at_once;
    return products * 2 * entries * (inner + (double)n.gemms * k_half) / rate + launches * r->gemm_start;
}

/** The narrowest of the widths that the engine has. */
static double word_width(const nmodgpu_plan *plan)
{
    const double bits = log2((double)plan->modulus);
    if (plan->number != NMODGPU_I8)
        return bits < 32 ? 4 : 8;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits < 32 ? 4 : 8;
}

/** Seconds to move those words and for each of the planes that many entries, or to work on these. */
static double walked_pass(const nmodgpu_rates *r, double words, double entries, double entry_bytes, uint32_t planes,
                          double seconds_each)
{
    return fmax((words + entries * entry_bytes * planes) / r->pass_bytes, entries * planes * seconds_each);
}

/** Seconds by walking through the schedule. */
static double walked_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *r)
{
    const counts n = walk_schedule(plan, plan->k);
    const bool i8 = plan->number == NMODGPU_I8, step = plan->winograd != 0;
    const double m = (double)plan->m, k = (double)plan->k, cols = (double)plan->n;
    const double rows7 =
        step ? 7 * (double)half_of(plan->m) : m; /* of the planes of all products, one upon another */
    const double cols7 = step ? 7 * (double)half_of(plan->n) : cols;
    const double inner = step ? (double)n.halves / plan->terms : k;
    const double result = step ? rows7 * (double)half_of(plan->n) : m * cols;
    const double word = word_width(plan);
    const double plane = i8 ? 1 : 8;
    const double made = i8 && r->residues > 0 ? 1 / r->residues : 0;
    const double left = walked_pass(r, m * k * word, rows7 * inner, plane, plan->left.planes, made);
    const double right = walked_pass(r, k * cols * word, inner * cols7, plane, plan->right.planes, made);
    const bool integer_road = !i8 && plan->modulus >= 1ULL << 49 && r->integer_sums > 0;
    const double sum = fmax(plan->sum_bytes / r->pass_bytes, integer_road ? 1 / r->integer_sums : made);
    const double conversions = step ? 2 * (double)n.steps : 2;
    return walked_gemms(plan, r, n) + left + right +
           m * cols * word * (double)(2 * n.reductions - 1) / r->pass_bytes + result * (double)n.reads * sum +
           ((double)n.reductions + conversions) * r->pass_start;
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

/** Of Strassen-Winograd steps, also where nobody would take them. */
START_TEST(prices_of_steps_are_those_of_the_schedule)
{
    int seen = 0;
    for (int round = 0; round < 1000; round++) {
        problem q = random_problem();
        nmodgpu_plan plan;
        q.p = round % 4 ? q.p : 2 + test_below(255);
        q.rates.i8_fused_flops = 1e15;
        for (nmodgpu_i8_kind kind = 0; kind < NMODGPU_I8_KINDS; kind++) {
            if (!nmodgpu_i8_winograd(kind) ||
                !nmodgpu_i8_plan(&plan, kind, q.p, 32 + q.m, 32 + q.k % 5000000, 32 + q.n))
                continue;
            const double seconds = nmodgpu_plan_seconds(&plan, &q.rates);
            const double walked = walked_seconds(&plan, &q.rates);
            check_plan(plan.winograd && fabs(seconds - walked) <= 1e-9 * walked, &plan);
            seen += plan.block[0] < plan.k;
        }
    }
    ck_assert_int_ge(seen, 100);
}
END_TEST

START_TEST(a_call_costs_its_copies_besides)
{
    for (int round = 0; round < 200; round++) {
        const problem q = random_problem();
        const nmodgpu_plan *plan = &plans[test_below(list_plans(plans, &q))];
        const double m = (double)q.m, k = (double)q.k, n = (double)q.n;
        const double word = word_width(plan);
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
    tcase_add_test(tc, prices_of_steps_are_those_of_the_schedule);
    tcase_add_test(tc, a_call_costs_its_copies_besides);
    return tc;
}
