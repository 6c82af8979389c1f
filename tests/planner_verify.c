/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu_plan_verify accepts what the planner makes and rejects every way of spoiling it.
 */
#include <math.h>
#include <string.h>

#include "planner_cases.h"
#include "support.h"

static nmodgpu_plan plans[MANY_PLANS];

START_TEST(every_plan_of_every_list_verifies)
{
    for (int round = 0; round < 400; round++) {
        const problem q = random_problem();
        const size_t count = list_plans(plans, &q);
        for (size_t i = 0; i < count; i++)
            check_plan(nmodgpu_plan_verify(&plans[i]), &plans[i]);
    }
}
END_TEST

/** The plan that every spoiled copy starts from. */
static nmodgpu_plan sound;

#define rejected(what, statement)                                                                                  \
    do {                                                                                                           \
        nmodgpu_plan plan = sound;                                                                                 \
        statement;                                                                                                 \
        if (nmodgpu_plan_verify(&plan))                                                                            \
            ck_abort_msg("seed %llu: %s with p = %llu, k = %lld is accepted with %s",                              \
                         (unsigned long long)planner_seed, sound.name, (unsigned long long)sound.modulus,          \
                         (long long)sound.k, what);                                                                \
    } while (0)

static void spoil_head(void)
{
    rejected("another number type", plan.number = NMODGPU_I8);
    rejected("another encoding", plan.encoding = NMODGPU_RESIDUES);
    rejected("a Strassen-Winograd step", plan.winograd = 1);
    rejected("sums of four bytes", plan.sum_bytes = 4);
    rejected("sums of no size", plan.sum_bytes = 0);
    rejected("twice the modulus", plan.modulus *= 2);
    rejected("no modulus", plan.modulus = 0);
    rejected("modulus 1", plan.modulus = 1);
    rejected("m = 0", plan.m = 0);
    rejected("k = 0", plan.k = 0);
    rejected("n = -1", plan.n = -1);
    rejected("no terms", plan.terms = 0);
    rejected("a term too few", plan.terms--);
    rejected("a term too many", plan.terms++);
    rejected("far too many terms", plan.terms = NMODGPU_MAX_TERMS + 1);
    rejected("no sums", plan.sums = 0);
    rejected("a sum too few", plan.sums--);
    rejected("a sum too many", plan.sums++);
    rejected("far too many sums", plan.sums = NMODGPU_MAX_SUMS + 1);
    rejected("no number for seconds", plan.seconds = NAN);
    rejected("negative seconds", plan.seconds = -1);
    rejected("endless seconds", plan.seconds = INFINITY);
    rejected("no name", plan.name[0] = '\0');
    rejected("an endless name", memset(plan.name, 'x', sizeof plan.name));
}

#define SIDE(plan) (left ? &(plan)->left : &(plan)->right)

static void spoil_operand(bool left)
{
    const nmodgpu_operand_plan *operand = SIDE(&sound);
    rejected("no digits", SIDE(&plan)->digits = 0);
    rejected("a digit too few", SIDE(&plan)->digits--);
    rejected("a digit too many", (SIDE(&plan)->digits++, SIDE(&plan)->digit_bits += operand->digits == 1));
    rejected("far too many digits", SIDE(&plan)->digits = 33);
    rejected("no planes", SIDE(&plan)->planes = 0);
    rejected("a plane too few", SIDE(&plan)->planes--);
    rejected("a plane too many", SIDE(&plan)->planes++);
    rejected("far too many planes", SIDE(&plan)->planes = NMODGPU_MAX_PLANES + 1);
    if (operand->digits > 1) {
        rejected("a smaller base", SIDE(&plan)->digit_bits--);
        rejected("a greater base", SIDE(&plan)->digit_bits++);
        rejected("base 1", SIDE(&plan)->digit_bits = 0);
        rejected("an impossible base", SIDE(&plan)->digit_bits = 64);
    }
    for (uint32_t i = 0; i < operand->planes; i++) {
        rejected("a smaller plane bound", SIDE(&plan)->plane_bound[i]--);
        rejected("a greater plane bound", SIDE(&plan)->plane_bound[i]++);
        rejected("a plane without digits", SIDE(&plan)->plane_digits[i] = 0);
        for (uint32_t j = 0; j < 32; j++)
            rejected("another digit in a plane", SIDE(&plan)->plane_digits[i] ^= 1u << j);
    }
}

static void spoil_terms(void)
{
    for (uint32_t t = 0; t < sound.terms; t++) {
        for (uint32_t i = 0; i <= sound.left.planes; i++)
            if (i != sound.term[t].left)
                rejected("another left plane", plan.term[t].left = (uint8_t)i);
        for (uint32_t j = 0; j <= sound.right.planes; j++)
            if (j != sound.term[t].right)
                rejected("another right plane", plan.term[t].right = (uint8_t)j);
        for (uint32_t g = 0; g <= sound.sums; g++)
            if (g != sound.term[t].sum)
                rejected("another sum", plan.term[t].sum = (uint8_t)g);
    }
}

/** All sums one place up, and nothing in the first. */
static void insert_empty_sum(nmodgpu_plan *plan)
{
    memmove(plan->coefficient + 1, plan->coefficient, sizeof plan->coefficient - sizeof plan->coefficient[0]);
    memmove(plan->weight + 1, plan->weight, sizeof plan->weight - sizeof plan->weight[0]);
    memmove(plan->lambda + 1, plan->lambda, sizeof plan->lambda - sizeof plan->lambda[0]);
    memmove(plan->block + 1, plan->block, sizeof plan->block - sizeof plan->block[0]);
    plan->sums++;
    for (uint32_t t = 0; t < plan->terms; t++)
        plan->term[t].sum++;
}

static void spoil_sums(void)
{
    const uint64_t p = sound.modulus;
    rejected("a sum without terms", insert_empty_sum(&plan));
    for (uint32_t g = 0; g < sound.sums; g++) {
        rejected("another coefficient", plan.coefficient[g] = (plan.coefficient[g] + 1) % p);
        rejected("an opposite coefficient", plan.coefficient[g] = (p - plan.coefficient[g]) % p);
        rejected("a coefficient out of range", plan.coefficient[g] += p);
        rejected("a smaller weight", plan.weight[g]--);
        rejected("a greater weight without its block",
                 plan.weight[g] = (1ULL << 53) / (uint64_t)plan.lambda[g] + 1);
        rejected("a longer lambda", plan.lambda[g]++);
        rejected("a lambda that overflows", plan.lambda[g] = INT64_MAX);
        rejected("a growth that overflows", (plan.weight[g] = 1ULL << 62, plan.lambda[g] = 4, plan.block[g] = 1));
        rejected("no lambda", plan.lambda[g] = 0);
        rejected("a block over lambda", plan.block[g] = plan.lambda[g] + 1);
        rejected("no block", plan.block[g] = 0);
        rejected("a negative block", plan.block[g] = -1);
    }
}

/** Odd moduli of 30 to 62 bits: powers of two do not vanish, and chance seldom makes another plan exact.
 *  Every other one has top digits that are larger at one end than at the other: floor(p/2) = (t - 1/2) 2^bits. */
static uint64_t odd_modulus(int round)
{
    const unsigned bits = 15 + (unsigned)test_below(16);
    const uint64_t t = (1ULL << (bits - 1)) + test_below(1ULL << (bits - 2));
    if (round % 2)
        return 2 * ((t << bits) - (1ULL << (bits - 1))) + 1;
    return ((1ULL << (29 + test_below(33))) + test_below(1ULL << 28)) | 1;
}

START_TEST(every_spoiled_plan_is_rejected)
{
    for (int round = 0; round < 25; round++) {
        problem q = random_problem();
        q.p = odd_modulus(round);
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            sound = plans[i];
            check_plan(nmodgpu_plan_verify(&sound), &sound);
            spoil_head();
            spoil_operand(true);
            spoil_operand(false);
            spoil_terms();
            spoil_sums();
        }
    }
}
END_TEST

/** Plans may claim less than they could: that is exact too. */
START_TEST(cautious_plans_are_accepted)
{
    for (int round = 0; round < 100; round++) {
        const problem q = random_problem();
        const size_t count = list_f64_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            nmodgpu_plan *plan = &plans[i];
            for (uint32_t g = 0; g < plan->sums; g++) {
                plan->lambda[g] = 1 + (int64_t)test_below((uint64_t)plan->lambda[g]);
                plan->block[g] = 1 + (int64_t)test_below((uint64_t)plan->lambda[g]);
                const uint64_t room = (1ULL << 53) / (uint64_t)plan->lambda[g] - plan->weight[g];
                plan->weight[g] += test_below(room + 1);
            }
            check_plan(nmodgpu_plan_verify(plan), plan);
        }
    }
}
END_TEST

/** 2^51 is what nmodgpu_small_to_double takes, whatever room the sums have. */
START_TEST(planes_must_be_convertible)
{
    const problem q = {3, 10, 10, 10, random_rates()};
    nmodgpu_plan plan;
    ck_assert_int_eq(nmodgpu_plan_best(&plan, q.p, q.m, q.k, q.n, &q.rates, "f64(1,1)"), NMODGPU_OK);
    plan.left.plane_bound[0] = 1ULL << 51;
    plan.weight[0] = 1ULL << 52;
    plan.lambda[0] = 2;
    plan.block[0] = 1;
    check_plan(nmodgpu_plan_verify(&plan), &plan);
    plan.left.plane_bound[0]++;
    check_plan(!nmodgpu_plan_verify(&plan), &plan);
}
END_TEST

TCase *verify_case(void)
{
    TCase *tc = tcase_create("verify");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, every_plan_of_every_list_verifies);
    tcase_add_test(tc, every_spoiled_plan_is_rejected);
    tcase_add_test(tc, cautious_plans_are_accepted);
    tcase_add_test(tc, planes_must_be_convertible);
    return tc;
}
