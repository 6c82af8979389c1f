/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "describe.h"

#include "find.h"
#include "layout.h"
#include "reach.h"

static void describe_flint(FILE *out, nmodgpu_flint *flint)
{
    const nmodgpu_layout layout = nmodgpu_flint_layout(flint);
    const char *name = flint->object.name[0] ? flint->object.name : "the program itself";
    fprintf(out, "FLINT %s: %s\n", flint->version ? flint->version : "of unknown version", name);
    if (layout == NMODGPU_LAYOUT_REFUSED) {
        fprintf(out, "  layout: not as its version says, or unknown; this FLINT serves itself\n");
        return;
    }
    fprintf(out, "  layout: %s, proven by the self-test\n", nmodgpu_layout_name(layout));
    if (nmodgpu_reach_inner_calls(flint))
        fprintf(out, "  products inside its own functions (nmod_mat_lu, fmpz_mat_mul, ...): served\n");
    else
        fprintf(out, "  products inside its own functions (nmod_mat_lu, fmpz_mat_mul, ...): not served, "
                     "it calls its own nmod_mat_mul directly\n");
}

void nmodgpu_flint_describe(FILE *out)
{
    nmodgpu_flint *list[NMODGPU_MAX_FLINTS];
    const int count = nmodgpu_flint_list(list);
    bool ours;
    const char *owner = nmodgpu_flint_process_symbol(&ours);
    if (ours)
        fprintf(out, "nmod_mat_mul: nmodgpu's (%s)\n", owner);
    else
        fprintf(out, "nmod_mat_mul: not nmodgpu's but from %s; products are not served\n",
                owner ? owner : "no library in the program's scope");
    if (count == 0)
        fprintf(out, "FLINT: none loaded\n");
    for (int i = 0; i < count; i++)
        describe_flint(out, list[i]);
}
