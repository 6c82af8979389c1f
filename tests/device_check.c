/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "device_check.h"

#include <stdio.h>
#include <stdlib.h>

/** Small sizes more often than large ones. */
static int64_t random_size(int64_t most)
{
    return (int64_t)test_below(test_below((uint64_t)most + 1) + 1);
}

device_product device_random_case(int64_t most)
{
    device_product x = {
        .m = random_size(most),
        .k = random_size(most),
        .n = random_size(most),
        .p = test_modulus(1 + (unsigned)test_below(64)),
        .op = (int)test_below(3) - 1,
    };
    x.pattern_a = (test_pattern)test_below(TEST_PATTERNS);
    x.pattern_b = (test_pattern)test_below(TEST_PATTERNS);
    x.layout_a = (host_layout)test_below(LAYOUTS);
    x.layout_b = (host_layout)test_below(LAYOUTS);
    x.layout_c = (host_layout)test_below(LAYOUTS);
    x.layout_d = (host_layout)test_below(LAYOUTS);
    return x;
}

static uint32_t words_width(uint64_t p)
{
    return p >> 32 || test_below(2) ? 8 : 4;
}

static void check_plan(const device_product *x, harness_product *product, const host_case *d,
                       const uint64_t *expected, uint64_t seed)
{
    char what[256];
    product->element_bytes = words_width(x->p);
    snprintf(what, sizeof what,
             "seed %llu: %lld x %lld x %lld mod %llu, %s by %s, op %d, layouts %d %d %d %d, plan %s",
             (unsigned long long)seed, (long long)x->m, (long long)x->k, (long long)x->n, (unsigned long long)x->p,
             test_pattern_name(x->pattern_a), test_pattern_name(x->pattern_b), x->op, x->layout_a, x->layout_b,
             x->layout_c, x->layout_d, product->plan->name);
    const nmodgpu_status status = harness_run_alone(0, product);
    ck_assert_msg(status == NMODGPU_OK, "%s: status %d, last line: %s", what, (int)status, harness_last_line());
    harness_compare(d, expected, what);
}

void device_check(const device_product *x, const nmodgpu_plan *plans, int count, uint64_t seed)
{
    host_case a = harness_host(x->m, x->k, x->p, x->pattern_a, x->layout_a);
    host_case b = harness_host(x->k, x->n, x->p, x->pattern_b, x->layout_b);
    host_case c = harness_host(x->m, x->n, x->p, TEST_UNIFORM, x->layout_c);
    host_case d = harness_host_result(x->m, x->n, x->p, x->layout_d);
    uint64_t *expected = malloc((size_t)(x->m * x->n + 1) * sizeof *expected);
    if (!expected)
        ck_abort_msg("out of memory");
    harness_expect(expected, x->op ? c.plain : NULL, x->op < 0 ? -1 : 1, a.plain, b.plain, x->m, x->k, x->n, x->p);
    harness_product product = {
        .a = &a.view, .b = &b.view, .c = x->op ? &c.view : NULL, .d = &d.view, .sign = x->op < 0 ? -1 : 1};
    for (int i = 0; i < count; i++) {
        product.plan = &plans[i];
        check_plan(x, &product, &d, expected, seed);
    }
    free(expected);
    harness_host_free(&a);
    harness_host_free(&b);
    harness_host_free(&c);
    harness_host_free(&d);
}
