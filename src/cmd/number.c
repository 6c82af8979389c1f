/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t p)
{
    return (uint64_t)((unsigned __int128)a * b % p);
}

static uint64_t power(uint64_t a, uint64_t e, uint64_t p)
{
    uint64_t result = 1;
    for (; e; e >>= 1, a = multiply(a, a, p))
        if (e & 1)
            result = multiply(result, a, p);
    return result;
}

/** Strong probable prime to base a, for odd p > a. */
static bool passes(uint64_t p, uint64_t a)
{
    uint64_t odd = p - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    uint64_t x = power(a, odd, p);
    if (x == 1 || x == p - 1)
        return true;
    for (int i = 1; i < twos; i++)
        if ((x = multiply(x, x, p)) == p - 1)
            return true;
    return false;
}

/** The first twelve primes as bases decide below 3.3e24 (Sorenson and Webster, Math. Comp. 86, 2017). */
static bool is_prime(uint64_t p)
{
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (p % bases[i] == 0)
            return p == bases[i];
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (!passes(p, bases[i]))
            return false;
    return p > 1;
}

uint64_t number_largest_prime(unsigned bits)
{
    uint64_t p = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    while (!is_prime(p))
        p--;
    return p;
}

/** Digits from *text on, leaving *text behind them. */
static bool take_digits(const char **text, uint64_t *value)
{
    const char *c = *text;
    *value = 0;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*c - '0'), value))
            return false;
    const bool any = c > *text;
    *text = c;
    return any;
}

/** What follows "2^". */
static bool parse_power(const char *text, uint64_t *p)
{
    uint64_t exponent, offset = 0;
    if (!take_digits(&text, &exponent) || exponent > 64)
        return false;
    const char sign = *text;
    if (sign && ((sign != '-' && sign != '+') || (text++, !take_digits(&text, &offset)) || *text))
        return false;
    const unsigned __int128 base = (unsigned __int128)1 << exponent;
    if (sign == '-' && offset >= base)
        return false;
    const unsigned __int128 value = sign == '-' ? base - offset : base + offset;
    *p = (uint64_t)value;
    return value >> 64 == 0;
}

bool number_parse_modulus(const char *text, uint64_t *p)
{
    if (strncmp(text, "2^", 2) == 0)
        return parse_power(text + 2, p) && *p >= 1;
    if (!take_digits(&text, p))
        return false;
    if (strcmp(text, "bits") == 0 || strcmp(text, "bit") == 0) {
        if (*p < 2 || *p > 64)
            return false;
        *p = number_largest_prime((unsigned)*p);
        return true;
    }
    return !*text && *p >= 1;
}

bool number_parse_integer(const char *text, int64_t low, int64_t high, int64_t *value)
{
    uint64_t digits;
    if (!take_digits(&text, &digits) || *text || digits > INT64_MAX)
        return false;
    *value = (int64_t)digits;
    return *value >= low && *value <= high;
}

bool number_parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end > text && !*end && isfinite(*seconds) && *seconds >= 0;
}
