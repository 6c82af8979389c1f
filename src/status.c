/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "nmodgpu.h"

#ifndef PACKAGE_VERSION
#error "the build passes PACKAGE_VERSION"
#endif

const char *nmodgpu_status_text(nmodgpu_status status)
{
    switch (status) {
    case NMODGPU_OK:
        return "done";
    case NMODGPU_DECLINED:
        return "not served by any backend";
    case NMODGPU_EINVAL:
        return "impossible argument";
    case NMODGPU_ENOMEM:
        return "out of memory";
    case NMODGPU_ENODEV:
        return "no usable device, driver or library";
    case NMODGPU_EBACKEND:
        return "a backend's library reported an error";
    case NMODGPU_EABI:
        return "built for another version of nmodgpu";
    }
    return "unknown status";
}

const char *nmodgpu_version(void)
{
    return PACKAGE_VERSION;
}
