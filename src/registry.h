/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The list of backends.
 *
 * A backend gets onto it in one of two ways: the program registers it, or it comes from a module in the
 * plugin folder.  A module is a shared object NAME.so exporting nmodgpu_module_entry(), with a text file
 * NAME.priority beside it that holds one integer, the backend's priority, and behind it the word "threads" where
 * loading the module starts a thread a processor (OpenBLAS does): it is then not loaded where these can't be had
 * (room.h).  The file is there so that the order is known before anything is loaded: a module is loaded only when
 * its turn comes.  In mode "auto" the modules with a priority file are tried from
 * the highest priority down, until one is usable.  A mode that names a backend loads that one alone, with
 * or without a priority file.
 *
 * The plugin folder is NMODGPU_PLUGIN_PATH, else "nmodgpu" beside the file that contains this code (the
 * library, or a program linked statically), else "../lib/nmodgpu" from there.
 *
 * Entries are only added, modules never unloaded: readers take no lock.  One lock is held while a module is
 * loaded and its backend opened, which happens once.
 */
#ifndef NMODGPU_REGISTRY_H
#define NMODGPU_REGISTRY_H

#include <stdatomic.h>

#include "backend.h"

typedef enum nmodgpu_entry_state {
    NMODGPU_ENTRY_MODULE = 0, /**< a module, not loaded */
    NMODGPU_ENTRY_REGISTERED, /**< known, not opened */
    NMODGPU_ENTRY_USABLE,
    NMODGPU_ENTRY_UNUSABLE, /**< could not be loaded or opened, or failed too often */
} nmodgpu_entry_state;

typedef struct nmodgpu_entry {
    char name[32];
    char *file; /**< of the module; NULL for a backend that the program registered */
    _Atomic(const nmodgpu_backend *) backend;
    _Atomic int state;
    _Atomic int32_t priority;
    /* the rest is set before state becomes USABLE */
    int32_t devices;
    nmodgpu_device_info *info;    /**< one a device, as found when it was opened */
    _Atomic int failures;         /**< in a row */
    _Atomic double least_seconds; /**< no product takes this backend less */
} nmodgpu_entry;

#define NMODGPU_MAX_BACKENDS 16

/** The usable backends for a mode ("auto" or a name; interned or static), highest priority first; loads and
 *  opens what it must.  Returns how many were put into entries[]. */
int nmodgpu_registry_usable(const char *mode, nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS]);

/** Those of them that are open already; loads and opens nothing. */
int nmodgpu_registry_opened(const char *mode, nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS]);

/** Loads and opens everything there is and lists it, usable or not, highest priority first. */
int nmodgpu_registry_all(nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS]);

/** Notes a product's outcome.  After the third failure in a row the backend is not used any more. */
void nmodgpu_registry_outcome(nmodgpu_entry *entry, bool failed);

/** Has the plugin folder looked through again at the next need, because the setting has changed. */
void nmodgpu_registry_rescan(void);

/** Makes the locks free in a child after fork(): their holders do not exist there. */
void nmodgpu_registry_unlock_in_child(void);

#endif
