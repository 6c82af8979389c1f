/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * rows.h and passes.h: whole rows and matrices give entry for entry what the functions of one entry give, on
 * every instruction set of this CPU and in every rounding mode.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/passes.h"
#include "exact/rows.h"
#include "exact_cases.h"
#include "support.h"

enum { LONGEST = 1100, GUARD = 24 };

/** Words of 4 or 8 bytes among poisoned neighbours. */
typedef struct guarded {
    _Alignas(64) unsigned char bytes[8 * (LONGEST + 2 * GUARD)];
    uint32_t element_bytes;
    int64_t offset; /**< of entry 0, in elements: rows need not be aligned */
} guarded;

static nmodgpu_word_row row_of(guarded *g)
{
    return (nmodgpu_word_row){g->bytes + g->offset * g->element_bytes, g->element_bytes};
}

static void guarded_init(guarded *g, uint64_t p)
{
    memset(g->bytes, 0xa5, sizeof g->bytes);
    g->element_bytes = p >> 32 || test_below(2) ? 8 : 4;
    g->offset = GUARD + (int64_t)test_below(4);
}

static uint64_t word_get(const guarded *g, int64_t e)
{
    const unsigned char *at = g->bytes + (g->offset + e) * g->element_bytes;
    if (g->element_bytes == 4)
        return *(const uint32_t *)at;
    return *(const uint64_t *)at;
}

static void word_set(guarded *g, int64_t e, uint64_t value)
{
    unsigned char *at = g->bytes + (g->offset + e) * g->element_bytes;
    if (g->element_bytes == 4)
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
}

static void check_guards(const guarded *g, int64_t n, const char *who)
{
    const int64_t begin = g->offset * g->element_bytes, end = (g->offset + n) * g->element_bytes;
    for (int64_t i = 0; i < (int64_t)sizeof g->bytes; i++)
        if (i < begin || i >= end)
            check_that(g->bytes[i] == 0xa5, "%s wrote outside its row\n", who);
}

static int64_t random_length(void)
{
    return (int64_t)(test_below(2) ? test_below(40) : test_below(LONGEST));
}

static void check_prepare(const nmodgpu_row_code *code)
{
    static guarded words;
    static double planes[NMODGPU_MAX_PLANES * LONGEST + 1];
    const uint64_t p = exact_modulus(64);
    const nmodgpu_plan plan = exact_digits_plan(p);
    const nmodgpu_preparer preparer = nmodgpu_preparer_make(&plan, 0);
    const int64_t n = random_length();
    const int64_t plane_stride = n + (int64_t)test_below((uint64_t)(LONGEST - n));
    guarded_init(&words, p);
    for (int64_t e = 0; e < n; e++)
        word_set(&words, e, exact_word(p));
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        planes[i] = 0.5;
    code->prepare(&preparer, planes, plane_stride, row_of(&words), n);
    for (int64_t e = 0; e < n; e++) {
        double expected[NMODGPU_MAX_PLANES];
        nmodgpu_prepare_entry(&preparer, word_get(&words, e), expected, 1);
        for (uint32_t i = 0; i < preparer.planes; i++) {
            check_that(planes[i * plane_stride + e] == expected[i], "%s: p %llu, entry %lld, plane %u\n",
                       code->name, (unsigned long long)p, (long long)e, i);
            planes[i * plane_stride + e] = 0.5;
        }
    }
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        check_that(planes[i] == 0.5, "%s wrote outside its planes\n", code->name);
}

static void check_reduce(const nmodgpu_row_code *code)
{
    static guarded base, out;
    static double sums[NMODGPU_MAX_SUMS * LONGEST];
    static uint64_t expected[LONGEST];
    const uint64_t p = exact_modulus(64);
    const nmodgpu_plan plan = exact_sums_plan(p);
    const nmodgpu_reducer reducer = nmodgpu_reducer_make(&plan, test_random(), test_below(2) ? 1 : -1);
    const int64_t n = random_length();
    const int64_t plane_stride = n + (int64_t)test_below((uint64_t)(LONGEST - n));
    const int kind = (int)test_below(3); /* no base, a base apart, in place */
    guarded_init(&base, p);
    guarded_init(&out, p);
    for (int64_t e = 0; e < n; e++) {
        const uint64_t word = exact_word(p);
        for (uint32_t g = 0; g < plan.sums; g++)
            sums[g * plane_stride + e] = exact_sum(p);
        word_set(kind == 2 ? &out : &base, e, word);
        expected[e] = nmodgpu_reduce_entry(&reducer, kind == 0 ? 0 : word, sums + e, plane_stride);
    }
    const nmodgpu_word_row none = {NULL, 8};
    code->reduce(&reducer, row_of(&out),
                 kind == 0   ? none
                 : kind == 1 ? row_of(&base)
                             : row_of(&out),
                 sums, plane_stride, n);
    for (int64_t e = 0; e < n; e++)
        check_that(word_get(&out, e) == expected[e], "%s: p %llu, %u sums, entry %lld of %lld\n", code->name,
                   (unsigned long long)p, reducer.sums, (long long)e, (long long)n);
    check_guards(&out, n, code->name);
}

static void check_copy(const nmodgpu_row_code *code)
{
    static guarded from, to;
    const uint64_t p = exact_modulus(64);
    const int64_t n = random_length();
    guarded_init(&from, p);
    guarded_init(&to, p);
    for (int64_t e = 0; e < n; e++)
        word_set(&from, e, exact_word(p));
    code->copy(row_of(&to), row_of(&from), n);
    for (int64_t e = 0; e < n; e++)
        check_that(word_get(&to, e) == word_get(&from, e), "%s: entry %lld\n", code->name, (long long)e);
    check_guards(&to, n, code->name);
}

START_TEST(rows_equal_entries_on_every_instruction_set)
{
    size_t count;
    const nmodgpu_row_code *code = nmodgpu_row_code_list(&count);
    ck_assert(count >= 1);
    for (size_t i = 0; i < count; i++) {
        for (int round = 0; round < 600; round++) {
            check_prepare(&code[i]);
            check_reduce(&code[i]);
            check_copy(&code[i]);
        }
    }
}
END_TEST

/** A device matrix in memory of its own, poisoned. */
static nmodgpu_matrix matrix_new(nmodgpu_representation representation, int64_t rows, int64_t cols, uint32_t planes,
                                 uint32_t element_bytes)
{
    nmodgpu_matrix m;
    memset(&m, 0, sizeof m);
    m.representation = representation;
    m.rows = rows;
    m.cols = cols;
    m.planes = planes;
    m.element_bytes = element_bytes;
    m.stride = cols + (int64_t)test_below(5);
    m.plane_stride = rows * m.stride + (int64_t)test_below(5);
    const size_t bytes = (size_t)m.plane_stride * planes * element_bytes + 1;
    m.data = malloc(bytes);
    ck_assert_ptr_nonnull(m.data);
    memset(m.data, 0xa5, bytes);
    return m;
}

static uint64_t *host_row(uint64_t *data, int64_t i)
{
    return data + 40 * i;
}

/** Imports, prepares, reduces (sums as given) and exports in that rounding mode, in two parts of rows. */
static void run_passes(int mode)
{
    const uint64_t p = exact_modulus(64);
    const int64_t rows = (int64_t)test_below(12), cols = (int64_t)test_below(30);
    const uint32_t width = p >> 32 || test_below(2) ? 8 : 4;
    nmodgpu_plan plan = exact_sums_plan(p);
    const nmodgpu_plan digits = exact_digits_plan(p);
    plan.left = digits.left;
    nmodgpu_matrix words = matrix_new(NMODGPU_WORDS, rows, cols, 1, width);
    nmodgpu_matrix planes = matrix_new(NMODGPU_PLANES, rows, cols, plan.left.planes, 8);
    nmodgpu_matrix sums = matrix_new(NMODGPU_SUMS, rows, cols, plan.sums, 8);
    static uint64_t in[12 * 40], back[12 * 40];
    uint64_t *row_table[12]; /* rows in reverse */
    for (int64_t i = 0; i < rows; i++)
        row_table[i] = host_row(in, rows - 1 - i);
    for (int i = 0; i < 12 * 40; i++) {
        in[i] = exact_word(p);
        back[i] = ~0ULL;
    }
    nmodgpu_matrix host = {.representation = NMODGPU_WORDS,
                           .device = NMODGPU_HOST,
                           .rows = rows,
                           .cols = cols,
                           .element_bytes = 8,
                           .planes = 1,
                           .row_table = row_table,
                           .col_offset = 3};
    nmodgpu_matrix host_back = host;
    host_back.row_table = NULL;
    host_back.data = back;
    host_back.stride = 40;
    double *s = sums.data;
    for (int64_t i = 0; i < sums.plane_stride * plan.sums; i++)
        s[i] = exact_sum(p);
    const int sign = test_below(2) ? 1 : -1;
    const nmodgpu_preparer preparer = nmodgpu_preparer_make(&plan, 0);
    const nmodgpu_reducer reducer = nmodgpu_reducer_make(&plan, ~0ULL, sign);
    const int64_t cut = (int64_t)test_below((uint64_t)rows + 1);
    const int64_t part[] = {0, cut, rows};
    fesetround(mode);
    for (int i = 0; i < 2; i++) {
        nmodgpu_host_import(&words, &host, part[i], part[i + 1]);
        nmodgpu_host_prepare(&preparer, &planes, &words, part[i], part[i + 1]);
        nmodgpu_host_reduce(&reducer, &words, &words, &sums, part[i], part[i + 1]);
        nmodgpu_host_export(&host_back, &words, part[i], part[i + 1]);
    }
    const int mode_after = fegetround();
    fesetround(FE_TONEAREST);
    check_that(mode_after == mode, "the rounding mode changed\n");
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < 40; j++) {
            const uint64_t got = host_row(back, i)[j];
            if (j >= cols) {
                check_that(got == ~0ULL, "written beyond the row\n");
                continue;
            }
            const uint64_t word = row_table[i][3 + j];
            double expected[NMODGPU_MAX_PLANES];
            nmodgpu_prepare_entry(&preparer, word, expected, 1);
            for (uint32_t k = 0; k < preparer.planes; k++)
                check_that(((double *)planes.data)[k * planes.plane_stride + i * planes.stride + j] == expected[k],
                           "plane %u in rounding mode %d\n", k, mode);
            check_that(got == exact_reduced(&plan, ~0ULL, sign, word, s + i * sums.stride + j, sums.plane_stride),
                       "p %llu in rounding mode %d\n", (unsigned long long)p, mode);
        }
    }
    free(words.data);
    free(planes.data);
    free(sums.data);
}

START_TEST(passes_are_right_in_every_rounding_mode)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++)
        for (int round = 0; round < 120; round++)
            run_passes(modes[i]);
}
END_TEST

TCase *exact_rows_cases(void)
{
    TCase *c = tcase_create("rows");
    tcase_add_test(c, rows_equal_entries_on_every_instruction_set);
    tcase_add_test(c, passes_are_right_in_every_rounding_mode);
    return c;
}
