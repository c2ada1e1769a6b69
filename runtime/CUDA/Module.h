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
#include "Blas.h"
#include "Driver.h"

namespace attune::rt {

/// A variant's code in a context: loaded once, whatever the number of handles that use it.
struct CudaCode {
  const CudaDriver *driver;
  CuDevice device;
  CuContext context;
  bool isPrimary; ///< retained by us, unlike one of the caller's
  CuModule module;
  /// By index in the variant's kernel table.
  CuFunction *functions;
  /// For the variant's products; null, and the reason, where there is none.
  const Blas *blas;
  BlasHandle blasHandle;
  BlasReason blasReason;
  char archName[16];
  const attune_rt_variant *variant;
  int64_t handles;
  CudaCode *next; ///< of the list of all that is loaded
};

/// Chooses the variant for the handle's device and finds or loads its code: a cubin, or PTX where there is none that runs.
/// The context is the one that is current on the calling thread if it is of that device, else the device's primary one,
/// which the CUDA runtime and the frameworks use.
attune_status loadCudaCode(attune_rt_handle &handle, const Place &place);
/// Unloads what no other handle uses.
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
