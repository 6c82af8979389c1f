/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What the tests of the drop-in share: a piece of a test in a process of its own, and what it reported.
 */
#ifndef NMODGPU_TESTS_HARNESS_H
#define NMODGPU_TESTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "fakeflint.h"

/** What a child process left behind. */
typedef struct outcome {
    int status;      /**< as waitpid gives it */
    bool reported;   /**< it wrote its NMODGPU_REPORT line */
    int64_t arrived; /**< calls, from that line */
    int64_t served;  /**< by all backends together */
    int64_t declined;
    char line[1024];
    char errors[8192]; /**< its standard error */
} outcome;

/** Runs body in a child whose environment has NMODGPU=mode (unset for NULL), NMODGPU_MIN_DIM=0 and a report;
 *  the child exits with 0 after body.  Environment variables that body sets before its first product count. */
outcome run_apart(const char *mode, void (*body)(void *data), void *data);

/** run_apart that must end well. */
outcome run_well(const char *mode, void (*body)(void *data), void *data);

/** Name of a backend that can serve on every machine, for NMODGPU: cblas, or cuda on the stand-in device where the
 *  build has no cblas.  Puts NMODGPU_PLUGIN_PATH into the environment where that takes it. */
const char *test_backend(void);
/** Where the stand-in device's module is built. */
const char *standin_folder(void);
/** A mode in which every call is declined. */
#define NO_BACKEND "none-such"

/** The functions of a fake FLINT and those that the process calls. */
typedef struct fake_api {
    void (*mul)(fake_mat *, const fake_mat *, const fake_mat *); /* by the global scope */
    void (*addmul)(fake_mat *, const fake_mat *, const fake_mat *, const fake_mat *);
    void (*submul)(fake_mat *, const fake_mat *, const fake_mat *, const fake_mat *);
    void (*mul_classical)(fake_mat *, const fake_mat *, const fake_mat *);
    void (*mul_strassen)(fake_mat *, const fake_mat *, const fake_mat *);
    int64_t (*lu)(int64_t *, fake_mat *, int);
    void (*init)(fake_mat *, int64_t, int64_t, uint64_t);
    void (*clear)(fake_mat *);
    void (*window_init)(fake_mat *, const fake_mat *, int64_t, int64_t, int64_t, int64_t);
    void (*window_clear)(fake_mat *);
    void (*swap_rows)(fake_mat *, int64_t *, int64_t, int64_t);
    uint64_t *(*entry)(const fake_mat *, int64_t, int64_t);
    fake_probe *probe;
} fake_api;

/** Loads the drop-in into the global scope. */
void *load_dropin(void);
/** Loads a module built for the tests ("fakeflint-rows") with dlopen's flags. */
void *load_module(const char *name, int flags);
/** The functions of a loaded fake FLINT; the products are those of the global scope where `global` is set. */
fake_api fake_functions(void *fake, bool global);
/** load_dropin, then the fake into the global scope behind it. */
fake_api load_behind_dropin(const char *variant);

/** An initialised matrix with pseudo-random entries. */
fake_mat fake_random(const fake_api *api, int64_t rows, int64_t cols, uint64_t n);

#endif
