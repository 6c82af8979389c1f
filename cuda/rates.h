/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the planner is told about a device's speed.
 */
#ifndef NMODGPU_CUDA_RATES_H
#define NMODGPU_CUDA_RATES_H

#include "backend.h"

/** What CUDA tells about a device without a context. */
typedef struct nmodgpu_cuda_traits {
    int major, minor;
    int processors;
    double clock_hertz;        /**< highest, of the processors */
    double memory_clock_hertz; /**< highest; two transfers a cycle */
    double bus_bytes;          /**< width of the memory's bus */
    bool fused;                /**< nmodgpu_launch_fused runs there */
} nmodgpu_cuda_traits;

nmodgpu_rates nmodgpu_cuda_rates(const nmodgpu_cuda_traits *traits);

#endif
