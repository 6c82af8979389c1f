/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The interface between the core and a backend.  A backend is a const struct nmodgpu_backend; a module
 * hands it to the core from its entry point.  Nothing in the core names a backend.
 *
 * Everything a backend does is an operation on matrix descriptors, queued on a QUEUE (a stream with its
 * workspace, used by one thread at a time).  The core builds whole products from these calls
 * (product.c); resident matrices, tiles, several devices and later algorithms use the same calls.
 */
#ifndef NMODGPU_BACKEND_H
#define NMODGPU_BACKEND_H

#include "nmodgpu.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Raised whenever this file changes incompatibly; a backend with another number is refused. */
#define NMODGPU_BACKEND_ABI 3u

#define NMODGPU_HOST (-1)

typedef enum nmodgpu_representation {
    NMODGPU_WORDS = 1,  /**< canonical entries in [0, p), element_bytes wide */
    NMODGPU_PLANES = 2, /**< a prepared operand: `planes` planes as its plan says */
    NMODGPU_SUMS = 3    /**< accumulators of a plan, not yet reduced: one plane a sum */
} nmodgpu_representation;

typedef enum nmodgpu_side { NMODGPU_LEFT = 0, NMODGPU_RIGHT = 1 } nmodgpu_side;

typedef struct nmodgpu_event nmodgpu_event;   /* a backend's own */
typedef struct nmodgpu_queue nmodgpu_queue;   /* a backend's own */
typedef struct nmodgpu_buffer nmodgpu_buffer; /* a backend's own */

/** The object underneath everything: a matrix, or a window of one, wherever it lives. */
typedef struct nmodgpu_matrix {
    nmodgpu_representation representation;
    int32_t device;     /**< NMODGPU_HOST or a device index of the backend that owns it */
    int64_t rows, cols; /**< as the mathematics sees it, also when transposed */
    uint64_t modulus;
    uint32_t element_bytes;     /**< of one entry of one plane */
    uint32_t planes;            /**< 1 for words */
    bool transposed;            /**< stored with columns contiguous (entry (i,j) at j*stride + i) */
    nmodgpu_side side;          /**< PLANES: which operand of the plan */
    const nmodgpu_plan *plan;   /**< PLANES and SUMS; outlives the descriptor */
    int64_t stride;             /**< elements between stored rows (columns when transposed) */
    int64_t plane_stride;       /**< elements between planes */
    void *data;                 /**< entry (0,0) of plane 0; NULL on the host where row_table serves */
    uint64_t *const *row_table; /**< host words only: row i starts at row_table[i] + col_offset */
    int64_t col_offset;         /**< elements; used with row_table only */
    /** SUMS: inner length that plane g has taken since its last reduction. */
    int64_t inner_used[NMODGPU_MAX_SUMS];
    nmodgpu_event *ready; /**< NULL, or what another queue must wait for before use */
} nmodgpu_matrix;

/** The window of rows [r0, r1) and columns [c0, c1) of a words or planes matrix; shares its memory. */
static inline nmodgpu_matrix nmodgpu_matrix_window(const nmodgpu_matrix *a, int64_t r0, int64_t r1, int64_t c0,
                                                   int64_t c1)
{
    nmodgpu_matrix w = *a;
    w.rows = r1 - r0;
    w.cols = c1 - c0;
    if (a->row_table) {
        w.row_table = a->row_table + r0;
        w.col_offset = a->col_offset + c0;
    } else if (a->data) {
        const int64_t offset = a->transposed ? c0 * a->stride + r0 : r0 * a->stride + c0;
        w.data = (char *)a->data + offset * (int64_t)a->element_bytes;
    }
    return w;
}

/** Start of row i of a host words matrix. */
static inline uint64_t *nmodgpu_matrix_row(const nmodgpu_matrix *a, int64_t i)
{
    return a->row_table ? a->row_table[i] + a->col_offset : (uint64_t *)a->data + i * a->stride;
}

/** Speeds of one device, for the planner.  Rates per second; every figure is measured or says whence. */
typedef struct nmodgpu_rates {
    double f64_flops;     /**< dgemm on large matrices, multiplications and additions counted */
    double f64_k_half;    /**< inner length at which a dgemm of full tiles reaches half that rate */
    double f64_tile_rows; /**< tile of C that one processor takes, for the rounding loss of small sizes */
    double f64_tile_cols;
    double processors;   /**< tiles in flight at once */
    double gemm_start;   /**< seconds to start one GEMM */
    double pass_start;   /**< seconds to start one conversion or reduction */
    double pass_bytes;   /**< bytes per second, read or written, of conversions and reductions */
    double integer_sums; /**< sums per second that reductions on the integer road can take, memory apart; 0: any */
    double import_bytes; /**< host to device, u64 entries, bytes per second */
    double export_bytes; /**< device to host */
    double call_start;   /**< fixed seconds a whole call costs besides */
    double i8_flops;     /**< int8 products with int32 sums, counted as f64_flops; 0: there are none */
    double i8_k_half;    /**< as f64_k_half */
    double i8_fused_flops; /**< the same with sums of one byte (nmodgpu_plan.sum_bytes); 0: there are none */
    double i8_fused_k_half;
    double i8_tile;  /**< rows and columns of C that int8 kernels work on at once */
    double residues; /**< residues made or recombined per second, memory apart */
} nmodgpu_rates;

typedef struct nmodgpu_device_info {
    char name[96];
    char detail[160];      /**< for people: compute capability, driver, library versions */
    uint64_t memory_bytes; /**< total */
    uint64_t free_bytes;   /**< free now */
    nmodgpu_rates rates;
} nmodgpu_device_info;

typedef enum nmodgpu_log_level {
    NMODGPU_LOG_ERROR = 0, /**< something failed and the caller is served otherwise; once per cause */
    NMODGPU_LOG_CALL = 1,  /**< a line a call */
    NMODGPU_LOG_DEBUG = 2  /**< decisions on the way */
} nmodgpu_log_level;

struct nmodgpu_backend;

/** What the core offers to a module.  Passed to the module's entry point; lives as long as the process. */
typedef struct nmodgpu_host_api {
    uint32_t abi_version;
    uint32_t size;
    /** Registers a backend; NMODGPU_EABI (with one line logged) when its abi_version differs. */
    nmodgpu_status (*register_backend)(const struct nmodgpu_backend *backend);
    /** Logs one line.  With `cause` not NULL the line appears once per process and cause. */
    void (*log)(nmodgpu_log_level level, const char *cause, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /** Integer value of a declared setting of the default context, for instance "NMODGPU_THREADS"; -1 unset. */
    int64_t (*setting)(const char *name);
} nmodgpu_host_api;

/** The one symbol a module exports, under the name NMODGPU_MODULE_ENTRY_NAME. */
typedef nmodgpu_status (*nmodgpu_module_entry_fn)(const nmodgpu_host_api *host);
#define NMODGPU_MODULE_ENTRY_NAME "nmodgpu_module_entry"

/** A backend.  All functions may be called from several threads at once, one thread a queue. */
typedef struct nmodgpu_backend {
    uint32_t abi_version; /**< NMODGPU_BACKEND_ABI */
    uint32_t size;        /**< sizeof(nmodgpu_backend) */
    const char *name;     /**< as NMODGPU names it: "cuda", "cblas" */
    int32_t priority;     /**< higher is tried first */
    /** Its operations hold signals back themselves (hold.h) and let them through where that leaves nothing behind.
     *  Otherwise the core holds them back for a whole product. */
    bool holds_signals;

    /** Finds devices and libraries.  Called once, before anything else.  NMODGPU_ENODEV with one line
     *  logged (what is missing, what happens instead) when nothing is usable. */
    nmodgpu_status (*open)(void);
    int32_t (*device_count)(void);
    nmodgpu_status (*device_info)(int32_t device, nmodgpu_device_info *info);

    /** A queue on a device; kept and handed out again after queue_close where that is cheaper. */
    nmodgpu_status (*queue_open)(int32_t device, nmodgpu_queue **queue);
    /** Gives a queue back.  `failed` says that an operation on it failed: it is drained, and not reused. */
    void (*queue_close)(nmodgpu_queue *queue, bool failed);

    /** Gives memory to a descriptor whose representation, shape, planes, element_bytes, plan and side are
     *  set: fills data, stride, plane_stride, transposed, device and zeroes inner_used.  In queue order. */
    nmodgpu_status (*matrix_alloc)(nmodgpu_queue *queue, nmodgpu_matrix *matrix);
    /** Frees it, in queue order; sets data to NULL.  A descriptor without data is allowed. */
    void (*matrix_free)(nmodgpu_queue *queue, nmodgpu_matrix *matrix);
    /** Bytes that matrix_alloc would take for this descriptor. */
    uint64_t (*matrix_bytes)(const nmodgpu_matrix *matrix);

    /** Host words (u64; stride or row table) to device words of the same shape.  On return the host memory
     *  may still be read; wait() ends that. */
    nmodgpu_status (*import_words)(nmodgpu_queue *queue, nmodgpu_matrix *device, const nmodgpu_matrix *host);
    /** Device words to device planes, as planes->plan and planes->side say.  Same shape. */
    nmodgpu_status (*prepare)(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words);
    /** For every sum plane g in sum_mask: S_g <- (accumulate ? S_g : 0) + sum over terms (l, r, g) of L_l * R_r.
     *  left (m x kk) and right (kk x n) are prepared operands or windows of them, of int8 planes windows that
     *  begin and end at multiples of 16 along the inner dimension (else NMODGPU_EINVAL), or end with the operand.
     * Sums of one byte stay reduced. The caller keeps inner_used[g] + kk <= lambda[g]; the backend updates
     * inner_used. */
    nmodgpu_status (*multiply_accumulate)(nmodgpu_queue *queue, nmodgpu_matrix *sums, uint64_t sum_mask,
                                          const nmodgpu_matrix *left, const nmodgpu_matrix *right, bool accumulate);
    /** out <- (base ? base : 0) + sign * (sum over g in sum_mask of coefficient[g] * S_g) mod p, canonical.
     *  base may be out.  sign is +1 or -1.  Sets inner_used of those planes to 0.  Element widths of out and
     *  base, as of the words of prepare, are 4 (moduli below 2^32 only) or 8 bytes, each its own; for int8 plans
     *  also 1 and 2 (moduli up to 2^8 and 2^16). */
    nmodgpu_status (*reduce)(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base, int sign,
                             nmodgpu_matrix *sums, uint64_t sum_mask);
    /** One side of a Strassen-Winograd step (exact/winograd.h), for plans with `winograd` set: planes[i] <-
     * residues of the i-th combination of the quarters of words, for planes[0].side.  Each of the seven is a planes
     * matrix of nmodgpu_winograd_half(words->rows) x nmodgpu_winograd_half(words->cols), allocated alike.  NULL, as
     *  reduce_winograd, in a backend that has no bytes for sums (nmodgpu_rates.i8_fused_flops). */
    nmodgpu_status (*prepare_winograd)(nmodgpu_queue *queue, nmodgpu_matrix *planes, const nmodgpu_matrix *words);
    /** out <- (base ? base : 0) + sign * (the product whose seven parts are in sums[0..6]) mod p, canonical.  Each
     *  has all sums of the plan, nmodgpu_winograd_half(out->rows) x nmodgpu_winograd_half(out->cols), allocated
     *  alike.  base may be out.  Sets their inner_used to 0. */
    nmodgpu_status (*reduce_winograd)(nmodgpu_queue *queue, nmodgpu_matrix *out, const nmodgpu_matrix *base,
                                      int sign, nmodgpu_matrix *sums);
    /** Device words to host words (u64; stride or row table).  Complete after wait(). */
    nmodgpu_status (*export_words)(nmodgpu_queue *queue, const nmodgpu_matrix *host, const nmodgpu_matrix *device);

    /** Starts what is queued; with `event` not NULL gives an event that is ready when all of it is done. */
    nmodgpu_status (*submit)(nmodgpu_queue *queue, nmodgpu_event **event);
    /** Makes later operations of the queue wait for an event, also one of another queue of this backend. */
    nmodgpu_status (*queue_wait)(nmodgpu_queue *queue, nmodgpu_event *event);
    /** Blocks until the event (or, with NULL, everything queued) is done.  Reports errors of that work. */
    nmodgpu_status (*wait)(nmodgpu_queue *queue, nmodgpu_event *event);
    void (*event_free)(nmodgpu_event *event);
    /** Seconds of device time between two events of one queue that are done. */
    nmodgpu_status (*event_seconds)(nmodgpu_event *from, nmodgpu_event *to, double *seconds);

    /** Host memory that a device copies from and to at full speed.  NULL, as the other three, in a backend for
     * which all of the host's memory is such: it is served by import_words and export_words. */
    nmodgpu_status (*buffer_open)(int32_t device, uint64_t bytes, nmodgpu_buffer **buffer, void **memory);
    /** Waits for its last copy.  NULL is allowed. */
    void (*buffer_close)(nmodgpu_buffer *buffer);
    /** Queues the copy of a device's words matrix, or of a window of one, from the buffer (`up`) or to it.  There
     *  rows follow each other without gaps, entries as wide as the matrix's (else, or where it does not fit,
     *  NMODGPU_EINVAL).  Several threads may call it for one queue, each with a buffer of its own, also while the
     *  queue's thread waits; a buffer whose last copy is not done is not to be touched. */
    nmodgpu_status (*buffer_copy)(nmodgpu_queue *queue, nmodgpu_buffer *buffer, const nmodgpu_matrix *words,
                                  bool up);
    /** Blocks until the buffer's last copy is done. */
    nmodgpu_status (*buffer_wait)(nmodgpu_buffer *buffer);
} nmodgpu_backend;

/** Registers a backend with the core; the program may do so itself, before its first product.
 *  NMODGPU_EABI for a mismatched abi_version or size, NMODGPU_EINVAL for a name taken or impossible. */
NMODGPU_API nmodgpu_status nmodgpu_backend_register(const nmodgpu_backend *backend);

#ifdef __cplusplus
}
#endif

#endif
