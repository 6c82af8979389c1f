/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "capture.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *file;
static int kept = -1;

void capture_begin(void)
{
    file = tmpfile();
    ck_assert_ptr_nonnull(file);
    fflush(stderr);
    kept = dup(STDERR_FILENO);
    ck_assert_int_ge(kept, 0);
    ck_assert_int_eq(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
}

const char *capture_end(void)
{
    static char text[65536];
    fflush(stderr);
    ck_assert_int_eq(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

int count_in(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}
