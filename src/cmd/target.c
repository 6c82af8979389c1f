/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "target.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FIRST_LINE_BYTES 256 /* as much as Linux looks at (BINPRM_BUF_SIZE) */
#define MAX_SCRIPTS 4        /* likewise, of scripts that interpret scripts */

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool target_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, F_OK) == 0;
    char standard[PATH_MAX];
    const char *folder = secure_getenv("PATH");
    if (!folder)
        folder = confstr(_CS_PATH, standard, sizeof standard) ? standard : "";
    for (;; folder++) {
        const size_t length = strcspn(folder, ":");
        const bool fits = length ? snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name) < PATH_MAX
                                 : snprintf(path, PATH_MAX, "./%s", name) < PATH_MAX;
        if (fits && is_program(path))
            return true;
        folder += length;
        if (!*folder)
            return false;
    }
}

/* ---- privileges */

/** The loader ignores LD_PRELOAD where the kernel says that the program gains rights. */
static bool gains_rights(int fd, const char *path, char *why, size_t why_bytes)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return false;
    const char *how = NULL;
    if ((s.st_mode & S_ISUID) && s.st_uid != getuid())
        how = "set-uid";
    else if ((s.st_mode & S_ISGID) && (s.st_mode & S_IXGRP) && s.st_gid != getgid())
        how = "set-gid";
    else if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        how = "privileged (file capabilities)";
    if (how)
        snprintf(why, why_bytes, "%s is %s, and the loader preloads nothing into such programs", path, how);
    return how != NULL;
}

/* ---- ELF */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "the ELF number of this machine has to be named here"
#endif

/** A dynamic program names its loader in a PT_INTERP segment. */
static bool is_dynamic(int fd, const ElfW(Ehdr) * header)
{
    for (int i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        const off_t place = (off_t)header->e_phoff + (off_t)i * header->e_phentsize;
        if (pread(fd, &segment, sizeof segment, place) != (ssize_t)sizeof segment || segment.p_type == PT_INTERP)
            return true; /* what cannot be read is given the benefit of the doubt */
    }
    return false;
}

static bool elf_refuses(int fd, const char *path, char *why, size_t why_bytes)
{
    ElfW(Ehdr) header;
    const ssize_t got = pread(fd, &header, sizeof header, 0);
    if (got > EI_CLASS && header.e_ident[EI_CLASS] != ELFCLASS64)
        snprintf(why, why_bytes, "%s is a 32-bit program; nmodgpu serves 64-bit ones", path);
    else if (got == (ssize_t)sizeof header && header.e_machine != OWN_MACHINE)
        snprintf(why, why_bytes, "%s is a program for another kind of processor", path);
    else if (got == (ssize_t)sizeof header && !is_dynamic(fd, &header))
        snprintf(why, why_bytes, "%s is statically linked, and nothing can be preloaded into such programs", path);
    else
        return false;
    return true;
}

/* ---- scripts */

/** A word of the interpreter line; NULL at its end. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, " \t");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/** The program that env is told to run: its first argument that is neither an option nor a variable. */
static char *command_of_env(char **rest)
{
    char *word = next_word(rest);
    while (word && (word[0] == '-' || strchr(word, '=')))
        word = next_word(rest);
    return word;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** The interpreter of a script, from its first line ("#!" taken off). */
static bool script_interpreter(char *line, char path[PATH_MAX])
{
    line[strcspn(line, "\n")] = '\0';
    char *word = next_word(&line);
    if (word && strcmp(base_name(word), "env") == 0) {
        char *command = command_of_env(&line);
        if (command && target_find(command, path))
            return true;
    }
    return word && snprintf(path, PATH_MAX, "%s", word) < PATH_MAX;
}

static bool refuses(const char *path, int scripts, char *why, size_t why_bytes)
{
    char start[FIRST_LINE_BYTES + 1], interpreter[PATH_MAX];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    const ssize_t got = pread(fd, start, FIRST_LINE_BYTES, 0);
    start[got > 0 ? got : 0] = '\0';
    bool answer = false;
    if (got >= 2 && strncmp(start, "#!", 2) == 0) /* a script's own set-uid bit has no effect */
        answer = scripts < MAX_SCRIPTS && script_interpreter(start + 2, interpreter) &&
                 refuses(interpreter, scripts + 1, why, why_bytes);
    else if (got >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
        answer = gains_rights(fd, path, why, why_bytes) || elf_refuses(fd, path, why, why_bytes);
    close(fd); /* read only */
    return answer;
}

bool target_refuses_preload(const char *path, char *why, size_t why_bytes)
{
    return refuses(path, 0, why, why_bytes);
}
