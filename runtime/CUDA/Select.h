//===- Select.h - The GPU of a handle, and the code for it ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_SELECT_H
#define ATTUNE_RT_CUDA_SELECT_H

#include "Common/Handle.h"
#include "Driver.h"

namespace attune::rt {

/// A GPU and its compute capability, 80 for 8.0.
struct CudaDevice {
  CuDevice device;
  int32_t arch;
};

/// The device of the handle's ordinal.
attune_status findDevice(const attune_rt_handle &handle, const Place &place, const CudaDriver &driver,
                         CudaDevice &device);

/// Whether a device of `arch` runs the variant's cubin.
bool cubinRunsOn(const attune_rt_variant &variant, int32_t arch);

/// Sets the handle's variant to the one of the latest architecture that runs on `arch`.
attune_status selectVariant(attune_rt_handle &handle, const Place &place, int32_t arch);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_SELECT_H
