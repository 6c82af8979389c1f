/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "modules.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "room.h"
#include "settings.h"

#define ENDING ".priority"

/** Folder of the file that this code is in: "" when it cannot be told. */
static void own_folder(char folder[PATH_MAX])
{
    folder[0] = '\0';
    Dl_info info;
    void *map = NULL;
    if (!dladdr1((void *)&nmodgpu_module_load, &info, &map, RTLD_DL_LINKMAP) || !info.dli_fname)
        return;
    /* The program itself has no name in the link map, and dli_fname is then argv[0], which proves nothing. */
    const struct link_map *own = map;
    const char *file = own && own->l_name && *own->l_name ? info.dli_fname : "/proc/self/exe";
    if (!realpath(file, folder)) {
        folder[0] = '\0';
        return;
    }
    *strrchr(folder, '/') = '\0'; /* realpath() gave an absolute name */
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/** Opening anything else (a pipe, a device) may take for ever. */
static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/** The plugin folder; false when there is none. */
static bool plugin_folder(const char *path, char folder[PATH_MAX])
{
    if (*path)
        return snprintf(folder, PATH_MAX, "%s", path) < PATH_MAX;
    char own[PATH_MAX];
    own_folder(own);
    if (!*own)
        return false;
    if (snprintf(folder, PATH_MAX, "%s/nmodgpu", own) < PATH_MAX && is_folder(folder))
        return true;
    return snprintf(folder, PATH_MAX, "%s/../lib/nmodgpu", own) < PATH_MAX && is_folder(folder);
}

/** The integer in a priority file; false when there is no such file or no integer in it. */
static bool read_priority(const char *folder, const char *name, int32_t *priority)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s" ENDING, folder, name) >= (int)sizeof path)
        return false;
    FILE *file = is_file(path) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    const bool found = fscanf(file, "%d", priority) == 1;
    fclose(file); /* opened for reading: nothing can be lost */
    if (!found)
        nmodgpu_log(NMODGPU_LOG_ERROR, path, "%.300s holds no integer; %s is not tried unless named", path, name);
    return found;
}

static bool module_file(const char *folder, const char *name, char file[PATH_MAX])
{
    return snprintf(file, PATH_MAX, "%s/%s.so", folder, name) < PATH_MAX && is_file(file);
}

/** Visits the module whose priority file this is; anything else in the folder is passed over. */
static void visit_file(const char *folder, const char *file_name, nmodgpu_module_visitor visit)
{
    char name[NAME_MAX + 1], file[PATH_MAX];
    const size_t length = strlen(file_name), ending = sizeof ENDING - 1;
    if (length <= ending || length > NAME_MAX || strcmp(file_name + length - ending, ENDING) != 0)
        return;
    memcpy(name, file_name, length - ending);
    name[length - ending] = '\0';
    int32_t priority;
    if (nmodgpu_name_valid(name) && module_file(folder, name, file) && read_priority(folder, name, &priority))
        visit(name, priority, file);
}

void nmodgpu_modules_list(const char *path, nmodgpu_module_visitor visit)
{
    char folder[PATH_MAX];
    DIR *listing = plugin_folder(path, folder) ? opendir(folder) : NULL;
    if (!listing) {
        nmodgpu_log(*path ? NMODGPU_LOG_ERROR : NMODGPU_LOG_DEBUG, "plugin folder",
                    "the plugin folder %.300s cannot be read", *path ? path : "beside the library");
        return;
    }
    for (const struct dirent *found = readdir(listing); found; found = readdir(listing))
        visit_file(folder, found->d_name, visit);
    closedir(listing); /* read only */
}

void nmodgpu_module_find(const char *path, const char *name, nmodgpu_module_visitor visit)
{
    char folder[PATH_MAX], file[PATH_MAX];
    if (!plugin_folder(path, folder) || !module_file(folder, name, file))
        return;
    int32_t priority = 0;
    read_priority(folder, name, &priority);
    visit(name, priority, file);
}

/** Whether the word "threads" stands behind the number in the priority file of a module. */
static bool starts_threads(const char *file)
{
    char path[PATH_MAX], word[16] = "";
    const int stem = (int)strlen(file) - 3; /* without .so */
    if (snprintf(path, sizeof path, "%.*s" ENDING, stem, file) >= (int)sizeof path || !is_file(path))
        return false;
    FILE *priority = fopen(path, "re");
    if (!priority)
        return false;
    const bool read = fscanf(priority, "%*d %15s", word) == 1;
    fclose(priority); /* opened for reading: nothing can be lost */
    return read && strcmp(word, "threads") == 0;
}

static nmodgpu_status not_usable(const char *name, const char *why)
{
    nmodgpu_log(NMODGPU_LOG_ERROR, name, "%s module not usable: %s; going on without it", name, why);
    return NMODGPU_ENODEV;
}

/** The handle is never closed: a backend's threads and exit handlers may outlive any use of it. */
nmodgpu_status nmodgpu_module_load(const char *name, const char *file, const nmodgpu_host_api *host)
{
    if (starts_threads(file) && !nmodgpu_room_for_threads())
        return not_usable(
            name, "a thread for each processor, with 256 MiB of address space, is not to be had (ulimit -u, -v)");
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return not_usable(name, why ? why : "unknown reason");
    }
    nmodgpu_module_entry_fn entry;
    void *symbol = dlsym(handle, NMODGPU_MODULE_ENTRY_NAME);
    if (!symbol)
        return not_usable(name, "it has no " NMODGPU_MODULE_ENTRY_NAME);
    memcpy(&entry, &symbol, sizeof entry);
    const nmodgpu_status status = entry(host);
    return status == NMODGPU_OK ? status : not_usable(name, nmodgpu_status_text(status));
}
