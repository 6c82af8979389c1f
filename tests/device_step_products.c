/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Whole products from host matrices by plans with a Strassen-Winograd step, as the core runs them.
 */
#include <stdlib.h>
#include <string.h>

#include "device_cases.h"
#include "device_step.h"
#include "product_winograd.h"
#include "tile.h"

static const uint64_t moduli[] = {251, 65521, (1ULL << 31) - 1, UINT64_MAX - 58};

static nmodgpu_view view_of(const host_case *h)
{
    return (nmodgpu_view){.rows = h->rows, .cols = h->cols, .stride = h->view.stride, .data = h->view.data};
}

/** D <- (C or 0) +- A B, or A A with `square`, in inner blocks of that length. */
static void check_product(uint64_t p, int64_t m, int64_t k, int64_t n, nmodgpu_op op, int64_t block, bool square)
{
    nmodgpu_plan plan;
    ck_assert(step_plan(&plan, p <= 256 ? NMODGPU_I8_DIRECT_BYTES : NMODGPU_I8_CRT_BYTES, p, m, k, n));
    for (uint32_t g = 0; g < plan.sums; g++)
        plan.block[g] = block;
    if (!i8_has_bytes())
        return;
    host_case a = harness_host(m, k, p, TEST_UNIFORM, LAYOUT_STRIDE);
    host_case b = harness_host(k, n, p, TEST_UNIFORM, LAYOUT_DENSE);
    host_case c = harness_host(m, n, p, TEST_UNIFORM, LAYOUT_STRIDE);
    host_case d = harness_host_result(m, n, p, LAYOUT_STRIDE);
    const nmodgpu_view va = view_of(&a), vb = view_of(square ? &a : &b), vc = view_of(&c), vd = view_of(&d);
    nmodgpu_product product = {.backend = device,
                               .plan = &plan,
                               .op = op,
                               .d = &vd,
                               .c = op == NMODGPU_MUL ? NULL : &vc,
                               .a = &va,
                               .b = &vb};
    uint64_t *expected = malloc((size_t)(m * n) * sizeof *expected);
    ck_assert_ptr_nonnull(expected);
    harness_expect(expected, op == NMODGPU_MUL ? NULL : c.plain, op == NMODGPU_SUBMUL ? -1 : 1, a.plain,
                   square ? a.plain : b.plain, m, k, n, p);
    product.limit_bytes = nmodgpu_untiled_bytes(device, &plan) - 1;
    ck_assert_int_eq(nmodgpu_product_run(&product), NMODGPU_ENOMEM);
    product.limit_bytes++;
    OK(nmodgpu_product_run(&product));
    harness_compare(&d, expected, plan.name);
    free(expected);
    harness_host_free(&a);
    harness_host_free(&b);
    harness_host_free(&c);
    harness_host_free(&d);
}

START_TEST(whole_products_by_steps)
{
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i += device_brief() ? 3 : 1)
        for (int op = 0; op < 3; op++) {
            const int64_t m = i8_awkward_size(), n = i8_awkward_size(), k = 60 + i8_awkward_size();
            check_product(moduli[i], m, k, n, (nmodgpu_op)op, op == 0 ? k : 64, false);
            check_product(moduli[i], m, m, m, (nmodgpu_op)op, 64, true);
        }
}
END_TEST

void i8_add_step_product_tests(TCase *tc)
{
    tcase_add_test(tc, whole_products_by_steps);
}
