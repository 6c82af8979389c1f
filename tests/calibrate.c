/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Measures what the planner needs to know of device 0 and prints it: start-up, copies, kernels, dgemm over
 * shapes, all by the backend's own code.  `calibrate --emulation` asks instead whether cuBLAS's emulation of
 * double precision, switched on by environment variables, can change a result.
 */
#include "calibrate.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cuda/queue.h"

#define LARGEST 8192

const nmodgpu_backend *calibrated;
nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

double calibrate_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double calibrate_median(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    return seconds[count / 2];
}

static nmodgpu_status take_backend(const nmodgpu_backend *backend)
{
    calibrated = backend;
    return NMODGPU_OK;
}

static void print_line(nmodgpu_log_level level, const char *cause, const char *format, ...)
{
    va_list arguments;
    (void)level;
    (void)cause;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static int64_t no_setting(const char *name)
{
    (void)name;
    return -1;
}

/** A first product pays for the context, a queue and the modules of cuBLAS; later ones for none of it. */
static nmodgpu_queue *open_queue(void)
{
    static const nmodgpu_host_api host = {.abi_version = NMODGPU_BACKEND_ABI,
                                          .size = sizeof host,
                                          .register_backend = take_backend,
                                          .log = print_line,
                                          .setting = no_setting};
    nmodgpu_queue *queue, *second;
    double t[5];
    t[0] = calibrate_now();
    BACKEND_OK(nmodgpu_module_entry(&host));
    BACKEND_OK(calibrated->open());
    t[1] = calibrate_now();
    BACKEND_OK(calibrated->queue_open(0, &queue));
    t[2] = calibrate_now();
    BACKEND_OK(calibrated->queue_open(0, &second));
    t[3] = calibrate_now();
    calibrated->queue_close(second, false);
    BACKEND_OK(calibrated->queue_open(0, &second));
    t[4] = calibrate_now();
    calibrated->queue_close(second, false);
    printf("open %.1f ms, first queue %.1f ms, second %.2f ms, one used before %.4f ms\n", (t[1] - t[0]) * 1e3,
           (t[2] - t[1]) * 1e3, (t[3] - t[2]) * 1e3, (t[4] - t[3]) * 1e3);
    return queue;
}

static nmodgpu_device_info describe(void)
{
    nmodgpu_device_info info;
    const double t = calibrate_now();
    for (int i = 0; i < 20; i++)
        BACKEND_OK(calibrated->device_info(0, &info));
    printf("%s: %s\n%.1f of %.1f GiB free; asking takes %.1f us\n", info.name, info.detail,
           (double)info.free_bytes / (1 << 30), (double)info.memory_bytes / (1 << 30),
           (calibrate_now() - t) / 20 * 1e6);
    printf("built-in rates: f64 %.2f TFLOP/s, k_half %.0f, tile %.0f x %.0f, %.0f processors, gemm_start %.1f us, "
           "pass_start %.1f us, passes %.2f TB/s, import %.1f GB/s, export %.1f GB/s, call_start %.1f us\n",
           info.rates.f64_flops / 1e12, info.rates.f64_k_half, info.rates.f64_tile_rows, info.rates.f64_tile_cols,
           info.rates.processors, info.rates.gemm_start * 1e6, info.rates.pass_start * 1e6,
           info.rates.pass_bytes / 1e12, info.rates.import_bytes / 1e9, info.rates.export_bytes / 1e9,
           info.rates.call_start * 1e6);
    return info;
}

int main(int argc, char **argv)
{
    static gemm_sample samples[64];
    const bool emulation = argc > 1 && strcmp(argv[1], "--emulation") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (emulation)
        calibrate_emulation_prepare(argv);
    nmodgpu_queue *queue = open_queue();
    const nmodgpu_device_info info = describe();
    if (emulation)
        return calibrate_emulation(queue);
    calibrate_copies(queue, LARGEST);
    calibrate_passes(queue->stream, LARGEST);
    calibrate_passes_i8(queue->stream, LARGEST);
    const int count = calibrate_gemm(queue, samples);
    calibrate_fit(samples, count, (int)info.rates.processors);
    calibrated->queue_close(queue, false);
    return 0;
}
