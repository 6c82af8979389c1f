/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Words on their way to and from a device through shared buffers, on the stand-in.
 */
#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cuda/queue.h"
#include "device_harness.h"
#include "host_matrix.h"
#include "matrices.h"
#include "standin/standin.h"
#include "stream.h"
#include "suite.h"
#include "support.h"

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

static void begin(void)
{
    fprintf(stderr, "seed %" PRIu64 "\n", test_seed());
    OK(harness_enter(nmodgpu_module_entry));
    OK(device->open());
}

/** Nothing is left on the devices but their contexts. */
static void end(void)
{
    for (int32_t i = 0; i < device->device_count(); i++)
        nmodgpu_cuda_queues_drop(i);
    nmodgpu_stream_drop_buffers();
    const standin_counts c = standin_count();
    ck_assert_msg(standin_mistakes() == 0, "%s", standin_first_mistake());
    ck_assert_int_eq(c.allocations, 0);
    ck_assert_int_eq(c.pinned, 0);
    ck_assert_int_eq(c.events, 0);
    ck_assert_int_eq(c.streams, 0);
    ck_assert_int_eq(standin_context_depth(), 0);
}

static const struct {
    uint64_t p;
    uint32_t bytes;
} widths[] = {{251, 1}, {65521, 2}, {2147483647, 4}, {2147483647, 8}, {UINT64_C(18446744073709551557), 8}};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct trip {
    test_matrix from, to;
    uint64_t *expected;
    uint64_t p;
    uint32_t bytes;
} trip;

static trip trip_make(int64_t rows, int64_t cols, int width)
{
    trip t = {.p = widths[width].p, .bytes = widths[width].bytes};
    t.from = test_matrix_make(rows, cols, (test_layout)test_below(TEST_LAYOUTS));
    t.to = test_matrix_make(rows, cols, (test_layout)test_below(TEST_LAYOUTS));
    test_view_fill(&t.from.view, t.p);
    t.expected = test_view_dense(&t.from.view);
    return t;
}

static void trip_free(trip *t)
{
    test_matrix_free(&t->from);
    test_matrix_free(&t->to);
    free(t->expected);
}

/** To the device and back; the host's matrix may change as soon as the import is done. */
static nmodgpu_status there_and_back(nmodgpu_queue *queue, const trip *t)
{
    const nmodgpu_matrix from = nmodgpu_host_matrix(&t->from.view, t->p);
    const nmodgpu_matrix to = nmodgpu_host_matrix(&t->to.view, t->p);
    nmodgpu_matrix words = harness_words(t->p, from.rows, from.cols, t->bytes);
    nmodgpu_status status = device->matrix_alloc(queue, &words);
    if (status == NMODGPU_OK)
        status = nmodgpu_stream_import(device, queue, &words, &from);
    if (status == NMODGPU_OK)
        status = nmodgpu_stream_export(device, queue, &to, &words);
    if (status == NMODGPU_OK)
        status = device->wait(queue, NULL);
    device->matrix_free(queue, &words);
    return status;
}

static nmodgpu_status travel(int32_t index, const trip *t)
{
    nmodgpu_queue *queue;
    nmodgpu_status status = device->queue_open(index, &queue);
    if (status != NMODGPU_OK)
        return status;
    status = there_and_back(queue, t);
    device->queue_close(queue, status != NMODGPU_OK);
    return status;
}

static void check_arrived(const trip *t, const char *what)
{
    test_compare(&t->to.view, t->expected, what);
    test_matrix_check_padding(&t->to);
}

START_TEST(every_entry_arrives)
{
    static const struct {
        int64_t rows, cols;
    } shapes[] = {{0, 5}, {5, 0}, {1, 1}, {50, 60}, {1300, 1100}, {1, 3000000}, {2500000, 1}, {3, 1400000}};
    begin();
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        trip t = trip_make(shapes[s].rows, shapes[s].cols, _i);
        OK(travel(0, &t));
        check_arrived(&t, "one matrix");
        trip_free(&t);
    }
    end();
}
END_TEST

static void *traveller(void *argument)
{
    const trip *t = argument;
    for (int i = 0; i < 3; i++)
        if (travel((int32_t)(t->p % 3), t) != NMODGPU_OK)
            return argument;
    return NULL;
}

/** More buffers are wanted than there may be, by several devices. */
START_TEST(threads_and_devices_share_the_buffers)
{
    enum { THREADS = 8 };
    trip t[THREADS];
    pthread_t thread[THREADS];
    setenv("NMODGPU_THREADS", "32", 1);
    standin.devices = 4;
    standin.delay_us = 100;
    begin();
    for (int i = 0; i < THREADS; i++) {
        t[i] = trip_make(900 + 40 * i, 2000, i % WIDTHS);
        ck_assert_int_eq(pthread_create(&thread[i], NULL, traveller, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(thread[i], &failed), 0);
        ck_assert_ptr_null(failed);
        check_arrived(&t[i], "one of many");
        trip_free(&t[i]);
    }
    end();
}
END_TEST

#ifndef __SANITIZE_ADDRESS__ /* UBSan, which comes with it, stops at such loads, as it should */
/** C does not allow them, processors do. */
START_TEST(rows_of_any_alignment_arrive)
{
    enum { N = 1200 };
    begin();
    char *from = malloc(N * N * 8 + 8), *to = malloc(N * N * 8 + 8);
    uint64_t *rows[2][N];
    trip t = {.p = widths[2].p, .bytes = widths[2].bytes};
    for (int64_t i = 0; i < N * N * 8; i++)
        from[4 + i] = i % 8 < 3 ? (char)(i / 8 + i) : 0;
    for (int64_t i = 0; i < N; i++) {
        rows[0][i] = (void *)(from + 4 + i * N * 8);
        rows[1][i] = (void *)(to + (_i ? 0 : 4) + i * N * 8);
    }
    if (_i) /* only the last row of the result is off */
        rows[1][N - 1] = (void *)(to + 4 + (N - 1) * (int64_t)N * 8);
    for (int side = 0; side < 2; side++)
        (side ? &t.to : &t.from)->view = (nmodgpu_view){.rows = N, .cols = N, .row_table = rows[side]};
    OK(travel(0, &t));
    for (int64_t i = 0; i < N; i++)
        ck_assert_int_eq(memcmp(rows[0][i], rows[1][i], N * 8), 0);
    free(from);
    free(to);
    end();
}
END_TEST
#endif

/** A matrix of one chunk on a queue of its own. */
typedef struct visitor {
    trip t;
    nmodgpu_queue *queue;
    nmodgpu_matrix words, from, to;
} visitor;

static void visitor_open(visitor *v)
{
    v->t = trip_make(1024, 1024, 0);
    v->from = nmodgpu_host_matrix(&v->t.from.view, v->t.p);
    v->to = nmodgpu_host_matrix(&v->t.to.view, v->t.p);
    v->words = harness_words(v->t.p, 1024, 1024, 1);
    OK(device->queue_open(0, &v->queue));
    OK(device->matrix_alloc(v->queue, &v->words));
}

static void visitor_close(visitor *v)
{
    OK(nmodgpu_stream_export(device, v->queue, &v->to, &v->words));
    check_arrived(&v->t, "after another queue had the buffer");
    device->matrix_free(v->queue, &v->words);
    device->queue_close(v->queue, false);
    trip_free(&v->t);
}

/** One buffer, which a slow queue has yet to read when a quick one wants to write it. */
START_TEST(a_buffer_is_not_overwritten_before_it_is_read)
{
    enum { BACKLOG = 20 };
    visitor slow, quick;
    nmodgpu_buffer *own;
    void *memory;
    setenv("NMODGPU_THREADS", "2", 1);
    begin();
    visitor_open(&quick);
    visitor_open(&slow);
    OK(device->buffer_open(0, 64, &own, &memory));
    OK(nmodgpu_stream_import(device, quick.queue, &quick.words, &quick.from));
    OK(device->wait(quick.queue, NULL));
    memset(memory, 0, 64);
    standin.delay_us = 10000;
    const nmodgpu_matrix corner = nmodgpu_matrix_window(&slow.words, 0, 8, 0, 8);
    for (int i = 0; i < BACKLOG; i++)
        OK(device->buffer_copy(slow.queue, own, &corner, true));
    OK(nmodgpu_stream_import(device, slow.queue, &slow.words, &slow.from));
    visitor_close(&quick);
    visitor_close(&slow);
    standin.delay_us = 0;
    device->buffer_close(own);
    end();
}
END_TEST

START_TEST(a_failing_call_is_survived)
{
    int failures = 0;
    setenv("NMODGPU_THREADS", "3", 1);
    begin();
    trip t = trip_make(1000, 700, 2);
    for (int64_t n = 1;; n++) {
        standin_fail_call(n, _i ? cudaErrorMemoryAllocation : cudaErrorNotSupported, false);
        const nmodgpu_status status = travel(0, &t);
        const bool reached = standin_calls() >= n;
        standin_fail_call(0, 0, false);
        if (status == NMODGPU_OK)
            check_arrived(&t, "a call has failed");
        failures += status != NMODGPU_OK;
        if (!reached)
            break;
        OK(travel(0, &t));
        check_arrived(&t, "after a failure");
        if (n % 3 == 0)
            end();
    }
    if (_i)
        ck_assert_int_lt(failures, 15); /* without memory for buffers there is another way */
    else
        ck_assert_int_gt(failures, 20);
    trip_free(&t);
    end();
}
END_TEST

START_TEST(what_does_not_fit_a_buffer_is_refused)
{
    nmodgpu_queue *queue;
    nmodgpu_buffer *buffer;
    void *memory;
    nmodgpu_matrix words = harness_words(251, 10, 10, 1);
    begin();
    OK(device->queue_open(0, &queue));
    OK(device->matrix_alloc(queue, &words));
    OK(device->buffer_open(0, 100, &buffer, &memory));
    OK(device->buffer_wait(buffer)); /* nothing to wait for */
    memset(memory, 7, 100);
    OK(device->buffer_copy(queue, buffer, &words, true));
    OK(device->buffer_wait(buffer));
    nmodgpu_matrix other = words;
    other.rows = 11;
    ck_assert_int_eq(device->buffer_copy(queue, buffer, &other, true), NMODGPU_EINVAL);
    other.rows = INT64_MAX;
    other.cols = INT64_MAX;
    ck_assert_int_eq(device->buffer_copy(queue, buffer, &other, true), NMODGPU_EINVAL);
    other = words;
    other.representation = NMODGPU_PLANES;
    ck_assert_int_eq(device->buffer_copy(queue, buffer, &other, true), NMODGPU_EINVAL);
    other = words;
    other.device = NMODGPU_HOST;
    ck_assert_int_eq(device->buffer_copy(queue, buffer, &other, false), NMODGPU_EINVAL);
    device->buffer_close(buffer);
    device->buffer_close(NULL);
    device->matrix_free(queue, &words);
    device->queue_close(queue, false);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream");
    TCase *c = tcase_create("stream");
    tcase_set_timeout(c, 240);
    tcase_add_loop_test(c, every_entry_arrives, 0, WIDTHS);
    tcase_add_test(c, threads_and_devices_share_the_buffers);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_loop_test(c, rows_of_any_alignment_arrive, 0, 2);
#endif
    tcase_add_test(c, a_buffer_is_not_overwritten_before_it_is_read);
    tcase_add_loop_test(c, a_failing_call_is_survived, 0, 2);
    tcase_add_test(c, what_does_not_fit_a_buffer_is_refused);
    suite_add_tcase(suite, c);
    return test_run(suite, CK_FORK_GETENV);
}
