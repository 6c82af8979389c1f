# SPDX-License-Identifier: LGPL-3.0-or-later
lib_LTLIBRARIES += libnmodgpu-flint.la
libnmodgpu_flint_la_SOURCES = \
	flint_glue/describe.c flint_glue/describe.h \
	flint_glue/dropin.c \
	flint_glue/evidence.c flint_glue/evidence.h \
	flint_glue/find.c flint_glue/find.h \
	flint_glue/guard.c flint_glue/guard.h \
	flint_glue/layout.c flint_glue/layout.h \
	flint_glue/matrix.h \
	flint_glue/object.c flint_glue/object.h \
	flint_glue/reach.c flint_glue/reach.h \
	flint_glue/site.c flint_glue/site.h \
	flint_glue/version.c flint_glue/version.h
libnmodgpu_flint_la_LDFLAGS = -version-info 0:0:0 $(SHARED_LDFLAGS) $(USE_LIBNMODGPU) $(LIBRARY_RPATH) \
	-Wl,--version-script=$(srcdir)/flint_glue/libnmodgpu-flint.map
EXTRA_libnmodgpu_flint_la_DEPENDENCIES = libnmodgpu.la $(srcdir)/flint_glue/libnmodgpu-flint.map
EXTRA_DIST += flint_glue/libnmodgpu-flint.map
