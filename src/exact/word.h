/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Arithmetic modulo one word p, 1 <= p < 2^64, and balanced digits.  Proofs: doc/algorithms.md.
 */
#ifndef NMODGPU_EXACT_WORD_H
#define NMODGPU_EXACT_WORD_H

#include "portable.h"

/** a + b mod p, for a, b in [0, p). */
NMODGPU_HD uint64_t nmodgpu_addmod(uint64_t a, uint64_t b, uint64_t p)
{
    const uint64_t room = p - b;
    return a >= room ? a - room : a + b;
}

/** The same in 32 bits. */
NMODGPU_HD uint32_t nmodgpu_addmod32(uint32_t a, uint32_t b, uint32_t p)
{
    const uint32_t room = p - b;
    return a >= room ? a - room : a + b;
}

/** a - b mod p, for a, b in [0, p). */
NMODGPU_HD uint64_t nmodgpu_submod(uint64_t a, uint64_t b, uint64_t p)
{
    return a >= b ? a - b : a + (p - b);
}

/** x mod p for x < 2 p in 32 bits: x - p wraps where x < p, and is then the larger. */
NMODGPU_HD uint32_t nmodgpu_submod_once(uint32_t x, uint32_t p)
{
#ifdef __CUDA_ARCH__
    return min(x, x - p);
#else
    return x - p < x ? x - p : x;
#endif
}

/** floor(w * 2^64 / p), the companion of a fixed factor w in [0, p) (Shoup). */
static inline uint64_t nmodgpu_companion(uint64_t w, uint64_t p)
{
    return (uint64_t)(((unsigned __int128)w << 64) / p);
}

/** x * w mod p in [0, p), with wq = nmodgpu_companion(w, p); any x < 2^64, any p.
 *  The quotient estimate is short by at most one, so the remainder is below 2p and needs 65 bits. */
NMODGPU_HD uint64_t nmodgpu_mulmod_fixed(uint64_t x, uint64_t w, uint64_t wq, uint64_t p)
{
    const uint64_t q = nmodgpu_mulhi(x, wq);
    const uint64_t r = x * w - q * p;
    if (p >> 63) {
        const uint64_t borrow = x * w < q * p;
        const uint64_t high = nmodgpu_mulhi(x, w) - nmodgpu_mulhi(q, p) - borrow;
        return (high | (r >= p)) ? r - p : r;
    }
    return r >= p ? r - p : r;
}

/** The representative of a in [-(p-1-most), most], most <= p/2; a in [0, p). */
NMODGPU_HD int64_t nmodgpu_represent(uint64_t a, uint64_t p, uint64_t most)
{
    return a > most ? -(int64_t)(p - a) : (int64_t)a;
}

/** The representative of a in [-(p-1-h), h], h = floor(p/2); a in [0, p).  Fits for every p < 2^64. */
NMODGPU_HD int64_t nmodgpu_centre(uint64_t a, uint64_t p)
{
    return nmodgpu_represent(a, p, p / 2);
}

/** Takes the lowest balanced digit of x base 2^bits, 1 <= bits <= 63: in [-2^(bits-1), 2^(bits-1)).
 *  *x becomes (x - digit) / 2^bits. */
NMODGPU_HD int64_t nmodgpu_take_digit(int64_t *x, uint32_t bits)
{
    const int64_t digit = (int64_t)((uint64_t)*x << (64 - bits)) >> (64 - bits);
    *x = (*x >> bits) + (digit < 0);
    return digit;
}

/** The same in 32 bits, 1 <= bits <= 31. */
NMODGPU_HD int32_t nmodgpu_take_digit32(int32_t *x, uint32_t bits)
{
    const int32_t digit = (int32_t)((uint32_t)*x << (32 - bits)) >> (32 - bits);
    *x = (*x >> bits) + (digit < 0);
    return digit;
}

#endif
