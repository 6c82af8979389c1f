/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "hold.h"
#include "log.h"
#include "modules.h"
#include "process.h"
#include "settings.h"

static nmodgpu_entry table[NMODGPU_MAX_BACKENDS];
static _Atomic int entries_count; /* entries below it are complete */
static _Atomic bool scanned;

/* add_lock is held for a few instructions.  open_lock is held while a module is loaded and opened; the
 * module registers itself meanwhile, which takes add_lock. */
static pthread_mutex_t add_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

void nmodgpu_registry_unlock_in_child(void)
{
    add_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    open_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void nmodgpu_registry_rescan(void)
{
    atomic_store(&scanned, false);
}

static nmodgpu_entry *find(const char *name)
{
    const int count = atomic_load(&entries_count);
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/** Adds an entry; add_lock is held and the name is not there.  NULL when the table is full. */
static nmodgpu_entry *add_locked(const char *name, int32_t priority, char *file, const nmodgpu_backend *backend)
{
    const int count = atomic_load(&entries_count);
    if (count == NMODGPU_MAX_BACKENDS)
        return NULL;
    nmodgpu_entry *e = &table[count];
    memcpy(e->name, name, strlen(name) + 1);
    e->file = file;
    atomic_store(&e->backend, backend);
    atomic_store(&e->priority, priority);
    atomic_store(&e->state, backend ? NMODGPU_ENTRY_REGISTERED : NMODGPU_ENTRY_MODULE);
    atomic_store(&entries_count, count + 1);
    return e;
}

/* ---- registration */

/** What a backend may leave out it leaves out whole. */
static bool all_or_none(const nmodgpu_backend *b)
{
    const int buffers = !!b->buffer_open + !!b->buffer_close + !!b->buffer_copy + !!b->buffer_wait;
    return !b->prepare_winograd == !b->reduce_winograd && (buffers == 0 || buffers == 4);
}

static bool complete(const nmodgpu_backend *b)
{
    return b->open && b->device_count && b->device_info && b->queue_open && b->queue_close && b->matrix_alloc &&
           b->matrix_free && b->matrix_bytes && b->import_words && b->prepare && b->multiply_accumulate &&
           b->reduce && b->export_words && b->submit && b->queue_wait && b->wait && b->event_free &&
           b->event_seconds && all_or_none(b);
}

/** Puts a checked backend on the list, at its module's entry where it has one. */
static nmodgpu_status enter(const nmodgpu_backend *backend)
{
    nmodgpu_status status = NMODGPU_OK;
    pthread_mutex_lock(&add_lock);
    nmodgpu_entry *e = find(backend->name);
    if (!e) {
        status = add_locked(backend->name, backend->priority, NULL, backend) ? NMODGPU_OK : NMODGPU_ENOMEM;
    } else if (atomic_load(&e->backend) || atomic_load(&e->state) != NMODGPU_ENTRY_MODULE) {
        status = NMODGPU_EINVAL;
    } else {
        atomic_store(&e->priority, backend->priority);
        atomic_store(&e->backend, backend);
    }
    pthread_mutex_unlock(&add_lock);
    return status;
}

nmodgpu_status nmodgpu_backend_register(const nmodgpu_backend *backend)
{
    if (!backend)
        return NMODGPU_EINVAL;
    /* Nothing beyond these two fields may be looked at before they are known to match. */
    if (backend->abi_version != NMODGPU_BACKEND_ABI || backend->size != sizeof(nmodgpu_backend)) {
        nmodgpu_log(NMODGPU_LOG_ERROR, "abi",
                    "a backend was refused: made for interface %u of %u bytes, this is interface %u of %zu bytes",
                    backend->abi_version, backend->size, NMODGPU_BACKEND_ABI, sizeof(nmodgpu_backend));
        return NMODGPU_EABI;
    }
    if (!backend->name || !nmodgpu_name_valid(backend->name) || !complete(backend)) {
        nmodgpu_log(NMODGPU_LOG_ERROR, "impossible backend",
                    "a backend was refused: its name is impossible or a function is missing");
        return NMODGPU_EINVAL;
    }
    const nmodgpu_status status = enter(backend);
    if (status == NMODGPU_EINVAL)
        nmodgpu_log(NMODGPU_LOG_ERROR, "name taken", "a second backend named %s was refused", backend->name);
    return status;
}

/* ---- loading and opening */

static int64_t setting(const char *name)
{
    const int id = nmodgpu_setting_find(name);
    return id < 0 ? -1 : nmodgpu_setting_number(nmodgpu_context_settings(NULL), id);
}

static const nmodgpu_host_api host_api = {
    .abi_version = NMODGPU_BACKEND_ABI,
    .size = sizeof(nmodgpu_host_api),
    .register_backend = nmodgpu_backend_register,
    .log = nmodgpu_log,
    .setting = setting,
};

/** Loads a module; true when the entry then has its backend.  open_lock is held. */
static bool load(nmodgpu_entry *e)
{
    if (atomic_load(&e->backend))
        return true;
    const nmodgpu_status status = nmodgpu_module_load(e->name, e->file, &host_api);
    if (status == NMODGPU_OK && !atomic_load(&e->backend))
        nmodgpu_log(NMODGPU_LOG_ERROR, e->file, "%s module not usable: it registers no backend of that name",
                    e->name);
    return status == NMODGPU_OK && atomic_load(&e->backend);
}

static void drop_info(nmodgpu_entry *e)
{
    free(e->info);
    e->info = NULL;
    e->devices = 0;
}

/** Asks for the devices and their speeds; false when there is none. */
static bool list_devices(nmodgpu_entry *e, const nmodgpu_backend *backend)
{
    const int32_t count = backend->device_count();
    e->info = count > 0 ? calloc((size_t)count, sizeof *e->info) : NULL;
    if (!e->info)
        return false;
    double least = 1e9;
    for (e->devices = 0; e->devices < count; e->devices++) {
        nmodgpu_device_info *info = &e->info[e->devices];
        if (backend->device_info(e->devices, info) != NMODGPU_OK) {
            drop_info(e);
            return false;
        }
        least = info->rates.call_start < least ? info->rates.call_start : least;
    }
    atomic_store(&e->least_seconds, least);
    return true;
}

/** Brings an entry to USABLE or UNUSABLE.  open_lock is held. */
static void open_locked(nmodgpu_entry *e)
{
    const int state = atomic_load(&e->state);
    if (state == NMODGPU_ENTRY_USABLE || state == NMODGPU_ENTRY_UNUSABLE)
        return;
    nmodgpu_process_engage();
    bool usable = load(e);
    if (usable) {
        const nmodgpu_backend *backend = atomic_load(&e->backend);
        const nmodgpu_status status = backend->open(); /* says itself what is missing */
        usable = status == NMODGPU_OK && list_devices(e, backend);
        if (status == NMODGPU_OK && !usable)
            nmodgpu_log(NMODGPU_LOG_ERROR, e->name, "%s not usable: it shows no devices", e->name);
    }
    atomic_store(&e->state, usable ? NMODGPU_ENTRY_USABLE : NMODGPU_ENTRY_UNUSABLE);
}

static bool usable(nmodgpu_entry *e)
{
    int state = atomic_load_explicit(&e->state, memory_order_acquire);
    if (state == NMODGPU_ENTRY_MODULE || state == NMODGPU_ENTRY_REGISTERED) {
        const nmodgpu_hold hold = nmodgpu_hold_signals();
        pthread_mutex_lock(&open_lock);
        open_locked(e);
        pthread_mutex_unlock(&open_lock);
        nmodgpu_release_signals(&hold);
        state = atomic_load(&e->state);
    }
    return state == NMODGPU_ENTRY_USABLE;
}

static void add_module(const char *name, int32_t priority, const char *file)
{
    char *kept = strdup(file);
    pthread_mutex_lock(&add_lock);
    if (kept && !find(name) && add_locked(name, priority, kept, NULL))
        kept = NULL;
    pthread_mutex_unlock(&add_lock);
    free(kept);
}

static const char *plugin_path(void)
{
    return nmodgpu_setting_text(nmodgpu_context_settings(NULL), NMODGPU_SET_PLUGIN_PATH);
}

/** Enters the modules there are; whoever comes meanwhile waits for them. */
static void scan(void)
{
    if (atomic_load_explicit(&scanned, memory_order_acquire))
        return;
    const nmodgpu_hold hold = nmodgpu_hold_signals();
    pthread_mutex_lock(&open_lock);
    if (!atomic_load(&scanned))
        nmodgpu_modules_list(plugin_path(), add_module);
    atomic_store(&scanned, true);
    pthread_mutex_unlock(&open_lock);
    nmodgpu_release_signals(&hold);
}

/* ---- choosing */

/** The entries by falling priority, earlier ones first among equals; insertion sort of a handful. */
static int sorted(nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    const int count = atomic_load(&entries_count);
    for (int i = 0; i < count; i++) {
        int j = i;
        for (; j > 0 && atomic_load(&entries[j - 1]->priority) < atomic_load(&table[i].priority); j--)
            entries[j] = entries[j - 1];
        entries[j] = &table[i];
    }
    return count;
}

/** Walks down the priorities; once one is usable, what is not yet open stays so. */
static int usable_auto(nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    scan();
    nmodgpu_entry *all[NMODGPU_MAX_BACKENDS];
    const int count = sorted(all);
    int found = 0;
    for (int i = 0; i < count; i++)
        if (found ? atomic_load(&all[i]->state) == NMODGPU_ENTRY_USABLE : usable(all[i]))
            entries[found++] = all[i];
    if (!found)
        nmodgpu_log(NMODGPU_LOG_ERROR, "none usable", "no usable backend; the host's own product is used");
    return found;
}

static int usable_named(const char *name, nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    nmodgpu_entry *e = find(name);
    if (!e) {
        nmodgpu_module_find(plugin_path(), name, add_module);
        e = find(name);
    }
    if (!e)
        nmodgpu_log(NMODGPU_LOG_ERROR, name, "there is no backend named %s; the host's own product is used", name);
    if (!e || !usable(e))
        return 0;
    entries[0] = e;
    return 1;
}

int nmodgpu_registry_usable(const char *mode, nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    if (strcmp(mode, "off") == 0) /* switched off since the caller looked */
        return 0;
    return strcmp(mode, "auto") == 0 ? usable_auto(entries) : usable_named(mode, entries);
}

int nmodgpu_registry_opened(const char *mode, nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    const bool any = strcmp(mode, "auto") == 0;
    const int count = atomic_load(&entries_count);
    int found = 0;
    for (int i = 0; i < count; i++)
        if (atomic_load_explicit(&table[i].state, memory_order_acquire) == NMODGPU_ENTRY_USABLE &&
            (any || strcmp(table[i].name, mode) == 0))
            entries[found++] = &table[i];
    return found;
}

int nmodgpu_registry_all(nmodgpu_entry *entries[NMODGPU_MAX_BACKENDS])
{
    scan();
    const int count = sorted(entries);
    for (int i = 0; i < count; i++)
        usable(entries[i]);
    return sorted(entries);
}

#define FAILURES_ALLOWED 3

void nmodgpu_registry_outcome(nmodgpu_entry *entry, bool failed)
{
    if (!failed) {
        if (atomic_load_explicit(&entry->failures, memory_order_relaxed))
            atomic_store(&entry->failures, 0);
        return;
    }
    if (atomic_fetch_add(&entry->failures, 1) + 1 < FAILURES_ALLOWED)
        return;
    atomic_store(&entry->state, NMODGPU_ENTRY_UNUSABLE);
    nmodgpu_log(NMODGPU_LOG_ERROR, "given up", "%s failed %d times in a row and is not used any more", entry->name,
                FAILURES_ALLOWED);
}
