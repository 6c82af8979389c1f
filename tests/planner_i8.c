/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Plans in int8: which there are, and their bounds against GMP and against the planes of entries themselves.
 */
#include <string.h>

#include "exact/prepare.h"
#include "plan_i8.h"
#include "planner_cases.h"
#include "support.h"

static nmodgpu_plan plans[MANY_PLANS];

START_TEST(moduli_are_the_greedy_list)
{
    uint32_t found = 0;
    for (uint32_t m = 256; found < NMODGPU_MAX_PLANES; m--) {
        bool prime_to_all = true;
        for (uint32_t i = 0; i < found; i++) {
            mpz_t d;
            mpz_init_set_ui(d, m);
            prime_to_all = prime_to_all && mpz_gcd_ui(NULL, d, nmodgpu_i8_moduli[i]) == 1;
            mpz_clear(d);
        }
        if (prime_to_all)
            ck_assert_uint_eq(nmodgpu_i8_moduli[found++], m);
    }
}
END_TEST

/** Whether that many of the list's moduli do for that inner length. */
static bool suffice(uint32_t moduli, int64_t inner, uint64_t p)
{
    mpz_t x;
    mpz_init(x);
    oracle_spare(x, moduli, inner, p);
    const bool positive = mpz_sgn(x) > 0;
    mpz_clear(x);
    return positive;
}

/** What the longest block may be, whatever the moduli. */
static int64_t inner_of(const nmodgpu_plan *plan)
{
    return plan->k < NMODGPU_I8_MAX_INNER ? plan->k : NMODGPU_I8_MAX_INNER;
}

/** No fewer moduli than t serve the inner length; one less is for blocks that are shorter, but not too short. */
static void check_crt_count(const nmodgpu_plan *plan)
{
    const uint32_t t = plan->sums;
    const uint64_t p = plan->modulus;
    const int64_t inner = inner_of(plan), longest = plan->lambda[0] / 64 * 64;
    if (plan->lambda[0] >= inner) {
        check_plan(suffice(t, inner, p) && !suffice(t - 1, inner, p), plan);
        return;
    }
    check_plan(suffice(t + 1, inner, p) && !suffice(t, inner, p), plan);
    check_plan(longest >= 64 && 8 * longest >= inner, plan);
    check_plan(plan->k > NMODGPU_I8_MAX_INNER || (plan->k + plan->block[0] - 1) / plan->block[0] <= 8, plan);
}

static void check_crt(const nmodgpu_plan *plan)
{
    const uint32_t t = plan->sums;
    const int64_t lambda = plan->lambda[0];
    check_crt_count(plan);
    check_plan(lambda <= NMODGPU_I8_MAX_INNER && suffice(t, lambda, plan->modulus), plan);
    check_plan(lambda == NMODGPU_I8_MAX_INNER || !suffice(t, lambda + 1, plan->modulus), plan);
    check_plan(plan->left.planes == t && plan->right.planes == t && plan->terms == t, plan);
    for (uint32_t g = 0; g < t; g++) {
        const uint64_t half = nmodgpu_i8_moduli[g] / 2;
        check_plan(plan->left.plane_digits[g] == nmodgpu_i8_moduli[g], plan);
        check_plan(plan->left.plane_bound[g] == half && plan->weight[g] == half * half, plan);
        check_plan(plan->lambda[g] == lambda && plan->block[g] == plan->block[0], plan);
    }
    check_plan(memcmp(&plan->left, &plan->right, sizeof plan->left) == 0, plan);
}

/** Sums of one block, all entries the worst, are what reductions take. */
static void check_sums(const nmodgpu_plan *plan)
{
    for (uint32_t g = 0; g < plan->sums; g++) {
        const int64_t lambda = plan->lambda[g], block = plan->block[g];
        const int64_t step = lambda / NMODGPU_I8_BLOCK_STEP * NMODGPU_I8_BLOCK_STEP;
        const uint64_t limit =
            plan->encoding == NMODGPU_RESIDUES ? (1ULL << 31) - plan->left.plane_digits[g] : INT32_MAX;
        uint64_t weight = 0;
        for (uint32_t t = 0; t < plan->terms; t++)
            if (plan->term[t].sum == g)
                weight += plan->left.plane_bound[plan->term[t].left] * plan->right.plane_bound[plan->term[t].right];
        check_plan(plan->weight[g] == weight && (uint64_t)lambda <= limit / weight, plan);
        check_plan(block >= 1 && block <= lambda && (block == plan->k || block % 64 == 0), plan);
        check_plan(plan->sum_bytes == 4 || block <= NMODGPU_I8_MAX_INNER, plan);
        check_plan(lambda >= plan->k ? block == plan->k
                                     : (plan->k + block - 1) / block == (plan->k + step - 1) / step,
                   plan);
    }
}

START_TEST(worst_case_i8_sums_stay_exact)
{
    for (int round = 0; round < 3000; round++) {
        problem q = random_problem();
        if (round % 3 == 0)
            q.p = 2 + test_below(1ULL << (1 + test_below(17)));
        const size_t count = list_i8_plans(plans, &q);
        for (size_t i = 0; i < count; i++) {
            check_sums(&plans[i]);
            if (strncmp(plans[i].name, "i8 crt", 6) == 0)
                check_crt(&plans[i]);
            if (plans[i].encoding == NMODGPU_DIGITS)
                for (uint32_t g = 0; g < plans[i].sums; g++)
                    check_plan(plans[i].lambda[g] == (int64_t)(INT32_MAX / plans[i].weight[g]), &plans[i]);
        }
    }
}
END_TEST

/** The largest h that t moduli serve: with h + 1 it is t + 1. */
static uint64_t largest_half(uint32_t t, int64_t k)
{
    mpz_t x;
    mpz_init(x);
    oracle_spare(x, t, 0, 2);
    mpz_sub_ui(x, x, 1);
    mpz_fdiv_q_ui(x, x, (unsigned long)k);
    mpz_fdiv_q_ui(x, x, 9);
    mpz_sqrt(x, x);
    const uint64_t h = mpz_sizeinbase(x, 2) > 63 ? UINT64_MAX : mpz_get_u64(x);
    mpz_clear(x);
    return h;
}

/** Of the plan whose moduli serve the whole inner length. */
static uint32_t moduli_of(uint64_t p, int64_t k)
{
    nmodgpu_plan plan;
    ck_assert_msg(nmodgpu_i8_plan(&plan, NMODGPU_I8_CRT_BYTES, p, 100, k, 100), "p = %llu, k = %lld: no residues",
                  (unsigned long long)p, (long long)k);
    return plan.sums;
}

START_TEST(every_number_of_moduli_is_changed_at_its_bound)
{
    uint32_t most = 0;
    for (int round = 0; round < 40; round++) {
        const int64_t k = round < 32 ? 1LL << round : 1 + (int64_t)test_below(1ULL << 31);
        const int64_t inner = k < NMODGPU_I8_MAX_INNER ? k : NMODGPU_I8_MAX_INNER;
        for (uint32_t t = 1; t < NMODGPU_MAX_PLANES; t++) {
            const uint64_t h = largest_half(t, inner);
            if (h == 0 || h >= INT64_MAX)
                continue;
            ck_assert_uint_eq(moduli_of(2 * h + (h > 0), k), t);
            ck_assert_uint_eq(moduli_of(2 * h, k), t);
            ck_assert_uint_eq(moduli_of(2 * (h + 1), k), t + 1);
            most = most < t + 1 ? t + 1 : most;
        }
    }
    ck_assert_uint_eq(most, 19); /* 2^64, blocks of 131071: 2 k h^2 = 2^144 */
}
END_TEST

/** The figures that doc/algorithms.md names. */
START_TEST(numbers_of_moduli_for_8192)
{
    nmodgpu_plan plan;
    ck_assert_uint_eq(moduli_of((1ULL << 23) - 15, 8192), 8);
    ck_assert_uint_eq(moduli_of((1ULL << 31) - 1, 8192), 10);
    ck_assert_uint_eq(moduli_of(UINT64_MAX - 58, 8192), 18);
    ck_assert_uint_eq(moduli_of(UINT64_MAX - 58, 16384), 19);
    ck_assert(nmodgpu_i8_plan(&plan, NMODGPU_I8_FEWER_BYTES, UINT64_MAX - 58, 100, 16384, 100));
    check_plan(plan.sums == 18 && plan.lambda[0] == 9967 && plan.block[0] == 8192, &plan);
}
END_TEST

/** One modulus less is on offer just where its blocks are at least 64 long and at most eight times as many. */
START_TEST(fewer_moduli_are_offered_where_blocks_stay_long)
{
    int there = 0;
    for (int round = 0; round < 3000; round++) {
        const problem q = random_problem();
        nmodgpu_plan plan, whole;
        const bool offered = nmodgpu_i8_plan(&plan, NMODGPU_I8_FEWER_BYTES, q.p, q.m, q.k, q.n);
        ck_assert(nmodgpu_i8_plan(&whole, NMODGPU_I8_CRT_BYTES, q.p, q.m, q.k, q.n));
        const int64_t inner = inner_of(&whole), eighth = (inner + 7) / 8;
        const int64_t least = (eighth + 63) / 64 * 64;
        check_plan(offered == (whole.sums > 1 && suffice(whole.sums - 1, least, q.p)), &whole);
        check_plan(!offered || plan.sums == whole.sums - 1, &whole);
        there += offered;
    }
    ck_assert_int_ge(there, 100);
}
END_TEST

/** How many of the int8 plans there are with sums of four bytes, of one, and with a Strassen-Winograd step. */
static void check_kinds(const problem *q, const nmodgpu_plan *list, size_t count)
{
    nmodgpu_plan plan;
    const bool direct = q->p <= 256, digits = q->p > 256 && q->p <= 65536, karatsuba = q->p > 256 && q->p <= 16511;
    const bool large = q->m >= 2048 && q->k >= 2048 && q->n >= 2048;
    const bool fewer = nmodgpu_i8_plan(&plan, NMODGPU_I8_FEWER_SUMS, q->p, q->m, q->k, q->n);
    ck_assert(plan_beginning(list, count, "i8 crt(") != NULL);
    ck_assert((plan_named(list, count, "i8 direct bytes") != NULL) == direct);
    ck_assert((plan_named(list, count, "i8 direct sums") != NULL) == direct);
    ck_assert((plan_named(list, count, "i8 direct bytes winograd") != NULL) == (direct && large));
    ck_assert((plan_named(list, count, "i8(2,2) base 2^8") != NULL) == digits);
    ck_assert((plan_named(list, count, "i8(2,2)k base 2^7") != NULL) == karatsuba);
    const int residues = 1 + direct + fewer; /* with each kind of sums */
    ck_assert_uint_eq(count, residues * (2 + large) + digits + karatsuba);
    for (size_t j = 0; j < count; j++) {
        const bool bytes = strstr(list[j].name, "bytes") != NULL;
        check_plan(list[j].sum_bytes == (bytes ? 1 : 4), &list[j]);
        check_plan(list[j].winograd == (strstr(list[j].name, " winograd") != NULL), &list[j]);
    }
}

START_TEST(each_kind_serves_its_moduli)
{
    static const uint64_t ends[] = {2,     3,     255,   256,   257,   16383, 16384, 16510,      16511,
                                    16512, 16513, 65279, 65280, 65535, 65536, 65537, 1ULL << 32, UINT64_MAX};
    const size_t fixed = sizeof ends / sizeof ends[0];
    for (size_t i = 0; i < fixed + 500; i++) {
        problem q = random_problem();
        q.p = i < fixed ? ends[i] : q.p;
        if (i % 4 == 0) { /* the least with a step, or just too small for one */
            q.m = 2048 - (int64_t)test_below(2);
            q.k = 2048 - (int64_t)(test_below(4) == 0);
            q.n = 2048 - (int64_t)(test_below(4) == 0);
        }
        check_kinds(&q, plans, list_i8_plans(plans, &q));
    }
}
END_TEST

START_TEST(plans_are_for_what_the_device_has)
{
    static const double none[] = {0, -1e15, __builtin_nan("")};
    for (int round = 0; round < 300; round++) {
        problem q = random_problem();
        const bool sums = test_below(2), bytes = test_below(2);
        q.rates.i8_flops = sums ? 1e15 : none[test_below(3)];
        q.rates.i8_fused_flops = bytes ? 1e15 : none[test_below(3)];
        const size_t count = list_plans(plans, &q);
        bool seen[9] = {false};
        for (size_t i = 0; i < count; i++)
            seen[plans[i].sum_bytes] = true;
        ck_assert(seen[8] && seen[4] == sums && seen[1] == bytes);
        nmodgpu_plan plan;
        ck_assert((nmodgpu_plan_best(&plan, q.p, q.m, q.k, q.n, &q.rates, "i8") == NMODGPU_OK) == (sums || bytes));
        ck_assert(!(sums || bytes) || plan.number == NMODGPU_I8);
    }
}
END_TEST

/** Every entry there is: digits are int8 and within their bounds, and put together again they are the entry. */
static void check_all_entries(const nmodgpu_plan *plan)
{
    const nmodgpu_operand_plan *operand = &plan->left;
    const nmodgpu_preparer how = nmodgpu_preparer_make(plan, 0);
    const int64_t p = (int64_t)plan->modulus;
    uint64_t most[3] = {0};
    check_plan(memcmp(operand, &plan->right, sizeof *operand) == 0, plan);
    for (int64_t a = 0; a < p; a++) {
        const int64_t x = nmodgpu_prepare_start(&how, (uint64_t)a);
        int64_t v[3] = {0};
        for (uint32_t i = 0; i < operand->planes; i++) {
            v[i] = nmodgpu_prepare_plane_integer(&how, i, x);
            const uint64_t size = (uint64_t)(v[i] < 0 ? -v[i] : v[i]);
            check_plan(v[i] >= -128 && v[i] <= 127 && size <= operand->plane_bound[i], plan);
            most[i] = most[i] < size ? size : most[i];
        }
        check_plan((v[0] + v[1] * (1LL << operand->digit_bits) - a) % p == 0, plan);
        check_plan(operand->planes == 2 || v[2] == v[0] + v[1], plan);
    }
    check_plan(most[1] == operand->plane_bound[1], plan); /* the top digit's bound is met */
}

START_TEST(digits_are_bytes)
{
    static const uint64_t ends[] = {257,   258,   383,   384,   16383, 16384, 16385, 16509, 16510, 16511,
                                    16512, 32768, 65278, 65279, 65280, 65281, 65521, 65534, 65535, 65536};
    const size_t fixed = sizeof ends / sizeof ends[0];
    for (size_t i = 0; i < fixed + 20; i++) {
        problem q = random_problem();
        q.p = i < fixed ? ends[i] : 257 + test_below(65280);
        const size_t count = list_i8_plans(plans, &q);
        for (size_t j = 0; j < count; j++)
            if (plans[j].encoding == NMODGPU_DIGITS)
                check_all_entries(&plans[j]);
    }
}
END_TEST

TCase *i8_case(void)
{
    TCase *tc = tcase_create("int8");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, planner_setup, NULL);
    tcase_add_test(tc, moduli_are_the_greedy_list);
    tcase_add_test(tc, worst_case_i8_sums_stay_exact);
    tcase_add_test(tc, every_number_of_moduli_is_changed_at_its_bound);
    tcase_add_test(tc, numbers_of_moduli_for_8192);
    tcase_add_test(tc, fewer_moduli_are_offered_where_blocks_stay_long);
    tcase_add_test(tc, each_kind_serves_its_moduli);
    tcase_add_test(tc, plans_are_for_what_the_device_has);
    tcase_add_test(tc, digits_are_bytes);
    return tc;
}
