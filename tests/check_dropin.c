/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The drop-in, linked before FLINT, against that FLINT: on every backend that this machine can run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flint/nmod_mat.h>

#include "dropin/setups.h"
#include "fakeflint/harness.h"
#include "suite.h"
#include "support.h"

setup setups[3];

void use_setup(const setup *s)
{
    if (s->plugin_path)
        setenv("NMODGPU_PLUGIN_PATH", s->plugin_path, 1);
}

static void try_product(void *data)
{
    nmod_mat_t a;
    use_setup(data);
    nmod_mat_init(a, 50, 50, 1009);
    nmod_mat_mul(a, a, a);
    nmod_mat_clear(a);
}

/* Whether a backend serves anything here; its last line on standard error says why where it does not. */
static bool usable(const setup *s)
{
    outcome o = run_apart(s->mode, try_product, (void *)s);
    if (o.status == 0 && o.served == 1)
        return true;
    const size_t length = strlen(o.errors);
    if (length > 0 && o.errors[length - 1] == '\n')
        o.errors[length - 1] = '\0';
    const char *line = strrchr(o.errors, '\n');
    printf("left out: %s (%s)\n", s->what, line ? line + 1 : o.errors);
    return false;
}

int find_setups(void)
{
    const setup all[] = {{"cblas", NULL, "cblas"},
                         {"cuda", NULL, "cuda"},
                         {"cuda", standin_folder(), "cuda on the stand-in device"}};
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (usable(&all[i]))
            setups[count++] = all[i];
    return count;
}

int main(void)
{
    const int count = find_setups();
    if (count == 0) {
        printf("no backend serves anything here\n");
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("dropin");
    suite_add_tcase(suite, product_cases(count));
    suite_add_tcase(suite, caller_cases(count));
    return test_run(suite, CK_FORK_GETENV);
}
