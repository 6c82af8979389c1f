/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The settings: one table declares every environment variable.  A context holds a value for each; the
 * default context takes the environment's where the program has set none itself.  (Not called config.h:
 * that name is autoconf's.)
 */
#ifndef NMODGPU_SETTINGS_H
#define NMODGPU_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "nmodgpu.h"

typedef enum nmodgpu_setting_id {
    NMODGPU_SET_MODE = 0,
    NMODGPU_SET_MIN_DIM,
    NMODGPU_SET_VERBOSE,
    NMODGPU_SET_REPORT,
    NMODGPU_SET_PLUGIN_PATH,
    NMODGPU_SET_MEMORY,
    NMODGPU_SET_THREADS,
    NMODGPU_SET_PLAN,
    NMODGPU_SETTINGS
} nmodgpu_setting_id;

typedef enum nmodgpu_setting_type {
    NMODGPU_TYPE_MODE,    /**< off, auto or a backend's name */
    NMODGPU_TYPE_INTEGER, /**< decimal */
    NMODGPU_TYPE_BYTES,   /**< decimal with an optional suffix K, M, G or T (powers of 1024) */
    NMODGPU_TYPE_TEXT     /**< anything */
} nmodgpu_setting_type;

typedef struct nmodgpu_setting_info {
    const char *name;
    nmodgpu_setting_type type;
    bool of_process;      /**< only the default context may set it */
    int64_t low, high;    /**< of numbers */
    const char *fallback; /**< default as one would write it; "" is unset */
    const char *unset;    /**< what unset means, for people */
    const char *accepted; /**< accepted values, for people */
    const char *help;
} nmodgpu_setting_info;

extern const nmodgpu_setting_info nmodgpu_setting_table[NMODGPU_SETTINGS];

typedef enum nmodgpu_origin {
    NMODGPU_ORIGIN_DEFAULT = 0,
    NMODGPU_ORIGIN_ENVIRONMENT,
    NMODGPU_ORIGIN_PROGRAM
} nmodgpu_origin;

/** Texts are interned: they live as long as the process, so readers need no lock. */
typedef struct nmodgpu_setting {
    _Atomic(const char *) text; /**< as given; the mode in its canonical form */
    _Atomic int64_t number;     /**< of numbers; -1 unset */
    _Atomic int origin;
} nmodgpu_setting;

typedef struct nmodgpu_settings {
    nmodgpu_setting value[NMODGPU_SETTINGS];
} nmodgpu_settings;

/** -1 for an unknown name. */
int nmodgpu_setting_find(const char *name);

/** Everything at its default; the mode "auto" or "off".  Allocates nothing. */
void nmodgpu_settings_init(nmodgpu_settings *settings, bool on);

/** Sets one value from text; "" and NULL set the default.  NMODGPU_EINVAL and NMODGPU_ENOMEM leave the old
 *  value. */
nmodgpu_status nmodgpu_settings_set(nmodgpu_settings *settings, int id, const char *given, nmodgpu_origin origin);

/** Takes ids [first, last) from the environment where they are still at their default.  One line for each
 *  value that cannot be used. */
void nmodgpu_settings_read(nmodgpu_settings *settings, int first, int last);

/** One line for variables of the environment that start with NMODGPU_ and are none of ours. */
void nmodgpu_settings_warn_unknown(void);

static inline int64_t nmodgpu_setting_number(nmodgpu_settings *settings, int id)
{
    return atomic_load_explicit(&settings->value[id].number, memory_order_acquire);
}

/** Never NULL; "" is unset. */
static inline const char *nmodgpu_setting_text(nmodgpu_settings *settings, int id)
{
    return atomic_load_explicit(&settings->value[id].text, memory_order_acquire);
}

/** Whether a backend may have this name: 1 to 31 of a-z, 0-9, '_' and '-', and no word of the mode's own. */
bool nmodgpu_name_valid(const char *name);

/** Prints every setting: value, origin, help. */
void nmodgpu_settings_print(nmodgpu_settings *settings, FILE *out);

#endif
