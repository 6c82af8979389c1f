/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * One product of square matrices on the cblas backend and by FLINT, both on one thread, in one run: host words
 * to host words, the best of some each.  Usage: bench_cblas [n]; prints a line a modulus.
 */
#include <flint/nmod_mat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend_driver.h"
#include "planner.h"
#include "support.h"

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Works with both of FLINT's layouts; n >= 1. */
static nmodgpu_matrix view(const nmod_mat_t a)
{
    const int64_t stride = a->r > 1 ? &nmod_mat_entry(a, 1, 0) - &nmod_mat_entry(a, 0, 0) : a->c;
    return driver_host(a->mod.n, &nmod_mat_entry(a, 0, 0), stride, a->r, a->c);
}

static int bench(const nmodgpu_backend *backend, int64_t n, uint64_t p, int runs)
{
    nmodgpu_device_info info;
    nmodgpu_plan plan;
    double ours = 1e99, theirs = 1e99;
    nmod_mat_t a, b, c, d;
    nmod_mat_init(a, n, n, p);
    nmod_mat_init(b, n, n, p);
    nmod_mat_init(c, n, n, p);
    nmod_mat_init(d, n, n, p);
    nmodgpu_status status = backend->device_info(0, &info);
    if (status == NMODGPU_OK)
        status = nmodgpu_plan_best(&plan, p, n, n, n, &info.rates, NULL);
    const nmodgpu_matrix va = view(a), vb = view(b), vc = view(c);
    test_fill(va.data, n, n, va.stride, p, TEST_UNIFORM);
    test_fill(vb.data, n, n, vb.stride, p, TEST_UNIFORM);
    for (int run = 0; run < runs && status == NMODGPU_OK; run++) {
        double start = seconds_now();
        status = driver_product(backend, &plan, &vc, NULL, 1, &va, &vb);
        ours = seconds_now() - start < ours ? seconds_now() - start : ours;
        start = seconds_now();
        nmod_mat_mul(d, a, b);
        theirs = seconds_now() - start < theirs ? seconds_now() - start : theirs;
    }
    const int right = status == NMODGPU_OK && nmod_mat_equal(c, d);
    if (right)
        printf("%20" PRIu64 "  %-28s %9.3f ms (predicted %9.3f)   FLINT %9.3f ms   %5.2f times as fast\n", p,
               plan.name, ours * 1e3, nmodgpu_plan_call_seconds(&plan, &info.rates, false) * 1e3, theirs * 1e3,
               theirs / ours);
    else
        printf("%20" PRIu64 "  %s\n", p, status == NMODGPU_OK ? "WRONG" : nmodgpu_status_text(status));
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    nmod_mat_clear(d);
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const uint64_t moduli[] = {8388593, 2147483647, 1152921504606846883u, 18446744073709551557u};
    const int64_t n = argc > 1 ? atoll(argv[1]) : 2000;
    nmodgpu_device_info info;
    int failed = 0;
    const nmodgpu_backend *backend = driver_open(nmodgpu_module_entry, 1);
    if (!backend || n < 1 || backend->device_info(0, &info) != NMODGPU_OK) {
        fprintf(stderr, "no backend, or n < 1\n");
        return 1;
    }
    printf("%s, %s, FLINT %s, one thread each, n = %" PRId64 "; dgemm measured at %.1f Gflop/s\n", info.name,
           info.detail, flint_version, n, info.rates.f64_flops * 1e-9);
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++)
        failed |= bench(backend, n, moduli[i], n < 500 ? 30 : 3);
    return failed;
}
