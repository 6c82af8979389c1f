/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "passes_i8.h"

#include <string.h>

static void *place(const nmodgpu_matrix *a, int64_t i, int64_t j)
{
    return (char *)a->data + (i * a->stride + j) * (int64_t)a->element_bytes;
}

static uint64_t load_word(const nmodgpu_matrix *a, int64_t i, int64_t j)
{
    const void *from = place(a, i, j);
    switch (a->element_bytes) {
    case 1:
        return *(const uint8_t *)from;
    case 2:
        return *(const uint16_t *)from;
    case 4:
        return *(const uint32_t *)from;
    default:
        return *(const uint64_t *)from;
    }
}

static void store_word(const nmodgpu_matrix *a, int64_t i, int64_t j, uint64_t word)
{
    void *to = place(a, i, j);
    switch (a->element_bytes) {
    case 1:
        *(uint8_t *)to = (uint8_t)word;
        break;
    case 2:
        *(uint16_t *)to = (uint16_t)word;
        break;
    case 4:
        *(uint32_t *)to = (uint32_t)word;
        break;
    default:
        *(uint64_t *)to = word;
    }
}

static int8_t *plane_entry(const nmodgpu_matrix *planes, int64_t i, int64_t j)
{
    return (int8_t *)planes->data + (planes->transposed ? j * planes->stride + i : i * planes->stride + j);
}

/** Zeros behind every stored row. */
static void fill_up(const nmodgpu_matrix *planes, uint32_t count)
{
    const int64_t inner = planes->transposed ? planes->rows : planes->cols;
    const int64_t outer = planes->transposed ? planes->cols : planes->rows;
    for (uint32_t g = 0; g < count; g++)
        for (int64_t i = 0; i < outer; i++)
            memset((int8_t *)planes->data + g * planes->plane_stride + i * planes->stride + inner, 0,
                   (size_t)(nmodgpu_i8_padded(inner) - inner));
}

void nmodgpu_host_residues(const nmodgpu_residuer *residuer, const nmodgpu_matrix *planes,
                           const nmodgpu_matrix *words)
{
    for (int64_t i = 0; i < words->rows; i++)
        for (int64_t j = 0; j < words->cols; j++) {
            const uint64_t x = nmodgpu_offset_word(residuer, load_word(words, i, j));
            int8_t *to = plane_entry(planes, i, j);
            for (uint32_t g = 0; g < residuer->count; g++)
                to[g * planes->plane_stride] = (int8_t)nmodgpu_residue(residuer, g, x);
        }
    fill_up(planes, residuer->count);
}

void nmodgpu_host_digits(const nmodgpu_preparer *preparer, const nmodgpu_matrix *planes,
                         const nmodgpu_matrix *words)
{
    for (int64_t i = 0; i < words->rows; i++)
        for (int64_t j = 0; j < words->cols; j++) {
            const int64_t x = nmodgpu_prepare_start(preparer, load_word(words, i, j));
            int8_t *to = plane_entry(planes, i, j);
            for (uint32_t g = 0; g < preparer->planes; g++)
                to[g * planes->plane_stride] = (int8_t)nmodgpu_prepare_plane_integer(preparer, g, x);
        }
    fill_up(planes, preparer->planes);
}

/** Entry (i, j) of all seven combinations of the quarters, as the offset words of the four. */
static void winograd_entry(const nmodgpu_residuer *residuer, const nmodgpu_matrix *planes, int64_t i, int64_t j,
                           const uint64_t x[NMODGPU_WINOGRAD_QUARTERS])
{
    const bool right = planes[0].side == NMODGPU_RIGHT;
    for (uint32_t g = 0; g < residuer->count; g++) {
        uint32_t dot[NMODGPU_WINOGRAD_QUARTERS];
        for (int q = 0; q < NMODGPU_WINOGRAD_QUARTERS; q++)
            dot[q] = nmodgpu_residue_dot(residuer, g, (uint32_t)x[q], (uint32_t)(x[q] >> 32), residuer->wide != 0);
        for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) {
            uint32_t dots = 0;
            for (int q = 0; q < NMODGPU_WINOGRAD_QUARTERS; q++)
                dots += dot[q] * (uint32_t)(right ? nmodgpu_winograd_right(z, q) : nmodgpu_winograd_left(z, q));
            plane_entry(&planes[z], i, j)[g * planes[z].plane_stride] =
                (int8_t)nmodgpu_residue_byte_of_dots(residuer, g, dots);
        }
    }
}

void nmodgpu_host_winograd_residues(const nmodgpu_residuer *residuer, const nmodgpu_matrix *planes,
                                    const nmodgpu_matrix *words)
{
    for (int64_t i = 0; i < planes[0].rows; i++)
        for (int64_t j = 0; j < planes[0].cols; j++) {
            uint64_t x[NMODGPU_WINOGRAD_QUARTERS];
            for (int q = 0; q < NMODGPU_WINOGRAD_QUARTERS; q++) {
                const int64_t row = i + q / 2 * planes[0].rows, col = j + q % 2 * planes[0].cols;
                const bool inside = row < words->rows && col < words->cols;
                x[q] = nmodgpu_offset_word(residuer, inside ? load_word(words, row, col) : 0);
            }
            winograd_entry(residuer, planes, i, j, x);
        }
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++)
        fill_up(&planes[z], residuer->count);
}

/** The residue in [0, m_g) of sum g of an entry. */
static uint32_t residue_at(const nmodgpu_crt *crt, const nmodgpu_matrix *sums, uint32_t g, int64_t at)
{
    const int64_t e = g * sums->plane_stride + at;
    return sums->element_bytes == 1
               ? ((const uint8_t *)sums->data)[e]
               : nmodgpu_residue_of_sum(((const int32_t *)sums->data)[e], crt->m[g], crt->magic[g], crt->offset[g]);
}

static uint64_t recombined(const nmodgpu_crt *crt, const nmodgpu_matrix *sums, int64_t at, uint64_t base)
{
    const int wide = crt->p >> 32 != 0;
    nmodgpu_crt_sum sum = nmodgpu_crt_begin();
    if (crt->direct)
        return nmodgpu_crt_direct(crt, residue_at(crt, sums, 0, at), base);
    for (uint32_t g = 0; g < crt->count; g++)
        nmodgpu_crt_take(&sum, crt, g, residue_at(crt, sums, g, at), wide);
    return nmodgpu_crt_end(crt, sum, base, wide);
}

void nmodgpu_host_crt(const nmodgpu_crt *crt, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                      const nmodgpu_matrix *sums)
{
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++)
            store_word(out, i, j, recombined(crt, sums, i * sums->stride + j, base ? load_word(base, i, j) : 0));
}

/** The residue in [0, m_g) of entry (i, j) of the result. */
static uint32_t winograd_residue(const nmodgpu_crt *crt, const nmodgpu_matrix *sums, uint32_t g, int64_t i,
                                 int64_t j)
{
    const bool lower = i >= sums[0].rows, right = j >= sums[0].cols;
    uint32_t products[NMODGPU_WINOGRAD_PRODUCTS];
    for (int z = 0; z < NMODGPU_WINOGRAD_PRODUCTS; z++) {
        const int64_t row = i - (lower ? sums[0].rows : 0), col = j - (right ? sums[0].cols : 0);
        products[z] = ((const uint8_t *)sums[z].data)[g * sums[z].plane_stride + row * sums[z].stride + col];
    }
    return nmodgpu_winograd_residues4(products, 2 * lower + right, crt->m[g]) & 255;
}

static uint64_t winograd_recombined(const nmodgpu_crt *crt, const nmodgpu_matrix *sums, int64_t i, int64_t j,
                                    uint64_t base)
{
    const int wide = crt->p >> 32 != 0;
    nmodgpu_crt_sum sum = nmodgpu_crt_begin();
    if (crt->direct)
        return nmodgpu_crt_direct(crt, winograd_residue(crt, sums, 0, i, j), base);
    for (uint32_t g = 0; g < crt->count; g++)
        nmodgpu_crt_take(&sum, crt, g, winograd_residue(crt, sums, g, i, j), wide);
    return nmodgpu_crt_end(crt, sum, base, wide);
}

void nmodgpu_host_winograd_crt(const nmodgpu_crt *crt, const nmodgpu_matrix *out, const nmodgpu_matrix *base,
                               const nmodgpu_matrix *sums)
{
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++)
            store_word(out, i, j, winograd_recombined(crt, sums, i, j, base ? load_word(base, i, j) : 0));
}

void nmodgpu_host_reduce_sum32(const nmodgpu_reducer *reducer, const nmodgpu_matrix *out,
                               const nmodgpu_matrix *base, const nmodgpu_matrix *sums)
{
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++) {
            const int32_t *s = (const int32_t *)sums->data + i * sums->stride + j;
            const uint64_t start = base ? load_word(base, i, j) : 0;
            store_word(out, i, j, nmodgpu_reduce_entry_int32(reducer, start, s, sums->plane_stride));
        }
}

int64_t nmodgpu_host_dot_i8(const int8_t *a, const int8_t *b, int64_t length)
{
    enum { CHUNK = 65536 }; /* 128 * 128 * 65536 = 2^30 */
    int64_t total = 0;
    for (int64_t start = 0; start < length; start += CHUNK) {
        const int64_t n = length - start < CHUNK ? length - start : CHUNK;
        int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t e = 0; e < n; e++)
            sum += a[start + e] * b[start + e];
        total += sum;
    }
    return total;
}

static void fused_plane(const nmodgpu_small_moduli *moduli, uint32_t g, const nmodgpu_matrix *sums,
                        const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate)
{
    const int8_t *a = (const int8_t *)left->data + g * left->plane_stride;
    const int8_t *b = (const int8_t *)right->data + g * right->plane_stride;
    uint8_t *out = (uint8_t *)sums->data + g * sums->plane_stride;
    const uint32_t m = moduli->m[g], magic = moduli->magic[g];
    for (int64_t i = 0; i < sums->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++) {
            uint8_t *to = &out[i * sums->stride + j];
            const int64_t x = nmodgpu_host_dot_i8(a + i * left->stride, b + j * right->stride, left->cols);
            const uint32_t y = nmodgpu_residue_of_sum((int32_t)x, m, magic, moduli->offset[g]);
            *to = (uint8_t)(accumulate ? nmodgpu_small_mod(y + *to, m, magic) : y);
        }
}

void nmodgpu_host_fused(const nmodgpu_small_moduli *moduli, const nmodgpu_matrix *sums, const nmodgpu_matrix *left,
                        const nmodgpu_matrix *right, bool accumulate)
{
    for (uint32_t g = 0; g < sums->planes; g++)
        fused_plane(moduli, g, sums, left, right, accumulate);
}
