/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Whole products built by the core from a backend's operations: right in every shape, layout, overlap and
 * memory, and harmless when an operation fails.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/cases.h"
#include "planner.h"
#include "reference_backend.h"
#include "suite.h"

static void core_setup(void)
{
    fprintf(stderr, "seed %" PRIu64 "\n", test_seed());
    reference_reset();
}

TCase *core_case(const char *name)
{
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, core_setup, NULL);
    return cases;
}

void core_check_tidy(void)
{
    ck_assert_int_eq(reference.matrices, 0);
    ck_assert_int_eq(reference.queues, 0);
    ck_assert_msg(reference.breaches == 0, "%" PRId64 " breaches, the last: %s", reference.breaches,
                  reference.breach);
}

nmodgpu_plan core_random_plan(uint64_t p, int64_t m, int64_t k, int64_t n)
{
    static nmodgpu_plan plans[256];
    nmodgpu_device_info info;
    reference_backend.device_info(0, &info);
    const size_t count = nmodgpu_plan_list(plans, 256, p, m, k, n, &info.rates);
    ck_assert_uint_ge(count, 1);
    nmodgpu_plan plan = plans[test_below(count < 256 ? count : 256)];
    for (uint32_t g = 0; g < plan.sums && test_below(4) == 0; g++)
        plan.block[g] = 1 + (int64_t)test_below((uint64_t)plan.block[g]);
    return plan;
}

uint64_t core_random_modulus(void)
{
    const uint64_t p = test_modulus(2 + (unsigned)test_below(63));
    return p < 2 ? 2 : p;
}

nmodgpu_product core_product(const nmodgpu_plan *plan, nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                             const nmodgpu_view *a, const nmodgpu_view *b)
{
    return (nmodgpu_product){.backend = &reference_backend,
                             .plan = plan,
                             .op = op,
                             .d = d,
                             .c = op == NMODGPU_MUL ? NULL : c,
                             .a = a,
                             .b = b,
                             .limit_bytes = UINT64_MAX};
}

test_layout core_random_layout(void)
{
    return (test_layout)test_below(TEST_LAYOUTS);
}

int main(void)
{
    Suite *suite = suite_create("core");
    suite_add_tcase(suite, core_product_cases());
    suite_add_tcase(suite, core_overlap_cases());
    suite_add_tcase(suite, core_resident_cases());
    return test_run(suite, CK_FORK);
}
