# SPDX-License-Identifier: LGPL-3.0-or-later
include_HEADERS = src/nmodgpu.h
nmodgpudir = $(includedir)/nmodgpu
nmodgpu_HEADERS = src/backend.h src/plan.h

# The core without its version script, so that tests reach its inner functions.
noinst_LTLIBRARIES += libnmodgpu-core.la
libnmodgpu_core_la_SOURCES = \
	src/api.c \
	src/context.c src/context.h \
	src/cost.c src/cost.h \
	src/dispatch.c src/dispatch.h src/serve.h \
	src/exact/portable.h src/exact/winograd.h src/exact/word.h \
	src/hold.h \
	src/host_matrix.c src/host_matrix.h \
	src/introspect.c src/introspect.h \
	src/log.c src/log.h \
	src/modules.c src/modules.h \
	src/pack.c src/pack.h src/pack_avx2.c src/pack_avx512.c src/pack_code.h \
	src/plan_f64.c src/plan_f64.h \
	src/plan_i8.c src/plan_i8.h \
	src/plan_price.c src/plan_price.h \
	src/plan_verify.c \
	src/planner.c src/planner.h \
	src/portable.c src/portable.h \
	src/process.c src/process.h \
	src/processors.c src/processors.h \
	src/product.c src/product.h \
	src/product_winograd.c src/product_winograd.h \
	src/registry.c src/registry.h \
	src/report.c src/report.h \
	src/room.c src/room.h \
	src/schedule.c src/schedule.h \
	src/settings.c src/settings.h \
	src/status.c \
	src/stream.c src/stream.h \
	src/tile.c src/tile.h \
	src/timing.c \
	src/workers.c src/workers.h
libnmodgpu_core_la_LIBADD = -lm -lpthread -ldl

lib_LTLIBRARIES += libnmodgpu.la
libnmodgpu_la_SOURCES =
libnmodgpu_la_LIBADD = libnmodgpu-core.la
libnmodgpu_la_LDFLAGS = -version-info 0:0:0 $(SHARED_LDFLAGS) -Wl,--version-script=$(srcdir)/src/libnmodgpu.map
EXTRA_libnmodgpu_la_DEPENDENCIES = $(srcdir)/src/libnmodgpu.map
EXTRA_DIST += src/libnmodgpu.map
