/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What a product costs without a backend: by FLINT's own function on one thread where the drop-in calls, by our
 * plain C where the public interface does.
 */
#ifndef NMODGPU_COST_H
#define NMODGPU_COST_H

#include <stdbool.h>
#include <stdint.h>

/** Seconds.  Products are summed in one, two or three words, whichever the largest sum needs. */
typedef struct nmodgpu_host_rates {
    bool packs;             /**< whether short sums share a word */
    double multiply[3];     /**< a multiplication and addition, sums of one, two, three words */
    double reduce[3];       /**< an entry of the result, likewise */
    double transpose;       /**< an entry of the right operand */
    double call_start;      /**< a call */
    double strassen_from;   /**< smallest dimension from which time grows more slowly than m k n */
    double strassen_saving; /**< part of the time saved each time that all dimensions double from there */
} nmodgpu_host_rates;

/** FLINT 2.9.0 (Debian 12) on one core of an AMD EPYC virtual machine, measured for n = 4 to 2000 and 8, 23,
 *  31, 60 and 64 bits. */
extern const nmodgpu_host_rates nmodgpu_host_rates_flint29;

/** portable.c, measured there likewise: 0.061 s for n = 400, whatever the modulus. */
extern const nmodgpu_host_rates nmodgpu_host_rates_portable;

/** Predicted seconds of an m x k by k x n product mod p; sizes >= 1, p >= 2. */
double nmodgpu_host_seconds(const nmodgpu_host_rates *rates, int64_t m, int64_t k, int64_t n, uint64_t p);

#endif
