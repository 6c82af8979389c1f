/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The helper threads: every task once, whoever calls, whatever the system refuses.
 */
#define _GNU_SOURCE 1
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processors.h"
#include "suite.h"
#include "workers.h"

enum { TASKS = 2000 };

/* ---- a system that gives so many threads and then no more */

static _Atomic int threads_left = INT_MAX;

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                   void *restrict argument)
{
    create_fn *real;
    void *address = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &address, sizeof real);
    if (atomic_fetch_sub(&threads_left, 1) <= 0)
        return EAGAIN;
    return real(thread, attributes, start, argument);
}

/* ---- counting */

typedef struct counts {
    _Atomic int of[TASKS];
    pthread_t caller;
    _Atomic int elsewhere; /* tasks on other threads than the caller */
    useconds_t each;       /* microseconds that a task sleeps */
} counts;

static void count_task(void *arg, int64_t index)
{
    counts *c = arg;
    atomic_fetch_add(&c->of[index], 1);
    if (!pthread_equal(pthread_self(), c->caller))
        atomic_fetch_add(&c->elsewhere, 1);
    if (c->each)
        usleep(c->each);
}

static void counts_init(counts *c, useconds_t each)
{
    memset(c, 0, sizeof *c);
    c->caller = pthread_self();
    c->each = each;
}

static void check_once(const counts *c, int64_t tasks)
{
    for (int64_t i = 0; i < TASKS; i++)
        ck_assert_int_eq(c->of[i], i < tasks);
}

static void run_and_check(nmodgpu_workers *workers, int64_t tasks)
{
    counts c;
    counts_init(&c, 0);
    nmodgpu_workers_run(workers, count_task, &c, tasks);
    check_once(&c, tasks);
}

START_TEST(every_task_runs_once)
{
    static const int threads[] = {-1, 0, 1, 2, 3, 8, 33};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        nmodgpu_workers *workers = nmodgpu_workers_open(threads[t]);
        ck_assert_ptr_nonnull(workers);
        ck_assert_int_eq(nmodgpu_workers_threads(workers), threads[t] > 1 ? threads[t] : 1);
        for (int64_t tasks = 0; tasks < 40; tasks++)
            run_and_check(workers, tasks);
        run_and_check(workers, TASKS);
        nmodgpu_workers_close(workers);
    }
}
END_TEST

START_TEST(no_workers_are_served_too)
{
    ck_assert_int_eq(nmodgpu_workers_threads(NULL), 1);
    run_and_check(NULL, TASKS);
    nmodgpu_workers_close(NULL);
}
END_TEST

START_TEST(workers_do_their_part)
{
    nmodgpu_workers *workers = nmodgpu_workers_open(4);
    counts c;
    counts_init(&c, 1000);
    nmodgpu_workers_run(workers, count_task, &c, 100);
    check_once(&c, 100);
    ck_assert_int_gt(c.elsewhere, 0);
    nmodgpu_workers_close(workers);
}
END_TEST

START_TEST(jobs_advance_without_their_caller)
{
    nmodgpu_workers *workers = nmodgpu_workers_open(3);
    counts c[2];
    nmodgpu_job job[2];
    for (int i = 0; i < 2; i++) {
        counts_init(&c[i], 100);
        nmodgpu_job_start(&job[i], workers, count_task, &c[i], 50);
    }
    for (int i = 0; i < 2; i++)
        while (!nmodgpu_job_done(&job[i]))
            usleep(100);
    for (int i = 0; i < 2; i++) {
        check_once(&c[i], 50);
        ck_assert_int_eq(c[i].elsewhere, 50);
        nmodgpu_job_finish(&job[i]);
        check_once(&c[i], 50);
    }
    nmodgpu_workers_close(workers);
}
END_TEST

/* ---- tasks that run tasks */

typedef struct nest {
    nmodgpu_workers *workers;
    counts inner[8];
} nest;

static void nested_task(void *arg, int64_t index)
{
    nest *n = arg;
    nmodgpu_workers_run(n->workers, count_task, &n->inner[index], 100);
}

START_TEST(tasks_may_run_tasks)
{
    static nest n;
    n.workers = nmodgpu_workers_open(3);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++)
            counts_init(&n.inner[i], 0);
        nmodgpu_workers_run(n.workers, nested_task, &n, 8);
        for (int i = 0; i < 8; i++)
            check_once(&n.inner[i], 100);
    }
    nmodgpu_workers_close(n.workers);
}
END_TEST

/* ---- many callers */

enum { CALLERS = 16 };

static void *call_often(void *arg)
{
    for (int round = 0; round < 50; round++)
        run_and_check(arg, 1 + round * 7 % TASKS);
    return NULL;
}

START_TEST(callers_share_the_workers)
{
    nmodgpu_workers *workers = nmodgpu_workers_open(4);
    pthread_t caller[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&caller[i], NULL, call_often, workers), 0);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_join(caller[i], NULL), 0);
    run_and_check(workers, TASKS);
    nmodgpu_workers_close(workers);
}
END_TEST

typedef struct crowd {
    nmodgpu_workers *workers;
    _Atomic int callers_inside, by_workers, done;
    _Atomic bool open;
} crowd;

static _Thread_local bool a_caller;

/** A caller stays in its task until all may leave. */
static void crowd_task(void *arg, int64_t index)
{
    crowd *c = arg;
    (void)index;
    atomic_fetch_add(&c->done, 1);
    if (!a_caller) {
        atomic_fetch_add(&c->by_workers, 1);
        usleep(200);
        return;
    }
    atomic_fetch_add(&c->callers_inside, 1);
    while (!atomic_load(&c->open))
        usleep(1000);
}

static void *crowd_caller(void *arg)
{
    crowd *c = arg;
    a_caller = true;
    nmodgpu_workers_run(c->workers, crowd_task, c, 20000);
    return NULL;
}

START_TEST(workers_rest_while_callers_fill_the_processors)
{
    enum { THREADS = 4 };
    static crowd c;
    pthread_t caller[THREADS];
    c.workers = nmodgpu_workers_open(THREADS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&caller[i], NULL, crowd_caller, &c), 0);
    while (atomic_load(&c.callers_inside) < THREADS)
        usleep(1000);
    const int before = atomic_load(&c.by_workers);
    usleep(100000);
    const int after = atomic_load(&c.by_workers);
    ck_assert_int_le(after - before, THREADS - 1); /* what each had begun */
    ck_assert_int_lt(atomic_load(&c.done), THREADS * 20000);
    atomic_store(&c.open, true);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(caller[i], NULL), 0);
    ck_assert_int_eq(c.done, THREADS * 20000);
    nmodgpu_workers_close(c.workers);
}
END_TEST

/* ---- children */

static _Atomic bool enough;
static _Atomic int callers_at_it;

/** A task that ends only when each of so many threads has one. */
static void meet(void *wanted, int64_t index)
{
    static _Atomic int here;
    (void)index;
    atomic_fetch_add(&here, 1);
    while (atomic_load(&here) < *(const int *)wanted)
        usleep(100);
}

/** Takes the workers' lock again and again, and no other: neither assertions nor memory. */
static void *call_on(void *workers)
{
    counts c;
    counts_init(&c, 0);
    atomic_fetch_add(&callers_at_it, 1);
    while (!atomic_load(&enough))
        nmodgpu_workers_run(workers, count_task, &c, TASKS);
    return NULL;
}

START_TEST(a_child_does_without_them)
{
    enum { CHILD_TASKS = 200 };
    static const int threads = 4;
    nmodgpu_workers *workers = nmodgpu_workers_open(threads);
    pthread_t busy;
    /* AddressSanitizer's allocator, which its threads use as they start, does not survive a fork meanwhile. */
    nmodgpu_workers_run(workers, meet, (void *)&threads, threads);
    ck_assert_int_eq(pthread_create(&busy, NULL, call_on, workers), 0); /* so that the lock may be held */
    while (atomic_load(&callers_at_it) == 0)
        usleep(100);
    for (int round = 0; round < 12; round++) {
        const pid_t child = fork();
        if (child == 0) {
            counts c;
            counts_init(&c, 0);
            nmodgpu_workers_run(workers, count_task, &c, CHILD_TASKS);
            bool right = nmodgpu_workers_threads(workers) == 1 && c.elsewhere == 0;
            for (int i = 0; i < CHILD_TASKS; i++)
                right = right && c.of[i] == 1;
            nmodgpu_workers_close(workers);
            nmodgpu_workers *own = nmodgpu_workers_open(3);
            counts_init(&c, 0);
            nmodgpu_workers_run(own, count_task, &c, CHILD_TASKS);
            right = right && nmodgpu_workers_threads(own) == 3;
            nmodgpu_workers_close(own);
            _exit(right ? 0 : 1);
        }
        int status;
        ck_assert_int_ge(child, 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    atomic_store(&enough, true);
    ck_assert_int_eq(pthread_join(busy, NULL), 0);
    ck_assert_int_eq(nmodgpu_workers_threads(workers), threads);
    nmodgpu_workers_close(workers);
}
END_TEST

/* ---- signals */

static _Atomic int handled, handled_elsewhere, wrongly_set;
static pthread_t main_thread;

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
    if (!pthread_equal(pthread_self(), main_thread))
        atomic_fetch_add(&handled_elsewhere, 1);
}

static void signal_task(void *arg, int64_t index)
{
    counts *c = arg;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    const bool caller = pthread_equal(pthread_self(), main_thread);
    for (int s = 1; s <= SIGRTMAX; s++) {
        const bool kept = s == SIGKILL || s == SIGSTOP || (s > 31 && s < SIGRTMIN); /* libc's own */
        const bool through = s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGILL || s == SIGTRAP ||
                             s == SIGABRT || s == SIGSYS || s == SIGPWR || s == SIGXCPU;
        const bool page = s == SIGSEGV || s == SIGBUS;
        if (!kept && sigismember(&mask, s) == (caller ? through : page))
            atomic_store(&wrongly_set, s);
    }
    kill(getpid(), index % 2 ? SIGINT : SIGUSR1);
    count_task(c, index);
}

START_TEST(signals_reach_no_worker_and_the_caller_only_afterwards)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t before, after;
    counts c;
    main_thread = pthread_self();
    ck_assert_int_eq(sigaction(SIGINT, &action, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    nmodgpu_workers *workers = nmodgpu_workers_open(4);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    counts_init(&c, 500);
    nmodgpu_workers_run(workers, signal_task, &c, 200);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    check_once(&c, 200);
    ck_assert_int_gt(c.elsewhere, 0);
    ck_assert_int_eq(wrongly_set, 0);
    ck_assert_int_eq(handled_elsewhere, 0);
    ck_assert_int_eq(handled, 2); /* one of each had waited */
    for (int s = 1; s <= SIGRTMAX; s++)
        ck_assert_int_eq(sigismember(&before, s), sigismember(&after, s));
    nmodgpu_workers_close(workers);
}
END_TEST

/* ---- a system that gives no threads */

START_TEST(fewer_threads_serve_where_the_system_gives_no_more)
{
    for (int given = 0; given <= 5; given++) {
        atomic_store(&threads_left, given);
        nmodgpu_workers *workers = nmodgpu_workers_open(8);
        atomic_store(&threads_left, INT_MAX);
        ck_assert_ptr_nonnull(workers);
        ck_assert_int_eq(nmodgpu_workers_threads(workers), 1 + given);
        run_and_check(workers, TASKS);
        nmodgpu_workers_close(workers);
    }
}
END_TEST

/* ---- processors */

static char root[] = "/tmp/nmodgpu-groups-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void remove_root(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static int groups(const char *list)
{
    char path[256];
    write_file("list", list);
    snprintf(path, sizeof path, "%s/list", root);
    return nmodgpu_group_processors(root, path);
}

START_TEST(quotas_of_control_groups_count)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(groups("0::/\n"), INT_MAX);
    write_file("a/b/cpu.max", "250000 100000\n");
    ck_assert_int_eq(groups("0::/a/b\n"), 3);
    ck_assert_int_eq(groups("0::/a\n"), INT_MAX);
    ck_assert_int_eq(groups("0::/a/b/c\n"), 3);
    write_file("a/cpu.max", "20000 10000\n");
    ck_assert_int_eq(groups("0::/a/b\n"), 2);
    write_file("a/cpu.max", "max 100000\n");
    ck_assert_int_eq(groups("0::/a/b\n"), 3);
    write_file("cpu.max", "1000 100000\n"); /* as a container sees its own */
    ck_assert_int_eq(groups("0::/not/here\n"), 1);
    write_file("cpu.max", "max 100000\n");

    write_file("cpu/x/cpu.cfs_quota_us", "400000\n");
    write_file("cpu/x/cpu.cfs_period_us", "100000\n");
    write_file("cpu,cpuacct/y/cpu.cfs_quota_us", "500001\n");
    write_file("cpu,cpuacct/y/cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(groups("3:cpuset:/x\n2:cpu:/x\n1:cpuacct:/x\n"), 4);
    ck_assert_int_eq(groups("3:cpuset:/x\n1:cpuacct:/x\n"), INT_MAX);
    ck_assert_int_eq(groups("2:cpu,cpuacct:/y/z\n0::/a\n"), 6);
    write_file("cpu/x/cpu.cfs_quota_us", "-1\n");
    ck_assert_int_eq(groups("2:cpu:/x\n"), INT_MAX);
    write_file("unified/u/cpu.max", "700 100\n");
    ck_assert_int_eq(groups("2:cpu:/x\n0::/u\n"), 7);
    ck_assert_int_eq(groups("nonsense\n::\n:cpu\n0:\n2:cpu:\n\n"), INT_MAX);
    ck_assert_int_eq(nmodgpu_group_processors(root, "/nowhere"), INT_MAX);
    remove_root();
}
END_TEST

START_TEST(affinity_counts)
{
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_ge(nmodgpu_processors(), 1);
    ck_assert_int_le(nmodgpu_processors(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(nmodgpu_processors(), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("workers");
    TCase *c = tcase_create("workers");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, every_task_runs_once);
    tcase_add_test(c, no_workers_are_served_too);
    tcase_add_test(c, workers_do_their_part);
    tcase_add_test(c, jobs_advance_without_their_caller);
    tcase_add_test(c, tasks_may_run_tasks);
    tcase_add_test(c, callers_share_the_workers);
    tcase_add_test(c, workers_rest_while_callers_fill_the_processors);
    tcase_add_test(c, a_child_does_without_them);
    tcase_add_test(c, signals_reach_no_worker_and_the_caller_only_afterwards);
    tcase_add_test(c, fewer_threads_serve_where_the_system_gives_no_more);
    tcase_add_test(c, quotas_of_control_groups_count);
    tcase_add_test(c, affinity_counts);
    suite_add_tcase(suite, c);
    return test_run(suite, CK_FORK_GETENV);
}
