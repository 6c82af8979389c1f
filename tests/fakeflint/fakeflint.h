/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A small stand-in for FLINT's matrices, written for the tests: it exports FLINT's names, has either layout,
 * and calls its own products through the PLT as FLINT does.  The tests load it with dlopen.
 */
#ifndef NMODGPU_TESTS_FAKEFLINT_H
#define NMODGPU_TESTS_FAKEFLINT_H

#include <stdint.h>

/** Both layouts in one: what the fourth word is depends on the variant. */
typedef struct fake_mat {
    uint64_t *entries;
    int64_t r, c;
    union {
        uint64_t **rows;
        int64_t stride;
    };
    uint64_t n, ninv, norm;
} fake_mat;

/** What the test sees of it, by dlsym of "fakeflint_probe". */
typedef struct fake_probe {
    void (*inside)(void); /**< called at the beginning of every product, when not NULL */
    _Atomic int64_t mul, addmul, submul;
} fake_probe;

#endif
