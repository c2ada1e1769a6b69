//===- Module.h - A library's device code, loaded for one GPU -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_MODULE_H
#define ATTUNE_RT_CUDA_MODULE_H

#include "Common/Handle.h"
#include "Driver.h"

namespace attune::rt {

/// Code in the primary context of a device, which is the one that the CUDA runtime and the frameworks use too.
struct CudaCode {
  const CudaDriver *driver;
  CuDevice device;
  CuContext context;
  CuModule module;
  /// By index in the variant's kernel table.
  CuFunction *functions;
  char archName[16];
};

/// Chooses the variant for the handle's device, loads its cubin, or its PTX where there is none, and finds its kernels.
attune_status loadCudaCode(attune_rt_handle &handle, const Place &place);
void unloadCudaCode(CudaCode *code);

/// "sm_80": of the variant in use.
const char *cudaArchName(const CudaCode &code);

/// Makes the code's context current for a scope.
class CudaScope {
public:
  CudaScope(const CudaCode &code, const Place &place);
  ~CudaScope();
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;
  attune_status status;

private:
  const CudaCode &code;
};

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_MODULE_H
