/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A FLINT program that never names nmod_mat_mul: only FLINT's own functions call it.
 */
#include <stdio.h>

#include <flint/nmod_mat.h>

#define SIZE 250

int main(void)
{
    const unsigned long p = 1000003;
    nmod_mat_t a;
    nmod_mat_init(a, SIZE, SIZE, p);
    for (long i = 0; i < SIZE; i++) /* a circulant of full rank, and two rows of it repeated */
        for (long j = 0; j < SIZE; j++)
            nmod_mat_entry(a, i, j) = (unsigned long)((i + j) % SIZE * ((i + j) % SIZE) + 1) % p;
    for (long j = 0; j < SIZE; j++) {
        nmod_mat_entry(a, 7, j) = nmod_mat_entry(a, 3, j);
        nmod_mat_entry(a, 90, j) = nmod_mat_entry(a, 4, j);
    }
    printf("rank %ld\n", (long)nmod_mat_rank(a));
    nmod_mat_clear(a);
    return 0;
}
