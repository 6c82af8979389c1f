/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * nmodgpu: exact products of matrices over Z/pZ, 1 <= p < 2^64, on GPUs and CPUs.
 *
 * Plain C, no FLINT and no CUDA.  Every function may be called from any number of threads at once
 * unless its comment says otherwise.
 */
#ifndef NMODGPU_H
#define NMODGPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NMODGPU_API __attribute__((visibility("default")))
#else
#define NMODGPU_API
#endif

/** Outcome of a call; nmodgpu_status_text() gives the words. */
typedef enum nmodgpu_status {
    NMODGPU_OK = 0,       /**< done, the result is complete */
    NMODGPU_DECLINED = 1, /**< not served by any backend: too small, switched off or unsupported */
    NMODGPU_EINVAL = 2,   /**< an argument is impossible; nothing was written */
    NMODGPU_ENOMEM = 3,   /**< host or device memory ran out */
    NMODGPU_ENODEV = 4,   /**< no usable device, driver or library */
    NMODGPU_EBACKEND = 5, /**< a backend's library reported an error */
    NMODGPU_EABI = 6      /**< a module was built for another version of nmodgpu */
} nmodgpu_status;

/** English text for a status; a static string, never NULL. */
NMODGPU_API const char *nmodgpu_status_text(nmodgpu_status status);

/** Version of the library as "major.minor.patch"; a static string. */
NMODGPU_API const char *nmodgpu_version(void);

/** A context owns settings and limits.  NULL stands for the default context, which takes its settings
 *  from the environment at the first product. */
typedef struct nmodgpu_context nmodgpu_context;

/** Makes a context with every setting at its default and served by every backend ("auto").
 *  Free it with nmodgpu_context_destroy().  NMODGPU_ENOMEM when out of memory. */
NMODGPU_API nmodgpu_status nmodgpu_context_create(nmodgpu_context **context);

/** Sets one setting by its environment name, for instance ("NMODGPU_MIN_DIM", "0").
 *  NMODGPU_EINVAL for an unknown name, an unacceptable value (the old value stays), or a setting of the whole
 *  process (NMODGPU_REPORT, NMODGPU_PLUGIN_PATH, NMODGPU_THREADS) in a context other than the default one.
 *  Not while another thread is inside a product of the same context. */
NMODGPU_API nmodgpu_status nmodgpu_context_set(nmodgpu_context *context, const char *name, const char *value);

/** Frees a context; NULL is allowed.  No product of it may be running. */
NMODGPU_API void nmodgpu_context_destroy(nmodgpu_context *context);

/** Switches the default context: "off", "auto" or the name of a backend, as the variable NMODGPU does.
 *  Holds for calls that begin afterwards, in every thread.  NMODGPU_EINVAL for an impossible name. */
NMODGPU_API nmodgpu_status nmodgpu_enable(const char *mode);

/** 1 when the default context is on, 0 when it is off. */
NMODGPU_API int nmodgpu_enabled(void);

/** A matrix of the caller's, row-major, entries canonical in [0, p).  The caller keeps ownership.
 *  With row_table == NULL, row i starts at data + i * stride (stride >= cols, in elements);
 *  otherwise row i starts at row_table[i] and data and stride are not looked at. */
typedef struct nmodgpu_view {
    int64_t rows;
    int64_t cols;
    int64_t stride;
    uint64_t *data;
    uint64_t *const *row_table;
} nmodgpu_view;

/** C <- A * B mod p, shapes (m x n) <- (m x k) * (k x n).
 *  C may be or overlap A or B: the operands' values at entry count.  Always computed, by the best backend
 *  that serves it or by a portable loop; NMODGPU_EINVAL for impossible shapes or p == 0, NMODGPU_ENOMEM
 *  where C overlaps an operand and no scratch memory is to be had (C is then untouched). */
NMODGPU_API nmodgpu_status nmodgpu_mul(nmodgpu_context *context, const nmodgpu_view *c, const nmodgpu_view *a,
                                       const nmodgpu_view *b, uint64_t p);

/** D <- C + A * B mod p.  D may be C, and may overlap any operand.  Otherwise as nmodgpu_mul(). */
NMODGPU_API nmodgpu_status nmodgpu_addmul(nmodgpu_context *context, const nmodgpu_view *d, const nmodgpu_view *c,
                                          const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p);

/** D <- C - A * B mod p.  As nmodgpu_addmul(). */
NMODGPU_API nmodgpu_status nmodgpu_submul(nmodgpu_context *context, const nmodgpu_view *d, const nmodgpu_view *c,
                                          const nmodgpu_view *a, const nmodgpu_view *b, uint64_t p);

#ifdef __cplusplus
}
#endif

#endif
