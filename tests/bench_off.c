/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What a product costs besides FLINT's own time while the drop-in is switched off: at most 20 ns.  The smallest
 * products are timed through the drop-in and by FLINT's own function, in turns; the least of many times counts,
 * because everything else on the machine only adds.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <flint/nmod_mat.h>

#define LIMIT_NANOSECONDS 20.0
#define TURNS 400
#define CALLS 500

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

typedef void product(nmod_mat_t, const nmod_mat_t, const nmod_mat_t);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* FLINT's own function, past the drop-in: the definition in the library that has nmod_mat_init. */
static product *flint_own(void)
{
    Dl_info info;
    product *own = NULL;
    void *init = dlsym(RTLD_DEFAULT, "nmod_mat_init");
    if (!init || !dladdr(init, &info))
        return NULL;
    void *flint = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *address = flint ? dlsym(flint, "nmod_mat_mul") : NULL;
    memcpy(&own, &address, sizeof address);
    return own;
}

static double time_calls(product *multiply, nmod_mat_t c, const nmod_mat_t a, const nmod_mat_t b)
{
    const double start = now();
    for (int i = 0; i < CALLS; i++)
        multiply(c, a, b);
    return (now() - start) / CALLS;
}

int main(void)
{
    product *through = nmod_mat_mul;
    product *own = flint_own();
    double least_own = 1e9, least_through = 1e9;
    nmod_mat_t a, b, c;
    if (!own || own == through) {
        printf("the drop-in does not stand before FLINT\n");
        return EXIT_FAILURE;
    }
    nmod_mat_init(a, 1, 1, 7);
    nmod_mat_init(b, 1, 1, 7);
    nmod_mat_init(c, 1, 1, 7);
    for (int i = 0; i < TURNS; i++) {
        const double t = time_calls(through, c, a, b);
        const double o = time_calls(own, c, a, b);
        least_through = t < least_through ? t : least_through;
        least_own = o < least_own ? o : least_own;
    }
    nmod_mat_clear(a);
    nmod_mat_clear(b);
    nmod_mat_clear(c);
    printf("1 x 1 product: FLINT %.1f ns, through the drop-in switched off %.1f ns: %.1f ns more\n", least_own,
           least_through, least_through - least_own);
#ifndef SANITIZED
    if (least_through - least_own > LIMIT_NANOSECONDS) {
        printf("that is more than %.0f ns\n", LIMIT_NANOSECONDS);
        return EXIT_FAILURE;
    }
#endif
    return EXIT_SUCCESS;
}
