/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The drop-in against fake FLINTs of both layouts: here the layouts, in fakeflint/finding.c the finding of
 * FLINTs, in fakeflint/nesting.c nested calls.  The real FLINT: check_dropin.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../flint_glue/version.h"
#include "fakeflint/finding.h"
#include "fakeflint/harness.h"
#include "fakeflint/nesting.h"
#include "fakeflint/operands.h"
#include "suite.h"
#include "support.h"

START_TEST(version_tells_the_layout)
{
    static const struct {
        const char *version;
        nmodgpu_layout layout;
    } known[] = {{"2.9.0", NMODGPU_LAYOUT_ROWS},       {"2.10.1", NMODGPU_LAYOUT_ROWS},
                 {"3.0.0", NMODGPU_LAYOUT_ROWS},       {"3.1.3-p1", NMODGPU_LAYOUT_ROWS},
                 {"3.2.2", NMODGPU_LAYOUT_ROWS},       {"3.3.0", NMODGPU_LAYOUT_STRIDE},
                 {"3.3.0-dev", NMODGPU_LAYOUT_STRIDE}, {"3.6.0", NMODGPU_LAYOUT_STRIDE},
                 {"3.7.0-dev", NMODGPU_LAYOUT_STRIDE}, {"3.10", NMODGPU_LAYOUT_STRIDE},
                 {"4.0.0", NMODGPU_LAYOUT_STRIDE},     {"2.8.4", NMODGPU_LAYOUT_REFUSED},
                 {"2.5.2", NMODGPU_LAYOUT_REFUSED},    {"1.6", NMODGPU_LAYOUT_REFUSED},
                 {"3", NMODGPU_LAYOUT_REFUSED},        {"", NMODGPU_LAYOUT_REFUSED},
                 {"dev", NMODGPU_LAYOUT_REFUSED},      {"3.x", NMODGPU_LAYOUT_REFUSED},
                 {NULL, NMODGPU_LAYOUT_REFUSED}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_msg(nmodgpu_layout_of_version(known[i].version) == known[i].layout, "%s", known[i].version);
}
END_TEST

static const char *const layouts[] = {"fakeflint-rows", "fakeflint-stride"};

#define ROUNDS 60

static void random_products(void *data)
{
    const char *variant = data;
    const fake_api api = load_behind_dropin(variant);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t n = test_modulus(1 + (unsigned)test_below(64));
        const int op = (int)test_below(3);
        const bool square = test_below(3) == 0;
        const int64_t m = (int64_t)test_below(20);
        const int64_t k = square ? m : (int64_t)test_below(20);
        const int64_t cols = square ? m : (int64_t)test_below(20);
        operand a = make_operand(&api, m, k, n);
        operand b = make_operand(&api, k, cols, n);
        operand c = make_operand(&api, m, cols, n);
        operand d = make_operand(&api, m, cols, n);
        const uint64_t alias = test_below(5);
        fake_mat *out = op && alias == 0 ? &c.used : &d.used;
        if (square && op == 0 && alias == 1)
            out = &a.used;
        if (square && op == 0 && alias == 2)
            out = &b.used;
        check_product(&api, op, out, &c.used, &a.used, square && alias == 3 ? &a.used : &b.used);
        free_operand(&api, &a);
        free_operand(&api, &b);
        free_operand(&api, &c);
        free_operand(&api, &d);
    }
}

START_TEST(both_layouts_are_served)
{
    const uint64_t seed = test_seed();
    const outcome o = run_well(test_backend(), random_products, (void *)layouts[_i]);
    ck_assert_msg(o.arrived == ROUNDS && o.served + o.declined == ROUNDS && o.served > ROUNDS / 2, "seed %lu: %s",
                  seed, o.line);
}
END_TEST

START_TEST(both_layouts_fall_back)
{
    test_seed();
    const outcome o = run_well(NO_BACKEND, random_products, (void *)layouts[_i]);
    ck_assert_msg(o.arrived == ROUNDS && o.served == 0, "%s", o.line);
}
END_TEST

START_TEST(both_layouts_switched_off)
{
    test_seed();
    const outcome o = run_well(NULL, random_products, (void *)layouts[_i]);
    ck_assert_msg(!o.reported || o.arrived == 0, "%s", o.line);
    ck_assert_msg(o.errors[0] == '\0', "%s", o.errors);
}
END_TEST

/* The rows layout's entries are not row 0 in general and NULL in windows: here they lead nowhere. */
static void entries_lead_nowhere(void *data)
{
    const fake_api api = load_behind_dropin("fakeflint-rows");
    uint64_t *const nowhere = (uint64_t *)8;
    fake_mat a = fake_random(&api, 9, 11, 1000003);
    fake_mat b = fake_random(&api, 11, 7, 1000003);
    fake_mat c = fake_random(&api, 9, 7, 1000003);
    uint64_t *kept[] = {a.entries, b.entries, c.entries};
    (void)data;
    a.entries = b.entries = c.entries = nowhere;
    for (int op = 0; op < 3; op++)
        check_product(&api, op, &c, &c, &a, &b);
    ck_assert(a.entries == nowhere && b.entries == nowhere && c.entries == nowhere);
    a.entries = kept[0];
    b.entries = kept[1];
    c.entries = kept[2];
    api.clear(&a);
    api.clear(&b);
    api.clear(&c);
}

START_TEST(entries_of_the_rows_layout_are_not_read)
{
    test_seed();
    const outcome o = run_well(test_backend(), entries_lead_nowhere, NULL);
    ck_assert_msg(o.served == 3, "%s", o.line);
}
END_TEST

static const char *const liars[] = {"fakeflint-lying", "fakeflint-lying-rows"};

START_TEST(a_lying_version_is_refused_once)
{
    test_seed();
    const outcome o = run_well(test_backend(), random_products, (void *)liars[_i]);
    ck_assert_msg(o.arrived == ROUNDS && o.served == 0 && o.declined == ROUNDS, "%s", o.line);
    const char *said = strstr(o.errors, "serves itself");
    ck_assert_msg(said && !strstr(said + 1, "serves itself"), "%s", o.errors);
}
END_TEST

static TCase *layout_cases(void)
{
    TCase *cases = tcase_create("layouts");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, version_tells_the_layout);
    tcase_add_loop_test(cases, both_layouts_are_served, 0, 2);
    tcase_add_loop_test(cases, both_layouts_fall_back, 0, 2);
    tcase_add_loop_test(cases, both_layouts_switched_off, 0, 2);
    tcase_add_test(cases, entries_of_the_rows_layout_are_not_read);
    tcase_add_loop_test(cases, a_lying_version_is_refused_once, 0, 2);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("fakeflint");
    suite_add_tcase(suite, layout_cases());
    suite_add_tcase(suite, finding_cases());
    suite_add_tcase(suite, nesting_cases());
    return test_run(suite, CK_FORK_GETENV);
}
