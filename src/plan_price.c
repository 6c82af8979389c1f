/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "plan_price.h"

#include <math.h>

#include "exact/winograd.h"
#include "planner.h"

/* nmodgpu_reducer_make() takes the integer road, which arithmetic may bound, from 2^50 on, and from about here
 * where there are several sums. */
enum { INTEGER_ROAD_BITS = 49 };

/** A rate that nobody measured may be 0 or NaN. */
static double positive(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/** What one kind of GEMM costs on a device. */
typedef struct gemm_rates {
    double flops, k_half, tile_rows, tile_cols;
} gemm_rates;

/** Entries of C that the device works on for each of `planes` products at once, as if tiles and rounds of tiles
 *  were full.  Libraries take smaller tiles for the last round, so only half of its idle part counts. */
static double padded_entries(int64_t m, int64_t n, double planes, const gemm_rates *gemm, double processors)
{
    const double rounds =
        ceil((double)m / gemm->tile_rows) * ceil((double)n / gemm->tile_cols) * planes / processors;
    const double paid = rounds < 1 ? 1 : (rounds + ceil(rounds)) / 2;
    return paid * processors * gemm->tile_rows * gemm->tile_cols / planes;
}

static void price_gemms(nmodgpu_price *price, int64_t m, int64_t n, double planes, const gemm_rates *gemm,
                        const nmodgpu_rates *rates)
{
    const double entries = padded_entries(m, n, planes, gemm, positive(rates->processors, 1));
    price->per_inner = 2 * entries / positive(gemm->flops, 1);
    price->per_gemm = price->per_inner * positive(gemm->k_half, 0);
    price->per_launch = positive(rates->gemm_start, 0);
}

/** Entries of the operands and of the result, as they are made for and by the products of a plan. */
typedef struct extents {
    double left, right, result;
} extents;

static extents whole_extents(double m, double k, double n)
{
    return (extents){m * k, k * n, m * n};
}

/** All but the GEMMs and what arithmetic takes; planes are of those extents. */
static nmodgpu_price price_passes(double word_bytes, const extents *words, const extents *planes,
                                  double plane_bytes, double sum_bytes, const nmodgpu_rates *rates)
{
    const double per_byte = 1 / positive(rates->pass_bytes, 1);
    return (nmodgpu_price){
        .per_pass = positive(rates->pass_start, 0),
        .left_words = word_bytes * words->left * per_byte,
        .right_words = word_bytes * words->right * per_byte,
        .result_words = word_bytes * words->result * per_byte,
        .left_plane = plane_bytes * planes->left * per_byte,
        .right_plane = plane_bytes * planes->right * per_byte,
        .sum_plane = sum_bytes * planes->result * per_byte,
    };
}

bool nmodgpu_price_offers(const nmodgpu_rates *rates, uint32_t sum_bytes)
{
    switch (sum_bytes) {
    case 1:
        return rates->i8_fused_flops > 0;
    case 4:
        return rates->i8_flops > 0;
    default:
        return true;
    }
}

nmodgpu_price nmodgpu_price_f64(uint64_t p, int64_t m, int64_t k, int64_t n, const nmodgpu_rates *rates)
{
    const gemm_rates gemm = {rates->f64_flops, rates->f64_k_half, positive(rates->f64_tile_rows, 1),
                             positive(rates->f64_tile_cols, 1)};
    const extents all = whole_extents((double)m, (double)k, (double)n);
    nmodgpu_price price = price_passes(p >> 32 ? 8 : 4, &all, &all, 8, 8, rates);
    price.k = k;
    price.products = 1;
    price.inner = (double)k;
    price_gemms(&price, m, n, 1, &gemm, rates);
    if (p >> INTEGER_ROAD_BITS && rates->integer_sums > 0)
        price.sum_plane = fmax(price.sum_plane, (double)m * (double)n / rates->integer_sums);
    return price;
}

static int64_t blocks_of(int64_t k, int64_t block)
{
    return block >= k ? 1 : (k + block - 1) / block;
}

static nmodgpu_price price_i8(const nmodgpu_plan *plan, const nmodgpu_rates *rates)
{
    const bool fused = plan->sum_bytes == 1, step = plan->winograd != 0;
    const double tile = positive(rates->i8_tile, 1);
    const gemm_rates gemm = {fused ? rates->i8_fused_flops : rates->i8_flops,
                             fused ? rates->i8_fused_k_half : rates->i8_k_half, tile, tile};
    const int64_t m = step ? nmodgpu_winograd_half(plan->m) : plan->m;
    const int64_t n = step ? nmodgpu_winograd_half(plan->n) : plan->n;
    /* Blocks are multiples of 64 but for the last: their halves add up to this. */
    const int64_t k = step ? nmodgpu_winograd_half(plan->k) : plan->k;
    const double products = step ? NMODGPU_WINOGRAD_PRODUCTS : 1;
    const extents words = whole_extents((double)plan->m, (double)plan->k, (double)plan->n);
    const extents one = whole_extents((double)m, (double)k, (double)n);
    const extents planes = {products * one.left, products * one.right, products * one.result};
    nmodgpu_price price = price_passes(nmodgpu_plan_word_bytes(plan), &words, &planes, 1, plan->sum_bytes, rates);
    price.k = plan->k;
    price.products = products;
    price.inner = (double)k;
    price_gemms(&price, m, n, fused ? plan->terms : 1, &gemm, rates);
    price.together = fused;
    if (rates->residues > 0) {
        price.left_work = planes.left / rates->residues;
        price.right_work = planes.right / rates->residues;
        price.sum_plane = fmax(price.sum_plane, planes.result / rates->residues);
    }
    return price;
}

/** Counts of machine work: conversions, GEMMs with their inner lengths added up, their launches, passes over C, sum
 *  planes read. */
typedef struct counts {
    double conversions, left_planes, right_planes, inner, gemms, launches, passes, reads;
} counts;

static double price_counts(const nmodgpu_price *price, const counts *c)
{
    const double left =
        fmax(price->left_words + c->left_planes * price->left_plane, c->left_planes * price->left_work);
    const double right =
        fmax(price->right_words + c->right_planes * price->right_plane, c->right_planes * price->right_work);
    const double conversion = c->conversions * price->per_pass + left + right;
    const double products =
        c->inner * price->per_inner + c->gemms * price->per_gemm + c->launches * price->per_launch;
    /* Every pass writes words of C; every pass but the first reads them too. */
    const double reductions =
        c->passes * price->per_pass + (2 * c->passes - 1) * price->result_words + c->reads * price->sum_plane;
    const double seconds = conversion + products + reductions;
    return seconds >= 0 ? seconds : INFINITY; /* senseless rates must not upset the order of plans */
}

/** doc/algorithms.md#schedule: as many reductions as the plane with the shortest blocks has blocks, and each
 *  plane is read once a block.  Operands are converted at once, or block by block for Strassen-Winograd steps. */
double nmodgpu_price_plan(const nmodgpu_price *price, const nmodgpu_plan *plan)
{
    int64_t blocks[NMODGPU_MAX_SUMS];
    int64_t gemms = 0;
    int64_t passes = 0;
    int64_t reads = 0;
    for (uint32_t g = 0; g < plan->sums; g++) {
        blocks[g] = blocks_of(price->k, plan->block[g]);
        reads += blocks[g];
        if (passes < blocks[g])
            passes = blocks[g];
    }
    for (uint32_t t = 0; t < plan->terms; t++)
        gemms += blocks[plan->term[t].sum];
    const counts c = {.conversions = 2 * (price->products > 1 ? (double)passes : 1),
                      .left_planes = plan->left.planes,
                      .right_planes = plan->right.planes,
                      .inner = price->products * (double)plan->terms * price->inner,
                      .gemms = price->products * (double)gemms,
                      .launches = price->products * (double)(price->together ? passes : gemms),
                      .passes = (double)passes,
                      .reads = (double)reads};
    return price_counts(price, &c);
}

double nmodgpu_price_least(const nmodgpu_price *price, uint32_t left_planes, uint32_t right_planes, uint32_t terms,
                           uint32_t sums)
{
    const counts c = {2, left_planes, right_planes, (double)terms * (double)price->k, terms, terms, 1, sums};
    return price_counts(price, &c);
}

double nmodgpu_plan_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates)
{
    const nmodgpu_price price = plan->number == NMODGPU_I8
                                    ? price_i8(plan, rates)
                                    : nmodgpu_price_f64(plan->modulus, plan->m, plan->k, plan->n, rates);
    return nmodgpu_price_plan(&price, plan);
}

double nmodgpu_plan_call_seconds(const nmodgpu_plan *plan, const nmodgpu_rates *rates, bool reads_c)
{
    const double left = (double)plan->m * (double)plan->k;
    const double right = (double)plan->k * (double)plan->n;
    const double result = (double)plan->m * (double)plan->n;
    const double imported = 8 * (left + right + (reads_c ? result : 0));
    const double base = reads_c ? nmodgpu_plan_word_bytes(plan) * result / positive(rates->pass_bytes, 1) : 0;
    return nmodgpu_plan_seconds(plan, rates) + imported / positive(rates->import_bytes, 1) +
           8 * result / positive(rates->export_bytes, 1) + base + positive(rates->call_start, 0);
}
