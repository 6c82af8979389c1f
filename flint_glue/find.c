/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "find.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "evidence.h"
#include "hold.h"
#include "version.h"

nmodgpu_caller nmodgpu_callers[NMODGPU_MAX_CALLERS];
_Atomic int nmodgpu_callers_used;

static nmodgpu_flint flints[NMODGPU_MAX_FLINTS];
static _Atomic int flints_used;

/* What one walk over the loaded objects finds. */
typedef struct survey {
    uintptr_t site;
    nmodgpu_object caller; /* bytes == 0 when the site is in no object, or in this library */
    nmodgpu_object own;
    nmodgpu_object flint[NMODGPU_MAX_FLINTS];
    int flints;
    const char *first_definer; /* in load order, this library included */
    bool first_is_own;
} survey;

static bool is_flint(const nmodgpu_object *object)
{
    return nmodgpu_object_definition(object, "nmod_mat_mul") &&
           nmodgpu_object_definition(object, "nmod_mat_addmul") &&
           nmodgpu_object_definition(object, "nmod_mat_submul") &&
           nmodgpu_object_definition(object, "nmod_mat_init");
}

static int survey_object(struct dl_phdr_info *info, size_t size, void *data)
{
    survey *s = data;
    nmodgpu_object object;
    (void)size;
    if (!nmodgpu_object_read(&object, info))
        return 0;
    const bool own = nmodgpu_object_contains(&object, (uintptr_t)&flints);
    if (!s->first_definer && nmodgpu_object_definition(&object, "nmod_mat_mul")) {
        s->first_definer = object.name;
        s->first_is_own = own;
    }
    if (own) {
        s->own = object;
        return 0;
    }
    if (nmodgpu_object_contains(&object, s->site))
        s->caller = object;
    if (s->flints < NMODGPU_MAX_FLINTS && is_flint(&object))
        s->flint[s->flints++] = object;
    return 0;
}

static void survey_process(survey *s, uintptr_t site)
{
    memset(s, 0, sizeof *s);
    s->site = site;
    (void)dl_iterate_phdr(survey_object, s);
}

bool nmodgpu_flint_is_own_code(uintptr_t address)
{
    static _Atomic uintptr_t low, bytes;
    uintptr_t size = atomic_load_explicit(&bytes, memory_order_acquire);
    if (size == 0) {
        survey s;
        const nmodgpu_hold hold = nmodgpu_hold_signals();
        survey_process(&s, 0);
        nmodgpu_release_signals(&hold);
        atomic_store_explicit(&low, s.own.low, memory_order_relaxed);
        atomic_store_explicit(&bytes, s.own.bytes, memory_order_release);
        size = s.own.bytes;
    }
    return address - atomic_load_explicit(&low, memory_order_relaxed) < size;
}

/* A handle on a loaded object; NULL when the loader does not know it by that name.  The program's own handle
   stands for the global scope. */
static void *handle_of(const char *name, int flags)
{
    return dlopen(name[0] ? name : NULL, RTLD_LAZY | RTLD_NOLOAD | flags);
}

/* Keeps an object from being unloaded, because pointers into it are kept. */
static void pin(const nmodgpu_object *object)
{
    if (!object->name[0])
        return;
    void *handle = handle_of(object->name, RTLD_NODELETE);
    if (handle)
        (void)dlclose(handle);
}

static int take_slot(_Atomic int *used, int slots)
{
    int slot = atomic_load(used);
    while (slot < slots && !atomic_compare_exchange_weak(used, &slot, slot + 1))
        ;
    return slot < slots ? slot : -1;
}

static nmodgpu_flint *registered(const nmodgpu_object *object)
{
    const int used = atomic_load_explicit(&flints_used, memory_order_relaxed);
    for (int i = 0; i < used; i++)
        if (atomic_load_explicit(&flints[i].ready, memory_order_acquire) &&
            flints[i].object.dynamic == object->dynamic)
            return &flints[i];
    return NULL;
}

/* Two threads may register the same FLINT at once: both records are right, and the first is found from then
   on.  So no lock is needed, which a fork or a longjmp could leave held. */
static nmodgpu_flint *register_flint(const nmodgpu_object *object)
{
    nmodgpu_flint *flint = registered(object);
    if (flint)
        return flint;
    const int slot = take_slot(&flints_used, NMODGPU_MAX_FLINTS);
    if (slot < 0)
        return NULL;
    flint = &flints[slot];
    flint->object = *object;
    flint->version = (const char *)nmodgpu_object_definition(object, "flint_version");
    flint->mul = (nmodgpu_flint_mul *)nmodgpu_object_definition(object, "nmod_mat_mul");
    flint->addmul = (nmodgpu_flint_addmul *)nmodgpu_object_definition(object, "nmod_mat_addmul");
    flint->submul = (nmodgpu_flint_addmul *)nmodgpu_object_definition(object, "nmod_mat_submul");
    pin(object);
    atomic_store_explicit(&flint->ready, true, memory_order_release);
    return flint;
}

static nmodgpu_flint *flint_holding(nmodgpu_flint *const *list, int count, const void *address)
{
    for (int i = 0; i < count; i++)
        if (list[i] && nmodgpu_object_contains(&list[i]->object, (uintptr_t)address))
            return list[i];
    return NULL;
}

/* The FLINT that a scope (an object and what it depends on) finds first.  Several names, because a program
   that is not position-independent has copies of data and entries for functions whose address it takes. */
static nmodgpu_flint *flint_in_scope(const char *object_name, nmodgpu_flint *const *list, int count)
{
    static const char *const names[] = {"nmod_mat_mul_classical", "nmod_mat_init", "flint_version"};
    void *handle = handle_of(object_name, 0);
    nmodgpu_flint *flint = NULL;
    if (!handle)
        return NULL;
    for (size_t i = 0; !flint && i < sizeof names / sizeof *names; i++) {
        const void *address = dlsym(handle, names[i]);
        flint = address ? flint_holding(list, count, address) : NULL;
    }
    (void)dlclose(handle);
    return flint;
}

/* The only FLINT, or the first that has the layout which the operands must have.  Where they may have either they
   tell nothing, but then any FLINT will do if all have one layout. */
static nmodgpu_flint *by_operands(nmodgpu_flint *const *list, int count,
                                  const nmodgpu_flint_matrix *const *operands, int operand_count)
{
    const nmodgpu_layout must = nmodgpu_layout_by_evidence(operands, operand_count);
    nmodgpu_flint *fitting = NULL;
    bool one_layout = true;
    for (int i = 0; i < count; i++) {
        const nmodgpu_layout layout = nmodgpu_layout_of_version(list[i]->version);
        one_layout = one_layout && layout == nmodgpu_layout_of_version(list[0]->version);
        if (!fitting && layout == must)
            fitting = list[i];
    }
    return fitting || !(count == 1 || one_layout) ? fitting : list[0];
}

static void remember_caller(const nmodgpu_object *caller, nmodgpu_flint *flint)
{
    const int slot = take_slot(&nmodgpu_callers_used, NMODGPU_MAX_CALLERS);
    if (slot < 0)
        return; /* matched anew each time */
    nmodgpu_callers[slot].low = caller->low;
    nmodgpu_callers[slot].bytes = caller->bytes;
    atomic_store_explicit(&nmodgpu_callers[slot].flint, flint, memory_order_release);
}

static int register_all(const survey *s, nmodgpu_flint *list[NMODGPU_MAX_FLINTS])
{
    int count = 0;
    for (int i = 0; i < s->flints; i++) {
        nmodgpu_flint *flint = register_flint(&s->flint[i]);
        if (flint)
            list[count++] = flint;
    }
    return count;
}

/* In the order in which the loader itself would have bound the caller's other calls of FLINT:
   FLINT's own code belongs to itself; then the global scope; then what the calling object depends on.
   A match by these never changes.  A caller that none of them explains (code made at run time, a foreign
   function interface) is looked at anew each time. */
static nmodgpu_flint *match(const survey *s, nmodgpu_flint *const *list, int count)
{
    nmodgpu_flint *flint = s->caller.bytes ? registered(&s->caller) : NULL;
    if (!flint)
        flint = flint_in_scope("", list, count);
    if (!flint && s->caller.bytes && s->caller.name[0]) {
        flint = flint_in_scope(s->caller.name, list, count);
        if (flint)
            pin(&s->caller);
    }
    if (flint && s->caller.bytes)
        remember_caller(&s->caller, flint);
    return flint;
}

nmodgpu_flint *nmodgpu_flint_of_caller(uintptr_t site, const nmodgpu_flint_matrix *const *operands,
                                       int operand_count, const char **why)
{
    nmodgpu_flint *flint = nmodgpu_flint_known(site);
    nmodgpu_flint *list[NMODGPU_MAX_FLINTS];
    survey s;
    if (flint)
        return flint;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    survey_process(&s, site);
    const int count = register_all(&s, list);
    flint = count ? match(&s, list, count) : NULL;
    nmodgpu_release_signals(&hold);
    if (!flint && count)
        flint = by_operands(list, count, operands, operand_count);
    if (!flint)
        *why = count ? "several FLINTs of different layouts are loaded and nothing tells whose matrix this is"
                     : "no FLINT is loaded";
    return flint;
}

int nmodgpu_flint_list(nmodgpu_flint *list[NMODGPU_MAX_FLINTS])
{
    survey s;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    survey_process(&s, 0);
    const int count = register_all(&s, list);
    nmodgpu_release_signals(&hold);
    return count;
}

const char *nmodgpu_flint_process_symbol(bool *ours)
{
    survey s;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    void *program = handle_of("", 0);
    const void *address = program ? dlsym(program, "nmod_mat_mul") : NULL;
    if (program)
        (void)dlclose(program);
    survey_process(&s, (uintptr_t)address);
    nmodgpu_release_signals(&hold);
    *ours = false;
    if (!address)
        return NULL;
    if (nmodgpu_object_contains(&s.own, (uintptr_t)address)) {
        *ours = true;
        return s.own.name;
    }
    if (s.caller.bytes && nmodgpu_object_definition(&s.caller, "nmod_mat_mul"))
        return s.caller.name[0] ? s.caller.name : "the program itself";
    /* A program that is not position-independent and takes the function's address has an entry of its own,
       which leads to the first definition in load order. */
    *ours = s.first_is_own;
    return s.first_definer;
}
