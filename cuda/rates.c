/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "rates.h"

/** Double-precision additions and multiplications a cycle and processor, tensor cores included where the
 *  architecture has them for doubles.  From NVIDIA's architecture whitepapers (A100: 19.5 TFLOP/s on 108
 *  processors at 1.41 GHz; H100: 66.9 on 132 at 1.98 GHz; B200: 37 to 40 on 148 at about 1.9 GHz; B300: 1.2
 *  to 1.3) and, for the cards with two FP64 units a processor, the CUDA C++ Programming Guide's table of
 *  arithmetic throughput. */
static double f64_per_cycle(int major, int minor)
{
    switch (10 * major + minor) {
    case 60:
    case 70:
    case 72:
        return 64;
    case 80:
    case 100:
        return 128;
    case 90:
        return 256;
    default: /* 7.5, 8.6, 8.7, 8.9, 10.3, 12.x: 1/64 of the single rate (7.5: 1/32, of half as many units) */
        return 4;
    }
}

/** int8 operations a cycle and processor on the tensor cores.  Dense rates of NVIDIA's architecture whitepapers
 * over processors and boost clock: T4 130 TOP/s, 40 at 1.59 GHz; A100 624, 108 at 1.41; RTX 3090 284, 82 at 1.70;
 * RTX 4090 661, 128 at 2.52; H100 1979, 132 at 1.83; B200 4500, 148 at 1.86; RTX 5090 838, 170 at 2.41.  B300 gave
 * most of it up. */
static double i8_per_cycle(int major, int minor)
{
    switch (10 * major + minor) {
    case 60:
    case 70:
        return 0;
    case 80:
        return 4096;
    case 90:
        return 8192;
    case 100:
        return 16384;
    case 103:
        return 1024;
    default:
        return 2048;
    }
}

nmodgpu_rates nmodgpu_cuda_rates(const nmodgpu_cuda_traits *t)
{
    nmodgpu_rates r = {0};
    const double peak = f64_per_cycle(t->major, t->minor) * t->processors * t->clock_hertz;
    r.processors = t->processors;
    /* Measured on an H200 by tests/calibrate, as shares of the peak where they depend on the card: native
     * dgemm 60 to 62 of 66.9 TFLOP/s from n = 2048 on; its loss to the inner length and to tiles is small; back
     * to back a dgemm takes 12 microseconds at least.  Passes 4.1 to 4.4 of 4.9 TB/s; the integer road 3.6e11
     * sums a second.  Copies: pageable memory over PCIe 5. */
    r.f64_flops = 0.92 * peak;
    r.pass_bytes = 0.86 * 2 * t->memory_clock_hertz * t->bus_bytes;
    r.integer_sums = 1.38 * t->processors * t->clock_hertz;
    r.import_bytes = 7e9;
    r.export_bytes = 11e9;
    r.f64_tile_rows = 32;
    r.f64_tile_cols = 32;
    r.f64_k_half = 28;
    r.gemm_start = 8e-6;
    r.pass_start = 4e-6;
    r.call_start = 30e-6;
    /* On an H200, whose clock falls under this load: cuBLAS with int32 sums 1060 to 1150 of 2140 TOP/s, with sums
     * of one byte (fused_sm90.cu) 1430 to 1590; 8 integer operations a residue. */
    const double i8_peak = i8_per_cycle(t->major, t->minor) * t->processors * t->clock_hertz;
    r.i8_flops = 0.52 * i8_peak;
    r.i8_k_half = 300;
    r.i8_fused_flops = t->fused ? 0.69 * i8_peak : 0;
    r.i8_fused_k_half = 300;
    r.i8_tile = 256;
    r.residues = 8.0 * t->processors * t->clock_hertz;
    return r;
}
