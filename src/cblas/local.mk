# SPDX-License-Identifier: LGPL-3.0-or-later
# The arithmetic over whole matrices in host memory, for this module and for tests.  Its marked loops are vectorised
# for several instruction sets, whatever the optimisation level; the CPU's is chosen at run time.
noinst_LTLIBRARIES += libnmodgpu-exact.la
libnmodgpu_exact_la_SOURCES = \
	src/exact/passes.c src/exact/passes.h \
	src/exact/passes_i8.c src/exact/passes_i8.h \
	src/exact/portable.h \
	src/exact/prepare.h \
	src/exact/reduce.h \
	src/exact/residue.h \
	src/exact/rows.c src/exact/rows.h \
	src/exact/word.h
libnmodgpu_exact_la_CFLAGS = $(AM_CFLAGS) -fopenmp-simd
libnmodgpu_exact_la_LIBADD = -lm

EXTRA_DIST += src/cblas/module.map
if HAVE_CBLAS
# The module without its version script, so that tests may link it.
noinst_LTLIBRARIES += libnmodgpu-cblas.la
libnmodgpu_cblas_la_SOURCES = \
	src/cblas/blas.c src/cblas/blas.h \
	src/cblas/cblas.c \
	src/cblas/forks.c src/cblas/forks.h \
	src/cblas/machine.c src/cblas/machine.h \
	src/cblas/memory.c src/cblas/memory.h \
	src/cblas/parallel.c src/cblas/parallel.h \
	src/cblas/rates.c src/cblas/rates.h
libnmodgpu_cblas_la_CPPFLAGS = $(AM_CPPFLAGS) $(CBLAS_CFLAGS)
libnmodgpu_cblas_la_LIBADD = libnmodgpu-exact.la $(CBLAS_LIBS) -lm

pkglib_LTLIBRARIES += cblas.la
cblas_la_SOURCES =
cblas_la_LDFLAGS = $(MODULE_LDFLAGS) -Wl,--version-script=$(srcdir)/src/cblas/module.map
cblas_la_LIBADD = libnmodgpu-cblas.la
EXTRA_cblas_la_DEPENDENCIES = $(srcdir)/src/cblas/module.map
dist_module_DATA += src/cblas/cblas.priority
endif
