/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * How fast this CPU is, for the planner.
 */
#ifndef NMODGPU_CBLAS_RATES_H
#define NMODGPU_CBLAS_RATES_H

#include "backend.h"

/** Measures products and passes with that many threads, in some 30 ms; what it cannot measure in that time is
 *  estimated. */
nmodgpu_rates cblas_rates(int threads);

#endif
