/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support.h"

#include <stdlib.h>
#include <time.h>

static uint64_t state = 1;

uint64_t test_seed(void)
{
    const char *given = getenv("NMODGPU_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state = given ? strtoull(given, NULL, 0) : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
    return state;
}

/* splitmix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014. */
uint64_t test_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_below(uint64_t n)
{
    return (uint64_t)(((unsigned __int128)test_random() * n) >> 64);
}

uint64_t test_modulus(unsigned bits)
{
    const uint64_t low = bits == 1 ? 1 : 1ULL << (bits - 1);
    const uint64_t high = bits == 64 ? UINT64_MAX : (1ULL << bits) - 1;
    switch (test_below(8)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
        return low + (low < high);
    default:
        return low + test_below(high - low + 1);
    }
}

const char *test_pattern_name(test_pattern pattern)
{
    static const char *const names[TEST_PATTERNS] = {"uniform",  "identity", "permutation", "zero",  "single",
                                                     "rank one", "all p-1",  "all p/2",     "sparse"};
    return names[pattern];
}

static uint64_t mulmod(uint64_t a, uint64_t b, uint64_t p)
{
    return (uint64_t)((unsigned __int128)a * b % p);
}

static uint64_t entry(test_pattern pattern, int64_t i, int64_t j, uint64_t p, uint64_t salt)
{
    switch (pattern) {
    case TEST_IDENTITY:
        return i == j ? 1 % p : 0;
    case TEST_RANK_ONE:
        return mulmod((salt * (uint64_t)(2 * i + 1)) % p, (salt * (uint64_t)(2 * j + 3)) % p, p);
    case TEST_ALL_MINUS_ONE:
        return p - 1;
    case TEST_ALL_HALF:
        return p / 2;
    case TEST_SPARSE:
        return test_below(16) ? 0 : test_below(p);
    case TEST_UNIFORM:
        return test_below(p);
    default:
        return 0;
    }
}

void test_fill(uint64_t *a, int64_t rows, int64_t cols, int64_t stride, uint64_t p, test_pattern pattern)
{
    const uint64_t salt = test_random();
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            a[i * stride + j] = entry(pattern, i, j, p, salt);
    if (rows == 0 || cols == 0)
        return;
    if (pattern == TEST_SINGLE)
        a[(int64_t)test_below((uint64_t)rows) * stride + (int64_t)test_below((uint64_t)cols)] = p - 1;
    if (pattern == TEST_PERMUTATION) /* i -> (q i + s) mod cols is one to one for q prime to cols */
        for (int64_t i = 0, q = cols % 7 ? 7 : 1, s = (int64_t)(salt % (uint64_t)cols); i < rows && i < cols; i++)
            a[i * stride + (q * i + s) % cols] = 1 % p;
}

void test_product(uint64_t *d, int64_t ldd, const uint64_t *c, int64_t ldc, int sign, const uint64_t *a,
                  int64_t lda, const uint64_t *b, int64_t ldb, int64_t m, int64_t k, int64_t n, uint64_t p)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            unsigned __int128 low = 0; /* sum of low and of high halves: neither overflows for k < 2^63 */
            unsigned __int128 high = 0;
            for (int64_t l = 0; l < k; l++) {
                const unsigned __int128 x = (unsigned __int128)a[i * lda + l] * b[l * ldb + j];
                low += (uint64_t)x;
                high += (uint64_t)(x >> 64);
            }
            const unsigned __int128 two64 = ((unsigned __int128)1 << 64) % p;
            const uint64_t s = (uint64_t)(((high % p) * two64 % p + low % p) % p);
            const unsigned __int128 base = c ? c[i * ldc + j] : 0;
            d[i * ldd + j] = (uint64_t)((base + (sign < 0 && s ? p - s : s)) % p);
        }
    }
}
