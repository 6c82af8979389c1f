/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 24
#define FIRST_AFTER 2.0 /* seconds */
#define SHOWN_EVERY 0.2

static bool is_terminal(int fd)
{
    const char *term = secure_getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/** NO_COLOR as https://no-color.org says: set and not empty. */
const char *terminal_paint(terminal_style style)
{
    static const char *const escapes[] = {"\033[0m", "\033[1m", "\033[32m", "\033[31m", "\033[2m"};
    const char *no_color = secure_getenv("NO_COLOR");
    return is_terminal(STDOUT_FILENO) && !(no_color && *no_color) ? escapes[style] : "";
}

double terminal_now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void terminal_progress_begin(terminal_progress *progress)
{
    *progress = (terminal_progress){.start = terminal_now()};
}

void terminal_progress_show(terminal_progress *progress, double done, const char *what)
{
    const double now = terminal_now();
    if (now - progress->start < FIRST_AFTER || now - progress->shown_at < SHOWN_EVERY ||
        !is_terminal(STDERR_FILENO))
        return;
    char bar[BAR_WIDTH + 1];
    const int filled = done < 0 ? 0 : done > 1 ? BAR_WIDTH : (int)(done * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fflush(stdout);
    if (done < 0)
        fprintf(stderr, "\r\033[K%.60s  %.0f s", what, now - progress->start);
    else
        fprintf(stderr, "\r\033[K[%s] %3.0f %%  %.40s", bar, 100 * done, what);
    fflush(stderr);
    progress->shown_at = now;
    progress->shown = true;
}

void terminal_progress_end(terminal_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->shown = false;
}
