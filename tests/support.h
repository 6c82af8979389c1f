/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the test programs share: seeded random numbers, the operands that break inexact code, and a plain
 * product to compare with.
 */
#ifndef NMODGPU_TESTS_SUPPORT_H
#define NMODGPU_TESTS_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Seeds the generator from NMODGPU_TEST_SEED, else from the clock, and returns the seed for failure texts. */
uint64_t test_seed(void);
uint64_t test_random(void);
/** Uniform in [0, n), n >= 1. */
uint64_t test_below(uint64_t n);
/** A modulus of exactly that many bits (1..64): random, or now and then a bound of the range or a power of two. */
uint64_t test_modulus(unsigned bits);

typedef enum test_pattern {
    TEST_UNIFORM,
    TEST_IDENTITY,
    TEST_PERMUTATION,
    TEST_ZERO,
    TEST_SINGLE,
    TEST_RANK_ONE,
    TEST_ALL_MINUS_ONE,
    TEST_ALL_HALF,
    TEST_SPARSE,
    TEST_PATTERNS
} test_pattern;
const char *test_pattern_name(test_pattern pattern);

/** Fills rows x cols entries in [0, p), rows `stride` apart. */
void test_fill(uint64_t *a, int64_t rows, int64_t cols, int64_t stride, uint64_t p, test_pattern pattern);

/** d = (c ? c : 0) + sign * a * b mod p by 128-bit sums; all contiguous with the given strides. */
void test_product(uint64_t *d, int64_t ldd, const uint64_t *c, int64_t ldc, int sign, const uint64_t *a,
                  int64_t lda, const uint64_t *b, int64_t ldb, int64_t m, int64_t k, int64_t n, uint64_t p);

#endif
