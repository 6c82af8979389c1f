# SPDX-License-Identifier: LGPL-3.0-or-later
# A Check program: check_PROGRAMS and TESTS += tests/check_x, its tests_check_x_SOURCES (with $(TEST_SUPPORT)),
# tests_check_x_CPPFLAGS = $(TEST_CPPFLAGS) and tests_check_x_LDADD = $(TEST_LIBS).  A client program that tests run
# is in check_PROGRAMS only.  NMODGPU_TEST_STAGE names a staged installation for them.
TEST_SUPPORT = tests/suite.h tests/support.c tests/support.h
TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests $(CHECK_CFLAGS) $(FLINT_CFLAGS)
TEST_LIBS = libnmodgpu-core.la $(CHECK_LIBS) $(GMP_LIBS) -lm
# For a program in tests/ that is linked with our shared libraries (USE_LIBNMODGPU, USE_DROPIN): finds them in the
# stage from the build folder, and in lib/ where it has been installed in bin/.
TEST_RPATH = -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../stage/lib:$$ORIGIN/../lib'

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
TESTS += tests/installed.sh tests/check_command.sh tests/check_linkage.sh
EXTRA_DIST += tests/installed.sh tests/installed.c tests/bundle.sh tests/check_command.sh tests/check_linkage.sh

# Whatever the caller's environment says of nmodgpu, tests begin without it.
AM_TESTS_ENVIRONMENT = \
	unset NMODGPU NMODGPU_MIN_DIM NMODGPU_VERBOSE NMODGPU_REPORT NMODGPU_PLUGIN_PATH LD_PRELOAD; \
	NMODGPU_TEST_STAGE='$(stage_dir)'; CC='$(CC)'; PKG_CONFIG='$(PKG_CONFIG)'; \
	CK_VERBOSITY=$${CK_VERBOSITY-normal}; SANITIZER_FLAGS='$(SANITIZER_FLAGS)'; \
	export NMODGPU_TEST_STAGE CC PKG_CONFIG CK_VERBOSITY SANITIZER_FLAGS; \
	$(SANITIZER_ENVIRONMENT)
if SANITIZER
# A preloaded library stands before the sanitizer's own, which is harmless when both are in from the start.
SANITIZER_ENVIRONMENT = ASAN_OPTIONS=verify_asan_link_order=0:$$ASAN_OPTIONS; export ASAN_OPTIONS;
endif

if HAVE_CHECK
CORE_TEST_SUPPORT = tests/matrices.c tests/matrices.h tests/reference_backend.c tests/reference_backend.h \
	tests/capture.c tests/capture.h $(TEST_SUPPORT)
check_PROGRAMS += tests/check_core tests/check_dispatch tests/check_pack tests/check_registry tests/check_workers
TESTS += tests/check_core tests/check_dispatch tests/check_pack tests/check_registry tests/check_workers
tests_check_pack_SOURCES = tests/check_pack.c $(TEST_SUPPORT)
tests_check_pack_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_pack_LDADD = $(TEST_LIBS)
tests_check_workers_SOURCES = tests/check_workers.c $(TEST_SUPPORT)
tests_check_workers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_workers_LDADD = $(TEST_LIBS) -lpthread
tests_check_core_SOURCES = tests/check_core.c tests/core/cases.h tests/core/overlaps.c tests/core/products.c tests/core/resident.c $(CORE_TEST_SUPPORT)
tests_check_core_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_core_LDADD = $(TEST_LIBS)
tests_check_dispatch_SOURCES = tests/check_dispatch.c tests/dispatch/cases.h tests/dispatch/calls.c tests/dispatch/failures.c tests/dispatch/processes.c tests/dispatch/settings.c $(CORE_TEST_SUPPORT)
tests_check_dispatch_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_dispatch_LDADD = $(TEST_LIBS)
tests_check_registry_SOURCES = tests/check_registry.c tests/registry/cases.h tests/registry/log.c tests/registry/modules.c tests/registry/off.c tests/registry/registration.c tests/registry/settings.c $(CORE_TEST_SUPPORT)
tests_check_registry_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_registry_LDADD = $(TEST_LIBS)
EXTRA_tests_check_registry_DEPENDENCIES = tests/high.la tests/low.la

# Modules for check_registry: one source under two names.
check_LTLIBRARIES += tests/high.la tests/low.la
tests_high_la_SOURCES = tests/module.c
tests_high_la_CPPFLAGS = $(AM_CPPFLAGS) '-DREFERENCE_NAME="high"' -DREFERENCE_PRIORITY=9
tests_high_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere $(SANITIZER_FLAGS)
tests_high_la_LIBADD = -lm
tests_low_la_SOURCES = tests/module.c
tests_low_la_CPPFLAGS = $(AM_CPPFLAGS) '-DREFERENCE_NAME="low"' -DREFERENCE_PRIORITY=1
tests_low_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere $(SANITIZER_FLAGS)
tests_low_la_LIBADD = -lm
if HAVE_GMP
check_PROGRAMS += tests/check_planner
TESTS += tests/check_planner
tests_check_planner_SOURCES = \
	tests/check_planner.c \
	src/cmd/plans_family.c src/cmd/plans_family.h \
	tests/planner_bounds.c \
	tests/planner_cases.h \
	tests/planner_i8.c \
	tests/planner_i8_products.c \
	tests/planner_i8_verify.c \
	tests/planner_oracle.c \
	tests/planner_products.c \
	tests/planner_schedule.c \
	tests/planner_verify.c \
	tests/planner_winograd.c \
	$(TEST_SUPPORT)
tests_check_planner_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_planner_LDADD = $(TEST_LIBS)
if HAVE_FLINT
check_PROGRAMS += tests/check_dropin
TESTS += tests/check_dropin
tests_check_dropin_SOURCES = \
	tests/check_dropin.c \
	tests/dropin/callers.c \
	tests/dropin/products.c \
	tests/dropin/setups.h \
	tests/fakeflint/harness.c tests/fakeflint/harness.h tests/fakeflint/fakeflint.h \
	$(TEST_SUPPORT)
tests_check_dropin_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_dropin_LDFLAGS = $(USE_DROPIN) $(USE_LIBNMODGPU) $(TEST_RPATH)
tests_check_dropin_LDADD = $(CHECK_LIBS) $(FLINT_LIBS) $(GMP_LIBS) -lm
EXTRA_tests_check_dropin_DEPENDENCIES = libnmodgpu-flint.la libnmodgpu.la
endif
endif

# Two layouts, one that is not as its version says in either direction, and one whose inner calls stay inside.
FAKEFLINT_SOURCES = tests/fakeflint/fakeflint.c tests/fakeflint/fakeflint.h
FAKE_LDFLAGS = -module -avoid-version -shared -rpath /nowhere $(SANITIZER_FLAGS)
check_LTLIBRARIES += tests/fakeflint-rows.la tests/fakeflint-stride.la tests/fakeflint-lying.la \
	tests/fakeflint-lying-rows.la tests/fakeflint-symbolic.la tests/fakecaller-rows.la tests/fakecaller-stride.la
tests_fakeflint_rows_la_SOURCES = $(FAKEFLINT_SOURCES)
tests_fakeflint_rows_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_ROWS '-DFAKE_VERSION="3.1.3-p1"'
tests_fakeflint_rows_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fakeflint_stride_la_SOURCES = $(FAKEFLINT_SOURCES)
tests_fakeflint_stride_la_CPPFLAGS = $(AM_CPPFLAGS) '-DFAKE_VERSION="3.6.0"'
tests_fakeflint_stride_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fakeflint_lying_la_SOURCES = $(FAKEFLINT_SOURCES)
tests_fakeflint_lying_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_ROWS '-DFAKE_VERSION="3.7.0-dev"'
tests_fakeflint_lying_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fakeflint_lying_rows_la_SOURCES = $(FAKEFLINT_SOURCES)
tests_fakeflint_lying_rows_la_CPPFLAGS = $(AM_CPPFLAGS) '-DFAKE_VERSION="3.1.0"'
tests_fakeflint_lying_rows_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_fakeflint_symbolic_la_SOURCES = $(FAKEFLINT_SOURCES)
tests_fakeflint_symbolic_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_ROWS '-DFAKE_VERSION="3.1.3"'
tests_fakeflint_symbolic_la_LDFLAGS = $(FAKE_LDFLAGS) -Wl,-Bsymbolic-functions
tests_fakecaller_rows_la_SOURCES = tests/fakeflint/caller.c tests/fakeflint/fakeflint.h
tests_fakecaller_rows_la_LDFLAGS = $(FAKE_LDFLAGS) -Wl,--no-as-needed,tests/.libs/fakeflint-rows.so -Wl,-rpath,'$$ORIGIN'
EXTRA_tests_fakecaller_rows_la_DEPENDENCIES = tests/fakeflint-rows.la
tests_fakecaller_stride_la_SOURCES = tests/fakeflint/caller.c tests/fakeflint/fakeflint.h
tests_fakecaller_stride_la_LDFLAGS = $(FAKE_LDFLAGS) -Wl,--no-as-needed,tests/.libs/fakeflint-stride.so -Wl,-rpath,'$$ORIGIN'
EXTRA_tests_fakecaller_stride_la_DEPENDENCIES = tests/fakeflint-stride.la

check_PROGRAMS += tests/check_fakeflint
TESTS += tests/check_fakeflint
tests_check_fakeflint_SOURCES = \
	flint_glue/version.c \
	tests/check_fakeflint.c \
	tests/fakeflint/fakeflint.h \
	tests/fakeflint/finding.c tests/fakeflint/finding.h \
	tests/fakeflint/harness.c tests/fakeflint/harness.h \
	tests/fakeflint/nesting.c tests/fakeflint/nesting.h \
	tests/fakeflint/operands.c tests/fakeflint/operands.h \
	$(TEST_SUPPORT)
tests_check_fakeflint_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_fakeflint_LDADD = $(CHECK_LIBS) -lm
EXTRA_tests_check_fakeflint_DEPENDENCIES = $(check_LTLIBRARIES)
endif

# Programs with FLINT for other machines and for scripts; none of them is a test by itself.
if HAVE_FLINT
check_PROGRAMS += tests/acceptance tests/bench_off tests/flint_rank
tests_acceptance_SOURCES = \
	tests/clients/acceptance.c \
	tests/clients/acceptance_check.c tests/clients/acceptance_check.h
tests_acceptance_CPPFLAGS = $(AM_CPPFLAGS) $(FLINT_CFLAGS)
tests_acceptance_LDADD = $(FLINT_LIBS)
tests_bench_off_SOURCES = tests/bench_off.c
tests_bench_off_CPPFLAGS = $(AM_CPPFLAGS) $(FLINT_CFLAGS)
tests_bench_off_LDFLAGS = $(USE_DROPIN) $(TEST_RPATH)
tests_bench_off_LDADD = $(FLINT_LIBS)
EXTRA_tests_bench_off_DEPENDENCIES = libnmodgpu-flint.la
TESTS += tests/bench_off
tests_flint_rank_SOURCES = tests/clients/flint_rank.c
tests_flint_rank_CPPFLAGS = $(AM_CPPFLAGS) $(FLINT_CFLAGS)
tests_flint_rank_LDFLAGS = $(USE_DROPIN) $(TEST_RPATH)
tests_flint_rank_LDADD = $(FLINT_LIBS)
EXTRA_tests_flint_rank_DEPENDENCIES = libnmodgpu-flint.la
endif

# The CUDA backend on a device that stands in for a GPU, and on a GPU; a module for whole programs on the stand-in.
STANDIN_CPPFLAGS = -I$(top_srcdir)/tests/standin/include -I$(top_srcdir) $(AM_CPPFLAGS) -I$(top_srcdir)/tests
STANDIN_SOURCES = \
	tests/standin/blas.c tests/standin/blas.h \
	tests/standin/blas_i8.c \
	tests/standin/blaslt.c \
	tests/standin/context.c \
	tests/standin/copy.c \
	tests/standin/faults.c \
	tests/standin/internal.h \
	tests/standin/kernels.c \
	tests/standin/kernels_i8.c \
	tests/standin/memory.c \
	tests/standin/standin.h \
	tests/standin/stream.c \
	tests/standin/include/cublasLt.h \
	tests/standin/include/cublas_v2.h \
	tests/standin/include/cuda.h \
	tests/standin/include/cuda_runtime_api.h
DEVICE_TEST_SOURCES = \
	tests/device_cases.h \
	tests/device_check.c tests/device_check.h \
	tests/device_harness.c tests/device_harness.h \
	tests/device_host.c \
	tests/device_i8.c tests/device_i8.h \
	tests/device_i8_operands.c \
	tests/device_kernels.c \
	tests/device_plans.c \
	tests/device_products.c \
	tests/device_queues.c \
	tests/device_step.c tests/device_step.h \
	tests/device_step_products.c \
	tests/device_winograd.c \
	$(TEST_SUPPORT)
if HAVE_CHECK
check_LTLIBRARIES += tests/standin/libstandin.la tests/standin/cuda.la
tests_standin_libstandin_la_SOURCES = $(STANDIN_SOURCES) $(CUDA_HOST_SOURCES)
tests_standin_libstandin_la_CPPFLAGS = $(STANDIN_CPPFLAGS)
tests_standin_libstandin_la_CFLAGS = $(AM_CFLAGS) -O3
tests_standin_libstandin_la_LIBADD = libnmodgpu-exact.la -lpthread
tests_standin_cuda_la_SOURCES =
tests_standin_cuda_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere $(SANITIZER_FLAGS) \
	-Wl,--version-script=$(srcdir)/cuda/module.map
tests_standin_cuda_la_LIBADD = tests/standin/libstandin.la -lm

check_PROGRAMS += tests/check_cuda tests/check_gpu tests/check_step tests/check_stream
TESTS += tests/check_cuda tests/check_gpu tests/check_step tests/check_stream
tests_check_cuda_SOURCES = tests/check_cuda.c tests/cuda_sample.c tests/cuda_sample.h $(DEVICE_TEST_SOURCES)
tests_check_cuda_CPPFLAGS = $(STANDIN_CPPFLAGS) $(CHECK_CFLAGS)
tests_check_cuda_LDADD = tests/standin/libstandin.la libnmodgpu-core.la $(CHECK_LIBS) -lm -lpthread
tests_check_step_SOURCES = tests/check_step.c tests/capture.c tests/capture.h tests/device_harness.c tests/device_harness.h tests/matrices.c tests/matrices.h $(TEST_SUPPORT)
tests_check_step_CPPFLAGS = $(STANDIN_CPPFLAGS) $(CHECK_CFLAGS)
tests_check_stream_SOURCES = tests/check_stream.c tests/device_harness.c tests/device_harness.h tests/matrices.c tests/matrices.h $(TEST_SUPPORT)
tests_check_stream_CPPFLAGS = $(STANDIN_CPPFLAGS) $(CHECK_CFLAGS)
tests_check_stream_LDADD = tests/standin/libstandin.la libnmodgpu-core.la $(CHECK_LIBS) -lm -lpthread
tests_check_step_LDADD = tests/standin/libstandin.la libnmodgpu-core.la $(CHECK_LIBS) -lm -lpthread
tests_check_gpu_SOURCES = tests/check_gpu.c $(DEVICE_TEST_SOURCES)
tests_check_gpu_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_gpu_LDADD = libnmodgpu-core.la $(CHECK_LIBS) -lm -lpthread -ldl
endif

# Measures a device for the planner; no test.
if HAVE_CUDA
check_PROGRAMS += tests/calibrate
tests_calibrate_SOURCES = \
	tests/calibrate.c tests/calibrate.h \
	tests/calibrate_copies.c \
	tests/calibrate_emulation.c \
	tests/calibrate_fit.c \
	tests/calibrate_gemm.c \
	tests/calibrate_passes.c \
	tests/calibrate_passes_i8.c \
	$(CUDA_HOST_SOURCES)
tests_calibrate_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) $(CUDA_CPPFLAGS)
tests_calibrate_LDADD = cuda/convert_i8.lo cuda/fused_sm90.lo cuda/kernels.lo cuda/recombine_i8.lo \
	cuda/winograd_i8.lo $(CUDA_LIBS) -lstdc++ -lm -lpthread -ldl -lrt
endif

# The exact arithmetic, and the cblas backend linked in.
if HAVE_CHECK
if HAVE_GMP
check_PROGRAMS += tests/check_exact
TESTS += tests/check_exact
tests_check_exact_SOURCES = \
	tests/check_exact.c \
	tests/exact_cases.h \
	tests/exact_crt.c \
	tests/exact_dots.c \
	tests/exact_matrices.c tests/exact_matrices.h \
	tests/exact_passes_i8.c \
	tests/exact_prepare.c \
	tests/exact_reduce.c \
	tests/exact_residue.c \
	tests/exact_rows.c \
	tests/exact_winograd.c \
	tests/exact_word.c \
	$(TEST_SUPPORT)
tests_check_exact_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_exact_LDADD = libnmodgpu-exact.la $(TEST_LIBS)
endif
if HAVE_CBLAS
check_PROGRAMS += tests/check_cblas
TESTS += tests/check_cblas
tests_check_cblas_SOURCES = \
	tests/backend_driver.c tests/backend_driver.h \
	tests/cblas_cases.h \
	tests/cblas_interface.c \
	tests/cblas_parts.c \
	tests/check_cblas.c \
	$(TEST_SUPPORT)
tests_check_cblas_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cblas_LDADD = libnmodgpu-cblas.la $(TEST_LIBS)
endif
endif
# Times one product against FLINT; no test.
if HAVE_CBLAS
if HAVE_FLINT
check_PROGRAMS += tests/bench_cblas
tests_bench_cblas_SOURCES = \
	tests/backend_driver.c tests/backend_driver.h \
	tests/bench_cblas.c \
	$(TEST_SUPPORT)
tests_bench_cblas_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_cblas_LDADD = libnmodgpu-cblas.la libnmodgpu-core.la $(FLINT_LIBS) -lm
endif
endif
