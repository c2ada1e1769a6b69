//===- Remedies.h - What to do about the driver's errors ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_REMEDIES_H
#define ATTUNE_RT_CUDA_REMEDIES_H

#include "Driver.h"

#define ATTUNE_CUDA_LOST                                                                                               \
  "the device's context is lost: start the process again, and look for the kernel at fault with compute-sanitizer"
#define ATTUNE_CUDA_CAPTURE "end the stream's capture first: only run can be captured"
#define ATTUNE_CUDA_INVALIDATED "end the stream's capture and begin anew: an earlier call has spoilt it"
#define ATTUNE_CUDA_CONTEXT "keep the context that was current in create until the handle is destroyed"
#define ATTUNE_CUDA_REPAIR "the device is at fault: look for it in the system's log (dmesg), and reset or replace it"
#define ATTUNE_CUDA_MPS "start the CUDA MPS service (nvidia-cuda-mps-control) again, or run without it"
#define ATTUNE_CUDA_DAMAGED "compile the library again"
#define ATTUNE_CUDA_OTHER_DEVICE "compile the library for this device"

// By number, as in the driver's cuda.h: the name behind CUDA_ERROR_, the number, what to do.
#define ATTUNE_CUDA_REMEDIES(F)                                                                                        \
  F(OUT_OF_MEMORY, 2, "free device memory, take one with more, or make the tensors smaller")                           \
  F(NOT_INITIALIZED, 3, "make a handle in the process that uses it: a child of fork cannot use its parent's device")   \
  F(DEINITIALIZED, 4, "destroy handles before the process ends")                                                       \
  F(STUB_LIBRARY, 34, "a stub of the driver was found: take its folder from the library path")                         \
  F(CALL_REQUIRES_NEWER_DRIVER, 36, "install a later driver")                                                          \
  F(DEVICE_UNAVAILABLE, 46, "another process has the device for itself: end it, or take another device")               \
  F(NO_DEVICE, 100, "check with nvidia-smi, and CUDA_VISIBLE_DEVICES, that a GPU is there")                            \
  F(INVALID_DEVICE, 101, "check with nvidia-smi, and CUDA_VISIBLE_DEVICES, which GPUs are there")                      \
  F(DEVICE_NOT_LICENSED, 102, "get a licence for the virtual GPU")                                                     \
  F(INVALID_IMAGE, 200, ATTUNE_CUDA_DAMAGED)                                                                           \
  F(INVALID_CONTEXT, 201, ATTUNE_CUDA_CONTEXT)                                                                         \
  F(NO_BINARY_FOR_GPU, 209, ATTUNE_CUDA_OTHER_DEVICE)                                                                  \
  F(ECC_UNCORRECTABLE, 214, ATTUNE_CUDA_REPAIR)                                                                        \
  F(INVALID_PTX, 218, "install a later driver")                                                                        \
  F(NVLINK_UNCORRECTABLE, 220, ATTUNE_CUDA_REPAIR)                                                                     \
  F(JIT_COMPILER_NOT_FOUND, 221, "install the driver's PTX compiler, or compile the library where ptxas is found")     \
  F(UNSUPPORTED_PTX_VERSION, 222,                                                                                      \
    "install a driver of CUDA 11.8 or later (12.0 for sm_90a), or compile the library where ptxas is found")           \
  F(JIT_COMPILATION_DISABLED, 223, "unset CUDA_DISABLE_PTX_JIT, or compile the library where ptxas is found")          \
  F(CONTAINED, 226, ATTUNE_CUDA_LOST)                                                                                  \
  F(INVALID_SOURCE, 300, ATTUNE_CUDA_DAMAGED)                                                                          \
  F(OPERATING_SYSTEM, 304, "look for the reason in the system's log (dmesg)")                                          \
  F(INVALID_HANDLE, 400,                                                                                               \
    "give a stream of the context that was current in create, or of the device's primary one")                         \
  F(NOT_FOUND, 500, ATTUNE_CUDA_DAMAGED)                                                                               \
  F(ILLEGAL_ADDRESS, 700, ATTUNE_CUDA_LOST)                                                                            \
  F(LAUNCH_OUT_OF_RESOURCES, 701, ATTUNE_CUDA_OTHER_DEVICE)                                                            \
  F(LAUNCH_TIMEOUT, 702,                                                                                               \
    "start the process again, and split the batch, or take a GPU that serves no display: a kernel ran too long")       \
  F(CONTEXT_IS_DESTROYED, 709, ATTUNE_CUDA_CONTEXT)                                                                    \
  F(ASSERT, 710, ATTUNE_CUDA_LOST)                                                                                     \
  F(HARDWARE_STACK_ERROR, 714, ATTUNE_CUDA_LOST)                                                                       \
  F(ILLEGAL_INSTRUCTION, 715, ATTUNE_CUDA_LOST)                                                                        \
  F(MISALIGNED_ADDRESS, 716, ATTUNE_CUDA_LOST)                                                                         \
  F(INVALID_ADDRESS_SPACE, 717, ATTUNE_CUDA_LOST)                                                                      \
  F(INVALID_PC, 718, ATTUNE_CUDA_LOST)                                                                                 \
  F(LAUNCH_FAILED, 719, ATTUNE_CUDA_LOST)                                                                              \
  F(TENSOR_MEMORY_LEAK, 721, ATTUNE_CUDA_LOST)                                                                         \
  F(NOT_PERMITTED, 800, "ask the system's administrator for leave to use the device")                                  \
  F(NOT_SUPPORTED, 801, "install a later driver, or take another device")                                              \
  F(SYSTEM_NOT_READY, 802, "wait until the system has started its GPUs (the fabric manager, if it has NVSwitch)")      \
  F(SYSTEM_DRIVER_MISMATCH, 803, "install a driver and a kernel module of one version")                                \
  F(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804,                                                                               \
    "take the folder of the forward-compatible driver (cuda-compat) from the library path: it does not serve this "    \
    "device")                                                                                                          \
  F(MPS_CONNECTION_FAILED, 805, ATTUNE_CUDA_MPS)                                                                       \
  F(MPS_RPC_FAILURE, 806, ATTUNE_CUDA_MPS)                                                                             \
  F(MPS_SERVER_NOT_READY, 807, ATTUNE_CUDA_MPS)                                                                        \
  F(MPS_MAX_CLIENTS_REACHED, 808, "end another client of the CUDA MPS service")                                        \
  F(MPS_MAX_CONNECTIONS_REACHED, 809, "end another client of the CUDA MPS service")                                    \
  F(MPS_CLIENT_TERMINATED, 810, ATTUNE_CUDA_MPS)                                                                       \
  F(STREAM_CAPTURE_UNSUPPORTED, 900, ATTUNE_CUDA_CAPTURE)                                                              \
  F(STREAM_CAPTURE_INVALIDATED, 901, ATTUNE_CUDA_INVALIDATED)                                                          \
  F(STREAM_CAPTURE_IMPLICIT, 906, ATTUNE_CUDA_CAPTURE)                                                                 \
  F(STREAM_CAPTURE_WRONG_THREAD, 908, "go on with a capture on the thread that began it")                              \
  F(UNKNOWN, 999, "look for the reason in the system's log (dmesg)")

namespace attune::rt {

/// For drivers that do not name their errors, as the stub of the driver; never null.
const char *nameFor(CuResult error);
/// What a user can do about an error; never null.
const char *remedyFor(CuResult error);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_REMEDIES_H
