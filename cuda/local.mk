# SPDX-License-Identifier: LGPL-3.0-or-later
EXTRA_DIST += cuda/module.map cuda/nvcc.sh
# Host code in C; tests build it against the stand-in device too.
CUDA_HOST_SOURCES = \
	cuda/backend.c \
	cuda/buffer.c cuda/buffer.h \
	cuda/context.c cuda/context.h \
	cuda/copies.c cuda/copies.h \
	cuda/device.c cuda/device.h \
	cuda/errors.c cuda/errors.h \
	cuda/event.c \
	cuda/gemm.c cuda/gemm.h \
	cuda/kernels.h \
	cuda/matrix.c cuda/matrix.h \
	cuda/members.h \
	cuda/memory.c cuda/memory.h \
	cuda/kernels_i8.h \
	cuda/operations.c cuda/operations.h \
	cuda/operations_i8.c cuda/operations_i8.h \
	cuda/queue.c cuda/queue.h \
	cuda/rates.c cuda/rates.h

if HAVE_CUDA
pkglib_LTLIBRARIES += cuda.la
cuda_la_SOURCES = $(CUDA_HOST_SOURCES) \
	cuda/convert_i8.cu cuda/fused_sm90.cu cuda/kernels.cu cuda/recombine_i8.cu cuda/winograd_i8.cu \
	cuda/columns.cuh cuda/converters.cuh cuda/launch.cuh cuda/quads.cuh cuda/words.cuh
cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
cuda_la_LDFLAGS = $(MODULE_LDFLAGS) $(CUDA_RPATH) -Wl,--version-script=$(srcdir)/cuda/module.map
cuda_la_LIBADD = $(CUDA_LIBS) -lstdc++ -lm -lrt
EXTRA_cuda_la_DEPENDENCIES = $(srcdir)/cuda/module.map
dist_module_DATA += cuda/cuda.priority
endif

# Kernels: every file *.cu becomes a libtool object with machine code for all architectures.
SUFFIXES = .cu
NVCC_COMPILE = $(SHELL) $(srcdir)/cuda/nvcc.sh $(NVCC) $(NVCC_CCBIN:%=-ccbin %) -std=c++17 -O3 --threads 2 $(NVCC_GENCODE) \
	-Wall -fvisibility=hidden $(AM_CPPFLAGS) $(NVCCFLAGS)
# wgmma and the copy engine need the architecture's own target, which runs on no other.
cuda/fused_sm90.lo: NVCC_GENCODE = $(CUDA_GENCODE_SM90A)
NVCC_GENCODE = $(CUDA_GENCODE)
nvcc_verbose = $(nvcc_verbose_@AM_V@)
nvcc_verbose_ = $(nvcc_verbose_@AM_DEFAULT_V@)
nvcc_verbose_0 = @echo "  NVCC    " $@;
.cu.lo:
	$(nvcc_verbose)$(MKDIR_P) $(@D)/$(DEPDIR) && $(LIBTOOL) $(AM_V_lt) --tag=CC --mode=compile $(NVCC_COMPILE) \
	    -MD -MT $@ -MF $(@D)/$(DEPDIR)/$(*F).cu.d -c -o $@ $<
-include cuda/$(DEPDIR)/*.cu.d
