/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"

#define LOOK_EVERY_MS 100

static bool is_changed(const child *c, const char *entry)
{
    const size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < c->variables_count; i++)
        if (strlen(c->variables[i].name) == length && memcmp(c->variables[i].name, entry, length) == 0)
            return true;
    return false;
}

/** This environment with the differences; ours[] owns the new entries.  NULL when out of memory. */
static char **make_environment(const child *c, char **ours)
{
    size_t present = 0, used = 0;
    while (environ && environ[present])
        present++;
    char **made = calloc(present + c->variables_count + 1, sizeof *made);
    if (!made)
        return NULL;
    for (size_t i = 0; i < present; i++)
        if (!is_changed(c, environ[i]))
            made[used++] = environ[i];
    for (size_t i = 0; i < c->variables_count; i++) {
        if (!c->variables[i].value)
            continue;
        if (asprintf(&ours[i], "%s=%s", c->variables[i].name, c->variables[i].value) < 0) {
            ours[i] = NULL;
            free(made);
            return NULL;
        }
        made[used++] = ours[i];
    }
    return made;
}

/** posix_spawn rather than fork: backends of this process may have threads and fork handlers. */
static int spawn_to(const child *c, int out, char **environment, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!error && c->keep_errors)
        error = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    if (!error)
        error = posix_spawn(pid, c->path, &actions, NULL, c->words, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int start(const child *c, int out, pid_t *pid)
{
    char **ours = calloc(c->variables_count + 1, sizeof *ours);
    char **environment = ours ? make_environment(c, ours) : NULL;
    const int error = environment ? spawn_to(c, out, environment, pid) : ENOMEM;
    free(environment);
    for (size_t i = 0; ours && i < c->variables_count; i++)
        free(ours[i]);
    free(ours);
    return error;
}

static void call_waiting(const child *c, double since)
{
    if (c->waiting)
        c->waiting(c->data, terminal_now() - since);
}

/** Reads to the end of the pipe; 0 or an errno. */
static int read_all(child *c, int in)
{
    size_t used = 0, capacity = 0;
    const double since = terminal_now();
    for (;;) {
        struct pollfd ready = {.fd = in, .events = POLLIN};
        const int found = poll(&ready, 1, LOOK_EVERY_MS);
        call_waiting(c, since);
        if (found == 0 || (found < 0 && errno == EINTR))
            continue;
        if (found < 0)
            return errno;
        if (capacity - used < 2) {
            capacity = capacity ? 2 * capacity : 4096;
            char *grown = realloc(c->output, capacity);
            if (!grown)
                return ENOMEM;
            c->output = grown;
        }
        const ssize_t got = read(in, c->output + used, capacity - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        used += (size_t)got;
        c->output[used] = '\0';
        if (got == 0)
            return 0;
    }
}

static int wait_for(child *c, pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 0;
}

bool child_run(child *c)
{
    int ends[2];
    pid_t pid;
    c->output = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int error = start(c, ends[1], &pid);
    close(ends[1]); /* ours only; nothing was written to it */
    if (!error) {
        error = read_all(c, ends[0]);
        close(ends[0]); /* before waiting: a child that still writes then ends */
        const int wait_error = wait_for(c, pid);
        error = error ? error : wait_error;
    } else {
        close(ends[0]);
    }
    if (error)
        child_free(c);
    errno = error;
    return error == 0;
}

void child_free(child *c)
{
    free(c->output);
    c->output = NULL;
}
