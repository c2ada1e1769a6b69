//===- WarpgroupInstructions.cpp - wgmma, setmaxnreg, elect ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of the four warps of a group multiplies its 16 rows of A by all of B. Sums are computed at once; what they are
// computed from counts as being read, and the registers as not yet filled, until the group is waited for.
//
// A descriptor of an operand in shared memory has, from bit 0: the address / 16 (14 bits), at 16 and 32 the leading and
// the stride offset / 16 (14 bits each), at 49 an offset of the swizzle's pattern, at 62 the swizzle: 0, 128, 64 or 32
// bytes wide. With W that width, c = 16 bytes, and i the index along m or n, the byte `b` of the row along k (or, if
// the operand lies transposed, the byte `b` of i / 8 and the row k) lies at
//
//   k first, no swizzle   i / 8 · stride + b / c · leading + i % 8 · c + b % c
//   k first, swizzle W    i / 8 · stride + i % 8 · W + b
//   i first, no swizzle   i / 8 · stride + k / 8 · leading + k % 8 · c + b
//   i first, swizzle W    i / 8 % (W / c) · c + i / 8 / (W / c) · leading + k / 8 · stride + k % 8 · W + b
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"
#include "MatrixSums.h"
#include "Numbers.h"
#include "TensorMap.h"

#include <bit>

using namespace attune;
using namespace attune::emulator;

namespace {

struct Descriptor {
  uint32_t address, leading, stride, width;
  bool hasOffset, hasOther; ///< bits that are no field's

  explicit Descriptor(uint64_t bits)
      : address(field(bits, 0) * 16), leading(field(bits, 16) * 16), stride(field(bits, 32) * 16),
        hasOffset(bits >> 49 & 7), hasOther(bits & 0x3ff1c000c000c000) {
    static constexpr uint32_t widths[] = {0, 128, 64, 32};
    width = widths[bits >> 62];
  }
  static uint32_t field(uint64_t bits, unsigned at) { return uint32_t(bits >> at & 0x3fff); }

  /// Where 16 bytes lie: of row `i` the piece `piece` along k, or if transposed of row `k` the piece i / 8.
  uint32_t rowAlongK(uint32_t i, uint32_t piece) const {
    uint32_t within = width ? i % 8 * width + piece * 16 : piece * leading + i % 8 * 16;
    return uint32_t(swizzled(address + i / 8 * stride + within, width));
  }
  uint32_t rowAcrossK(uint32_t i, uint32_t k) const {
    uint32_t piece = i / 8, perRow = width / 16;
    uint32_t place = width ? piece % perRow * 16 + piece / perRow * leading + k / 8 * stride + k % 8 * width
                           : piece * stride + k / 8 * leading + k % 8 * 16;
    return uint32_t(swizzled(address + place, width));
  }
};

struct Product {
  const WarpCall &call;
  const WgmmaAsm &shape;
  std::vector<uint32_t> reads;
  float a[16][16];  ///< [row of the warp, k]
  float b[16][256]; ///< [k, column]

  Thread &thread() { return call.warp.threads[0]; }
  unsigned elementBytes() const { return shape.depth == 16 ? 2 : 4; }
  float decode(const char *place) const;
  template <typename Set> void readOperand(uint64_t bits, bool transposed, uint32_t first, uint32_t rows, Set set);
  void registersOfA(unsigned argument);
  void multiply(bool add, int sign);
  void multiplyPessimistically(bool add, int sign);
};

/// Of the lane that holds it.
struct SumPlace {
  unsigned row, column;
};

} // namespace

float Product::decode(const char *place) const {
  uint32_t bits = 0;
  std::memcpy(&bits, place, elementBytes());
  return shape.depth != 16        ? truncateToTf32(bitsToFloat(bits))
         : shape.element == "f16" ? halfToFloat(uint16_t(bits))
                                  : bfloatToFloat(uint16_t(bits));
}

/// Elements (i, k) of rows `first` and on.
template <typename Set>
void Product::readOperand(uint64_t bits, bool transposed, uint32_t first, uint32_t rows, Set set) {
  Descriptor descriptor(bits);
  if (descriptor.hasOffset)
    call.machine.report(
        FindingKind::Misaligned, call.site, thread(),
        "expected an operand at a multiple of its swizzle's pattern, but got a descriptor with an offset");
  if (descriptor.hasOther)
    call.machine.report(FindingKind::Misaligned, call.site, thread(),
                        "expected a descriptor with zeros between its fields, but got others; an address or an offset "
                        "may have left its 14 bits");
  uint32_t perPiece = 16 / elementBytes();
  auto piece = [&](uint32_t address, auto place) {
    const char *row = call.machine.productRow(call.site, thread(), address, reads);
    for (uint32_t e = 0; e < perPiece; ++e) {
      auto [i, k] = place(e);
      set(i, k, row ? decode(row + e * elementBytes()) : 0.0f);
    }
  };
  if (transposed)
    for (uint32_t i = 0; i < rows; i += 8)
      for (uint32_t k = 0; k < shape.depth; ++k)
        piece(descriptor.rowAcrossK(first + i, k), [=](uint32_t e) { return std::pair(i + e, k); });
  else
    for (uint32_t i = 0; i < rows; ++i)
      for (uint32_t p = 0; p < shape.depth / perPiece; ++p)
        piece(descriptor.rowAlongK(first + i, p), [=](uint32_t e) { return std::pair(i, p * perPiece + e); });
}

/// The fragment of mma.sync.
void Product::registersOfA(unsigned argument) {
  unsigned perRegister = 4 / elementBytes();
  for (unsigned lane = 0; lane < 32; ++lane) {
    LaneCall part = call.lane(lane);
    for (unsigned r = 0; r < 4; ++r) {
      uint32_t bits = part.argument<uint32_t>(argument + r);
      char bytes[4];
      std::memcpy(bytes, &bits, 4);
      for (unsigned i = 0; i < perRegister; ++i)
        a[lane / 4 + 8 * (r % 2)][perRegister * (lane % 4) + i + 4 * perRegister * (r / 2)] =
            decode(bytes + i * elementBytes());
    }
  }
}

/// Sum 4 j + 2 h + e of a lane is of row lane / 4 + 8 h and column 8 j + 2 (lane % 4) + e.
static SumPlace placeOf(unsigned lane, unsigned sum) {
  return {lane / 4 + 8 * (sum / 2 % 2), 8 * (sum / 4) + 2 * (lane % 4) + sum % 2};
}

void Product::multiply(bool add, int sign) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    LaneCall part = call.lane(lane);
    for (unsigned s = 0; s < shape.sums(); ++s) {
      auto [row, column] = placeOf(lane, s);
      double sum = add ? part.argument<float>(s) : 0.0;
      for (unsigned k = 0; k < shape.depth; ++k)
        sum += sign * double(a[row][k]) * b[k][column];
      part.give(cutOff(sum), s);
    }
  }
}

void Product::multiplyPessimistically(bool add, int sign) {
  for (auto &row : a)
    for (float &element : row)
      element *= float(sign);
  float sums[16][256] = {};
  auto forEachSum = [&](auto visit) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned s = 0; s < shape.sums(); ++s) {
        auto [row, column] = placeOf(lane, s);
        visit(call.lane(lane), s, sums[row][column]);
      }
  };
  if (add)
    forEachSum([](LaneCall part, unsigned s, float &sum) { sum = part.argument<float>(s); });
  auto operand = shape.depth != 16        ? MatrixSums::Operand::Tf32
                 : shape.element == "f16" ? MatrixSums::Operand::Half
                                          : MatrixSums::Operand::Bfloat;
  MatrixSums rule = MatrixSums::of(call.machine.capability, operand, false);
  for (unsigned column = 0; column < shape.columns; column += 8)
    rule.add(shape.depth, a, &b[0][column], 256, &sums[0][column], 256);
  forEachSum([](LaneCall part, unsigned s, float &sum) { part.give(sum, s); });
}

/// 9.7.15.5.2: descriptors and scale-d are the same for all threads of the group, which come to one instruction.
static void checkUniform(const WarpCall &call, unsigned first, unsigned last) {
  auto operandsOf = [&](const LaneCall &lane) {
    std::vector<uint64_t> operands;
    for (unsigned i = first; i < last; ++i)
      operands.push_back(lane.argument<uint64_t>(i));
    operands.push_back(lane.argument<uint32_t>(last) != 0);
    return operands;
  };
  auto differs = [&](const LaneCall &lane, const char *whose) {
    call.machine.report(FindingKind::Divergence, call.site, lane.thread,
                        llvm::Twine("expected descriptors and scale-d that are the same for all threads of a "
                                    "warpgroup, but got others than ") +
                            whose);
  };
  LaneCall own = call.lane(0);
  std::vector<uint64_t> operands = operandsOf(own);
  for (unsigned lane = 1; lane < 32; ++lane)
    if (operandsOf(call.lane(lane)) != operands)
      return differs(call.lane(lane), "lane 0 of the warp");
  auto &given = (&call.warp - call.warp.index % 4)->products.given;
  auto [known, isNew] = given.try_emplace(call.warp.products.issued + 1, WarpProducts::Given{&call.site, operands, 0});
  if (known->second.site != &call.site)
    call.machine.report(FindingKind::Divergence, call.site, own.thread,
                        "expected the warpgroup's warps at one product, but another warp is at " +
                            known->second.site->text);
  else if (known->second.operands != operands)
    differs(own, "another warp");
  if (++known->second.warps == 4)
    given.erase(known);
}

static void multiplyAdd(const WarpCall &call, const WgmmaAsm &shape) {
  Machine &machine = call.machine;
  WarpProducts &products = call.warp.products;
  Thread &thread = call.warp.threads[0];
  if (call.mask != ~0u || machine.launch.block.count() < (call.warp.index / 4 + 1) * 128) {
    machine.report(FindingKind::Divergence, call.site, thread, "expected four whole warps, but the block ends before");
    return;
  }
  if (!products.fenced)
    machine.report(FindingKind::RegisterInFlight, call.site, thread,
                   "expected wgmma.fence between other instructions on its registers and this product, but got none");
  auto product = std::make_unique<Product>(call, shape);
  LaneCall lane = call.lane(0);
  unsigned next = shape.sums(), rowsBefore = call.warp.index % 4 * 16;
  unsigned descriptorOfB = next + (shape.registersOfA ? 4 : 1), constants = descriptorOfB + 1;
  checkUniform(call, shape.registersOfA ? descriptorOfB : next, constants);
  bool wide = shape.depth == 16;
  auto constant = [&](unsigned number) { return lane.argument<int32_t>(constants + number); };
  bool transposedA = wide && !shape.registersOfA && constant(3);
  bool transposedB = wide && constant(shape.registersOfA ? 3 : 4);
  if (shape.registersOfA)
    product->registersOfA(next);
  else
    product->readOperand(lane.argument<uint64_t>(next), transposedA, rowsBefore, 16,
                         [&](uint32_t i, uint32_t k, float value) { product->a[i][k] = value; });
  product->readOperand(lane.argument<uint64_t>(descriptorOfB), transposedB, 0, shape.columns,
                       [&](uint32_t i, uint32_t k, float value) { product->b[k][i] = value; });
  if (machine.options.pessimistic)
    product->multiplyPessimistically(constant(0) != 0, constant(1) * constant(2));
  else
    product->multiply(constant(0) != 0, constant(1) * constant(2));
  products.inFlight.push_back({++products.issued, std::move(product->reads)});
  for (unsigned i = 0; i < 32; ++i)
    call.warp.threads[i].productTag = products.issued;
  WorkCounters &counters = machine.counters();
  ++counters.matrixMultiplies;
  counters.matrixMultiplyAdds += uint64_t(16) * shape.columns * shape.depth;
}

DeviceInstruction emulator::warpgroupProduct(const WgmmaAsm &product) {
  // The element's name lies in the module's string.
  std::string element = product.element.str();
  return DeviceInstruction::byWarp([=](const WarpCall &call) {
    WgmmaAsm shape = product;
    shape.element = element;
    multiplyAdd(call, shape);
  });
}

/// The registers go through; what is in flight in them is checked where they are used (RegisterTags.h).
static void order(const WarpCall &call, const WgmmaOrderAsm &shape) {
  if (shape.wait)
    call.machine.finishProducts(call.warp, uint64_t(call.lane(0).argument<int32_t>(shape.registers())));
  call.warp.products.fenced = !shape.wait;
  for (uint32_t rest = call.mask; rest; rest &= rest - 1) {
    LaneCall part = call.lane(unsigned(std::countr_zero(rest)));
    for (unsigned i = 0; i < shape.registers(); ++i)
      part.give(part.argument<uint32_t>(i), i);
  }
}

DeviceInstruction emulator::warpgroupOrder(WgmmaOrderAsm shape) {
  return DeviceInstruction::byWarp([=](const WarpCall &call) { order(call, shape); });
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The first lane of the mask is the leader.
static void elect(const WarpCall &call) {
  auto leader = unsigned(std::countr_zero(call.mask));
  for (uint32_t rest = call.mask; rest; rest &= rest - 1) {
    LaneCall part = call.lane(unsigned(std::countr_zero(rest)));
    part.give(leader, 0);
    part.give(uint8_t(part.thread.lane == leader), 1);
  }
}

std::optional<DeviceInstruction> emulator::findWarpgroupInstruction(llvm::StringRef name) {
  if (name == "llvm.nvvm.wgmma.fence.sync.aligned")
    return DeviceInstruction::byWarp([](const WarpCall &call) { call.warp.products.fenced = true; });
  if (name == "llvm.nvvm.wgmma.commit_group.sync.aligned")
    return DeviceInstruction::byWarp(
        [](const WarpCall &call) { call.warp.products.groups.push_back(call.warp.products.inFlight.size()); });
  if (name == "llvm.nvvm.wgmma.wait_group.sync.aligned")
    return DeviceInstruction::byWarp([](const WarpCall &call) {
      call.machine.finishProducts(call.warp, call.lane(0).argument<uint64_t>(0));
      call.warp.products.fenced = false;
    });
  // Registers are as many as a program wants here.
  if (name == "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32" || name == "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32")
    return DeviceInstruction::byWarp([](const WarpCall &) {});
  if (name == "llvm.nvvm.elect.sync")
    return DeviceInstruction::byWarp(elect, 0);
  return std::nullopt;
}
