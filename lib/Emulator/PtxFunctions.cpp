//===- PtxFunctions.cpp - Functions of the host that PTX is translated to -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"
#include "Numbers.h"

using namespace attune;
using namespace attune::emulator;

// 16-bit numbers go in the low half of 32 bits.
static uint32_t halfOf(float value) { return floatToHalf(value); }
static uint32_t bfloatOf(float value) { return floatToBfloat(value); }
static float ofHalf(uint32_t bits) { return halfToFloat(uint16_t(bits)); }
static float ofBfloat(uint32_t bits) { return bfloatToFloat(uint16_t(bits)); }

/// 9.7.14.5.17: element (i, j) of the 8x8 matrix goes to (j, i); lane l holds row l / 4, columns 2 (l % 4) and the
/// next.
static void transpose(const WarpCall &call) {
  if (call.mask != ~0u)
    return call.machine.report(FindingKind::Divergence, call.site, call.warp.threads[0],
                               "expected a warp of 32 threads, but the block ends within this warp");
  uint16_t matrix[8][8];
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned e = 0; e < 2; ++e)
      matrix[lane / 4][2 * (lane % 4) + e] = uint16_t(call.lane(lane).argument<uint32_t>(0) >> (16 * e));
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = lane / 4, column = 2 * (lane % 4);
    call.lane(lane).give(uint32_t(matrix[column][row]) | uint32_t(matrix[column + 1][row]) << 16);
  }
}

/// m64n<columns>.<element>{.registers}
static std::optional<DeviceInstruction> findProduct(llvm::StringRef name) {
  WgmmaAsm product;
  if (!name.consume_front("m64n") || name.consumeInteger(10, product.columns) || !name.consume_front("."))
    return std::nullopt;
  product.registersOfA = name.consume_back(".registers");
  product.element = name;
  product.depth = name == "tf32" ? 8 : 16;
  return warpgroupProduct(product);
}

std::optional<DeviceInstruction> emulator::findPtxInstruction(llvm::StringRef name) {
  if (name == "attune.f16.of.f32")
    return DeviceInstruction::pure(reinterpret_cast<void *>(halfOf));
  if (name == "attune.bf16.of.f32")
    return DeviceInstruction::pure(reinterpret_cast<void *>(bfloatOf));
  if (name == "attune.f32.of.f16")
    return DeviceInstruction::pure(reinterpret_cast<void *>(ofHalf));
  if (name == "attune.f32.of.bf16")
    return DeviceInstruction::pure(reinterpret_cast<void *>(ofBfloat));
  if (name == "attune.movmatrix")
    return DeviceInstruction::byWarp(transpose);
  if (llvm::StringRef shape = name; shape.consume_front("attune.wgmma.") && shape.starts_with("m64n"))
    return findProduct(shape);
  if (name == "attune.wgmma.tag")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.give(call.thread.productTag); });
  if (name == "attune.wgmma.check")
    return DeviceInstruction::byLane(
        [](const LaneCall &call) { call.machine.checkProduct(call.site, call.argument<uint64_t>(0)); });
  if (name == "attune.wgmma.fenced")
    return DeviceInstruction::byLane([](const LaneCall &call) {
      if (!(call.argument<uint8_t>(0) & 1))
        call.machine.report(FindingKind::RegisterInFlight, call.site, call.thread,
                            "expected wgmma.fence between the last other instruction on its registers and this "
                            "product, but got none");
    });
  return std::nullopt;
}
