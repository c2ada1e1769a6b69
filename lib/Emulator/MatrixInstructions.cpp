//===- MatrixInstructions.cpp - mma.sync, ldmatrix and stmatrix -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragment layouts, with g = lane / 4 and t = lane % 4. Every register has 32 bits: two numbers of 16 bits in one row
// (of A, C, D) or column (of B), or one number of 32 bits.
//
//   A, 16 bits: register r holds row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next
//   B, 16 bits: register r holds column g, rows 2t + 8 r and the next
//   A, tf32:    register r holds row g + 8 (r % 2), column t + 4 (r / 2)
//   B, tf32:    register r holds column g, row t + 4 r
//   C, D f32:   register r holds row g + 8 (r / 2), column 2t + r % 2
//   C, D f16:   register r holds row g + 8 r, columns 2t and the next
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"
#include "MatrixSums.h"
#include "Numbers.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;
using namespace attune::emulator;

namespace {

using Operand = MatrixSums::Operand;

struct MmaShape {
  unsigned depth; ///< k of m16n8k
  Operand operand;
  bool halfAccumulator;
  unsigned columnsPerRegister() const { return operand == Operand::Tf32 ? 1 : 2; }
  unsigned registersOfA() const { return 16 * depth / 32 / columnsPerRegister(); }
  unsigned registersOfB() const { return registersOfA() / 2; }
  unsigned registersOfC() const { return halfAccumulator ? 2 : 4; }
};

struct MmaTiles {
  float a[16][16]; ///< [row, k]
  float b[16][8];  ///< [k, column]
  float d[16][8];  ///< [row, column]
};

} // namespace

static float decode(Operand operand, uint32_t bits, unsigned part) {
  uint16_t half = uint16_t(bits >> (16 * part));
  switch (operand) {
  case Operand::Half:
    return halfToFloat(half);
  case Operand::Bfloat:
    return bfloatToFloat(half);
  case Operand::Tf32:
    return truncateToTf32(bitsToFloat(bits));
  }
  llvm_unreachable("every operand is above");
}

static void gatherOperands(const WarpCall &call, const MmaShape &shape, MmaTiles &tiles) {
  unsigned perRegister = shape.columnsPerRegister(), step = 4 * perRegister;
  for (unsigned lane = 0; lane < 32; ++lane) {
    LaneCall part = call.lane(lane);
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < shape.registersOfA(); ++r) {
      uint32_t bits = part.argument<uint32_t>(r);
      for (unsigned i = 0; i < perRegister; ++i)
        tiles.a[g + 8 * (r % 2)][perRegister * t + i + step * (r / 2)] = decode(shape.operand, bits, i);
    }
    for (unsigned r = 0; r < shape.registersOfB(); ++r) {
      uint32_t bits = part.argument<uint32_t>(shape.registersOfA() + r);
      for (unsigned i = 0; i < perRegister; ++i)
        tiles.b[perRegister * t + i + step * r][g] = decode(shape.operand, bits, i);
    }
  }
}

static void gatherAccumulator(const WarpCall &call, const MmaShape &shape, MmaTiles &tiles) {
  unsigned first = shape.registersOfA() + shape.registersOfB();
  for (unsigned lane = 0; lane < 32; ++lane) {
    LaneCall part = call.lane(lane);
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < shape.registersOfC(); ++r) {
      uint32_t bits = part.argument<uint32_t>(first + r);
      if (shape.halfAccumulator)
        for (unsigned i = 0; i < 2; ++i)
          tiles.d[g + 8 * r][2 * t + i] = decode(Operand::Half, bits, i);
      else
        tiles.d[g + 8 * (r / 2)][2 * t + r % 2] = bitsToFloat(bits);
    }
  }
}

static void multiply(unsigned depth, MmaTiles &tiles) {
  for (unsigned row = 0; row < 16; ++row) {
    double sum[8];
    std::copy_n(tiles.d[row], 8, sum);
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < 8; ++column)
        sum[column] += double(tiles.a[row][k]) * tiles.b[k][column];
    for (unsigned column = 0; column < 8; ++column)
      tiles.d[row][column] = cutOff(sum[column]);
  }
}

static void scatterResult(const WarpCall &call, const MmaShape &shape, const MmaTiles &tiles) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    LaneCall part = call.lane(lane);
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < shape.registersOfC(); ++r) {
      if (!shape.halfAccumulator) {
        part.give(tiles.d[g + 8 * (r / 2)][2 * t + r % 2], r);
        continue;
      }
      uint32_t low = floatToHalf(tiles.d[g + 8 * r][2 * t]), high = floatToHalf(tiles.d[g + 8 * r][2 * t + 1]);
      part.give(low | high << 16, r);
    }
  }
}

static bool needsWholeWarp(const WarpCall &call) {
  if (call.mask == ~0u)
    return false;
  Thread &thread = call.warp.threads[0];
  call.machine.report(FindingKind::Divergence, call.site, thread,
                      "expected a warp of 32 threads, but the block ends within this warp");
  return true;
}

static void multiplyAdd(const WarpCall &call, const MmaShape &shape) {
  if (needsWholeWarp(call))
    return;
  MmaTiles tiles;
  gatherOperands(call, shape, tiles);
  gatherAccumulator(call, shape, tiles);
  if (call.machine.options.pessimistic)
    MatrixSums::of(call.machine.capability, shape.operand, shape.halfAccumulator)
        .add(shape.depth, tiles.a, *tiles.b, 8, *tiles.d, 8);
  else
    multiply(shape.depth, tiles);
  scatterResult(call, shape, tiles);
  WorkCounters &counters = call.machine.counters();
  uint64_t multiplyAdds = uint64_t(16) * 8 * shape.depth;
  ++counters.matrixMultiplies;
  ++(shape.depth == 4   ? counters.depth4Multiplies
     : shape.depth == 8 ? counters.depth8Multiplies
                        : counters.depth16Multiplies);
  counters.matrixMultiplyAdds += multiplyAdds;
  counters.tf32MultiplyAdds += shape.operand == Operand::Tf32 ? multiplyAdds : 0;
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Lane 8 m + i names row i of 8x8 matrix m; a lane holds of each matrix row lane / 4, columns 2 (lane % 4) and the
/// next, or, transposed, the same elements of the transposed matrix.
static void moveMatrices(const WarpCall &call, unsigned matrices, bool transposed, bool store) {
  if (needsWholeWarp(call))
    return;
  for (unsigned m = 0; m < matrices; ++m) {
    std::array<char *, 8> rows;
    uint32_t offsets[8];
    unsigned valid = 0;
    for (unsigned i = 0; i < 8; ++i) {
      LaneCall part = call.lane(8 * m + i);
      char *address = part.argument<char *>(0);
      rows[i] = call.machine.matrixRow(call.site, part.thread, address, store);
      if (rows[i])
        offsets[valid++] = uint32_t(uintptr_t(rows[i]));
    }
    call.machine.countBankPhase(call.site, {offsets, valid}, 16);
    for (unsigned lane = 0; lane < 32; ++lane) {
      LaneCall part = call.lane(lane);
      uint16_t pair[2] = {0, 0};
      if (store) {
        uint32_t bits = part.argument<uint32_t>(1 + m);
        std::memcpy(pair, &bits, 4);
      }
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = transposed ? 2 * (lane % 4) + e : lane / 4;
        unsigned column = transposed ? lane / 4 : 2 * (lane % 4) + e;
        if (!rows[row])
          continue;
        char *place = rows[row] + 2 * column;
        store ? std::memcpy(place, &pair[e], 2) : std::memcpy(&pair[e], place, 2);
      }
      uint32_t bits;
      std::memcpy(&bits, pair, 4);
      if (!store)
        part.give(bits, m);
    }
  }
  ++call.site.bankUse.requests;
  WorkCounters &counters = call.machine.counters();
  ++(store ? counters.matrixStores : counters.matrixLoads);
  (store ? counters.sharedStoreBytes : counters.sharedLoadBytes) += uint64_t(128) * matrices;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::optional<DeviceInstruction> findMma(llvm::StringRef name) {
  static const std::pair<llvm::StringRef, MmaShape> shapes[] = {
      {"m16n8k16.row.col.f32.f32", {16, Operand::Half, false}}, {"m16n8k16.row.col.f16.f16", {16, Operand::Half, true}},
      {"m16n8k16.row.col.bf16", {16, Operand::Bfloat, false}},  {"m16n8k8.row.col.f32.f32", {8, Operand::Half, false}},
      {"m16n8k8.row.col.f16.f16", {8, Operand::Half, true}},    {"m16n8k8.row.col.bf16", {8, Operand::Bfloat, false}},
      {"m16n8k8.row.col.tf32", {8, Operand::Tf32, false}},      {"m16n8k4.row.col.tf32", {4, Operand::Tf32, false}},
  };
  for (const auto &[suffix, shape] : shapes)
    if (name == suffix)
      return DeviceInstruction::byWarp([shape = shape](const WarpCall &call) { multiplyAdd(call, shape); });
  return std::nullopt;
}

static std::optional<DeviceInstruction> findMove(llvm::StringRef name, bool store) {
  if (!name.consume_front("x"))
    return std::nullopt;
  unsigned matrices = 0;
  if (name.consumeInteger(10, matrices) || (matrices != 1 && matrices != 2 && matrices != 4))
    return std::nullopt;
  bool transposed = name.consume_front(".trans");
  if (!name.starts_with(".b16"))
    return std::nullopt;
  return DeviceInstruction::byWarp([=](const WarpCall &call) { moveMatrices(call, matrices, transposed, store); });
}

std::optional<DeviceInstruction> emulator::findMatrixInstruction(llvm::StringRef name) {
  if (name.consume_front("llvm.nvvm.mma."))
    return findMma(name);
  if (name.consume_front("llvm.nvvm.ldmatrix.sync.aligned.m8n8."))
    return findMove(name, false);
  if (name.consume_front("llvm.nvvm.stmatrix.sync.aligned.m8n8."))
    return findMove(name, true);
  return std::nullopt;
}
