/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The bodies are written once and inlined into a function for each instruction set, where the compiler
 * vectorises the marked loops (-fopenmp-simd: with any optimisation level).
 */
#include "rows.h"

#include <pthread.h>

#define BODY static inline __attribute__((always_inline))

/* Entries treated at once: some arrays of that length stay in the first-level cache. */
enum { CHUNK = 256 };

BODY void load_words(uint64_t *restrict to, nmodgpu_word_row row, int64_t start, int64_t n)
{
    if (row.element_bytes == 4) {
        const uint32_t *restrict from = (const uint32_t *)row.data + start;
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            to[e] = from[e];
    } else {
        const uint64_t *restrict from = (const uint64_t *)row.data + start;
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            to[e] = from[e];
    }
}

BODY void store_words(nmodgpu_word_row row, int64_t start, const uint64_t *restrict from, int64_t n)
{
    if (row.element_bytes == 4) {
        uint32_t *restrict to = (uint32_t *)row.data + start;
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            to[e] = (uint32_t)from[e];
    } else {
        uint64_t *restrict to = (uint64_t *)row.data + start;
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            to[e] = from[e];
    }
}

/** The next digit of every entry: x loses it, digit gets it. */
BODY void take_digits(const nmodgpu_preparer *c, uint32_t j, int64_t *restrict x, int64_t *restrict digit,
                      int64_t n)
{
    if (j + 1 < c->digits) {
        const uint32_t bits = c->digit_bits;
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            digit[e] = nmodgpu_take_digit(&x[e], bits);
    } else {
#pragma omp simd
        for (int64_t e = 0; e < n; e++)
            digit[e] = x[e];
    }
}

BODY void prepare_chunk(const nmodgpu_preparer *c, double *planes, int64_t plane_stride, nmodgpu_word_row words,
                        int64_t start, int64_t n)
{
    uint64_t word[CHUNK];
    int64_t x[CHUNK], digit[CHUNK];
    const uint64_t p = c->p, most = c->most;
    load_words(word, words, start, n);
#pragma omp simd
    for (int64_t e = 0; e < n; e++)
        x[e] = nmodgpu_represent(word[e], p, most);
    uint32_t begun = 0;
    for (uint32_t j = 0; j < c->digits; j++) {
        take_digits(c, j, x, digit, n);
        for (uint32_t i = 0; i < c->planes; i++) {
            double *restrict out = planes + i * plane_stride + start;
            if (!(c->plane_digits[i] >> j & 1))
                continue;
            if (begun >> i & 1) {
#pragma omp simd
                for (int64_t e = 0; e < n; e++)
                    out[e] += nmodgpu_small_to_double(digit[e]);
            } else {
#pragma omp simd
                for (int64_t e = 0; e < n; e++)
                    out[e] = nmodgpu_small_to_double(digit[e]);
            }
            begun |= 1u << i;
        }
    }
}

BODY void prepare_body(const nmodgpu_preparer *preparer, double *planes, int64_t plane_stride,
                       nmodgpu_word_row words, int64_t n)
{
    const nmodgpu_preparer c = *preparer;
    for (int64_t start = 0; start < n; start += CHUNK)
        prepare_chunk(&c, planes, plane_stride, words, start, n - start < CHUNK ? n - start : CHUNK);
}

BODY void reduce_chunk_double(const nmodgpu_reducer *c, uint64_t *restrict acc, const double *sums,
                              int64_t plane_stride, int64_t n)
{
    double v[CHUNK];
    const double p = c->pf, pinv = c->pinv;
#pragma omp simd
    for (int64_t e = 0; e < n; e++)
        v[e] = nmodgpu_small_to_double((int64_t)acc[e]);
    for (uint32_t i = 0; i < c->sums; i++) {
        const double *restrict s = sums + c->plane[i] * plane_stride;
        const double w = c->wf[i];
        if (w == 1.0) {
#pragma omp simd
            for (int64_t e = 0; e < n; e++)
                v[e] += nmodgpu_double_mod(s[e], p, pinv);
        } else {
#pragma omp simd
            for (int64_t e = 0; e < n; e++)
                v[e] += nmodgpu_double_scale(nmodgpu_double_mod(s[e], p, pinv), w, p, pinv);
        }
    }
#pragma omp simd
    for (int64_t e = 0; e < n; e++)
        acc[e] = nmodgpu_reduce_end_double(c, v[e]);
}

BODY void reduce_chunk_integer(const nmodgpu_reducer *c, uint64_t *restrict acc, const double *sums,
                               int64_t plane_stride, int64_t n)
{
    for (uint32_t i = 0; i < c->sums; i++) {
        const double *restrict s = sums + c->plane[i] * plane_stride;
        for (int64_t e = 0; e < n; e++)
            acc[e] = nmodgpu_reduce_add_integer(c, i, acc[e], s[e]);
    }
}

BODY void reduce_body(const nmodgpu_reducer *reducer, nmodgpu_word_row out, nmodgpu_word_row base,
                      const double *sums, int64_t plane_stride, int64_t count, bool fma)
{
    const nmodgpu_reducer c = *reducer;
    uint64_t acc[CHUNK];
    for (int64_t start = 0; start < count; start += CHUNK) {
        const int64_t n = count - start < CHUNK ? count - start : CHUNK;
        if (base.data) {
            load_words(acc, base, start, n);
        } else {
#pragma omp simd
            for (int64_t e = 0; e < n; e++)
                acc[e] = 0;
        }
        if (fma && c.use_double)
            reduce_chunk_double(&c, acc, sums + start, plane_stride, n);
        else
            reduce_chunk_integer(&c, acc, sums + start, plane_stride, n);
        store_words(out, start, acc, n);
    }
}

BODY void copy_body(nmodgpu_word_row to, nmodgpu_word_row from, int64_t count)
{
    uint64_t word[CHUNK];
    for (int64_t start = 0; start < count; start += CHUNK) {
        const int64_t n = count - start < CHUNK ? count - start : CHUNK;
        load_words(word, from, start, n);
        store_words(to, start, word, n);
    }
}

/** FMA says whether the instruction set has fused multiply-adds: without, they are calls of slow functions,
 *  and the integer road gives the same words. */
#define VERSION(SUFFIX, TARGET, FMA)                                                                               \
    TARGET static void prepare_##SUFFIX(const nmodgpu_preparer *preparer, double *planes, int64_t plane_stride,    \
                                        nmodgpu_word_row words, int64_t n)                                         \
    {                                                                                                              \
        prepare_body(preparer, planes, plane_stride, words, n);                                                    \
    }                                                                                                              \
    TARGET static void reduce_##SUFFIX(const nmodgpu_reducer *reducer, nmodgpu_word_row out,                       \
                                       nmodgpu_word_row base, const double *sums, int64_t plane_stride, int64_t n) \
    {                                                                                                              \
        reduce_body(reducer, out, base, sums, plane_stride, n, FMA);                                               \
    }                                                                                                              \
    TARGET static void copy_##SUFFIX(nmodgpu_word_row to, nmodgpu_word_row from, int64_t n)                        \
    {                                                                                                              \
        copy_body(to, from, n);                                                                                    \
    }

#ifdef FP_FAST_FMA
VERSION(baseline, , true)
#else
VERSION(baseline, , false)
#endif

#ifdef __x86_64__
#define AVX2 "avx2,fma,bmi2"
#define AVX512 AVX2 ",avx512f,avx512dq,avx512vl,avx512bw"
VERSION(avx2, __attribute__((target(AVX2))), true)
VERSION(avx512, __attribute__((target(AVX512))), true)
#endif

static nmodgpu_row_code usable[3];
static size_t usable_count;

static void find_usable(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        usable[usable_count++] = (nmodgpu_row_code){"avx512", prepare_avx512, reduce_avx512, copy_avx512};
    if (avx2)
        usable[usable_count++] = (nmodgpu_row_code){"avx2", prepare_avx2, reduce_avx2, copy_avx2};
#endif
    usable[usable_count++] = (nmodgpu_row_code){"baseline", prepare_baseline, reduce_baseline, copy_baseline};
}

const nmodgpu_row_code *nmodgpu_row_code_list(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_usable);
    if (count)
        *count = usable_count;
    return usable;
}
