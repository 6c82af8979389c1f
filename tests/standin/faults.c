/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Settings, counters, mistakes, and failures on demand.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

standin_settings standin = {
    .devices = 1,
    .major = 8,
    .memory_bytes = (uint64_t)1 << 30,
    .pools = true,
    .cublas_major = 13,
};

pthread_mutex_t standin_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t standin_changed = PTHREAD_COND_INITIALIZER;
standin_counts standin_now;
_Atomic int standin_lost[STANDIN_DEVICES];

static _Atomic int64_t calls, fail_call;
static _Atomic int fail_error;
static _Atomic bool fail_onwards;
static _Atomic int64_t operations, fail_operation;
static _Atomic int operation_error;
static _Atomic int64_t mistakes;
static char first_mistake[256];
static _Thread_local cudaError_t last_error;

static int64_t number(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 0) : fallback;
}

__attribute__((constructor)) static void read_environment(void)
{
    standin.devices = (int)number("NMODGPU_TEST_STANDIN_DEVICES", standin.devices);
    standin.memory_bytes = (uint64_t)number("NMODGPU_TEST_STANDIN_MEMORY", (int64_t)standin.memory_bytes);
    const int64_t call = number("NMODGPU_TEST_STANDIN_FAIL", 0);
    if (call)
        standin_fail_call(call, cudaErrorNotSupported, true);
}

void standin_fail_call(int64_t call, int error, bool onwards)
{
    fail_call = 0;
    calls = 0;
    fail_error = error;
    fail_onwards = onwards;
    fail_call = call;
}

int64_t standin_calls(void)
{
    return calls;
}

void standin_fail_operation(int64_t operation, int error)
{
    operations = 0;
    operation_error = error;
    fail_operation = operation;
}

int standin_operation_fault(void)
{
    const int64_t n = ++operations;
    return n == fail_operation ? operation_error : 0;
}

cudaError_t standin_begin(void)
{
    const int64_t n = ++calls, at = fail_call;
    if (at && (n == at || (n > at && fail_onwards)))
        return (cudaError_t)fail_error;
    return (cudaError_t)standin_lost[standin_current()];
}

cudaError_t standin_end(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = (cudaError_t)standin_lost[standin_current()];
    return error;
}

cudaError_t standin_mistake(const char *format, ...)
{
    va_list arguments;
    if (mistakes++ == 0) {
        va_start(arguments, format);
        vsnprintf(first_mistake, sizeof first_mistake, format, arguments);
        va_end(arguments);
    }
    return cudaErrorInvalidValue;
}

int64_t standin_mistakes(void)
{
    return mistakes;
}

const char *standin_first_mistake(void)
{
    return mistakes ? first_mistake : "none";
}

standin_counts standin_count(void)
{
    pthread_mutex_lock(&standin_lock);
    const standin_counts counts = standin_now;
    pthread_mutex_unlock(&standin_lock);
    return counts;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "stand-in error %d", (int)error);
    return text;
}
