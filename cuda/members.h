/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Members that the passes of kernels.h and kernels_i8.h have in common, filled from descriptors of matrices: to be
 * written between the braces of a pass.
 */
#ifndef NMODGPU_CUDA_MEMBERS_H
#define NMODGPU_CUDA_MEMBERS_H

/** The words that are converted; the pass has their shape. */
#define PASS_WORDS(x)                                                                                              \
    .words = (x)->data, .words_stride = (x)->stride, .words_bytes = (x)->element_bytes, .rows = (x)->rows,         \
    .cols = (x)->cols

/** How planes or sums lie. */
#define PASS_STRIDES(x) .stride = (x)->stride, .plane_stride = (x)->plane_stride

/** The words that are written, onto others or NULL; the pass has their shape. */
#define PASS_RESULT(x, onto)                                                                                       \
    .out = (x)->data, .out_stride = (x)->stride, .out_bytes = (x)->element_bytes,                                  \
    .base = (onto) ? (onto)->data : NULL, .base_stride = (onto) ? (onto)->stride : 0,                              \
    .base_bytes = (onto) ? (onto)->element_bytes : 8, .rows = (x)->rows, .cols = (x)->cols

#endif
