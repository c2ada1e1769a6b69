//===- Instructions.h - The families of modelled instructions ---*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_INSTRUCTIONS_H
#define ATTUNE_EMULATOR_INSTRUCTIONS_H

#include "Site.h"

#include "attune/Emulator/EmulatedAsm.h"

namespace attune::emulator {

// Each gives the instruction if the intrinsic's name belongs to its family and is modelled.
std::optional<DeviceInstruction> findMatrixInstruction(llvm::StringRef name);
std::optional<DeviceInstruction> findWarpInstruction(llvm::StringRef name);
std::optional<DeviceInstruction> findBlockInstruction(llvm::StringRef name);
std::optional<DeviceInstruction> findAsyncInstruction(llvm::StringRef name);
std::optional<DeviceInstruction> findWarpgroupInstruction(llvm::StringRef name);
std::optional<DeviceInstruction> findScalarInstruction(llvm::StringRef name);
/// What only PTX is translated to.
std::optional<DeviceInstruction> findPtxInstruction(llvm::StringRef name);

/// wgmma.mma_async, which is inline assembly.
DeviceInstruction warpgroupProduct(const WgmmaAsm &product);
/// wgmma.fence and wgmma.wait_group with registers.
DeviceInstruction warpgroupOrder(WgmmaOrderAsm order);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_INSTRUCTIONS_H
