/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stddef.h>

#include "version.h"

nmodgpu_layout nmodgpu_layout_of_version(const char *version)
{
    int part[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (!version || *version < '0' || *version > '9')
            return NMODGPU_LAYOUT_REFUSED;
        while (*version >= '0' && *version <= '9' && part[i] < 10000)
            part[i] = part[i] * 10 + (*version++ - '0');
        if (i == 0 && *version++ != '.')
            return NMODGPU_LAYOUT_REFUSED;
    }
    if (part[0] < 2 || (part[0] == 2 && part[1] < 9))
        return NMODGPU_LAYOUT_REFUSED;
    return part[0] == 2 || (part[0] == 3 && part[1] < 3) ? NMODGPU_LAYOUT_ROWS : NMODGPU_LAYOUT_STRIDE;
}
