/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The reference backend as a module, under a name and priority that the build gives.  The environment variable
 * NMODGPU_TEST_MODULES tells it to be unusable, or to be made for another interface.
 */
#include <stdlib.h>
#include <string.h>

#include "reference_backend.c"

NMODGPU_API nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host)
{
    static nmodgpu_backend backend;
    const char *wish = getenv("NMODGPU_TEST_MODULES");
    reference_reset();
    backend = reference_backend;
    if (wish && strcmp(wish, "other interface") == 0)
        backend.abi_version++;
    if (wish && strcmp(wish, REFERENCE_NAME " unusable") == 0) {
        host->log(NMODGPU_LOG_ERROR, REFERENCE_NAME, "%s: no device here", REFERENCE_NAME);
        reference.open_status = NMODGPU_ENODEV;
    }
    if (host->setting("NMODGPU_THREADS") == 3)
        host->log(NMODGPU_LOG_ERROR, NULL, "%s sees three threads", REFERENCE_NAME);
    return host->register_backend(&backend);
}
