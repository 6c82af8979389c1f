/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cost.h"

#include <math.h>

/* The model's residual against that measurement is within a quarter for n = 16 and more:
 *   seconds at n =      64        256       512      1000     2000
 *   8 bits          5.0e-5    2.5e-3    2.0e-2     .156     1.18
 *   23 bits         9.2e-5    4.9e-3    3.7e-2     .287     2.0
 *   31 bits         2.0e-4    1.0e-2    7.3e-2     .567     3.66
 *   60 bits         1.8e-4    9.3e-3    6.9e-2     .632     3.61
 *   64 bits         2.6e-4    1.4e-2    1.0e-1 */
const nmodgpu_host_rates nmodgpu_host_rates_flint29 = {
    .packs = true,
    .multiply = {0.29e-9, 0.57e-9, 0.86e-9},
    .reduce = {2e-9, 8e-9, 10e-9},
    .transpose = 2e-9,
    .call_start = 0.15e-6,
    .strassen_from = 400,
    .strassen_saving = 0.09,
};

const nmodgpu_host_rates nmodgpu_host_rates_portable = {
    .multiply = {0.95e-9, 0.95e-9, 0.95e-9},
    .reduce = {40e-9, 40e-9, 40e-9},
    .transpose = 0.5e-9,
    .call_start = 0.1e-6,
    .strassen_from = 1e18,
};

static int bits(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

static double smallest(int64_t m, int64_t k, int64_t n)
{
    const int64_t mk = m < k ? m : k;
    return (double)(mk < n ? mk : n);
}

double nmodgpu_host_seconds(const nmodgpu_host_rates *r, int64_t m, int64_t k, int64_t n, uint64_t p)
{
    /* Strassen's recursion halves the inner length before sums are formed. */
    const double least = smallest(m, k, n);
    const int64_t inner = least > r->strassen_from && k > 256 ? 256 : k;
    const int sum_bits = 2 * bits(p - 1) + bits((uint64_t)inner - 1);
    const int words = sum_bits <= 64 ? 1 : sum_bits <= 128 ? 2 : 3;
    const int packed = r->packs && sum_bits <= 32 ? 64 / sum_bits : 1;
    double multiply = (double)m * (double)k * (double)n * r->multiply[words - 1] / packed;
    if (least > r->strassen_from)
        multiply *= pow(1 - r->strassen_saving, log2(least / r->strassen_from));
    return r->call_start + multiply + (double)m * (double)n * r->reduce[words - 1] +
           (double)k * (double)n * r->transpose;
}
