/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

const nmodgpu_setting_info nmodgpu_setting_table[NMODGPU_SETTINGS] = {
    [NMODGPU_SET_MODE] = {"NMODGPU", NMODGPU_TYPE_MODE, false, 0, 0, "off", "",
                          "off, 0, auto, on, 1, or a backend's name of a-z, 0-9, _ and -",
                          "Who may serve products: nobody, the backend predicted to be soonest, or one by name. "
                          "The host's own product stays a candidate."},
    [NMODGPU_SET_MIN_DIM] = {"NMODGPU_MIN_DIM", NMODGPU_TYPE_INTEGER, false, 0, INT64_MAX / 2, "",
                             "by predicted time", "an integer >= 0",
                             "Send a product to a backend exactly when min(m, k, n) is at least this (0 sends "
                             "everything), instead of comparing predicted times."},
    [NMODGPU_SET_VERBOSE] = {"NMODGPU_VERBOSE", NMODGPU_TYPE_INTEGER, false, 0, 2, "0", "", "0, 1 or 2",
                             "1 prints a line a call on standard error, 2 also decisions on the way."},
    [NMODGPU_SET_REPORT] = {"NMODGPU_REPORT", NMODGPU_TYPE_TEXT, true, 0, 0, "", "none", "a file name",
                            "Append one JSON line a process to this file at exit: calls arrived, served, "
                            "declined and why, seconds."},
    [NMODGPU_SET_PLUGIN_PATH] = {"NMODGPU_PLUGIN_PATH", NMODGPU_TYPE_TEXT, true, 0, 0, "",
                                 "nmodgpu beside the library", "a folder", "Where backend modules are looked for."},
    [NMODGPU_SET_MEMORY] = {"NMODGPU_MEMORY", NMODGPU_TYPE_BYTES, false, 1, INT64_MAX / 2, "",
                            "80 % of what is free", "bytes, with K, M, G or T for powers of 1024",
                            "Device memory that one product may use; larger ones are cut into tiles."},
    [NMODGPU_SET_THREADS] =
        {"NMODGPU_THREADS", NMODGPU_TYPE_INTEGER, true, 1, 4096, "", "the processors this process may use",
         "an integer from 1 to 4096",
         "Threads that may work on the host at once: for backends, and on matrices for a device."},
    [NMODGPU_SET_PLAN] = {"NMODGPU_PLAN", NMODGPU_TYPE_TEXT, false, 0, 0, "", "any",
                          "the beginning of a plan's name, such as f64(2,2)",
                          "Use only the plan of that name, or else those whose name begins so; for experiments."},
};

int nmodgpu_setting_find(const char *name)
{
    for (int id = 0; id < NMODGPU_SETTINGS; id++)
        if (strcmp(name, nmodgpu_setting_table[id].name) == 0)
            return id;
    return -1;
}

/* Interned texts: a list that is only added to.  Losing a race adds a text twice, which is harmless. */
typedef struct interned {
    struct interned *next;
    char text[];
} interned;

static const char *intern(const char *text)
{
    static _Atomic(interned *) head;
    if (!*text)
        return "";
    for (interned *i = atomic_load(&head); i; i = i->next)
        if (strcmp(i->text, text) == 0)
            return i->text;
    const size_t size_bytes = strlen(text) + 1;
    interned *added = malloc(sizeof *added + size_bytes);
    if (!added)
        return NULL;
    memcpy(added->text, text, size_bytes);
    added->next = atomic_load(&head);
    while (!atomic_compare_exchange_weak(&head, &added->next, added))
        ;
    return added->text;
}

static bool name_characters(const char *name)
{
    const size_t length = strlen(name);
    return length >= 1 && length <= 31 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

/** The canonical form of a mode; NULL for one that no backend can have. */
static const char *canonical_mode(const char *text)
{
    if (strcmp(text, "0") == 0 || strcmp(text, "off") == 0)
        return "off";
    if (strcmp(text, "1") == 0 || strcmp(text, "on") == 0 || strcmp(text, "auto") == 0)
        return "auto";
    return name_characters(text) ? text : NULL;
}

bool nmodgpu_name_valid(const char *name)
{
    const char *mode = name_characters(name) ? canonical_mode(name) : "off";
    return strcmp(mode, "off") != 0 && strcmp(mode, "auto") != 0;
}

/** Decimal digits, then for bytes one suffix; false for anything else, and out of [low, high]. */
static bool parse_number(const nmodgpu_setting_info *info, const char *text, int64_t *number)
{
    int64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c - '0', &value))
            return false;
    if (c == text)
        return false;
    if (info->type == NMODGPU_TYPE_BYTES && *c) {
        static const char suffixes[] = "KkMmGgTt";
        const char *suffix = strchr(suffixes, *c++);
        if (!suffix || __builtin_mul_overflow(value, INT64_C(1) << (10 * ((suffix - suffixes) / 2 + 1)), &value))
            return false;
    }
    *number = value;
    return !*c && value >= info->low && value <= info->high;
}

nmodgpu_status nmodgpu_settings_set(nmodgpu_settings *settings, int id, const char *given, nmodgpu_origin origin)
{
    const nmodgpu_setting_info *info = &nmodgpu_setting_table[id];
    const char *text = given && *given ? given : info->fallback;
    int64_t number = -1;
    if (info->type == NMODGPU_TYPE_MODE)
        text = canonical_mode(text);
    else if (info->type != NMODGPU_TYPE_TEXT && *text && !parse_number(info, text, &number))
        text = NULL;
    if (!text)
        return NMODGPU_EINVAL;
    const char *kept = text == given ? intern(text) : text; /* literals need no copy */
    if (!kept)
        return NMODGPU_ENOMEM;
    nmodgpu_setting *value = &settings->value[id];
    atomic_store(&value->text, kept);
    atomic_store(&value->number, number);
    atomic_store(&value->origin, (int)origin);
    return NMODGPU_OK;
}

void nmodgpu_settings_init(nmodgpu_settings *settings, bool on)
{
    for (int id = 0; id < NMODGPU_SETTINGS; id++)
        nmodgpu_settings_set(settings, id, id == NMODGPU_SET_MODE && on ? "auto" : NULL, NMODGPU_ORIGIN_DEFAULT);
}

void nmodgpu_settings_read(nmodgpu_settings *settings, int first, int last)
{
    for (int id = first; id < last; id++) {
        const nmodgpu_setting_info *info = &nmodgpu_setting_table[id];
        const char *text = secure_getenv(info->name);
        if (!text || !*text || atomic_load(&settings->value[id].origin) != NMODGPU_ORIGIN_DEFAULT)
            continue;
        if (nmodgpu_settings_set(settings, id, text, NMODGPU_ORIGIN_ENVIRONMENT) == NMODGPU_OK)
            continue;
        nmodgpu_log(NMODGPU_LOG_ERROR, info->name,
                    "%s='%.200s' cannot be used (accepted: %s); using the default, %s", info->name, text,
                    info->accepted, *info->fallback ? info->fallback : info->unset);
    }
}

/** Adds a name to a list; false, and nothing added, when it is full. */
static bool append(char *list, size_t capacity, const char *name)
{
    const size_t used = strlen(list);
    const int length = snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", name);
    if (length >= 0 && (size_t)length < capacity - used)
        return true;
    list[used] = '\0';
    return false;
}

void nmodgpu_settings_warn_unknown(void)
{
    static const char ours[] = "NMODGPU_";
    static const char tests[] = "NMODGPU_TEST_"; /* read by the test programs only */
    char unknown[256] = "", known[512] = "";
    for (char **e = environ; e && *e; e++) {
        const size_t length = strcspn(*e, "=");
        char name[64];
        if (strncmp(*e, ours, sizeof ours - 1) != 0 || strncmp(*e, tests, sizeof tests - 1) == 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), *e);
        if (nmodgpu_setting_find(name) < 0 && !append(unknown, sizeof unknown, name))
            break;
    }
    if (!*unknown)
        return;
    for (int id = 0; id < NMODGPU_SETTINGS; id++)
        append(known, sizeof known, nmodgpu_setting_table[id].name);
    nmodgpu_log(NMODGPU_LOG_ERROR, unknown, "unknown in the environment, ignored: %s (known: %s)", unknown, known);
}

/** Values come from outside: what is not printable is not sent to a terminal. */
static void print_value(const char *text, FILE *out)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c < 0x7f)
            fputc(c, out);
        else
            fprintf(out, "\\x%02x", c);
    }
}

void nmodgpu_settings_print(nmodgpu_settings *settings, FILE *out)
{
    static const char *const origins[] = {"default", "environment", "program"};
    for (int id = 0; id < NMODGPU_SETTINGS; id++) {
        const nmodgpu_setting_info *info = &nmodgpu_setting_table[id];
        const char *text = nmodgpu_setting_text(settings, id);
        fprintf(out, "%s=", info->name);
        print_value(text, out);
        fprintf(out, "  (%s%s%s)\n", origins[atomic_load(&settings->value[id].origin)], *text ? "" : ": ",
                *text ? "" : info->unset);
        fprintf(out, "    %s\n    Accepted: %s.\n", info->help, info->accepted);
    }
}
