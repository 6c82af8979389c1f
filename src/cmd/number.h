/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Numbers as people write them on the command line.
 */
#ifndef NMODGPU_CMD_NUMBER_H
#define NMODGPU_CMD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** Accepted forms of a modulus, for messages. */
#define NUMBER_MODULUS_FORMS                                                                                       \
    "an integer, 2^A, 2^A-C, 2^A+C, or Bbits for the largest prime of B bits (2 <= B <= 64)"

/** A modulus 1 <= p < 2^64 in one of the forms above. */
bool number_parse_modulus(const char *text, uint64_t *p);

/** A decimal integer in [low, high]. */
bool number_parse_integer(const char *text, int64_t low, int64_t high, int64_t *value);

/** A decimal number of seconds, at least 0. */
bool number_parse_seconds(const char *text, double *seconds);

/** The largest prime below 2^bits, 2 <= bits <= 64. */
uint64_t number_largest_prime(unsigned bits);

#endif
