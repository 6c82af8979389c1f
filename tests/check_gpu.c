/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The tests that every device passes, on the GPU, through the module as the core loads it.  Needs nothing but
 * the module: NMODGPU_PLUGIN_PATH names its folder, else it is looked for in NMODGPU_TEST_STAGE/lib/nmodgpu and in
 * ../lib/nmodgpu beside this program.  NMODGPU_TEST_SIZE makes the matrices smaller, for slow tools such as
 * compute-sanitizer.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_cases.h"
#include "device_harness.h"
#include "support.h"

#define SKIPPED 77 /* as Automake's test harness understands it */

device_sizes sizes;

static char module_path[4096];

static bool look(const char *folder, const char *below)
{
    snprintf(module_path, sizeof module_path, "%s%s/cuda.so", folder, below);
    return access(module_path, R_OK) == 0;
}

static bool find_module(void)
{
    char program[2048];
    const char *given = getenv("NMODGPU_PLUGIN_PATH"), *stage = getenv("NMODGPU_TEST_STAGE");
    if (given)
        return look(given, "");
    if (stage)
        return look(stage, "/lib/nmodgpu");
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    return look(program, "/../lib/nmodgpu");
}

/** Empty when the backend is open, else why it is not. */
static const char *open_module(void)
{
    static bool opened;
    nmodgpu_module_entry_fn entry;
    if (opened)
        return "";
    void *module = dlopen(module_path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, NMODGPU_MODULE_ENTRY_NAME) : NULL;
    if (!symbol)
        return dlerror();
    memcpy(&entry, &symbol, sizeof entry);
    if (harness_enter(entry) != NMODGPU_OK)
        return "the module is of another version";
    if (device->open() != NMODGPU_OK)
        return harness_last_line();
    opened = true;
    return "";
}

static void open_backend(void)
{
    const char *why = open_module();
    ck_assert_msg(!*why, "%s: %s", module_path, why);
}

/** What cuBLAS is told here must not change any result; in force because this process has not loaded it yet. */
static void open_with_emulation(void)
{
    setenv("CUBLAS_EMULATE_DOUBLE_PRECISION", "1", 1);
    setenv("CUBLAS_EMULATION_STRATEGY", "eager", 1);
    setenv("CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT", "20", 1);
    open_backend();
}

/** Whether there is a device; asked in a process of its own, since children of one that has used CUDA cannot. */
static bool device_present(void)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        const char *why = open_module();
        if (*why)
            printf("%s\n", why);
        fflush(stdout);
        _exit(*why ? 1 : 0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    if (!find_module()) {
        printf("no CUDA module: GPU tests skipped\n");
        return SKIPPED;
    }
    if (!device_present()) {
        printf("no CUDA device: GPU tests skipped\n");
        return SKIPPED;
    }
    sizes.usual = harness_size(700);
    sizes.large = 2 * sizes.usual + 100;
    sizes.tall = 70001;
    sizes.products = 100;
    Suite *suite = suite_create("cuda on a GPU");
    suite_add_tcase(suite, device_product_cases(open_backend, NULL));
    suite_add_tcase(suite, device_kernel_cases(open_backend, NULL));
    suite_add_tcase(suite, device_queue_cases(open_backend, NULL));
    suite_add_tcase(suite, device_i8_cases(open_backend, NULL));
    SRunner *runner = srunner_create(suite);
    if (srunner_fork_status(runner) != CK_NOFORK)
        suite_add_tcase(suite, device_product_cases(open_with_emulation, NULL));
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
