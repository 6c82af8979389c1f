# SPDX-License-Identifier: LGPL-3.0-or-later
bin_PROGRAMS += nmodgpu
nmodgpu_SOURCES = \
	src/cmd/backends.c src/cmd/backends.h \
	src/cmd/capture.c src/cmd/capture.h \
	src/cmd/child.c src/cmd/child.h \
	src/cmd/cmd.h \
	src/cmd/demo.c \
	src/cmd/flint_seen.c src/cmd/flint_seen.h \
	src/cmd/info.c \
	src/cmd/main.c \
	src/cmd/number.c src/cmd/number.h \
	src/cmd/place.c src/cmd/place.h \
	src/cmd/plans.c src/cmd/plans.h \
	src/cmd/plans_family.c src/cmd/plans_family.h \
	src/cmd/plans_grid.c \
	src/cmd/plans_list.c \
	src/cmd/plans_point.c src/cmd/plans_point.h \
	src/cmd/preload.c src/cmd/preload.h \
	src/cmd/run.c \
	src/cmd/served.c src/cmd/served.h \
	src/cmd/target.c src/cmd/target.h \
	src/cmd/terminal.c src/cmd/terminal.h
nmodgpu_LDFLAGS = $(USE_LIBNMODGPU) $(PROGRAM_RPATH) $(SANITIZER_FLAGS)
nmodgpu_LDADD = -lm
EXTRA_nmodgpu_DEPENDENCIES = libnmodgpu.la

# The FLINT program that `nmodgpu demo` runs: a test's client, which knows nothing of nmodgpu.
if HAVE_FLINT
pkglibexec_PROGRAMS = flint-product
flint_product_SOURCES = tests/clients/flint_product.c
flint_product_CPPFLAGS = $(FLINT_CFLAGS)
flint_product_LDADD = $(FLINT_LIBS)
endif

EXTRA_DIST += doc/algorithms.md doc/guide.md
