/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A library that uses a FLINT, as Python's extension modules do: linked with one fake FLINT, loaded by dlopen.
 */
#include "fakeflint.h"

__attribute__((visibility("default"))) void caller_mul(fake_mat *c, const fake_mat *a, const fake_mat *b);
void nmod_mat_mul(fake_mat *c, const fake_mat *a, const fake_mat *b);

void caller_mul(fake_mat *c, const fake_mat *a, const fake_mat *b)
{
    nmod_mat_mul(c, a, b);
    __asm__ volatile(""); /* not a tail call: the return address has to lie here */
}
