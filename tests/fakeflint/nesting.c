/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * In each case all products are declined, so that each goes to the fake FLINT's function, which comes back
 * with many nested ones.  The report has to count the program's own calls and no other.
 */
#define _GNU_SOURCE 1
#include "nesting.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "harness.h"
#include "support.h"

#define SIZE 32 /* several levels of the fake's recursion */
#define MODULUS 1000003

/* AddressSanitizer would put the arrays of the functions that only take up stack elsewhere. */
#define REAL_FRAME __attribute__((noinline, no_sanitize("address")))

/* LeakSanitizer's, where that is linked in: a longjmp out of FLINT loses FLINT's memory, as it should here. */
extern void __lsan_disable(void) __attribute__((weak));

static fake_api api;
static fake_mat a, b, c;

static void start(const char *variant)
{
    if (__lsan_disable)
        __lsan_disable();
    api = load_behind_dropin(variant);
    a = fake_random(&api, SIZE, SIZE, MODULUS);
    b = fake_random(&api, SIZE, SIZE, MODULUS);
    c = fake_random(&api, SIZE, SIZE, MODULUS);
    api.mul(&c, &a, &b); /* the first call includes the layout's self-test, which makes a product too */
}

/* One product of the program's own, with its result looked at. */
static void one_product(void)
{
    fake_mat want;
    api.init(&want, SIZE, SIZE, MODULUS);
    api.mul_classical(&want, &a, &b);
    api.mul(&c, &a, &b);
    for (int64_t i = 0; i < SIZE; i++)
        for (int64_t j = 0; j < SIZE; j++)
            ck_assert(*api.entry(&want, i, j) == *api.entry(&c, i, j));
    api.clear(&want);
}

/* Runs body with every product declined; the program made `calls` of them besides the one in start. */
static void expect_calls(void (*body)(void *), void *data, int64_t calls)
{
    test_seed();
    const outcome o = run_well(NO_BACKEND, body, data);
    ck_assert_msg(o.arrived == calls + 1 && o.served == 0, "%ld calls: %s", calls, o.line);
}

static void every_operation(void *variant)
{
    start(variant);
    one_product();
    api.addmul(&c, &c, &a, &b);
    api.submul(&c, &c, &a, &b);
    api.mul(&c, &c, &a);
    api.mul(&c, &c, &c);
    ck_assert_int_gt(api.probe->mul + api.probe->addmul, 100);
}

static const char *const variants[] = {"fakeflint-rows", "fakeflint-stride", "fakeflint-symbolic"};

START_TEST(nested_calls_are_not_counted)
{
    expect_calls(every_operation, (void *)variants[_i], 5);
}
END_TEST

static sigjmp_buf out;
static int64_t leave_at; /* leave from inside the product that comes so many later */

static void leave(void)
{
    if (--leave_at == 0)
        siglongjmp(out, 1);
}

static void handler(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void leave_by_signal(void)
{
    if (--leave_at == 0)
        raise(SIGALRM);
}

/* A product that is abandoned inside FLINT, `depth` products down. */
static __attribute__((noinline)) void abandon(int64_t depth)
{
    leave_at = depth;
    api.probe->inside = leave;
    if (sigsetjmp(out, 1) == 0) {
        api.mul(&c, &a, &b);
        ck_abort_msg("the product was to be abandoned");
    }
    api.probe->inside = NULL;
}

/* The same from deeper in the stack: what is called after it returns is shallower than the stale guard. */
static REAL_FRAME void abandon_deep(int64_t depth)
{
    volatile char room[20000];
    room[0] = 1;
    abandon(depth);
    ck_assert_int_eq(room[0], 1);
}

/* Calls from far down, over frames that are left as they were: a stale guard in them stays whole. */
static REAL_FRAME void call_deeper(void (*call)(void))
{
    volatile char untouched[40000];
    (void)untouched;
    __asm__ volatile("" : : "r"(&untouched) : "memory"); /* keeps the room */
    call();
    __asm__ volatile("" : : "r"(&untouched) : "memory");
}

static void one_lu(void)
{
    api.lu(NULL, &c, 0);
}

static void one_strassen(void)
{
    api.mul_strassen(&c, &a, &b); /* four products */
}

static void after_longjmp_shallower(void *data)
{
    (void)data;
    start("fakeflint-rows");
    abandon_deep(1);
    one_product();
    abandon_deep(9);
    one_product();
    one_lu();
    abandon_deep(1);
    one_strassen(); /* the stale frame is whole, and lower than this one */
}

static void after_longjmp_deeper(void *data)
{
    (void)data;
    start("fakeflint-rows");
    for (int64_t depth = 1; depth < 12; depth += 5) {
        abandon(depth);
        call_deeper(one_product);
        abandon(depth);
        call_deeper(one_lu);
    }
}

static REAL_FRAME void call_over_scribble(void (*call)(void))
{
    volatile char scribble[40000];
    for (size_t i = 0; i < sizeof scribble; i++)
        scribble[i] = (char)i;
    call();
    __asm__ volatile("" : : "r"(&scribble) : "memory");
}

/* Called from a function that makes nested calls as well: here only the stale frame itself can tell. */
static void after_longjmp_overwritten(void *data)
{
    (void)data;
    start("fakeflint-rows");
    one_strassen();
    abandon(2);
    call_over_scribble(one_strassen);
}

static void after_signals(void *data)
{
    struct sigaction action;
    (void)data;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    start("fakeflint-stride");
    for (volatile int i = 1; i <= 8; i++) {
        leave_at = i;
        api.probe->inside = leave_by_signal;
        if (sigsetjmp(out, 1) == 0) {
            api.mul(&c, &a, &b);
            ck_abort_msg("the product was to be abandoned");
        }
        api.probe->inside = NULL;
        one_product();
    }
}

/* Abandoned calls have arrived too. */
START_TEST(a_longjmp_out_of_flint_leaves_no_trace)
{
    expect_calls(after_longjmp_shallower, NULL, 3 + 7);
    expect_calls(after_longjmp_deeper, NULL, 6 + 6);
    expect_calls(after_longjmp_overwritten, NULL, 1 + 8);
    expect_calls(after_signals, NULL, 8 + 8);
}
END_TEST

static void *other_thread(void *data)
{
    (void)data;
    for (int i = 0; i < 5; i++) {
        fake_mat x, y;
        api.init(&x, SIZE, SIZE, MODULUS);
        api.init(&y, SIZE, SIZE, MODULUS);
        api.mul(&x, &a, &b);
        api.mul_classical(&y, &a, &b);
        for (int64_t j = 0; j < SIZE; j++)
            ck_assert(*api.entry(&x, j, j) == *api.entry(&y, j, j));
        api.clear(&x);
        api.clear(&y);
    }
    return NULL;
}

static void inside_start_thread(void)
{
    pthread_t thread;
    api.probe->inside = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Another thread's calls are its own, also while this one is inside FLINT. */
static void from_threads(void *data)
{
    pthread_t thread[3];
    (void)data;
    start("fakeflint-rows");
    api.probe->inside = inside_start_thread;
    one_product();
    abandon(3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, other_thread, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}

START_TEST(threads_have_their_own_guards)
{
    expect_calls(from_threads, NULL, 1 + 5 + 1 + 15);
}
END_TEST

static void inside_call_again(void)
{
    fake_mat x;
    api.probe->inside = NULL;
    api.init(&x, SIZE, SIZE, MODULUS);
    api.mul(&x, &a, &b);
    api.lu(NULL, &x, 0);
    api.clear(&x);
}

/* A program's own call from inside FLINT (a callback) is a call, and the outer one stays guarded. */
static void from_callback(void *data)
{
    (void)data;
    start("fakeflint-rows");
    api.probe->inside = inside_call_again;
    one_product();
}

START_TEST(a_callback_may_call)
{
    expect_calls(from_callback, NULL, 3);
}
END_TEST

static ucontext_t main_context, coroutine;
#define STACK_BYTES (256 * 1024)

static void *start_coroutine(void (*body)(void))
{
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(stack != MAP_FAILED);
    ck_assert_int_eq(getcontext(&coroutine), 0);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK_BYTES;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, body, 0);
    ck_assert_int_eq(swapcontext(&main_context, &coroutine), 0);
    return stack;
}

static void suspend(void)
{
    api.probe->inside = NULL;
    ck_assert_int_eq(swapcontext(&coroutine, &main_context), 0);
}

static void suspended_product(void)
{
    api.probe->inside = suspend;
    one_product();
}

static void inside_start_coroutine(void)
{
    api.probe->inside = NULL;
    munmap(start_coroutine(one_strassen), STACK_BYTES);
}

/* A call on a coroutine's stack is guarded too; one that is suspended inside FLINT hinders no other. */
static void on_coroutines(void *data)
{
    (void)data;
    start("fakeflint-rows");
    munmap(start_coroutine(one_product), STACK_BYTES);
    one_product();
    void *stack = start_coroutine(suspended_product);
    one_product();
    ck_assert_int_eq(swapcontext(&main_context, &coroutine), 0);
    munmap(stack, STACK_BYTES);
    munmap(start_coroutine(suspended_product), STACK_BYTES); /* abandoned, and its stack is gone */
    one_product();
    call_deeper(one_product);
    call_deeper(one_lu);
    api.probe->inside = inside_start_coroutine; /* its four calls are not inside this stack's product */
    api.mul(&c, &a, &b);
}

START_TEST(coroutines_may_call)
{
    expect_calls(on_coroutines, NULL, 1 + 12);
}
END_TEST

TCase *nesting_cases(void)
{
    TCase *nesting = tcase_create("nesting");
    tcase_set_timeout(nesting, 120);
    tcase_add_loop_test(nesting, nested_calls_are_not_counted, 0, 3);
    tcase_add_test(nesting, a_longjmp_out_of_flint_leaves_no_trace);
    tcase_add_test(nesting, threads_have_their_own_guards);
    tcase_add_test(nesting, a_callback_may_call);
    tcase_add_test(nesting, coroutines_may_call);
    return nesting;
}
