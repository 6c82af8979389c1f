/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "introspect.h"

#include <string.h>

#include "context.h"
#include "cost.h"
#include "planner.h"
#include "registry.h"

void nmodgpu_priv_print_config(FILE *out)
{
    nmodgpu_settings_print(nmodgpu_context_settings(NULL), out);
}

size_t nmodgpu_priv_backends(nmodgpu_backend_listing *list, size_t capacity)
{
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    const int count = nmodgpu_registry_all(entries);
    for (int i = 0; i < count && (size_t)i < capacity; i++) {
        const nmodgpu_entry *e = entries[i];
        list[i].usable = atomic_load(&e->state) == NMODGPU_ENTRY_USABLE;
        list[i].priority = atomic_load(&e->priority);
        list[i].devices = list[i].usable ? e->devices : 0;
        snprintf(list[i].name, sizeof list[i].name, "%s", e->name);
        snprintf(list[i].file, sizeof list[i].file, "%s", e->file ? e->file : "");
    }
    return (size_t)count;
}

static nmodgpu_status find_device(const char *backend, int32_t device, nmodgpu_entry **entry)
{
    nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS];
    if (!backend || !nmodgpu_name_valid(backend))
        return NMODGPU_EINVAL;
    if (nmodgpu_registry_usable(backend, entries) == 0)
        return NMODGPU_ENODEV;
    *entry = entries[0];
    return device >= 0 && device < entries[0]->devices ? NMODGPU_OK : NMODGPU_EINVAL;
}

nmodgpu_status nmodgpu_priv_device_info(const char *backend, int32_t device, nmodgpu_device_info *info)
{
    nmodgpu_entry *entry;
    const nmodgpu_status status = find_device(backend, device, &entry);
    return status == NMODGPU_OK ? atomic_load(&entry->backend)->device_info(device, info) : status;
}

size_t nmodgpu_priv_plans(const char *backend, int32_t device, uint64_t p, int64_t m, int64_t k, int64_t n,
                          nmodgpu_plan *plans, size_t capacity)
{
    nmodgpu_entry *entry;
    if (find_device(backend, device, &entry) != NMODGPU_OK)
        return 0;
    return nmodgpu_plan_list(plans, capacity, p, m, k, n, &entry->info[device].rates);
}

double nmodgpu_priv_host_seconds(int64_t m, int64_t k, int64_t n, uint64_t p)
{
    if (m < 1 || k < 1 || n < 1 || p < 2)
        return 0;
    return nmodgpu_host_seconds(&nmodgpu_host_rates_flint29, m, k, n, p);
}
