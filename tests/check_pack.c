/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Packing: every way of this CPU gives the same bytes, takes them back, and touches nothing beside them.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pack.h"
#include "suite.h"
#include "support.h"

enum { LONGEST = 200, OFFSETS = 16, POISON = 0xa5 };

static uint64_t seed;

static void seed_test(void)
{
    seed = test_seed();
}

#define check_that(condition, ...)                                                                                 \
    do {                                                                                                           \
        if (!(condition)) {                                                                                        \
            fprintf(stderr, __VA_ARGS__);                                                                          \
            ck_abort_msg("seed %llu: %s", (unsigned long long)seed, #condition);                                   \
        }                                                                                                          \
    } while (0)

/** Memory that nothing may touch on either side: a stray access ends the test by SIGSEGV. */
typedef struct fenced {
    unsigned char *begin, *end;
} fenced;

static fenced fenced_new(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    unsigned char *all = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(all != MAP_FAILED);
    ck_assert_int_eq(mprotect(all + page, inside, PROT_READ | PROT_WRITE), 0);
    return (fenced){all + page, all + page + inside};
}

static void fenced_free(fenced *f)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ck_assert_int_eq(munmap(f->begin - page, (size_t)(f->end - f->begin) + 2 * page), 0);
}

static uint64_t largest(uint32_t bytes)
{
    return UINT64_MAX >> (64 - 8 * bytes);
}

/** Canonical at that width: 0, 1, the largest, its neighbours and halves, or uniform of any length. */
static uint64_t random_word(uint32_t bytes)
{
    const uint64_t most = largest(bytes);
    const uint64_t choice[] = {0, 1, most, most - 1, most / 2, most / 2 + 1};
    const uint64_t i = test_below(12);
    return i < 6 ? choice[i] : (test_random() & most) >> test_below(8 * bytes);
}

/** The definition. */
static void pack_by_bytes(unsigned char *to, const uint64_t *from, int64_t count, uint32_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < bytes; j++)
            to[i * bytes + j] = (unsigned char)(from[i] >> 8 * j);
}

static bool poisoned(const unsigned char *from, const unsigned char *to)
{
    for (; from < to; from++)
        if (*from != POISON)
            return false;
    return true;
}

/** One row: words at `words`, packed at `packed`, both inside fences, poisoned besides. */
static void check_row(const nmodgpu_pack_code *code, const fenced *w, const fenced *q, uint64_t *words,
                      unsigned char *packed, int64_t count, uint32_t bytes)
{
    uint64_t word[LONGEST];
    unsigned char expected[8 * LONGEST];
    const size_t packed_bytes = (size_t)count * bytes;
    for (int64_t i = 0; i < count; i++)
        word[i] = random_word(bytes);
    pack_by_bytes(expected, word, count, bytes);

    memset(q->begin, POISON, (size_t)(q->end - q->begin));
    memcpy(words, word, (size_t)count * 8);
    code->pack(packed, words, count, bytes);
    check_that(memcmp(packed, expected, packed_bytes) == 0, "%s packs %lld of %u bytes wrongly\n", code->name,
               (long long)count, bytes);
    check_that(poisoned(q->begin, packed) && poisoned(packed + packed_bytes, q->end),
               "%s packs %lld of %u bytes beyond its row\n", code->name, (long long)count, bytes);
    check_that(memcmp(words, word, (size_t)count * 8) == 0, "%s changes what it packs\n", code->name);

    memset(w->begin, POISON, (size_t)(w->end - w->begin));
    code->unpack(words, packed, count, bytes);
    nmodgpu_unpack_finish();
    check_that(memcmp(words, word, (size_t)count * 8) == 0, "%s unpacks %lld of %u bytes wrongly\n", code->name,
               (long long)count, bytes);
    check_that(poisoned(w->begin, (unsigned char *)words) && poisoned((unsigned char *)(words + count), w->end),
               "%s unpacks %lld of %u bytes beyond its row\n", code->name, (long long)count, bytes);
    check_that(memcmp(packed, expected, packed_bytes) == 0, "%s changes what it unpacks\n", code->name);
}

/** All lengths and offsets from the front fence, and from the back fence; the packed row at any byte. */
static void check_width(const nmodgpu_pack_code *code, uint32_t bytes)
{
    fenced w = fenced_new(8 * (LONGEST + OFFSETS)), q = fenced_new(8 * LONGEST + OFFSETS);
    for (int64_t count = 0; count <= LONGEST; count++) {
        for (int64_t offset = 0; offset < OFFSETS; offset++) {
            const int64_t shift = (offset * 5 + count) % OFFSETS;
            check_row(code, &w, &q, (uint64_t *)w.begin + offset, q.begin + shift, count, bytes);
            check_row(code, &w, &q, (uint64_t *)w.end - count - offset, q.end - count * bytes - shift, count,
                      bytes);
            check_row(code, &w, &q, (uint64_t *)w.end - count - offset, q.end - count * bytes, count, bytes);
        }
    }
    fenced_free(&w);
    fenced_free(&q);
}

START_TEST(rows_are_packed_and_taken_back_and_nothing_else)
{
    size_t count;
    const nmodgpu_pack_code *code = nmodgpu_pack_code_list(&count);
    ck_assert(count >= 1 && count <= 3);
    ck_assert_str_eq(code[count - 1].name, "portable");
    for (size_t i = 0; i < count; i++)
        check_width(&code[i], (uint32_t)_i);
}
END_TEST

/** Rows one after another, as a matrix lies in a ring: later rows do not harm earlier ones. */
START_TEST(rows_packed_in_a_row_stand_beside_each_other)
{
    enum { ROWS = 40, COLS = 37 };
    static uint64_t word[ROWS * COLS], back[ROWS * COLS];
    static unsigned char packed[8 * ROWS * COLS], expected[8 * ROWS * COLS];
    const uint32_t bytes = (uint32_t)_i;
    size_t count;
    const nmodgpu_pack_code *code = nmodgpu_pack_code_list(&count);
    for (size_t c = 0; c < count; c++) {
        for (int64_t i = 0; i < ROWS * COLS; i++)
            word[i] = random_word(bytes);
        pack_by_bytes(expected, word, ROWS * COLS, bytes);
        memset(packed, POISON, sizeof packed);
        memset(back, POISON, sizeof back);
        for (int64_t r = ROWS - 1; r >= 0; r--) /* backwards: nothing is repaired by the row that follows */
            code[c].pack(packed + r * COLS * bytes, word + r * COLS, COLS, bytes);
        ck_assert_int_eq(memcmp(packed, expected, (size_t)ROWS * COLS * bytes), 0);
        for (int64_t r = ROWS - 1; r >= 0; r--)
            code[c].unpack(back + r * COLS, packed + r * COLS * bytes, COLS, bytes);
        nmodgpu_unpack_finish();
        ck_assert_int_eq(memcmp(back, word, sizeof word), 0);
    }
}
END_TEST

START_TEST(long_rows_come_back)
{
    enum { COUNT = 100003 };
    uint64_t *word = malloc(8 * COUNT), *back = malloc(8 * COUNT);
    unsigned char *packed = malloc(8 * COUNT), *expected = malloc(8 * COUNT);
    ck_assert(word && back && packed && expected);
    size_t count;
    const nmodgpu_pack_code *code = nmodgpu_pack_code_list(&count);
    for (int64_t i = 0; i < COUNT; i++)
        word[i] = random_word((uint32_t)_i);
    pack_by_bytes(expected, word, COUNT, (uint32_t)_i);
    for (size_t c = 0; c < count; c++) {
        memset(packed, POISON, 8 * COUNT);
        memset(back, POISON, 8 * COUNT);
        code[c].pack(packed, word, COUNT, (uint32_t)_i);
        ck_assert_int_eq(memcmp(packed, expected, (size_t)COUNT * (size_t)_i), 0);
        code[c].unpack(back, packed, COUNT, (uint32_t)_i);
        nmodgpu_unpack_finish();
        ck_assert_int_eq(memcmp(back, word, 8 * COUNT), 0);
    }
    free(word);
    free(back);
    free(packed);
    free(expected);
}
END_TEST

START_TEST(the_width_is_the_least_that_holds_all_entries)
{
    ck_assert_uint_eq(nmodgpu_packed_bytes(1), 1);
    ck_assert_uint_eq(nmodgpu_packed_bytes(UINT64_MAX), 8);
    for (uint32_t bytes = 1; bytes <= 7; bytes++) {
        const uint64_t end = largest(bytes) + 1;
        ck_assert_uint_eq(nmodgpu_packed_bytes(end - 1), bytes);
        ck_assert_uint_eq(nmodgpu_packed_bytes(end), bytes);
        ck_assert_uint_eq(nmodgpu_packed_bytes(end + 1), bytes + 1);
    }
    for (int round = 0; round < 100000; round++) {
        const uint64_t p = test_modulus(1 + (unsigned)test_below(64));
        const uint32_t bytes = nmodgpu_packed_bytes(p);
        check_that(bytes >= 1 && bytes <= 8 && p - 1 <= largest(bytes) &&
                       (bytes == 1 || p - 1 > largest(bytes - 1)),
                   "%u bytes for p %llu\n", bytes, (unsigned long long)p);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pack");
    TCase *c = tcase_create("pack");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, seed_test, NULL);
    tcase_add_loop_test(c, rows_are_packed_and_taken_back_and_nothing_else, 1, 9);
    tcase_add_loop_test(c, rows_packed_in_a_row_stand_beside_each_other, 1, 9);
    tcase_add_loop_test(c, long_rows_come_back, 1, 9);
    tcase_add_test(c, the_width_is_the_least_that_holds_all_entries);
    suite_add_tcase(suite, c);
    return test_run(suite, CK_FORK_GETENV);
}
