/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "evidence.h"

#include <stdbool.h>
#include <stddef.h>

/* Linux maps nothing below (vm.mmap_min_addr), so a smaller fourth word is no pointer. */
#define LOWEST_ADDRESS 65536u
/* Two rows so far apart would not fit into 47 bits of address space with 8 bytes an entry. */
#define LONGEST_STRIDE ((int64_t)1 << 44)

static bool may_have_rows(const nmodgpu_flint_matrix *a)
{
    const uintptr_t table = (uintptr_t)a->rows;
    return a->r == 0 ? table == 0 : table >= LOWEST_ADDRESS && table % sizeof(uint64_t *) == 0;
}

static bool may_have_stride(const nmodgpu_flint_matrix *a)
{
    const bool entries = a->r > 0 && a->c > 0;
    return a->stride >= a->c && a->stride < LONGEST_STRIDE && (!entries || a->entries);
}

nmodgpu_layout nmodgpu_layout_by_evidence(const nmodgpu_flint_matrix *const *matrices, int count)
{
    bool rows = true;
    bool stride = true;
    for (int i = 0; i < count; i++) {
        rows = rows && (!matrices[i] || may_have_rows(matrices[i]));
        stride = stride && (!matrices[i] || may_have_stride(matrices[i]));
    }
    if (rows && stride)
        return NMODGPU_LAYOUT_UNTRIED;
    return rows ? NMODGPU_LAYOUT_ROWS : stride ? NMODGPU_LAYOUT_STRIDE : NMODGPU_LAYOUT_REFUSED;
}
