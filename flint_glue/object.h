/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A loaded object's own symbols and relocations, read from its tables in memory (System V gABI, and the
 * GNU hash section).  No lock is taken, nothing is allocated and dlerror() is left alone.
 */
#ifndef NMODGPU_FLINT_OBJECT_H
#define NMODGPU_FLINT_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nmodgpu_object {
    const char *name; /**< path; "" for the program itself */
    uintptr_t base;   /**< what addresses in its tables are relative to */
    uintptr_t low;    /**< its memory is [low, low + bytes) */
    uintptr_t bytes;
    const ElfW(Dyn) * dynamic; /**< tells objects apart while they stay loaded */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;  /**< NULL when absent */
    const uint32_t *sysv_hash; /**< NULL when absent */
    const ElfW(Rela) * plt_relocations;
    uintptr_t plt_relocations_bytes;
    const ElfW(Rela) * relocations;
    uintptr_t relocations_bytes;
} nmodgpu_object;

/** Fills *object from what dl_iterate_phdr says; false for an object without dynamic symbols. */
bool nmodgpu_object_read(nmodgpu_object *object, const struct dl_phdr_info *info);

static inline bool nmodgpu_object_contains(const nmodgpu_object *object, uintptr_t address)
{
    return address - object->low < object->bytes;
}

/** Address of a function or datum that the object itself defines and exports; 0 when it does not. */
uintptr_t nmodgpu_object_definition(const nmodgpu_object *object, const char *name);

/** Name of the exported function that an address of the object lies in; NULL when no symbol covers it. */
const char *nmodgpu_object_function_at(const nmodgpu_object *object, uintptr_t address);

/** Calls visit for each slot through which the object's code reaches the function `name` (PLT or GOT),
 *  with the slot's present value. */
void nmodgpu_object_slots(const nmodgpu_object *object, const char *name,
                          void (*visit)(uintptr_t value, void *data), void *data);

#endif
