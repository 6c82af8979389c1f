/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "hold.h"
#include "log.h"
#include "process.h"
#include "registry.h"
#include "report.h"

struct nmodgpu_context {
    nmodgpu_settings settings;
};

static nmodgpu_context default_context;
static pthread_once_t defaults_once = PTHREAD_ONCE_INIT;
static pthread_once_t mode_once = PTHREAD_ONCE_INIT;
static pthread_once_t rest_once = PTHREAD_ONCE_INIT;
static _Atomic bool rest_read;

_Atomic int nmodgpu_priv_switch = NMODGPU_SWITCH_UNREAD;

static void set_defaults(void)
{
    nmodgpu_settings_init(&default_context.settings, false);
}

/** The default context's settings, whether or not the environment has been read. */
static nmodgpu_settings *defaults(void)
{
    pthread_once(&defaults_once, set_defaults);
    return &default_context.settings;
}

/** Makes a setting of the default context take effect where something keeps a copy of it. */
static void apply(int id)
{
    nmodgpu_settings *s = defaults();
    const char *text = nmodgpu_setting_text(s, id);
    if (id == NMODGPU_SET_VERBOSE)
        nmodgpu_log_set_level((int)nmodgpu_setting_number(s, id));
    else if (id == NMODGPU_SET_REPORT)
        nmodgpu_report_start(text);
    else if (id == NMODGPU_SET_PLUGIN_PATH)
        nmodgpu_registry_rescan();
}

static void read_rest(void)
{
    const nmodgpu_hold hold = nmodgpu_hold_signals(); /* once must come to its end */
    nmodgpu_settings *s = defaults();
    atomic_store(&rest_read, true);
    nmodgpu_settings_read(s, NMODGPU_SET_MODE + 1, NMODGPU_SETTINGS);
    nmodgpu_settings_warn_unknown();
    nmodgpu_process_watch();
    for (int id = NMODGPU_SET_MODE + 1; id < NMODGPU_SETTINGS; id++)
        apply(id);
    nmodgpu_release_signals(&hold);
}

/** Makes the switch say what the mode says.  Of several threads that set modes at once, the last one to look
 *  sees the last mode. */
static void publish_switch(void)
{
    const char *mode;
    do {
        mode = nmodgpu_setting_text(defaults(), NMODGPU_SET_MODE);
        const bool on = strcmp(mode, "off") != 0;
        if (on)
            pthread_once(&rest_once, read_rest);
        atomic_store(&nmodgpu_priv_switch, on ? NMODGPU_SWITCH_ON : NMODGPU_SWITCH_OFF);
    } while (nmodgpu_setting_text(defaults(), NMODGPU_SET_MODE) != mode);
}

static void read_mode(void)
{
    const nmodgpu_hold hold = nmodgpu_hold_signals(); /* once must come to its end */
    nmodgpu_settings_read(defaults(), NMODGPU_SET_MODE, NMODGPU_SET_MODE + 1);
    publish_switch();
    nmodgpu_release_signals(&hold);
}

int nmodgpu_priv_read_switch(void)
{
    pthread_once(&mode_once, read_mode);
    return atomic_load(&nmodgpu_priv_switch);
}

nmodgpu_settings *nmodgpu_context_settings(nmodgpu_context *context)
{
    if (context)
        return &context->settings;
    nmodgpu_priv_read_switch();
    pthread_once(&rest_once, read_rest);
    return &default_context.settings;
}

const char *nmodgpu_context_mode(nmodgpu_context *context)
{
    if (!context && nmodgpu_priv_read_switch() == NMODGPU_SWITCH_OFF)
        return "off";
    return nmodgpu_setting_text(context ? &context->settings : defaults(), NMODGPU_SET_MODE);
}

nmodgpu_status nmodgpu_enable(const char *mode)
{
    if (!mode)
        return NMODGPU_EINVAL;
    nmodgpu_priv_read_switch();
    const nmodgpu_status status = nmodgpu_settings_set(defaults(), NMODGPU_SET_MODE, mode, NMODGPU_ORIGIN_PROGRAM);
    if (status == NMODGPU_OK)
        publish_switch();
    return status;
}

int nmodgpu_enabled(void)
{
    return nmodgpu_priv_read_switch() == NMODGPU_SWITCH_ON;
}

nmodgpu_status nmodgpu_context_create(nmodgpu_context **context)
{
    if (!context)
        return NMODGPU_EINVAL;
    *context = calloc(1, sizeof **context);
    if (!*context)
        return NMODGPU_ENOMEM;
    nmodgpu_settings_init(&(*context)->settings, true);
    return NMODGPU_OK;
}

nmodgpu_status nmodgpu_context_set(nmodgpu_context *context, const char *name, const char *value)
{
    const int id = name ? nmodgpu_setting_find(name) : -1;
    if (id < 0 || (context && nmodgpu_setting_table[id].of_process))
        return NMODGPU_EINVAL;
    if (!context && id == NMODGPU_SET_MODE)
        return nmodgpu_enable(value ? value : "off");
    nmodgpu_settings *settings = context ? &context->settings : defaults();
    const nmodgpu_status status = nmodgpu_settings_set(settings, id, value, NMODGPU_ORIGIN_PROGRAM);
    if (status == NMODGPU_OK && !context && atomic_load(&rest_read))
        apply(id);
    return status;
}

void nmodgpu_context_destroy(nmodgpu_context *context)
{
    free(context);
}
