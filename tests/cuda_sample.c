/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cuda_sample.h"

#include "cuda/queue.h"
#include "standin/standin.h"
#include "support.h"

void check_clean(const char *when)
{
    for (int32_t i = 0; i < device->device_count(); i++)
        nmodgpu_cuda_queues_drop(i);
    const standin_counts c = standin_count();
    ck_assert_msg(!c.allocations && !c.pinned && !c.streams && !c.events && !c.handles && !c.bytes,
                  "%s: left are %lld allocations, %lld pinned, %lld streams, %lld events, %lld handles", when,
                  (long long)c.allocations, (long long)c.pinned, (long long)c.streams, (long long)c.events,
                  (long long)c.handles);
    ck_assert_msg(standin_mistakes() == 0, "%s: %s", when, standin_first_mistake());
    ck_assert_msg(standin_context_depth() == 0, "%s: %d contexts stay pushed", when, standin_context_depth());
}

static const uint64_t p = 2147483647;

static void make_matrices(sample *s)
{
    s->a = harness_host(12, 11, p, TEST_UNIFORM, LAYOUT_PERMUTED);
    s->b = harness_host(11, 9, p, TEST_UNIFORM, LAYOUT_STRIDE);
    s->c = harness_host(12, 9, p, TEST_UNIFORM, LAYOUT_DENSE);
    s->d = harness_host_result(12, 9, p, LAYOUT_PERMUTED);
    s->product = (harness_product){
        .plan = &s->plan, .a = &s->a.view, .b = &s->b.view, .c = &s->c.view, .d = &s->d.view, .sign = -1};
    s->product.element_bytes = 4;
    harness_expect(s->expected, s->c.plain, -1, s->a.plain, s->b.plain, 12, 11, 9, p);
}

void make_sample(sample *s)
{
    if (!harness_plan(&s->plan, p, 2, 2, false))
        ck_abort_msg("no plan");
    for (uint32_t g = 0; g < s->plan.sums; g++)
        s->plan.block[g] = 8;
    make_matrices(s);
}

void make_sample_i8(sample *s, nmodgpu_i8_kind kind)
{
    if (!nmodgpu_i8_plan(&s->plan, kind, p, 12, 11, 9))
        ck_abort_msg("no plan");
    make_matrices(s);
}

void free_sample(sample *s)
{
    harness_host_free(&s->a);
    harness_host_free(&s->b);
    harness_host_free(&s->c);
    harness_host_free(&s->d);
}

nmodgpu_status run_sample(sample *s)
{
    nmodgpu_queue *queue;
    nmodgpu_event *event = NULL;
    nmodgpu_device_info info;
    nmodgpu_status status = device->queue_open(0, &queue);
    if (status != NMODGPU_OK)
        return status;
    status = device->device_info(0, &info);
    if (status == NMODGPU_OK)
        status = harness_run(queue, &s->product);
    if (status == NMODGPU_OK)
        status = device->submit(queue, &event);
    if (status == NMODGPU_OK)
        status = device->queue_wait(queue, event);
    if (status == NMODGPU_OK)
        status = device->wait(queue, event);
    device->event_free(event);
    device->queue_close(queue, status != NMODGPU_OK);
    return status;
}
