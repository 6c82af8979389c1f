/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "object.h"

#include <string.h>

#if defined(__x86_64__)
#define SLOT_PLT R_X86_64_JUMP_SLOT
#define SLOT_GOT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define SLOT_PLT R_AARCH64_JUMP_SLOT
#define SLOT_GOT R_AARCH64_GLOB_DAT
#else
#error "the relocation types of this machine have to be named here"
#endif

/* glibc turns the addresses in a dynamic section into absolute ones, other loaders and the kernel's own
   object leave them relative to the base. */
static const void *table(const nmodgpu_object *object, ElfW(Addr) address)
{
    return (const void *)(address < object->base ? object->base + address : address);
}

static void read_dynamic(nmodgpu_object *object)
{
    for (const ElfW(Dyn) *d = object->dynamic; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            object->symbols = table(object, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            object->strings = table(object, d->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            object->gnu_hash = table(object, d->d_un.d_ptr);
            break;
        case DT_HASH:
            object->sysv_hash = table(object, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            object->plt_relocations = table(object, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            object->plt_relocations_bytes = d->d_un.d_val;
            break;
        case DT_RELA:
            object->relocations = table(object, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            object->relocations_bytes = d->d_un.d_val;
            break;
        }
    }
}

bool nmodgpu_object_read(nmodgpu_object *object, const struct dl_phdr_info *info)
{
    uintptr_t low = UINTPTR_MAX;
    uintptr_t high = 0;
    memset(object, 0, sizeof *object);
    object->name = info->dlpi_name ? info->dlpi_name : "";
    object->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC)
            object->dynamic = (const ElfW(Dyn) *)start;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < low)
            low = start;
        if (start + segment->p_memsz > high)
            high = start + segment->p_memsz;
    }
    if (!object->dynamic || low >= high)
        return false;
    object->low = low;
    object->bytes = high - low;
    read_dynamic(object);
    return object->symbols && object->strings && (object->gnu_hash || object->sysv_hash);
}

static bool defines(const nmodgpu_object *object, const ElfW(Sym) * symbol, const char *name)
{
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT) &&
           strcmp(object->strings + symbol->st_name, name) == 0;
}

static const ElfW(Sym) * find_gnu(const nmodgpu_object *object, const char *name)
{
    const uint32_t buckets = object->gnu_hash[0];
    const uint32_t first = object->gnu_hash[1];
    const uint32_t bloom_words = object->gnu_hash[2];
    const uint32_t *bucket = object->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    if (buckets == 0)
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first && i != 0; i++) {
        const uint32_t link = chain[i - first];
        if ((link | 1) == (hash | 1) && defines(object, &object->symbols[i], name))
            return &object->symbols[i];
        if (link & 1)
            break;
    }
    return NULL;
}

static uint32_t symbol_count(const nmodgpu_object *object)
{
    if (object->sysv_hash)
        return object->sysv_hash[1];
    const uint32_t buckets = object->gnu_hash[0];
    const uint32_t first = object->gnu_hash[1];
    const uint32_t bloom_words = object->gnu_hash[2];
    const uint32_t *bucket = object->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last)
            last = bucket[i];
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

static const ElfW(Sym) * find_linear(const nmodgpu_object *object, const char *name)
{
    const uint32_t count = symbol_count(object);
    for (uint32_t i = 1; i < count; i++)
        if (defines(object, &object->symbols[i], name))
            return &object->symbols[i];
    return NULL;
}

uintptr_t nmodgpu_object_definition(const nmodgpu_object *object, const char *name)
{
    const ElfW(Sym) *symbol = object->gnu_hash ? find_gnu(object, name) : find_linear(object, name);
    return symbol ? object->base + symbol->st_value : 0;
}

const char *nmodgpu_object_function_at(const nmodgpu_object *object, uintptr_t address)
{
    const uint32_t count = symbol_count(object);
    for (uint32_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            address - (object->base + symbol->st_value) < symbol->st_size)
            return object->strings + symbol->st_name;
    }
    return NULL;
}

static void visit_slots(const nmodgpu_object *object, const ElfW(Rela) * relocation, uintptr_t bytes,
                        const char *name, void (*visit)(uintptr_t, void *), void *data)
{
    for (uintptr_t i = 0; relocation && i < bytes / sizeof *relocation; i++) {
        const uint64_t type = ELF64_R_TYPE(relocation[i].r_info);
        const uint64_t symbol = ELF64_R_SYM(relocation[i].r_info);
        if ((type == SLOT_PLT || type == SLOT_GOT) &&
            strcmp(object->strings + object->symbols[symbol].st_name, name) == 0)
            visit(*(const uintptr_t *)(object->base + relocation[i].r_offset), data);
    }
}

void nmodgpu_object_slots(const nmodgpu_object *object, const char *name,
                          void (*visit)(uintptr_t value, void *data), void *data)
{
    visit_slots(object, object->plt_relocations, object->plt_relocations_bytes, name, visit, data);
    visit_slots(object, object->relocations, object->relocations_bytes, name, visit, data);
}
