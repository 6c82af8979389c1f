/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plan_price.h"

#include <math.h>

#include "planner.h"

/* nmodgpu_reducer_make() takes the integer road, which arithmetic may bound, from 2^50 on, and from about here
 * where there are several sums. */
enum { INTEGER_ROAD_BITS = 49 };

/** A rate that nobody measured may be 0 or NaN. */
static double positive(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/** Device words: 4 bytes where the modulus allows it, as product.c keeps them. */
static double word_bytes(uint64_t p)
{
    return p < (1ULL << 32) ? 4 : 8;
}

/** Entries of C that the device works on as if tiles and rounds of tiles were full.  Libraries take smaller
 *  tiles for the last round, so only half of its idle part counts. */
static double padded_entries(int64_t m, int64_t n, const nmodgpu_rates *rates)
{
    const double rows = positive(rates->f64_tile_rows, 1);
    const double cols = positive(rates->f64_tile_cols, 1);
    const double processors = positive(rates->processors, 1);
    const double rounds = ceil((double)m / rows) * ceil((double)n / cols) / processors;
    const double paid = rounds < 1 ? 1 : (rounds + ceil(rounds)) / 2;
    return paid * processors * rows * cols;
}

nmodgpu_price nmodgpu_price_make(uint64_t p, int64_t m, int64_t k, int64_t n, const nmodgpu_rates *rates)
{
    const double per_byte = 1 / positive(rates->pass_bytes, 1);
    const double left = (double)m * (double)k * per_byte;
    const double right = (double)k * (double)n * per_byte;
    const double result = (double)m * (double)n * per_byte;
    nmodgpu_price price = {.k = k};
    price.per_inner = 2 * padded_entries(m, n, rates) / positive(rates->f64_flops, 1);
    price.per_gemm = price.per_inner * positive(rates->f64_k_half, 0) + positive(rates->gemm_start, 0);
    price.per_pass = positive(rates->pass_start, 0);
    price.left_words = word_bytes(p) * left;
    price.right_words = word_bytes(p) * right;
    price.result_words = word_bytes(p) * result;
    price.left_plane = 8 * left;
    price.right_plane = 8 * right;
    price.sum_plane = 8 * result;
    if (p >> INTEGER_ROAD_BITS && rates->integer_sums > 0)
        price.sum_plane = fmax(price.sum_plane, (double)m * (double)n / rates->integer_sums);
    return price;
}

/** Counts of machine work: GEMMs with their inner lengths added up, passes over C, sum planes read. */
static double price_counts(const nmodgpu_price *price, uint32_t left_planes, uint32_t right_planes, double inner,
                           double gemms, double passes, double reads)
{
    const double conversion = 2 * price->per_pass + price->left_words + left_planes * price->left_plane +
                              price->right_words + right_planes * price->right_plane;
    const double products = inner * price->per_inner + gemms * price->per_gemm;
    /* Every pass writes words of C; every pass but the first reads them too. */
    const double reductions =
        passes * price->per_pass + (2 * passes - 1) * price->result_words + reads * price->sum_plane;
    const double seconds = conversion + products + reductions;
    return seconds >= 0 ? seconds : INFINITY; /* senseless rates must not upset the order of plans */
}

/** doc/algorithms.md#schedule: as many reductions as the plane with the shortest blocks has blocks, and each
 *  plane is read once a block. */
double nmodgpu_price_plan(const nmodgpu_price *price, const nmodgpu_plan *plan)
{
    int64_t blocks[NMODGPU_MAX_SUMS];
    int64_t gemms = 0;
    int64_t passes = 0;
    int64_t reads = 0;
    for (uint32_t g = 0; g < plan->sums; g++) {
        blocks[g] = plan->block[g] >= price->k ? 1 : (price->k + plan->block[g] - 1) / plan->block[g];
        reads += blocks[g];
        if (passes < blocks[g])
            passes = blocks[g];
    }
    for (uint32_t t = 0; t < plan->terms; t++)
        gemms += blocks[plan->term[t].sum];
    return price_counts(price, plan->left.planes, plan->right.planes, (double)plan->terms * (double)price->k,
                        (double)gemms, (double)passes, (double)reads);
}

double nmodgpu_price_least(const nmodgpu_price *price, uint32_t left_planes, uint32_t right_planes, uint32_t terms,
                           uint32_t sums)
{
    return price_counts(price, left_planes, right_planes, (double)terms * (double)price->k, terms, 1, sums);
}

double nmodgpu_plan_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates)
{
    const nmodgpu_price price = nmodgpu_price_make(plan->modulus, plan->m, plan->k, plan->n, rates);
    return nmodgpu_price_plan(&price, plan);
}

double nmodgpu_plan_call_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates, bool reads_c)
{
    const double left = (double)plan->m * (double)plan->k;
    const double right = (double)plan->k * (double)plan->n;
    const double result = (double)plan->m * (double)plan->n;
    const double imported = 8 * (left + right + (reads_c ? result : 0));
    const double base = reads_c ? word_bytes(plan->modulus) * result / positive(rates->pass_bytes, 1) : 0;
    return nmodgpu_plan_seconds(plan, rates) + imported / positive(rates->import_bytes, 1) +
           8 * result / positive(rates->export_bytes, 1) + base + positive(rates->call_start, 0);
}
