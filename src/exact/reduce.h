/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * From exact sums, doubles or int32, to canonical words: base + sign * sum_g c_g S_g mod p.
 * Doubles go two roads with the same result, chosen once per reduction: double arithmetic with fused
 * multiply-adds where p leaves room, integer arithmetic for every p.  int32 goes in integers.  Proofs:
 * doc/algorithms.md.
 */
#ifndef NMODGPU_EXACT_REDUCE_H
#define NMODGPU_EXACT_REDUCE_H

#include <string.h>

#include "../plan.h"
#include "word.h"

/** Constants of one reduction; plain data, passed to kernels by value. */
typedef struct nmodgpu_reducer {
    uint64_t p;
    uint64_t lift; /**< a multiple of p above 2^53, which makes sums positive */
    double pf, pinv;
    uint32_t sums; /**< how many sum planes take part */
    uint32_t use_double;
    uint32_t lift32; /**< for int32 sums and p < 2^31: the multiple of p next above or at 2^31, else 0 */
    uint8_t plane[NMODGPU_MAX_SUMS]; /**< which ones */
    double wf[NMODGPU_MAX_SUMS];     /**< centred coefficient, sign included; exact for p < 2^50 */
    uint64_t w[NMODGPU_MAX_SUMS];    /**< coefficient in [0, p), sign included */
    uint64_t wq[NMODGPU_MAX_SUMS];   /**< its companion */
} nmodgpu_reducer;

/** Fills the constants for out <- base + sign * sum over sum_mask. */
static inline nmodgpu_reducer nmodgpu_reducer_make(const nmodgpu_plan *plan, uint64_t sum_mask, int sign)
{
    nmodgpu_reducer r;
    memset(&r, 0, sizeof r);
    const uint64_t p = plan->modulus;
    r.p = p;
    r.lift = ((1ULL << 53) / p + 1) * p; /* p itself where p > 2^53, so it fits */
    r.lift32 = p >> 31 ? 0 : (uint32_t)(((1ULL << 31) + p - 1) / p * p);
    r.pf = (double)p;
    r.pinv = 1.0 / (double)p;
    for (uint32_t g = 0; g < plan->sums; g++) {
        if (!(sum_mask >> g & 1))
            continue;
        const uint64_t c = plan->coefficient[g];
        const uint64_t w = sign < 0 && c ? p - c : c;
        r.plane[r.sums] = (uint8_t)g;
        r.w[r.sums] = w;
        r.wq[r.sums] = nmodgpu_companion(w, p);
        r.wf[r.sums] = (double)nmodgpu_centre(w, p);
        r.sums++;
    }
    /* |v| <= sums * 0.62 p + 2 sums + p must stay below 2^53; scaling needs p < 2^50. */
    r.use_double = p < (1ULL << 50) && (uint64_t)(r.sums + 2) * p < (1ULL << 52);
    return r;
}

/** s - round(s / p) p, exactly, for an integer |s| <= 2^53: at most p/2 + 2 in magnitude. */
NMODGPU_HD double nmodgpu_double_mod(double s, double p, double pinv)
{
    return fma(-rint(s * pinv), p, s);
}

/** A representative of r * w mod p of magnitude below 0.62 p + 2, for |r| <= p/2 + 2, |w| <= p/2, p < 2^50. */
NMODGPU_HD double nmodgpu_double_scale(double r, double w, double p, double pinv)
{
    const double high = r * w;
    const double low = fma(r, w, -high);
    const double q = rint(high * pinv);
    return fma(-q, p, high) + low;
}

/** v plus the contribution s of the i-th sum taking part; |v| grows by at most 0.62 p + 2. */
NMODGPU_HD double nmodgpu_reduce_add_double(const nmodgpu_reducer *c, uint32_t i, double v, double s)
{
    const double r = nmodgpu_double_mod(s, c->pf, c->pinv);
    return v + (c->wf[i] == 1.0 ? r : nmodgpu_double_scale(r, c->wf[i], c->pf, c->pinv));
}

/** The canonical word of what nmodgpu_reduce_add_double has gathered. */
NMODGPU_HD uint64_t nmodgpu_reduce_end_double(const nmodgpu_reducer *c, double v)
{
    const double r = nmodgpu_double_mod(v, c->pf, c->pinv);
    return (uint64_t)nmodgpu_small_to_integer(r + (r < 0 ? c->pf : 0.0));
}

/** acc in [0, p) plus the contribution x of the i-th sum taking part, |x| <= 2^53.  Signs of sums are not to be
 *  predicted, so negative ones are lifted rather than treated apart. */
NMODGPU_HD uint64_t nmodgpu_reduce_add_int64(const nmodgpu_reducer *c, uint32_t i, uint64_t acc, int64_t x)
{
    const uint64_t lifted = (uint64_t)x + (x < 0 ? c->lift : 0);
    return nmodgpu_addmod(acc, nmodgpu_mulmod_fixed(lifted, c->w[i], c->wq[i], c->p), c->p);
}

/** The same for a sum in double precision. */
NMODGPU_HD uint64_t nmodgpu_reduce_add_integer(const nmodgpu_reducer *c, uint32_t i, uint64_t acc, double s)
{
    return nmodgpu_reduce_add_int64(c, i, acc, (int64_t)s);
}

/** One entry: sum plane g is at s[g * plane_stride]. */
NMODGPU_HD uint64_t nmodgpu_reduce_entry(const nmodgpu_reducer *c, uint64_t base, const double *s,
                                         int64_t plane_stride)
{
    if (c->use_double) {
        double v = nmodgpu_small_to_double((int64_t)base);
        for (uint32_t i = 0; i < c->sums; i++)
            v = nmodgpu_reduce_add_double(c, i, v, s[c->plane[i] * plane_stride]);
        return nmodgpu_reduce_end_double(c, v);
    }
    uint64_t acc = base;
    for (uint32_t i = 0; i < c->sums; i++)
        acc = nmodgpu_reduce_add_integer(c, i, acc, s[c->plane[i] * plane_stride]);
    return acc;
}

/** The same for an int32 sum and p < 2^31, in 32 bits: acc and the remainder before it is canonical are below 2 p,
 *  and the companion to 32 bits is the upper half of the one to 64. */
NMODGPU_HD uint32_t nmodgpu_reduce_add_int32(const nmodgpu_reducer *c, uint32_t i, uint32_t acc, int32_t x)
{
    const uint32_t p = (uint32_t)c->p;
    const uint32_t lifted = (uint32_t)x + (x < 0 ? c->lift32 : 0);
    const uint32_t q = nmodgpu_mulhi32(lifted, (uint32_t)(c->wq[i] >> 32));
    const uint32_t r = lifted * (uint32_t)c->w[i] - q * p;
    return nmodgpu_submod_once(acc + nmodgpu_submod_once(r, p), p);
}

/** One entry of int32 sums: plane g is at s[g * plane_stride].  Any int32 will do.  In integers throughout, since
 *  many devices that multiply int8 fast are slow in double precision. */
NMODGPU_HD uint64_t nmodgpu_reduce_entry_int32(const nmodgpu_reducer *c, uint64_t base, const int32_t *s,
                                               int64_t plane_stride)
{
    uint64_t acc = base;
    for (uint32_t i = 0; i < c->sums; i++) {
        const int32_t x = s[c->plane[i] * plane_stride];
        acc = c->lift32 ? nmodgpu_reduce_add_int32(c, i, (uint32_t)acc, x) : nmodgpu_reduce_add_int64(c, i, acc, x);
    }
    return acc;
}

#endif
