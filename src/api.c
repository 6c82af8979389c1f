/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The public products: arguments checked, then a backend, else plain C.
 */
#include "nmodgpu.h"

#include "host_matrix.h"
#include "portable.h"
#include "serve.h"

static bool valid(nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c, const nmodgpu_view *a,
                  const nmodgpu_view *b, uint64_t p)
{
    if (p == 0 || !d || !a || !b || a->cols != b->rows)
        return false;
    if (!nmodgpu_view_valid(d, a->rows, b->cols) || !nmodgpu_view_valid(a, a->rows, a->cols) ||
        !nmodgpu_view_valid(b, b->rows, b->cols))
        return false;
    return op == NMODGPU_MUL || nmodgpu_view_valid(c, a->rows, b->cols);
}

static nmodgpu_status compute(nmodgpu_context *context, nmodgpu_op op, const nmodgpu_view *d, const nmodgpu_view *c,
                              const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p)
{
    if (!valid(op, d, c, a, b, p))
        return NMODGPU_EINVAL;
    if (!context && !nmodgpu_enabled())
        return nmodgpu_portable_product(op, d, c, a, b, p);
    nmodgpu_call call;
    if (nmodgpu_serve(context, &nmodgpu_host_rates_portable, &call, op, d, c, a, b, p) == NMODGPU_OK)
        return NMODGPU_OK;
    const double start = nmodgpu_now();
    const nmodgpu_status status = nmodgpu_portable_product(op, d, c, a, b, p);
    nmodgpu_serve_host(context, &call, "portable", nmodgpu_now() - start);
    return status;
}

nmodgpu_status nmodgpu_mul(nmodgpu_context *context, const nmodgpu_view *c, const nmodgpu_view *a,
                           const nmodgpu_view *b, uint64_t p)
{
    return compute(context, NMODGPU_MUL, c, NULL, a, b, p);
}

nmodgpu_status nmodgpu_addmul(nmodgpu_context *context, const nmodgpu_view *d, const nmodgpu_view *c,
                              const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p)
{
    return compute(context, NMODGPU_ADDMUL, d, c, a, b, p);
}

nmodgpu_status nmodgpu_submul(nmodgpu_context *context, const nmodgpu_view *d, const nmodgpu_view *c,
                              const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p)
{
    return compute(context, NMODGPU_SUBMUL, d, c, a, b, p);
}
