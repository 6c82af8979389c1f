/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Fits the planner's model of a dgemm to measurements:
 *     seconds = gemm_start + rounds * processors * tile_rows * tile_cols * 2 * (k + k_half) / flops
 * where rounds = ceil(tiles / processors) and tiles cover C.
 */
#include <math.h>
#include <stdint.h>

#include "calibrate.h"

typedef struct model {
    double flops, k_half, start;
    int rows, cols;
} model;

/** Work of one sample in multiplications and additions, rounding losses included. */
static double padded_work(const model *f, const gemm_sample *s, int processors)
{
    const double tiles = ceil((double)s->size / f->rows) * ceil((double)s->size / f->cols);
    return ceil(tiles / processors) * processors * f->rows * f->cols * 2 * ((double)s->k + f->k_half);
}

/** Sum of squared logarithms of predicted over measured. */
static double misfit(const model *f, const gemm_sample *s, int count, int processors)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double e = log((f->start + padded_work(f, &s[i], processors) / f->flops) / s[i].seconds);
        sum += e * e;
    }
    return sum;
}

static double best_rate(const gemm_sample *s, int count)
{
    double best = 0;
    for (int i = 0; i < count; i++)
        best = fmax(best, 2.0 * (double)s[i].size * (double)s[i].size * (double)s[i].k / s[i].seconds);
    return best;
}

static model fit_for_tile(const gemm_sample *s, int count, int processors, int rows, int cols)
{
    const double top = best_rate(s, count);
    model best = {0, 0, 0, rows, cols};
    double least = INFINITY;
    for (double share = 0.9; share < 1.15; share += 0.01)
        for (double k_half = 0; k_half <= 256; k_half += 4)
            for (double start = 1e-6; start < 12e-6; start += 0.5e-6) {
                const model f = {top * share, k_half, start, rows, cols};
                const double e = misfit(&f, s, count, processors);
                if (e < least) {
                    least = e;
                    best = f;
                }
            }
    return best;
}

void calibrate_fit(const gemm_sample *samples, int count, int processors)
{
    static const int tiles[][2] = {{32, 32}, {64, 32}, {64, 64}, {128, 64}, {128, 128}, {256, 128}};
    printf("\nfit of nmodgpu_rates (processors = %d); error is the root mean square of log(predicted/measured)\n",
           processors);
    for (size_t t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
        const model f = fit_for_tile(samples, count, processors, tiles[t][0], tiles[t][1]);
        printf("  tile %3d x %3d: f64_flops %.2fe12  f64_k_half %3.0f  gemm_start %.1fe-6  error %.3f\n", f.rows,
               f.cols, f.flops / 1e12, f.k_half, f.start * 1e6,
               sqrt(misfit(&f, samples, count, processors) / count));
    }
}
