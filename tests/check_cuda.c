/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The CUDA backend's host code on the stand-in device: the tests that every device passes, then those that
 * need a device that fails when told to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "cuda/queue.h"
#include "cuda_sample.h"
#include "device_cases.h"
#include "device_harness.h"
#include "standin/standin.h"
#include "suite.h"
#include "support.h"

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

device_sizes sizes = {.usual = 60, .large = 150, .tall = 70001, .products = 100};

static void open_backend(void)
{
    OK(harness_enter(nmodgpu_module_entry));
    OK(device->open());
}

static void close_backend(void)
{
    standin_fail_call(0, 0, false);
    check_clean("at the end");
}

/** With every call failing once, alone or with all that follow: a status, no leak, and then a right product. */
static void sweep_failures(sample *s, int error, bool onwards)
{
    char when[96];
    OK(run_sample(s));
    nmodgpu_cuda_queues_drop(0);
    int failures = 0;
    for (int64_t n = 1;; n++) {
        standin_fail_call(n, error, onwards);
        const nmodgpu_status status = run_sample(s);
        const bool reached = standin_calls() >= n;
        standin_fail_call(0, 0, false);
        snprintf(when, sizeof when, "call %lld failing with %d%s", (long long)n, error, onwards ? " onwards" : "");
        if (status == NMODGPU_OK)
            harness_compare(&s->d, s->expected, when);
        ck_assert_msg(status == NMODGPU_OK || harness_lines() > 0, "%s: nothing was logged", when);
        failures += status != NMODGPU_OK;
        check_clean(when);
        OK(run_sample(s));
        harness_compare(&s->d, s->expected, when);
        nmodgpu_cuda_queues_drop(0);
        if (!reached)
            break;
    }
    ck_assert_msg(failures > 60, "only %d calls could fail", failures);
    free_sample(s);
}

START_TEST(a_failing_call_is_survived)
{
    static const int errors[] = {cudaErrorMemoryAllocation, cudaErrorNotSupported, cudaErrorInvalidValue,
                                 cudaErrorNotSupported};
    sample s;
    make_sample(&s);
    sweep_failures(&s, errors[_i], _i & 1);
}
END_TEST

/** int32 sums and sums of bytes. */
START_TEST(a_failing_call_is_survived_in_int8)
{
    sample s;
    standin.major = 9;
    make_sample_i8(&s, _i & 1 ? NMODGPU_I8_CRT_BYTES : NMODGPU_I8_CRT_SUMS);
    sweep_failures(&s, cudaErrorNotSupported, _i & 2);
}
END_TEST

/** In a process of its own: opening, starting the device and a product, with call n failing.  0: the product
 *  was computed, 1: refused, and a later one was computed; 2: the backend did not open. */
static int run_cold(int64_t n, bool onwards, int error)
{
    sample s;
    make_sample(&s);
    standin_fail_call(n, error, onwards);
    if (harness_enter(nmodgpu_module_entry) != NMODGPU_OK)
        return 10;
    if (device->open() != NMODGPU_OK) {
        const standin_counts c = standin_count();
        return c.allocations || c.streams || c.pools || c.handles || device->device_count() ? 11 : 2;
    }
    if (device->device_count() == 0)
        return 12;
    const int refused = run_sample(&s) != NMODGPU_OK;
    standin_fail_call(0, 0, false);
    if (refused && run_sample(&s) != NMODGPU_OK)
        return 13;
    for (int64_t i = 0; i < 12; i++)
        for (int64_t j = 0; j < 9; j++)
            if (nmodgpu_matrix_row(&s.d.view, i)[j] != s.expected[i * 9 + j])
                return 14;
    nmodgpu_cuda_queues_drop(0);
    const standin_counts c = standin_count();
    if (c.allocations || c.streams || c.pinned || c.events || c.handles || c.pools != 1 || standin_context_depth())
        return 15;
    return standin_mistakes() ? 16 : refused;
}

START_TEST(a_failure_at_the_start_is_survived)
{
    int seen[3] = {0, 0, 0};
    for (int64_t n = 1; n <= 60; n++) {
        int status = 0;
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            _exit(run_cold(n, _i & 1, cudaErrorMemoryAllocation));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < 3, "call %lld failing at the start: status %x",
                      (long long)n, (unsigned)status);
        seen[WEXITSTATUS(status)]++;
    }
    ck_assert_msg(seen[1] > 20 && seen[2] > 4, "%d opened and failed, %d did not open", seen[1], seen[2]);
}
END_TEST

/** An operation that destroys the context: the product fails, the device is not used again, nothing is left. */
START_TEST(a_lost_device_is_given_up)
{
    sample s;
    nmodgpu_queue *queue;
    nmodgpu_device_info info;
    make_sample(&s);
    standin_fail_operation(_i + 1, cudaErrorIllegalAddress);
    ck_assert_int_eq(run_sample(&s), NMODGPU_EBACKEND);
    ck_assert_int_eq(device->queue_open(0, &queue), NMODGPU_ENODEV);
    ck_assert_int_eq(device->device_info(0, &info), NMODGPU_ENODEV);
    const standin_counts c = standin_count();
    ck_assert_msg(!c.allocations && !c.streams && !c.pinned && !c.events && !c.handles, "something is left");
    ck_assert_int_eq(standin_context_depth(), 0);
    free_sample(&s);
}
END_TEST

START_TEST(exhausted_memory_is_reported_and_passes)
{
    sample s;
    nmodgpu_queue *queue;
    nmodgpu_matrix large = harness_words(7, 1000, 10000, 8);
    standin.memory_bytes = (uint64_t)12 << 20; /* the workspace and 8 MiB */
    make_sample(&s);
    OK(device->queue_open(0, &queue));
    ck_assert_int_eq(device->matrix_alloc(queue, &large), NMODGPU_ENOMEM);
    ck_assert_ptr_null(large.data);
    ck_assert_int_eq(cudaGetLastError(), cudaSuccess);
    device->queue_close(queue, false);
    OK(run_sample(&s));
    harness_compare(&s.d, s.expected, "after a failed allocation");
    free_sample(&s);
}
END_TEST

START_TEST(devices_without_pools_serve)
{
    sample s;
    make_sample(&s);
    OK(run_sample(&s));
    harness_compare(&s.d, s.expected, "without pools");
    ck_assert_int_eq(standin_count().pools, 0);
    free_sample(&s);
}
END_TEST

START_TEST(without_a_native_algorithm_the_pedantic_type_serves)
{
    sample s;
    standin.no_native = true;
    make_sample(&s);
    OK(run_sample(&s));
    harness_compare(&s.d, s.expected, "pedantic");
    free_sample(&s);
}
END_TEST

/** Slow streams: whoever forgets to wait reads poison. */
START_TEST(results_are_waited_for)
{
    sample s;
    standin.delay_us = 2000;
    make_sample(&s);
    for (s.product.element_bytes = 4; s.product.element_bytes <= 8; s.product.element_bytes += 4) {
        OK(run_sample(&s));
        harness_compare(&s.d, s.expected, "on slow streams");
    }
    free_sample(&s);
}
END_TEST

START_TEST(whole_queues_are_used_again_and_failed_ones_are_not)
{
    nmodgpu_queue *first, *second;
    OK(device->queue_open(0, &first));
    device->queue_close(first, false);
    OK(device->queue_open(0, &second));
    ck_assert_ptr_eq(first, second);
    device->queue_close(second, true);
    ck_assert_int_eq(standin_count().streams, 0);
}
END_TEST

/** The program computes on device 1, we on device 0 and 1, and its choice stays. */
START_TEST(the_programs_device_stays_current)
{
    sample s;
    int current;
    ck_assert_int_eq(device->device_count(), 2);
    make_sample(&s);
    for (int d = 0; d < 4; d++) {
        ck_assert_int_eq(cudaSetDevice(d & 1), cudaSuccess);
        OK(harness_run_alone(d >> 1, &s.product));
        harness_compare(&s.d, s.expected, "on one of two devices");
        ck_assert_int_eq(cudaGetDevice(&current), cudaSuccess);
        ck_assert_int_eq(current, d & 1);
        ck_assert_int_eq(standin_context_depth(), 0);
    }
    free_sample(&s);
}
END_TEST

static void two_devices(void)
{
    standin.devices = 2;
    open_backend();
}

/** Whoever does not wait where it must reads poison. */
static void slow_streams(void)
{
    standin.delay_us = 200;
    open_backend();
}

/** As on compute capability 9.0, where a kernel of ours serves besides cuBLASLt. */
static void with_sums_of_bytes(void)
{
    standin.major = 9;
    open_backend();
}

static void no_pools(void)
{
    standin.pools = false;
    standin.major = 9;
    open_backend();
}

/** Refused with one line, and no device. */
static void check_declined(void)
{
    nmodgpu_queue *queue;
    OK(harness_enter(nmodgpu_module_entry));
    ck_assert_int_eq(device->open(), NMODGPU_ENODEV);
    ck_assert_int_eq(harness_lines(), 1);
    ck_assert_int_eq(device->device_count(), 0);
    ck_assert_int_eq(device->queue_open(0, &queue), NMODGPU_EINVAL);
    ck_assert_int_eq(standin_count().streams, 0);
}

START_TEST(no_device_is_declined_in_one_line)
{
    standin.devices = 0;
    check_declined();
}
END_TEST

START_TEST(an_old_or_missing_driver_is_declined_in_one_line)
{
    standin.no_driver = cudaErrorInsufficientDriver;
    check_declined();
}
END_TEST

START_TEST(another_cublas_is_declined_in_one_line)
{
    standin.cublas_major = 12;
    check_declined();
    ck_assert_msg(strstr(harness_last_line(), "cuBLAS 13") && strstr(harness_last_line(), "cuBLAS 12"), "%s",
                  harness_last_line());
}
END_TEST

START_TEST(a_device_without_our_kernels_is_not_used)
{
    nmodgpu_queue *queue;
    standin.no_kernels = true;
    open_backend();
    ck_assert_int_eq(device->queue_open(0, &queue), NMODGPU_ENODEV);
    check_clean("without kernels");
}
END_TEST

START_TEST(another_interface_is_refused)
{
    const nmodgpu_host_api other = {.abi_version = NMODGPU_BACKEND_ABI + 1, .size = sizeof other};
    ck_assert_int_eq(nmodgpu_module_entry(&other), NMODGPU_EABI);
}
END_TEST

static TCase *failure_cases(void)
{
    TCase *tc = tcase_create("failures");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, open_backend, NULL);
    tcase_add_loop_test(tc, a_failing_call_is_survived, 0, 4);
    tcase_add_loop_test(tc, a_failing_call_is_survived_in_int8, 0, 4);
    tcase_add_loop_test(tc, a_lost_device_is_given_up, 0, 12);
    tcase_add_test(tc, exhausted_memory_is_reported_and_passes);
    tcase_add_test(tc, without_a_native_algorithm_the_pedantic_type_serves);
    tcase_add_test(tc, results_are_waited_for);
    tcase_add_test(tc, whole_queues_are_used_again_and_failed_ones_are_not);
    return tc;
}

static TCase *opening_cases(void)
{
    TCase *tc = tcase_create("opening");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, a_failure_at_the_start_is_survived, 0, 2);
    tcase_add_test(tc, no_device_is_declined_in_one_line);
    tcase_add_test(tc, an_old_or_missing_driver_is_declined_in_one_line);
    tcase_add_test(tc, another_cublas_is_declined_in_one_line);
    tcase_add_test(tc, a_device_without_our_kernels_is_not_used);
    tcase_add_test(tc, another_interface_is_refused);
    return tc;
}

static TCase *one_case(const char *name, device_setup setup, const TTest *test)
{
    TCase *tc = tcase_create(name);
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, close_backend);
    tcase_add_test(tc, test);
    return tc;
}

int main(void)
{
    sizes.usual = harness_size(sizes.usual);
    Suite *suite = suite_create("cuda on the stand-in");
    suite_add_tcase(suite, device_product_cases(open_backend, close_backend));
    suite_add_tcase(suite, device_kernel_cases(open_backend, close_backend));
    suite_add_tcase(suite, device_queue_cases(open_backend, close_backend));
    suite_add_tcase(suite, device_queue_cases(slow_streams, close_backend));
    suite_add_tcase(suite, device_i8_cases(open_backend, close_backend));
    suite_add_tcase(suite, device_i8_cases(with_sums_of_bytes, close_backend));
    suite_add_tcase(suite, failure_cases());
    suite_add_tcase(suite, opening_cases());
    suite_add_tcase(suite, one_case("two devices", two_devices, the_programs_device_stays_current));
    suite_add_tcase(suite, one_case("no pools", no_pools, devices_without_pools_serve));
    return test_run(suite, CK_FORK_GETENV);
}
