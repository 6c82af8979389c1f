/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE
#include "blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "forks.h"
#include "hold.h"

/** Set by blas_threads() and blas_alone_below(), before products. */
static struct {
    void (*set)(int);
    int (*get)(void);
    double alone_below;
} threading;

bool blas_fits(int64_t m, int64_t k, int64_t n, int64_t stride_a, int64_t stride_b, int64_t stride_c)
{
    return m <= INT_MAX && k <= INT_MAX && n <= INT_MAX && stride_a <= INT_MAX && stride_b <= INT_MAX &&
           stride_c <= INT_MAX;
}

/** Rows of a strip: at least 512, so that its B is worth packing. */
static int64_t strip_rows(int64_t k, int64_t n, double flops)
{
    const double rows = 0.5 * flops / (2.0 * (double)k * (double)n);
    if (rows > (double)INT_MAX)
        return INT_MAX;
    return rows < 512 ? 512 : (int64_t)rows;
}

/** One product, of the first `m` rows of A. */
static void multiply_strip(double *c, int64_t stride_c, bool add, blas_operand a, blas_operand b, int64_t m,
                           int64_t k, int64_t n)
{
    const bool alone = 2.0 * (double)m * (double)k * (double)n < threading.alone_below;
    const nmodgpu_hold hold = nmodgpu_hold_signals(); /* the BLAS has locks, and threads at work */
    cblas_forks_hold();
    const int otherwise = alone ? threading.get() : 1; /* the program may have set it since the last product */
    if (otherwise > 1)
        threading.set(1);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1.0, a.data, (int)a.stride,
                b.data, (int)b.stride, add ? 1.0 : 0.0, c, (int)stride_c);
    if (otherwise > 1 && threading.get() == 1)
        threading.set(otherwise);
    cblas_forks_release();
    nmodgpu_release_signals(&hold);
}

void blas_multiply(double *c, int64_t stride_c, bool add, blas_operand a, blas_operand b, int64_t m, int64_t k,
                   int64_t n, double flops)
{
    const int64_t strip = strip_rows(k, n, flops);
    for (int64_t r = 0; r < m; r += strip)
        multiply_strip(c + r * stride_c, stride_c, add, (blas_operand){a.data + r * a.stride, a.stride}, b,
                       m - r < strip ? m - r : strip, k, n);
}

/** A function that only some BLAS have, in the library that our cblas_dgemm comes from. */
static void *blas_function(const char *name)
{
    Dl_info info;
    if (!dladdr((void *)cblas_dgemm, &info) || !info.dli_fname)
        return NULL;
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    void *function = dlsym(handle, name);
    dlclose(handle); /* one reference of several */
    return function;
}

int blas_threads(int threads)
{
    threading.set = (void (*)(int))blas_function("openblas_set_num_threads");
    threading.get = (int (*)(void))blas_function("openblas_get_num_threads");
    if (threading.set && threads > 0)
        threading.set(threads);
    return threading.get ? threading.get() : 0;
}

bool blas_alone_below(double flops)
{
    if (!threading.set || !threading.get)
        return false;
    threading.alone_below = flops;
    return true;
}

void blas_describe(char *text, size_t size)
{
    Dl_info info;
    char *(*config)(void) = (char *(*)(void))blas_function("openblas_get_config");
    if (config)
        snprintf(text, size, "%s", config());
    else if (dladdr((void *)cblas_dgemm, &info) && info.dli_fname)
        snprintf(text, size, "%s", info.dli_fname);
    else
        snprintf(text, size, "CBLAS");
}

/** Entry i of a test matrix: of magnitude `high`, or little less; signs and ends pseudo-random. */
static double test_entry(uint32_t i, double high)
{
    const uint32_t x = (i + 1) * 2654435761u;
    const double value = high - (x >> 28 & 3);
    return x >> 31 ? value : -value;
}

bool blas_exact(void)
{
    enum { N = 80 };
    static double a[N * N], b[N * N], c[N * N];
    const double high = 10610843; /* floor(sqrt(2^53 / 80)) */
    for (uint32_t i = 0; i < N * N; i++) {
        const bool plain = i / N % 2 == 0;
        a[i] = plain ? high : test_entry(i, high);
        b[i] = i % N % 2 == 0 ? high : test_entry(i + N * N, high);
        c[i] = 1;
    }
    const blas_operand left = {a, N}, right = {b, N};
    blas_multiply(c, N, false, left, right, N, N, N, 1e9);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int64_t sum = 0;
            for (int l = 0; l < N; l++)
                sum += (int64_t)a[i * N + l] * (int64_t)b[l * N + j];
            if (c[i * N + j] != (double)sum)
                return false;
        }
    }
    return true;
}
