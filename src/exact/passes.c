/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "passes.h"

#include <fenv.h>

#include "rows.h"

static nmodgpu_word_row word_row(const nmodgpu_matrix *a, int64_t i)
{
    if (!a)
        return (nmodgpu_word_row){NULL, 8};
    return (nmodgpu_word_row){(char *)a->data + i * a->stride * (int64_t)a->element_bytes, a->element_bytes};
}

static double *plane_row(const nmodgpu_matrix *a, int64_t i)
{
    return (double *)a->data + i * a->stride;
}

void nmodgpu_host_prepare(const nmodgpu_preparer *preparer, const nmodgpu_matrix *planes,
                          const nmodgpu_matrix *words, int64_t r0, int64_t r1)
{
    const nmodgpu_row_code *code = nmodgpu_row_code_list(NULL);
    for (int64_t i = r0; i < r1; i++)
        code->prepare(preparer, plane_row(planes, i), planes->plane_stride, word_row(words, i), words->cols);
}

void nmodgpu_host_reduce(const nmodgpu_reducer *reducer, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                         const nmodgpu_matrix *sums, int64_t r0, int64_t r1)
{
    const nmodgpu_row_code *code = nmodgpu_row_code_list(NULL);
    const int mode = fegetround();
    fesetround(FE_TONEAREST);
    for (int64_t i = r0; i < r1; i++)
        code->reduce(reducer, word_row(out, i), word_row(base, i), plane_row(sums, i), sums->plane_stride,
                     out->cols);
    fesetround(mode);
}

void nmodgpu_host_import(const nmodgpu_matrix *words, const nmodgpu_matrix *host, int64_t r0, int64_t r1)
{
    for (int64_t i = r0; i < r1; i++) {
        const nmodgpu_word_row from = {nmodgpu_matrix_row(host, i), 8};
        nmodgpu_row_code_list(NULL)->copy(word_row(words, i), from, words->cols);
    }
}

void nmodgpu_host_export(const nmodgpu_matrix *host, const nmodgpu_matrix *words, int64_t r0, int64_t r1)
{
    for (int64_t i = r0; i < r1; i++) {
        const nmodgpu_word_row to = {nmodgpu_matrix_row(host, i), 8};
        nmodgpu_row_code_list(NULL)->copy(to, word_row(words, i), words->cols);
    }
}
