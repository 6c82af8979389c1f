/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "site.h"

#include <string.h>

/* User addresses leave the four highest bits free on x86-64 and aarch64. */
#define KIND_SHIFT 60

static bool is_product(const char *name)
{
    static const char prefix[] = "nmod_mat_";
    while (*name == '_')
        name++;
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && strstr(name, "mul") != NULL;
}

static nmodgpu_site classify(const nmodgpu_flint *flint, uintptr_t address)
{
    /* The return address may be the first byte after the function where its last instruction is the call. */
    const char *name = nmodgpu_object_function_at(&flint->object, address - 1);
    if (!name)
        return NMODGPU_SITE_UNNAMED;
    return is_product(name) ? NMODGPU_SITE_PRODUCT : NMODGPU_SITE_CALLER;
}

nmodgpu_site nmodgpu_site_of(nmodgpu_flint *flint, uintptr_t address)
{
    if (!nmodgpu_object_contains(&flint->object, address))
        return nmodgpu_flint_is_own_code(address) ? NMODGPU_SITE_PRODUCT : NMODGPU_SITE_OUTSIDE;
    _Atomic uintptr_t *slot = &flint->sites[(address ^ address >> 7) % NMODGPU_FLINT_SITES];
    const uintptr_t remembered = atomic_load_explicit(slot, memory_order_relaxed);
    if ((remembered & (((uintptr_t)1 << KIND_SHIFT) - 1)) == address)
        return (nmodgpu_site)(remembered >> KIND_SHIFT);
    const nmodgpu_site site = classify(flint, address);
    atomic_store_explicit(slot, address | (uintptr_t)site << KIND_SHIFT, memory_order_relaxed);
    return site;
}
