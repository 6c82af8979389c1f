/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The int8 engine on a device: every plan that the planner makes for a product, as far as the device offers its
 * machine products.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_cases.h"
#include "device_check.h"
#include "device_i8.h"

uint64_t i8_seed;

static nmodgpu_rates rates;
static int64_t taken, left_out;

static void begin(void)
{
    nmodgpu_device_info info;
    i8_seed = test_seed();
    OK(device->device_info(0, &info));
    rates = info.rates;
    taken = left_out = 0;
}

/** Says what the device has not been asked for. */
static void report(void)
{
    if (left_out)
        printf("int8 on this device: %lld plans run, %lld left out, for which it has no products\n",
               (long long)taken, (long long)left_out);
}

static bool offered(const nmodgpu_plan *plan)
{
    const bool has = (plan->sum_bytes == 1 ? rates.i8_fused_flops : rates.i8_flops) > 0;
    has ? taken++ : left_out++;
    return has;
}

bool i8_has_bytes(void)
{
    const nmodgpu_plan plan = {.sum_bytes = 1};
    return offered(&plan);
}

int i8_plans(nmodgpu_plan *plans, uint64_t p, int64_t m, int64_t k, int64_t n)
{
    int count = 0;
    for (int kind = 0; p > 1 && m > 0 && k > 0 && n > 0 && kind < NMODGPU_I8_KINDS; kind++)
        if (nmodgpu_i8_plan(&plans[count], (nmodgpu_i8_kind)kind, p, m, k, n) && !plans[count].winograd &&
            offered(&plans[count]))
            count++;
    return count;
}

static void check_all(const device_product *x)
{
    nmodgpu_plan plans[NMODGPU_I8_KINDS];
    device_check(x, plans, i8_plans(plans, x->p, x->m, x->k, x->n), i8_seed);
}

uint32_t i8_width(uint64_t p)
{
    return p <= 256 ? 1 : p <= 65536 ? 2 : p >> 32 ? 8 : 4;
}

int64_t i8_awkward_size(void)
{
    static const int64_t sizes_[] = {1, 2, 15, 16, 17, 31, 33, 47, 63, 64, 65, 100, 127, 129};
    return sizes_[test_below(sizeof sizes_ / sizeof *sizes_)];
}

static device_product awkward_case(unsigned bits)
{
    device_product x = device_random_case(1);
    x.p = bits == 1 ? 2 + test_below(2) : test_modulus(bits);
    x.m = i8_awkward_size();
    x.k = i8_awkward_size();
    x.n = i8_awkward_size();
    return x;
}

START_TEST(moduli_of_every_size)
{
    for (unsigned bits = device_brief() ? 8 : 1; bits <= 64; bits = device_brief() ? 2 * bits : bits + 1)
        for (int i = 0; i < (device_brief() ? 1 : 3); i++) {
            const device_product x = awkward_case(bits);
            check_all(&x);
        }
}
END_TEST

/** Where kinds of plans begin and end, and where words grow; the first few reach all kernels. */
START_TEST(moduli_at_every_edge)
{
    static const uint64_t moduli[] = {256,
                                      65536,
                                      (1ULL << 32) - 1,
                                      UINT64_MAX,
                                      2,
                                      3,
                                      4,
                                      5,
                                      251,
                                      255,
                                      257,
                                      8191,
                                      16384,
                                      65279,
                                      65280,
                                      65281,
                                      65521,
                                      65535,
                                      65537,
                                      (1ULL << 31) - 1,
                                      1ULL << 31,
                                      1ULL << 32,
                                      (1ULL << 32) + 1,
                                      1ULL << 63,
                                      (1ULL << 63) + 1,
                                      UINT64_MAX - 58};
    const size_t count = device_brief() ? 4 : sizeof moduli / sizeof *moduli;
    for (size_t i = 0; i < count; i++)
        for (int pattern = device_brief() ? 3 : 0; pattern < 4; pattern++) {
            device_product x = awkward_case(2);
            x.p = moduli[i];
            x.pattern_a = pattern & 1 ? TEST_ALL_HALF : TEST_UNIFORM;
            x.pattern_b = pattern & 2 ? TEST_ALL_HALF : TEST_UNIFORM;
            check_all(&x);
        }
}
END_TEST

/** Identities, permutations, sparse and rank-one operands give products about zero, which uniform ones never do. */
START_TEST(every_int8_pattern_by_every_pattern)
{
    const int step = device_brief() ? TEST_PATTERNS + 1 : 1; /* each pattern by itself */
    for (int i = 0; i < TEST_PATTERNS * TEST_PATTERNS; i += step) {
        device_product x = awkward_case(2 + (unsigned)test_below(63));
        x.pattern_a = (test_pattern)(i % TEST_PATTERNS);
        x.pattern_b = (test_pattern)(i / TEST_PATTERNS);
        check_all(&x);
    }
}
END_TEST

/** Beyond the inner length of one product, with the largest entries and with any. */
START_TEST(long_inner_dimensions)
{
    static const uint64_t moduli[] = {3, 256, 8191, 65536, 2147483647, UINT64_MAX - 58};
    const size_t count = sizeof moduli / sizeof *moduli;
    for (size_t i = device_brief() ? count - 1 : 0; i < count; i++) {
        device_product x = device_random_case(1);
        x.p = moduli[i];
        x.m = 3;
        x.n = 2;
        x.k = 131072 + 9 + (int64_t)test_below(3000);
        x.pattern_a = i & 1 ? TEST_ALL_HALF : TEST_UNIFORM;
        x.pattern_b = i & 1 ? TEST_ALL_HALF : TEST_UNIFORM;
        x.layout_a = LAYOUT_STRIDE;
        x.layout_b = LAYOUT_ROWS;
        check_all(&x);
    }
}
END_TEST

/** Blocks far shorter than they need to be, so that many reductions come between. */
START_TEST(blocks_are_reduced_in_between)
{
    for (int i = 0; i < (device_brief() ? 1 : 20); i++) {
        nmodgpu_plan plans[NMODGPU_I8_KINDS];
        device_product x = awkward_case(2 + (unsigned)test_below(63));
        x.k = 65 + (int64_t)test_below(400);
        const int count = i8_plans(plans, x.p, x.m, x.k, x.n);
        for (int j = 0; j < count; j++)
            for (uint32_t g = 0; g < plans[j].sums; g++) /* of one length where they are recombined together */
                plans[j].block[g] = plans[j].encoding == NMODGPU_RESIDUES ? 64 : 64 * (1 + (int64_t)test_below(3));
        device_check(&x, plans, count, i8_seed);
    }
}
END_TEST

START_TEST(large_int8_products)
{
    static const unsigned bits[] = {8, 13, 16, 31, 64};
    const size_t count = sizeof bits / sizeof *bits;
    for (size_t i = 0; i < count; i += device_brief() ? count - 1 : 1) {
        device_product x = awkward_case(bits[i]);
        x.m = sizes.large - (int64_t)test_below(300) % sizes.large;
        x.k = sizes.large - (int64_t)test_below(300) % sizes.large;
        x.n = sizes.large - (int64_t)test_below(300) % sizes.large;
        x.pattern_a = x.pattern_b = TEST_UNIFORM;
        check_all(&x);
    }
}
END_TEST

START_TEST(tall_and_flat_int8_products)
{
    for (int i = 0; i < 4; i += device_brief() ? 3 : 1) {
        device_product x = awkward_case(i & 1 ? 31 : 16);
        x.m = i < 2 ? sizes.tall : 3;
        x.n = i < 2 ? 3 : sizes.tall;
        x.k = 1 + (int64_t)test_below(20);
        x.pattern_a = x.pattern_b = TEST_UNIFORM;
        check_all(&x);
    }
}
END_TEST

#define THREADS 4

typedef struct worker {
    pthread_t thread;
    nmodgpu_plan plan;
    host_case a, b, d;
    nmodgpu_status status;
} worker;

static void *multiply_often(void *argument)
{
    worker *w = argument;
    const harness_product product = {
        .plan = &w->plan, .a = &w->a.view, .b = &w->b.view, .d = &w->d.view, .sign = 1, .element_bytes = 8};
    w->status = NMODGPU_OK;
    for (int i = 0; i < (device_brief() ? 1 : 4) && w->status == NMODGPU_OK; i++)
        w->status = harness_run_alone(0, &product);
    return NULL;
}

START_TEST(threads_multiply_in_int8_at_once)
{
    static worker workers[THREADS];
    static uint64_t expected[70 * 50];
    int count = 0;
    for (int t = 0; t < THREADS; t++) {
        nmodgpu_plan plans[NMODGPU_I8_KINDS];
        const uint64_t p = test_modulus(10 + 16 * (unsigned)t);
        const int found = i8_plans(plans, p, 70, 90, 50);
        if (found == 0)
            continue;
        worker *w = &workers[count++];
        w->plan = plans[test_below((uint64_t)found)];
        w->a = harness_host(70, 90, p, TEST_UNIFORM, LAYOUT_STRIDE);
        w->b = harness_host(90, 50, p, TEST_UNIFORM, LAYOUT_DENSE);
        w->d = harness_host_result(70, 50, p, LAYOUT_PERMUTED);
    }
    for (int t = 0; t < count; t++)
        ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, multiply_often, &workers[t]), 0);
    for (int t = 0; t < count; t++)
        ck_assert_int_eq(pthread_join(workers[t].thread, NULL), 0);
    for (int t = 0; t < count; t++) {
        worker *w = &workers[t];
        OK(w->status);
        harness_expect(expected, NULL, 1, w->a.plain, w->b.plain, 70, 90, 50, w->plan.modulus);
        harness_compare(&w->d, expected, w->plan.name);
        harness_host_free(&w->a);
        harness_host_free(&w->b);
        harness_host_free(&w->d);
    }
}
END_TEST

TCase *device_i8_cases(device_setup setup, device_setup end)
{
    TCase *tc = tcase_create("int8");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, end);
    tcase_add_checked_fixture(tc, begin, report);
    tcase_add_test(tc, moduli_of_every_size);
    tcase_add_test(tc, moduli_at_every_edge);
    tcase_add_test(tc, every_int8_pattern_by_every_pattern);
    tcase_add_test(tc, long_inner_dimensions);
    tcase_add_test(tc, blocks_are_reduced_in_between);
    tcase_add_test(tc, large_int8_products);
    tcase_add_test(tc, tall_and_flat_int8_products);
    tcase_add_test(tc, threads_multiply_in_int8_at_once);
    i8_add_operand_tests(tc);
    i8_add_winograd_tests(tc);
    i8_add_step_product_tests(tc);
    return tc;
}
