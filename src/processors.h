/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * How many processors this process may use.
 */
#ifndef NMODGPU_PROCESSORS_H
#define NMODGPU_PROCESSORS_H

/** What the calling thread's affinity and the quotas of its control groups allow, at least 1.  Threads that this
 *  one starts get the same affinity.  A quota of 2.5 processors counts as 3. */
int nmodgpu_processors(void);

/** What the affinity alone allows, at least 1. */
int nmodgpu_affinity_processors(void);

/** The least quota, rounded up, of the control groups that a file like /proc/self/cgroup lists, of version 1 or 2,
 *  and of all groups above them, in the hierarchies mounted at `root`; INT_MAX where there is none.  A container
 * may see its own group at the mount's top only: groups that are not there are passed over. */
int nmodgpu_group_processors(const char *root, const char *list);

#endif
