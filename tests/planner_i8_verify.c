/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu_plan_verify rejects every way of spoiling a plan in int8, and accepts cautious ones.
 */
#include <math.h>
#include <string.h>

#include "plan_i8.h"
#include "planner_cases.h"
#include "support.h"

static nmodgpu_plan plans[MANY_PLANS];

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

#define SIDE(plan) (left ? &(plan)->left : &(plan)->right)

static bool is_residues(void)
{
    return sound.encoding == NMODGPU_RESIDUES;
}

static bool is_direct(void)
{
    return is_residues() && sound.sums == 1 && sound.left.plane_digits[0] == sound.modulus;
}

static void spoil_head(void)
{
    rejected("the number type double", plan.number = NMODGPU_F64);
    rejected("no number type", plan.number = 0);
    rejected("the other encoding", plan.encoding = is_residues() ? NMODGPU_DIGITS : NMODGPU_RESIDUES);
    rejected("no encoding", plan.encoding = 0);
    rejected("two Strassen-Winograd steps", plan.winograd = 2);
    rejected("no number of steps", plan.winograd = UINT32_MAX);
    rejected("a step over int32 sums", (plan.winograd = 1, plan.sum_bytes = 4));
    rejected("sums of eight bytes", plan.sum_bytes = 8);
    rejected("sums of two bytes", plan.sum_bytes = 2);
    rejected("no modulus", plan.modulus = 0);
    rejected("modulus 1", plan.modulus = 1);
    rejected("k = 0", plan.k = 0);
    rejected("no terms", plan.terms = 0);
    rejected("a term too few", plan.terms--);
    rejected("a term too many", plan.terms++);
    rejected("far too many terms", plan.terms = NMODGPU_MAX_TERMS + 1);
    rejected("no sums", plan.sums = 0);
    rejected("a sum too few", plan.sums--);
    rejected("a sum too many", plan.sums++);
    rejected("far too many sums", plan.sums = NMODGPU_MAX_SUMS + 1);
    rejected("no number for seconds", plan.seconds = NAN);
    rejected("no name", plan.name[0] = '\0');
    if (!is_residues())
        rejected("digit sums of a byte", plan.sum_bytes = 1);
    if (!is_residues())
        rejected("a step over digits", (plan.winograd = 1, plan.sum_bytes = 1));
}

static void spoil_operand(bool left)
{
    rejected("no planes", SIDE(&plan)->planes = 0);
    rejected("a plane too few", SIDE(&plan)->planes--);
    rejected("a plane too many", SIDE(&plan)->planes++);
    rejected("far too many planes", SIDE(&plan)->planes = NMODGPU_MAX_PLANES + 1);
    for (uint32_t i = 0; i < SIDE(&sound)->planes; i++) {
        rejected("a smaller plane bound", SIDE(&plan)->plane_bound[i]--);
        rejected("a plane bound over int8", SIDE(&plan)->plane_bound[i] = 129);
        rejected("a plane of nothing", SIDE(&plan)->plane_digits[i] = 0);
        for (uint32_t j = 0; j < 32; j++)
            rejected("something else in a plane", SIDE(&plan)->plane_digits[i] ^= 1u << j);
    }
    if (is_residues())
        return;
    rejected("no digits", SIDE(&plan)->digits = 0);
    rejected("a digit too few", SIDE(&plan)->digits--);
    rejected("a digit too many", SIDE(&plan)->digits++);
    rejected("far too many digits", SIDE(&plan)->digits = 33);
    rejected("a smaller base", SIDE(&plan)->digit_bits--);
    rejected("a greater base", SIDE(&plan)->digit_bits++);
    rejected("base 1", SIDE(&plan)->digit_bits = 0);
    rejected("an impossible base", SIDE(&plan)->digit_bits = 64);
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

static void spoil_sums(void)
{
    const uint64_t p = sound.modulus;
    for (uint32_t g = 0; g < sound.sums; g++) {
        if (!is_residues()) {
            rejected("another coefficient", plan.coefficient[g] = (plan.coefficient[g] + 1) % p);
            rejected("a coefficient out of range", plan.coefficient[g] += p);
            rejected("a longer lambda", plan.lambda[g]++);
        }
        rejected("a smaller weight", plan.weight[g]--);
        rejected("a greater weight without its block",
                 plan.weight[g] = (1ULL << 31) / (uint64_t)plan.lambda[g] + 1);
        rejected("a lambda that overflows", plan.lambda[g] = INT64_MAX);
        rejected("a growth that overflows", (plan.weight[g] = 1ULL << 62, plan.lambda[g] = 4, plan.block[g] = 1));
        rejected("no lambda", plan.lambda[g] = 0);
        rejected("a block over lambda", plan.block[g] = plan.lambda[g] + 1);
        rejected("no block", plan.block[g] = 0);
        rejected("a negative block", plan.block[g] = -16);
        if (sound.k > 16)
            rejected("a block that ends between words", plan.block[g] = 15);
    }
}

static void set_moduli(nmodgpu_plan *plan, uint32_t i, uint32_t m)
{
    plan->left.plane_digits[i] = plan->right.plane_digits[i] = m;
}

static void each_lambda(nmodgpu_plan *plan, int64_t lambda, int64_t block)
{
    for (uint32_t g = 0; g < plan->sums; g++) {
        plan->lambda[g] = lambda;
        plan->block[g] = block;
    }
}

static void one_modulus_less(nmodgpu_plan *plan)
{
    plan->terms--;
    plan->sums--;
    plan->left.planes--;
    plan->right.planes--;
}

static void spoil_residues(void)
{
    if (!is_residues())
        return;
    const int64_t k = sound.k;
    if (!is_direct()) {
        if (sound.modulus >> 48 == 0) /* M is at most 256 k / lambda times what it must be, and k < 2^21 */
            rejected("2^16 times the modulus", plan.modulus <<= 16);
        /* Lambda is the longest that M can cover, unless 131071 was the end. */
        if (sound.lambda[0] < NMODGPU_I8_MAX_INNER) {
            rejected("a lambda that M does not allow", each_lambda(&plan, plan.lambda[0] + 1, plan.block[0]));
            rejected("a lambda of the last sum that M does not allow", plan.lambda[plan.sums - 1]++);
        } else {
            rejected("a lambda over 131071", each_lambda(&plan, NMODGPU_I8_MAX_INNER + 1, 64));
        }
        rejected("a modulus too few", one_modulus_less(&plan));
    } else {
        rejected("twice the modulus",
                 (plan.modulus *= 2, plan.lambda[0] = plan.block[0] = 1 << 16, plan.k = 1 << 16));
        rejected("another modulus than p", set_moduli(&plan, 0, plan.modulus == 256 ? 255 : 3 - plan.modulus % 2));
    }
    for (uint32_t i = 0; i < sound.sums; i++) {
        rejected("modulus 1", set_moduli(&plan, i, 1));
        rejected("modulus 257", set_moduli(&plan, i, 257));
        for (uint32_t j = 0; j < i; j++)
            rejected("a modulus twice", set_moduli(&plan, i, plan.left.plane_digits[j]));
        if (i > 0)
            rejected("an even modulus after 256", set_moduli(&plan, i, plan.left.plane_digits[i] - 1));
        if (sound.sums > 1 && k > 64) {
            rejected("a shorter block of one sum", plan.block[i] = 16);
        }
    }
    if (sound.sum_bytes == 1 && k > NMODGPU_I8_MAX_INNER)
        rejected("a block too long for a launch", (plan.lambda[0] = plan.block[0] = NMODGPU_I8_MAX_INNER + 1));
}

START_TEST(every_spoiled_i8_plan_is_rejected)
{
    for (int round = 0; round < 60; round++) {
        problem q = random_problem();
        /* Odd moduli that chance gives no other exact plan: not so small that a modulus is to spare. */
        const uint64_t most = round % 3 == 0 ? 255 : round % 3 == 1 ? 65535 : 1ULL << (18 + test_below(46));
        q.p = (most - test_below(most / 3)) | 1;
        q.k = 1000 + q.k % (1 << 20);
        if (round % 2) { /* for which there are Strassen-Winograd steps */
            q.m += 2048;
            q.k += 2048;
            q.n += 2048;
        }
        const size_t count = list_i8_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            sound = plans[i];
            check_plan(nmodgpu_plan_verify(&sound), &sound);
            spoil_head();
            spoil_operand(true);
            spoil_operand(false);
            spoil_terms();
            spoil_sums();
            spoil_residues();
        }
    }
}
END_TEST

/** The sum of -(2^31 - 1) that p = 3 and as many entries would give is one too low for nmodgpu_residue_of_sum. */
START_TEST(sums_stay_above_the_offset)
{
    const problem q = {3, 10, 1LL << 31, 10, random_rates()};
    const size_t count = list_i8_plans(plans, &q);
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(plans[i].name, "i8 direct sums") != 0)
            continue;
        check_plan(plans[i].lambda[0] == (1LL << 31) - 3, &plans[i]);
        check_plan(nmodgpu_plan_verify(&plans[i]), &plans[i]);
        plans[i].lambda[0]++;
        check_plan(!nmodgpu_plan_verify(&plans[i]), &plans[i]);
        seen++;
    }
    ck_assert_uint_eq(seen, 1);
}
END_TEST

/** Digits of 128 are no int8: p = 16512 in base 2^7 with its sum of digits, p = 65537 in base 2^8. */
START_TEST(digits_beyond_int8_are_rejected)
{
    static const struct {
        uint64_t p;
        const char *name;
    } last[] = {{16511, "i8(2,2)k"}, {65536, "i8(2,2) "}};
    for (size_t i = 0; i < 2; i++) {
        const problem q = {last[i].p, 10, 10, 10, random_rates()};
        const size_t count = list_i8_plans(plans, &q);
        for (size_t j = 0; j < count; j++) {
            if (strncmp(plans[j].name, last[i].name, strlen(last[i].name)) != 0)
                continue;
            sound = plans[j];
            for (uint32_t g = 0; g < sound.sums; g++) /* as the next p would have it */
                sound.coefficient[g] = 0;
            rejected("coefficients of 0", (void)0);
            sound = plans[j];
            const uint64_t next = sound.modulus + 1;
            const uint64_t base = 1ULL << sound.left.digit_bits;
            const bool pair = sound.left.planes == 3;
            rejected("the next modulus", (plan.modulus = next, plan.coefficient[0] = pair ? next + 1 - base : 1,
                                          plan.coefficient[1] = pair ? (base * base - base) % next : base,
                                          plan.coefficient[2] = pair ? base : base * base % next));
        }
    }
}
END_TEST

START_TEST(cautious_i8_plans_are_accepted)
{
    int seen = 0;
    for (int round = 0; round < 300; round++) {
        const problem q = random_problem();
        const size_t count = list_i8_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            nmodgpu_plan *plan = &plans[i];
            int64_t least = NMODGPU_I8_MAX_INNER;
            for (uint32_t g = 0; g < plan->sums; g++)
                least = least < plan->lambda[g] ? least : plan->lambda[g];
            if (least < 16)
                continue;
            const int64_t lambda = 16 + (int64_t)test_below((uint64_t)(least - 15));
            each_lambda(plan, lambda, 16 * (1 + (int64_t)test_below((uint64_t)lambda / 16)));
            check_plan(nmodgpu_plan_verify(plan), plan);
            seen++;
        }
    }
    ck_assert_int_ge(seen, 300);
}
END_TEST

TCase *i8_verify_case(void)
{
    TCase *tc = tcase_create("int8 verify");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, every_spoiled_i8_plan_is_rejected);
    tcase_add_test(tc, sums_stay_above_the_offset);
    tcase_add_test(tc, digits_beyond_int8_are_rejected);
    tcase_add_test(tc, cautious_i8_plans_are_accepted);
    return tc;
}
