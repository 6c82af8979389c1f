/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

typedef struct binding {
    uintptr_t own; /* FLINT's own definition */
    bool here;     /* some slot leads here */
    bool itself;   /* some slot leads to FLINT's own */
    bool open;     /* some slot is not bound yet */
} binding;

static void look(uintptr_t value, void *data)
{
    binding *b = data;
    if (value == b->own)
        b->itself = true;
    else if (nmodgpu_flint_is_own_code(value))
        b->here = true;
    else
        b->open = true;
}

bool nmodgpu_reach_inner_calls(const nmodgpu_flint *flint)
{
    binding b = {.own = (uintptr_t)flint->mul};
    bool ours = false;
    nmodgpu_object_slots(&flint->object, "nmod_mat_mul", look, &b);
    if (b.itself || b.here)
        return !b.itself;
    (void)nmodgpu_flint_process_symbol(&ours);
    return b.open && ours;
}

/* Says once whose nmod_mat_mul the program has, if it is not ours.  While this library is being loaded it may not
   be in the global scope yet: that nobody's is there says nothing then. */
static bool check_process(bool loading)
{
    static _Atomic bool told;
    bool ours;
    const char *owner = nmodgpu_flint_process_symbol(&ours);
    if (ours || (loading && !owner))
        return true;
    if (!atomic_exchange(&told, true))
        nmodgpu_priv_log_once("flint-symbol",
                              "nmod_mat_mul is taken from %s: products are not served; preload libnmodgpu-flint.so "
                              "or link it before FLINT",
                              owner ? owner : "no library in the program's scope");
    return false;
}

/* One line, once, for a FLINT whose own calls do not come here. */
static void check_flint(nmodgpu_flint *flint)
{
    char cause[64];
    if (atomic_exchange(&flint->reach_checked, true) || nmodgpu_reach_inner_calls(flint))
        return;
    snprintf(cause, sizeof cause, "flint-inner-%p", (const void *)flint->object.dynamic);
    nmodgpu_priv_log_once(cause,
                          "FLINT %s (%s) calls its own nmod_mat_mul directly: the program's products are served, "
                          "those inside nmod_mat_lu, fmpz_mat_mul and other functions of FLINT are not",
                          flint->version ? flint->version : "of unknown version", flint->object.name);
}

void nmodgpu_reach_check(nmodgpu_flint *flint)
{
    if (atomic_load_explicit(&flint->reach_checked, memory_order_relaxed))
        return;
    if (check_process(false))
        check_flint(flint);
    else
        atomic_store(&flint->reach_checked, true);
}

static bool switched_on(const char *value)
{
    return value && *value && strcmp(value, "off") != 0 && strcmp(value, "0") != 0;
}

/* Where the program's nmod_mat_mul is not ours no call ever gets here, so this has to look by itself. */
__attribute__((constructor)) static void check_at_load(void)
{
    nmodgpu_flint *list[NMODGPU_MAX_FLINTS];
    if (!switched_on(secure_getenv("NMODGPU")) || !check_process(true))
        return;
    const int count = nmodgpu_flint_list(list);
    for (int i = 0; i < count; i++)
        check_flint(list[i]);
}
