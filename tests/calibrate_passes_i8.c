/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Bandwidth of the int8 engine's conversions and recombinations on square matrices, beside that of a copy.
 */
#include "calibrate.h"
#include "cuda/kernels_i8.h"

#define LARGEST_RESIDUES 18 /* of int32 sums: what the memory below is made for */

typedef struct passes {
    cudaStream_t stream;
    void *planes; /* or sums */
    void *words;
    int64_t n;
    double copy; /* bytes a second, read and written */
} passes;

static const uint64_t prime31 = (1ULL << 31) - 1, prime64 = UINT64_MAX - 58;

static nmodgpu_plan residues_plan(uint64_t p, uint32_t count)
{
    static const uint32_t moduli[LARGEST_RESIDUES] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                                      227, 223, 217, 211, 199, 197, 193, 191, 181};
    nmodgpu_plan plan = {0};
    plan.number = NMODGPU_I8;
    plan.encoding = NMODGPU_RESIDUES;
    plan.modulus = p;
    plan.sums = plan.left.planes = count;
    for (uint32_t i = 0; i < count; i++)
        plan.left.plane_digits[i] = p <= 256 ? (uint32_t)p : moduli[i];
    plan.right = plan.left;
    return plan;
}

static nmodgpu_plan digits_plan(uint64_t p)
{
    nmodgpu_plan plan = {0};
    plan.number = NMODGPU_I8;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = p;
    plan.left.digits = plan.left.planes = 2;
    plan.left.digit_bits = 8;
    plan.left.plane_digits[0] = 1;
    plan.left.plane_digits[1] = 2;
    plan.right = plan.left;
    plan.sums = 3;
    for (uint32_t g = 0; g < plan.sums; g++)
        plan.coefficient[g] = (1ULL << (8 * g)) % p;
    return plan;
}

static cudaError_t launch_copy(cudaStream_t stream, const void *pass)
{
    const passes *x = pass;
    const size_t bytes = (size_t)(x->n * x->n) * 8;
    return cudaMemcpyAsync(x->planes, x->words, bytes, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t launch_residues(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_residues(stream, pass);
}

static cudaError_t launch_digits(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_digits(stream, pass);
}

static cudaError_t launch_crt(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_crt(stream, pass);
}

static cudaError_t launch_sum32(cudaStream_t stream, const void *pass)
{
    return nmodgpu_launch_reduce_sum32(stream, pass);
}

/** For a pass that moves so many bytes an entry. */
static void report(const passes *x, double seconds, uint32_t entry_bytes)
{
    const double rate = (double)x->n * (double)x->n * entry_bytes / seconds;
    printf("%8.1f (%.2f, %3.0f %% of a copy)\n", seconds * 1e6, rate / 1e12, 100 * rate / x->copy);
}

static void measure_residues(const passes *x, uint64_t p, uint32_t count, uint32_t bytes, bool right)
{
    const nmodgpu_plan plan = residues_plan(p, count);
    nmodgpu_residue_pass pass = {0};
    pass.how = nmodgpu_residuer_make(&plan, right);
    pass.planes = x->planes;
    pass.plane_stride = x->n * x->n;
    pass.transposed = right;
    pass.words = x->words;
    pass.words_bytes = bytes;
    pass.stride = pass.words_stride = pass.rows = pass.cols = x->n;
    printf("  %s, %u-byte words to %2u residues: ", right ? "right" : "left ", bytes, count);
    report(x, calibrate_pass(x->stream, launch_residues, &pass), bytes + count);
}

static void measure_digits(const passes *x, uint32_t bytes, bool right)
{
    const nmodgpu_plan plan = digits_plan(65521);
    nmodgpu_digit_pass pass = {0};
    pass.how = nmodgpu_preparer_make(&plan, right);
    pass.planes = x->planes;
    pass.plane_stride = x->n * x->n;
    pass.transposed = right;
    pass.words = x->words;
    pass.words_bytes = bytes;
    pass.stride = pass.words_stride = pass.rows = pass.cols = x->n;
    printf("  %s, %u-byte words to  2 digits:   ", right ? "right" : "left ", bytes);
    report(x, calibrate_pass(x->stream, launch_digits, &pass), bytes + 2);
}

static void measure_crt(const passes *x, uint64_t p, uint32_t count, uint32_t sum_bytes, uint32_t out_bytes,
                        uint32_t base_bytes)
{
    const nmodgpu_plan plan = residues_plan(p, count);
    nmodgpu_crt_pass pass = {0};
    pass.how = nmodgpu_crt_make(&plan, 1);
    pass.sums = x->planes;
    pass.sum_bytes = sum_bytes;
    pass.plane_stride = x->n * x->n;
    pass.out = x->words;
    pass.base = base_bytes ? x->words : NULL;
    pass.out_bytes = out_bytes;
    pass.base_bytes = base_bytes;
    pass.stride = pass.out_stride = pass.base_stride = pass.rows = pass.cols = x->n;
    printf("  %2u residues from %u bytes, base %u, out %u bytes: ", count, sum_bytes, base_bytes, out_bytes);
    report(x, calibrate_pass(x->stream, launch_crt, &pass), sum_bytes * count + out_bytes + base_bytes);
}

static void measure_sum32(const passes *x, uint32_t out_bytes, uint32_t base_bytes)
{
    const nmodgpu_plan plan = digits_plan(65521);
    nmodgpu_sum32_pass pass = {0};
    pass.how = nmodgpu_reducer_make(&plan, (1ULL << plan.sums) - 1, 1);
    pass.sums = x->planes;
    pass.plane_stride = x->n * x->n;
    pass.out = x->words;
    pass.base = base_bytes ? x->words : NULL;
    pass.out_bytes = out_bytes;
    pass.base_bytes = base_bytes;
    pass.stride = pass.out_stride = pass.base_stride = pass.rows = pass.cols = x->n;
    printf("  %2u sums of digits, base %u, out %u bytes:        ", plan.sums, base_bytes, out_bytes);
    report(x, calibrate_pass(x->stream, launch_sum32, &pass), 4 * plan.sums + out_bytes + base_bytes);
}

static void measure_conversions(const passes *x)
{
    printf("\nint8 conversion, %d x %d: microseconds (TB/s read and written)\n", (int)x->n, (int)x->n);
    for (int right = 0; right < 2; right++) {
        measure_residues(x, 251, 1, 1, right);
        measure_residues(x, 251, 1, 4, right);
        measure_residues(x, prime31, 8, 4, right);
        measure_residues(x, prime31, 10, 4, right);
        measure_residues(x, prime31, 10, 8, right);
        measure_residues(x, prime64, 18, 8, right);
        measure_digits(x, 2, right);
        measure_digits(x, 4, right);
    }
}

static void measure_recombinations(const passes *x)
{
    printf("\nint8 recombination, %d x %d: microseconds (TB/s read and written)\n", (int)x->n, (int)x->n);
    for (uint32_t sum_bytes = 1; sum_bytes <= 4; sum_bytes += 3) {
        measure_crt(x, 251, 1, sum_bytes, 1, 0);
        measure_crt(x, 251, 1, sum_bytes, 4, 0);
        measure_crt(x, prime31, 8, sum_bytes, 4, 0);
        measure_crt(x, prime31, 10, sum_bytes, 4, 0);
        measure_crt(x, prime31, 10, sum_bytes, 4, 4);
        measure_crt(x, prime64, 18, sum_bytes, 8, 0);
        measure_crt(x, prime64, 18, sum_bytes, 8, 8);
    }
    measure_sum32(x, 4, 0);
    measure_sum32(x, 4, 4);
}

/** Anything but zeros, which cost less power: a pattern over and over, its beginning made on the host. */
static void fill(void *device, size_t bytes)
{
    static uint64_t pattern[1 << 15];
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        pattern[i] = state ^ state >> 29;
    }
    CUDA_OK(cudaMemcpy(device, pattern, sizeof pattern, cudaMemcpyHostToDevice));
    for (size_t done = sizeof pattern; done < bytes; done *= 2)
        CUDA_OK(cudaMemcpy((char *)device + done, device, bytes - done < done ? bytes - done : done,
                           cudaMemcpyDeviceToDevice));
}

static void measure(passes *x)
{
    const double t = calibrate_pass(x->stream, launch_copy, x);
    x->copy = (double)x->n * (double)x->n * 16 / t;
    printf("\ncopy of 8-byte words, %d x %d: %.1f us (%.2f TB/s)\n", (int)x->n, (int)x->n, t * 1e6, x->copy / 1e12);
    measure_conversions(x);
    measure_recombinations(x);
}

void calibrate_passes_i8(cudaStream_t stream, int64_t n)
{
    const size_t entries = (size_t)n * (size_t)n;
    passes x = {.stream = stream, .n = n};
    CUDA_OK(cudaMalloc(&x.planes, entries * 4 * LARGEST_RESIDUES));
    CUDA_OK(cudaMalloc(&x.words, entries * 8));
    fill(x.planes, entries * 4 * LARGEST_RESIDUES);
    fill(x.words, entries * 8);
    measure(&x);
    x.n = n / 4;
    measure(&x);
    CUDA_OK(cudaFree(x.planes));
    CUDA_OK(cudaFree(x.words));
}
