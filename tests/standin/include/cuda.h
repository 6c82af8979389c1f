/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The stand-in's CUDA driver: the types of the functions that the backend asks the runtime for.
 */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;

#endif
