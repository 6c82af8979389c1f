/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Predicted seconds of plans, in closed form.  doc/algorithms.md#planner.
 */
#ifndef NMODGPU_PLAN_PRICE_H
#define NMODGPU_PLAN_PRICE_H

#include "backend.h"
#include "plan.h"

/** What a shape and a device make of a plan's counts; worked out once for plans of one kind. */
typedef struct nmodgpu_price {
    int64_t k;
    double products;   /**< of each block: one, or seven of half its size */
    double inner;      /**< inner lengths of one product of each block, added up: k, or that of the halves */
    bool together;     /**< one launch multiplies all planes */
    double per_inner;  /**< seconds of one GEMM per unit of inner length */
    double per_gemm;   /**< seconds of one GEMM however short its inner length */
    double per_launch; /**< seconds to start a GEMM, or all of a step together */
    double per_pass;   /**< seconds of one conversion or reduction however small */
    double left_words; /**< seconds to read or write the left operand's words once, and so on */
    double right_words;
    double result_words;
    double left_plane; /**< seconds to write one left plane, of all the products */
    double right_plane;
    double sum_plane; /**< seconds to read one sum plane of all the products of a block */
    double left_work; /**< seconds of arithmetic for one left plane: counts where memory is sooner */
    double right_work;
} nmodgpu_price;

/** Whether the device has products of that kind at all: 8 bytes a sum for doubles, 4 or 1 for int8. */
bool nmodgpu_price_offers(const nmodgpu_rates *rates, uint32_t sum_bytes);

/** For plans in double precision. */
nmodgpu_price nmodgpu_price_f64(uint64_t p, int64_t m, int64_t k, int64_t n, const nmodgpu_rates *rates);

/** Seconds of that plan, of the price's kind, for operands on the device. */
double nmodgpu_price_plan(const nmodgpu_price *price, const nmodgpu_plan *plan);

/** No plan in double precision with at least these counts is sooner: that of a single block. */
double nmodgpu_price_least(const nmodgpu_price *price, uint32_t left_planes, uint32_t right_planes, uint32_t terms,
                           uint32_t sums);

#endif
