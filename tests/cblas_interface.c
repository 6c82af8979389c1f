/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The backend's calls one by one: what they say of the device, what they count, what they refuse.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend_driver.h"
#include "cblas_cases.h"
#include "support.h"

START_TEST(the_device_is_described)
{
    nmodgpu_device_info info;
    ck_assert_str_eq(cblas_backend->name, "cblas");
    ck_assert_int_eq(cblas_backend->device_count(), 1);
    ck_assert_int_eq(cblas_backend->device_info(0, &info), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->device_info(1, &info), NMODGPU_EINVAL);
    ck_assert_int_eq(strncmp(info.name, "CPU", 3), 0);
    ck_assert(info.detail[0] != 0);
    ck_assert(info.memory_bytes > 1u << 26 && info.memory_bytes < 1ULL << 52);
    ck_assert(info.free_bytes > 0 && info.free_bytes <= info.memory_bytes);
    ck_assert(info.rates.f64_flops > 1e8 && info.rates.f64_flops < 1e15);
    ck_assert(info.rates.pass_bytes > 1e7 && info.rates.pass_bytes < 1e14);
    ck_assert(info.rates.import_bytes > 1e7 && info.rates.export_bytes > 1e7);
}
END_TEST

START_TEST(a_host_of_another_version_is_refused)
{
    nmodgpu_host_api other;
    memset(&other, 0, sizeof other);
    other.abi_version = NMODGPU_BACKEND_ABI + 1;
    ck_assert_int_eq(nmodgpu_module_entry(&other), NMODGPU_EABI);
}
END_TEST

/** p = 3, two left digits base 2, one right, two sums of one term each; exact for an inner length of 40. */
static nmodgpu_plan small_plan(void)
{
    nmodgpu_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.number = NMODGPU_F64;
    plan.encoding = NMODGPU_DIGITS;
    plan.modulus = 3;
    plan.left = (nmodgpu_operand_plan){
        .digits = 2, .digit_bits = 1, .planes = 2, .plane_digits = {1, 2}, .plane_bound = {1, 1}};
    plan.right = (nmodgpu_operand_plan){.digits = 1, .planes = 1, .plane_digits = {1}, .plane_bound = {1}};
    plan.terms = plan.sums = 2;
    plan.term[0] = (nmodgpu_term){0, 0, 0};
    plan.term[1] = (nmodgpu_term){1, 0, 1};
    plan.coefficient[0] = 1;
    plan.coefficient[1] = 2;
    plan.weight[0] = plan.weight[1] = 1;
    plan.lambda[0] = plan.lambda[1] = plan.block[0] = plan.block[1] = 40;
    return plan;
}

/** Everything for one small product on the device. */
typedef struct scene {
    nmodgpu_plan plan;
    nmodgpu_queue *queue;
    uint64_t a[6 * 20], b[20 * 7], c[6 * 7];
    nmodgpu_matrix left, right, sums, out;
} scene;

static void scene_open(scene *s)
{
    memset(s, 0, sizeof *s);
    s->plan = small_plan();
    test_fill(s->a, 6, 20, 20, 3, TEST_UNIFORM);
    test_fill(s->b, 20, 7, 7, 3, TEST_UNIFORM);
    ck_assert_int_eq(cblas_backend->queue_open(0, &s->queue), NMODGPU_OK);
    const nmodgpu_matrix a = driver_host(3, s->a, 20, 6, 20), b = driver_host(3, s->b, 7, 20, 7);
    s->left = driver_planes(&s->plan, NMODGPU_LEFT, 6, 20);
    s->right = driver_planes(&s->plan, NMODGPU_RIGHT, 20, 7);
    s->sums = driver_sums(&s->plan, 6, 7);
    s->out = driver_words(3, 6, 7, 4);
    ck_assert_int_eq(driver_prepare(cblas_backend, s->queue, &s->left, &a), NMODGPU_OK);
    ck_assert_int_eq(driver_prepare(cblas_backend, s->queue, &s->right, &b), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->matrix_alloc(s->queue, &s->sums), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->matrix_alloc(s->queue, &s->out), NMODGPU_OK);
}

static void scene_close(scene *s)
{
    cblas_backend->matrix_free(s->queue, &s->left);
    cblas_backend->matrix_free(s->queue, &s->right);
    cblas_backend->matrix_free(s->queue, &s->sums);
    cblas_backend->matrix_free(s->queue, &s->out);
    ck_assert_ptr_null(s->out.data);
    cblas_backend->matrix_free(s->queue, &s->out); /* without data: allowed */
    cblas_backend->queue_close(s->queue, false);
}

START_TEST(sums_accumulate_and_count_their_inner_length)
{
    scene s;
    uint64_t expected[6 * 7];
    scene_open(&s);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &s.left, &s.right, false), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 1, &s.left, &s.right, true), NMODGPU_OK);
    ck_assert_int_eq(s.sums.inner_used[0], 40);
    ck_assert_int_eq(s.sums.inner_used[1], 20);
    /* Plane 0 has reached its 40, plane 1 has not. */
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &s.left, &s.right, true),
                     NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 2, &s.left, &s.right, true), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->reduce(s.queue, &s.out, NULL, 1, &s.sums, 3), NMODGPU_OK);
    ck_assert_int_eq(s.sums.inner_used[0], 0);
    ck_assert_int_eq(s.sums.inner_used[1], 0);
    const nmodgpu_matrix c = driver_host(3, s.c, 7, 6, 7);
    ck_assert_int_eq(cblas_backend->export_words(s.queue, &c, &s.out), NMODGPU_OK);
    test_product(expected, 7, NULL, 0, 1, s.a, 20, s.b, 7, 6, 20, 7, 3);
    for (int i = 0; i < 6 * 7; i++)
        ck_assert_uint_eq(s.c[i], 2 * expected[i] % 3);
    scene_close(&s);
}
END_TEST

START_TEST(an_empty_inner_range_clears_sums)
{
    scene s;
    scene_open(&s);
    memset(s.sums.data, 0xff, 8); /* a NaN */
    const nmodgpu_matrix l = nmodgpu_matrix_window(&s.left, 0, 6, 5, 5),
                         r = nmodgpu_matrix_window(&s.right, 5, 5, 0, 7);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &l, &r, false), NMODGPU_OK);
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 7; j++)
                ck_assert(((double *)s.sums.data)[g * s.sums.plane_stride + i * s.sums.stride + j] == 0);
    scene_close(&s);
}
END_TEST

START_TEST(a_first_product_reads_no_old_sums)
{
    scene s;
    scene_open(&s);
    memset(s.sums.data, 0xff, (size_t)s.sums.plane_stride * 2 * 8); /* NaNs */
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &s.left, &s.right, false), NMODGPU_OK);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++)
            ck_assert(((double *)s.sums.data)[i * s.sums.stride + j] >= -40);
    scene_close(&s);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    scene s;
    scene_open(&s);
    nmodgpu_matrix wrong = s.right;
    wrong.rows = 19;
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &s.left, &wrong, false),
                     NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &s.right, &s.left, false),
                     NMODGPU_EINVAL);
    wrong = s.out;
    wrong.cols = 6;
    ck_assert_int_eq(cblas_backend->reduce(s.queue, &wrong, NULL, 1, &s.sums, 3), NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->reduce(s.queue, &s.out, &wrong, 1, &s.sums, 3), NMODGPU_EINVAL);
    wrong = s.out;
    wrong.modulus = 1ULL << 32; /* 4 bytes cannot hold its entries */
    ck_assert_int_eq(cblas_backend->reduce(s.queue, &wrong, NULL, 1, &s.sums, 3), NMODGPU_EINVAL);
    const nmodgpu_matrix host = driver_host(3, s.c, 7, 6, 7);
    ck_assert_int_eq(cblas_backend->prepare(s.queue, &s.left, &s.out), NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->prepare(s.queue, &s.left, &host), NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->export_words(s.queue, &s.out, &s.out), NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->import_words(s.queue, &s.left, &host), NMODGPU_EINVAL);
    scene_close(&s);
}
END_TEST

START_TEST(plans_in_other_machine_types_are_declined)
{
    scene s;
    scene_open(&s);
    nmodgpu_plan plan = s.plan;
    plan.number = NMODGPU_I8;
    plan.encoding = NMODGPU_RESIDUES;
    nmodgpu_matrix left = s.left, sums = s.sums;
    left.plan = sums.plan = &plan;
    nmodgpu_matrix words = driver_words(3, 6, 20, 4);
    ck_assert_int_eq(cblas_backend->matrix_alloc(s.queue, &words), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->prepare(s.queue, &left, &words), NMODGPU_DECLINED);
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &sums, 3, &s.left, &s.right, false),
                     NMODGPU_DECLINED);
    ck_assert_int_eq(cblas_backend->reduce(s.queue, &s.out, NULL, 1, &sums, 3), NMODGPU_DECLINED);
    cblas_backend->matrix_free(s.queue, &words);
    scene_close(&s);
}
END_TEST

/** Sizes that the 32-bit integers of a BLAS cannot name; no memory of that size is touched. */
START_TEST(sizes_beyond_the_integers_of_the_blas_are_refused)
{
    scene s;
    scene_open(&s);
    const int64_t huge = (int64_t)INT_MAX + 1;
    nmodgpu_matrix left = s.left, right = s.right, sums = s.sums;
    left.rows = sums.rows = huge;
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &sums, 3, &left, &s.right, false), NMODGPU_EINVAL);
    sums = s.sums;
    right.cols = sums.cols = huge;
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &sums, 3, &s.left, &right, false), NMODGPU_EINVAL);
    left = s.left;
    left.stride = huge;
    ck_assert_int_eq(cblas_backend->multiply_accumulate(s.queue, &s.sums, 3, &left, &s.right, false),
                     NMODGPU_EINVAL);
    scene_close(&s);
}
END_TEST

START_TEST(impossible_amounts_of_memory_are_refused)
{
    static const int64_t shapes[][2] = {
        {1LL << 62, 1}, {1, 1LL << 62}, {1LL << 31, 1LL << 31}, {1LL << 23, 1LL << 31}};
    nmodgpu_queue *queue;
    ck_assert_int_eq(cblas_backend->queue_open(1, &queue), NMODGPU_EINVAL);
    ck_assert_int_eq(cblas_backend->queue_open(0, &queue), NMODGPU_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        nmodgpu_matrix m = driver_words(UINT64_MAX, shapes[i][0], shapes[i][1], 8);
        ck_assert_int_eq(cblas_backend->matrix_alloc(queue, &m), NMODGPU_ENOMEM);
        ck_assert_ptr_null(m.data);
        ck_assert(cblas_backend->matrix_bytes(&m) > 1ULL << 50);
    }
    nmodgpu_matrix m = driver_words(UINT64_MAX, -1, 5, 8);
    ck_assert_int_eq(cblas_backend->matrix_alloc(queue, &m), NMODGPU_EINVAL);
    cblas_backend->queue_close(queue, true);
}
END_TEST

/* OpenBLAS tries for ever to map a buffer. */
START_TEST(no_product_is_begun_without_room_for_the_buffer_of_the_blas)
{
    struct rlimit before, tight;
    nmodgpu_queue *queue;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    ck_assert(statm && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &tight), 0);
    const nmodgpu_status status = cblas_backend->queue_open(0, &queue);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(status, NMODGPU_ENOMEM);
    ck_assert_int_eq(cblas_backend->queue_open(0, &queue), NMODGPU_OK);
    cblas_backend->queue_close(queue, false);
}
END_TEST

START_TEST(events_tell_the_time)
{
    nmodgpu_queue *queue, *other;
    nmodgpu_event *from, *to;
    double seconds = -1;
    ck_assert_int_eq(cblas_backend->queue_open(0, &queue), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->queue_open(0, &other), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->submit(queue, &from), NMODGPU_OK);
    nmodgpu_matrix m = driver_words(3, 100, 100, 4);
    ck_assert_int_eq(cblas_backend->matrix_alloc(queue, &m), NMODGPU_OK);
    memset(m.data, 0, cblas_backend->matrix_bytes(&m));
    cblas_backend->matrix_free(queue, &m);
    ck_assert_int_eq(cblas_backend->submit(queue, &to), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->submit(queue, NULL), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->queue_wait(other, to), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->wait(queue, to), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->wait(other, NULL), NMODGPU_OK);
    ck_assert_int_eq(cblas_backend->event_seconds(from, to, &seconds), NMODGPU_OK);
    ck_assert(seconds > 0 && seconds < 60);
    cblas_backend->event_free(from);
    cblas_backend->event_free(to);
    cblas_backend->queue_close(queue, false);
    cblas_backend->queue_close(other, false);
}
END_TEST

TCase *cblas_interface_cases(void)
{
    TCase *c = tcase_create("interface");
    tcase_add_test(c, the_device_is_described);
    tcase_add_test(c, a_host_of_another_version_is_refused);
    tcase_add_test(c, sums_accumulate_and_count_their_inner_length);
    tcase_add_test(c, an_empty_inner_range_clears_sums);
    tcase_add_test(c, a_first_product_reads_no_old_sums);
    tcase_add_test(c, what_does_not_fit_is_refused);
    tcase_add_test(c, plans_in_other_machine_types_are_declined);
    tcase_add_test(c, sizes_beyond_the_integers_of_the_blas_are_refused);
    tcase_add_test(c, impossible_amounts_of_memory_are_refused);
    tcase_add_test(c, no_product_is_begun_without_room_for_the_buffer_of_the_blas);
    tcase_add_test(c, events_tell_the_time);
    return c;
}
