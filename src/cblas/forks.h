/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * fork() while other threads are in the BLAS.  OpenBLAS ends its threads before a fork, also under products of
 * others, which then never end (seen with 0.3.21): so a fork waits until no product is under way.
 */
#ifndef NMODGPU_CBLAS_FORKS_H
#define NMODGPU_CBLAS_FORKS_H

#include <stdbool.h>

/** Once, after the BLAS has been loaded: of handlers that run before a fork the latest comes first.  False when
 *  out of memory. */
bool cblas_forks_watch(void);

/** Around each use of the BLAS, with signals held: a handler that forks would wait for its own thread. */
void cblas_forks_hold(void);
void cblas_forks_release(void);

#endif
