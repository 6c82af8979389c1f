/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "place.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** folder + "/" + name, if that can be read. */
static bool readable(const char *folder, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && access(path, R_OK) == 0;
}

/** Resolves a file's path and keeps the folder. */
static bool folder_of(const char *file, char folder[PATH_MAX])
{
    if (!realpath(file, folder))
        return false;
    char *slash = strrchr(folder, '/'); /* realpath() gave an absolute path */
    slash[slash == folder] = '\0';
    return true;
}

bool place_dropin(char path[PATH_MAX])
{
    Dl_info library;
    char folder[PATH_MAX];
    const void *inside = dlsym(RTLD_DEFAULT, "nmodgpu_version");
    return inside && dladdr(inside, &library) && library.dli_fname && folder_of(library.dli_fname, folder) &&
           (readable(folder, "libnmodgpu-flint.so", path) || readable(folder, "libnmodgpu-flint.so.0", path));
}

bool place_flint_product(char path[PATH_MAX])
{
    char folder[PATH_MAX], found[PATH_MAX];
    return folder_of("/proc/self/exe", folder) &&
           (readable(folder, "../libexec/nmodgpu/flint-product", found) ||
            readable(folder, "flint-product", found)) &&
           realpath(found, path);
}

static bool has_separator(const char *path)
{
    return strpbrk(path, " :$") != NULL;
}

/** True for a folder that is ours and that nobody else can write to. */
static bool is_private(const char *folder)
{
    struct stat s;
    return lstat(folder, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
           (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/** A folder of this user's under $XDG_RUNTIME_DIR, else under /tmp, kept for later runs; where somebody else
 *  holds that name in /tmp, a new one. */
static bool link_folder(char folder[PATH_MAX])
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/' && !has_separator(runtime) && is_private(runtime) &&
        snprintf(folder, PATH_MAX, "%s/nmodgpu", runtime) < PATH_MAX &&
        (mkdir(folder, 0700) == 0 || is_private(folder)))
        return true;
    snprintf(folder, PATH_MAX, "/tmp/nmodgpu-%lu", (unsigned long)geteuid());
    if (mkdir(folder, 0700) == 0 || is_private(folder))
        return true;
    snprintf(folder, PATH_MAX, "/tmp/nmodgpu-XXXXXX");
    return mkdtemp(folder) != NULL;
}

/** True when `link` is, or has now been made, a link to `target`. */
static bool make_link(const char *target, const char *link)
{
    char present[PATH_MAX];
    if (symlink(target, link) == 0)
        return true;
    const ssize_t length = readlink(link, present, sizeof present - 1);
    if (length < 0)
        return false;
    present[length] = '\0';
    return strcmp(present, target) == 0;
}

/** 64-bit FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

bool place_without_separators(const char *path, char safe[PATH_MAX])
{
    char folder[PATH_MAX], links[PATH_MAX], link[PATH_MAX];
    if (!has_separator(path))
        return snprintf(safe, PATH_MAX, "%s", path) < PATH_MAX;
    const char *slash = strrchr(path, '/');
    if (!slash || !link_folder(links))
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return snprintf(link, sizeof link, "%s/%016llx", links, (unsigned long long)hash(folder)) < PATH_MAX &&
           make_link(folder, link) && snprintf(safe, PATH_MAX, "%s%s", link, slash) < PATH_MAX;
}
