//===- ScalarInstructions.cpp - Special registers, approximations, conversions --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The approximate instructions give the correctly rounded result (or very nearly), or, pessimistically, one that is as
// far off as it may be: a program must not depend on their last bits. What must agree is the flushing of subnormal
// numbers.
//
//===----------------------------------------------------------------------===//
#include "Approximation.h"
#include "Instructions.h"
#include "Machine.h"
#include "Numbers.h"

#include "llvm/ADT/StringMap.h"

using namespace attune;
using namespace attune::emulator;

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static const Thread &self() { return activeMachine()->current(); }
static const BlockLaunch &launchOf() { return activeMachine()->launch; }
static const Dim3 &blockOf() { return activeMachine()->blockIndex; }

/// %warpid and %nwarpid are not here: 10 says that they change while a thread runs, and are for diagnosis.
static void addSpecialRegisters(llvm::StringMap<void *> &table) {
  auto add = [&](llvm::StringRef name, uint32_t (*read)()) {
    table["llvm.nvvm.read.ptx.sreg." + name.str()] = reinterpret_cast<void *>(read);
  };
  add("tid.x", [] { return self().id.x; });
  add("tid.y", [] { return self().id.y; });
  add("tid.z", [] { return self().id.z; });
  add("ntid.x", [] { return launchOf().block.x; });
  add("ntid.y", [] { return launchOf().block.y; });
  add("ntid.z", [] { return launchOf().block.z; });
  add("ctaid.x", [] { return blockOf().x; });
  add("ctaid.y", [] { return blockOf().y; });
  add("ctaid.z", [] { return blockOf().z; });
  add("nctaid.x", [] { return launchOf().grid.x; });
  add("nctaid.y", [] { return launchOf().grid.y; });
  add("nctaid.z", [] { return launchOf().grid.z; });
  add("laneid", [] { return self().lane; });
  add("warpsize", [] { return 32u; });
  add("lanemask.eq", [] { return 1u << self().lane; });
  add("lanemask.lt", [] { return (1u << self().lane) - 1; });
  add("lanemask.le", [] { return (2u << self().lane) - 1; });
  add("lanemask.gt", [] { return ~((2u << self().lane) - 1); });
  add("lanemask.ge", [] { return ~((1u << self().lane) - 1); });
}

//===----------------------------------------------------------------------===//
// Functions of numbers
//===----------------------------------------------------------------------===//

static float special(float value) {
  ++activeMachine()->counters().specialFunctions;
  return value;
}

using Unary = float (*)(float);
using Binary = float (*)(float, float);
using Ternary = float (*)(float, float, float);

/// What an approximate instruction gives.
template <const ErrorBound &bound> static float approximated(float operand, float exact, uint32_t salt = 0) {
  const EmulatorOptions &options = activeMachine()->options;
  return options.pessimistic ? bound.worst(operand, exact, options.seed, salt) : exact;
}

/// An instruction that has a plain form and one that flushes subnormal operands and results.
template <float (*function)(float), const ErrorBound &bound = noError>
static void addUnary(llvm::StringMap<void *> &table, llvm::StringRef stem) {
  Unary plain = [](float x) { return special(approximated<bound>(x, function(x))); };
  Unary flushing = [](float x) {
    float operand = flushToZero(x);
    return special(flushToZero(approximated<bound>(operand, function(operand))));
  };
  for (llvm::StringRef suffix : {".f", ".f32"}) {
    table[(stem + suffix).str()] = reinterpret_cast<void *>(plain);
    table[(stem + ".ftz" + suffix).str()] = reinterpret_cast<void *>(flushing);
  }
}

static float exp2Of(float x) { return std::exp2(x); }
static float log2Of(float x) { return std::log2(x); }
static float reciprocal(float x) { return 1 / x; }
static float rootReciprocal(float x) { return float(1 / std::sqrt(double(x))); }
static float squareRoot(float x) { return std::sqrt(x); }
static float sineOf(float x) { return std::sin(x); }
static float cosineOf(float x) { return std::cos(x); }
/// What sin.approx and cos.approx give: of larger angles the bound is larger, and beyond 100 pi there is none; there the
/// result is that of no angle.
template <float (*function)(float)> static float periodic(float x) {
  float size = std::fabs(x), exact = function(x);
  if (!activeMachine()->options.pessimistic || !std::isfinite(x) || size <= boundedAngle)
    return approximated<boundOfSine>(x, exact);
  return size <= 50 * boundedAngle ? approximated<boundOfLargeSine>(x, exact) : approximated<boundOfAnySine>(x, exact);
}
static float tangentOf(float x) { return std::tanh(x); }
static float maximum(float a, float b) { return std::fmax(a, b); }
static float minimum(float a, float b) { return std::fmin(a, b); }
static float nanMaximum(float a, float b) { return a != a ? a : b != b ? b : std::fmax(a, b); }
static float nanMinimum(float a, float b) { return a != a ? a : b != b ? b : std::fmin(a, b); }
static float sum(float a, float b) { return a + b; }
static float product(float a, float b) { return a * b; }
static float quotient(float a, float b) { return a / b; }
/// The divisor tells quotients of one dividend apart.
static float nearQuotient(float a, float b) { return approximated<boundOfQuotient>(a, a / b, floatToBits(b)); }
/// 9.7.3.8: div.approx multiplies by a reciprocal, which is zero for divisors beyond 2^126.
static float quickQuotient(float a, float b) {
  float size = std::fabs(b);
  return size > 0x1p126f && std::isfinite(size) ? a * std::copysign(0.0f, b) : nearQuotient(a, b);
}

template <float (*function)(float, float)> static void addBinary(llvm::StringMap<void *> &table, llvm::StringRef stem) {
  Binary flushing = [](float a, float b) { return flushToZero(function(flushToZero(a), flushToZero(b))); };
  table[(stem + ".f").str()] = reinterpret_cast<void *>(function);
  table[(stem + ".ftz.f").str()] = reinterpret_cast<void *>(flushing);
}

static void addApproximations(llvm::StringMap<void *> &table) {
  addUnary<exp2Of, boundOfExp2>(table, "llvm.nvvm.ex2.approx");
  addUnary<log2Of, boundOfLog2>(table, "llvm.nvvm.lg2.approx");
  addUnary<reciprocal, boundOfReciprocal>(table, "llvm.nvvm.rcp.approx");
  addUnary<reciprocal>(table, "llvm.nvvm.rcp.rn");
  addUnary<rootReciprocal, boundOfRootReciprocal>(table, "llvm.nvvm.rsqrt.approx");
  addUnary<squareRoot, boundOfRoot>(table, "llvm.nvvm.sqrt.approx");
  addUnary<squareRoot>(table, "llvm.nvvm.sqrt.rn");
  addUnary<periodic<sineOf>>(table, "llvm.nvvm.sin.approx");
  addUnary<periodic<cosineOf>>(table, "llvm.nvvm.cos.approx");
  addUnary<tangentOf, boundOfTangent>(table, "llvm.nvvm.tanh.approx");
  table["llvm.nvvm.sqrt.f"] = table["llvm.nvvm.sqrt.rn.f"];
}

static void addArithmetic(llvm::StringMap<void *> &table) {
  addBinary<maximum>(table, "llvm.nvvm.fmax");
  addBinary<minimum>(table, "llvm.nvvm.fmin");
  addBinary<sum>(table, "llvm.nvvm.add.rn");
  addBinary<product>(table, "llvm.nvvm.mul.rn");
  addBinary<quickQuotient>(table, "llvm.nvvm.div.approx");
  addBinary<quotient>(table, "llvm.nvvm.div.rn");
  table["llvm.nvvm.div.full"] = reinterpret_cast<void *>(Binary(nearQuotient));
  table["llvm.nvvm.fmax.nan.f"] = reinterpret_cast<void *>(Binary(nanMaximum));
  table["llvm.nvvm.fmin.nan.f"] = reinterpret_cast<void *>(Binary(nanMinimum));
  Ternary fused = [](float a, float b, float c) { return std::fma(a, b, c); };
  Ternary flushing = [](float a, float b, float c) {
    return flushToZero(std::fma(flushToZero(a), flushToZero(b), flushToZero(c)));
  };
  table["llvm.nvvm.fma.rn.f"] = reinterpret_cast<void *>(fused);
  table["llvm.nvvm.fma.rn.ftz.f"] = reinterpret_cast<void *>(flushing);
  table["llvm.nvvm.fabs.f32"] = reinterpret_cast<void *>(Unary([](float x) { return std::fabs(x); }));
  uint32_t (*tf32)(float) = roundToTf32;
  table["llvm.nvvm.f2tf32.rna"] = reinterpret_cast<void *>(tf32);
  int32_t (*toInteger)(float) = [](float x) { return int32_t(std::nearbyint(x)); };
  table["llvm.nvvm.f2i.rn"] = reinterpret_cast<void *>(toInteger);
}

//===----------------------------------------------------------------------===//
// Conversions to 16-bit numbers
//===----------------------------------------------------------------------===//

/// The first operand goes to the upper half of the result.
template <uint16_t (*convert)(float)> static void convertPair(const LaneCall &call) {
  uint32_t high = convert(call.argument<float>(0)), low = convert(call.argument<float>(1));
  call.give(high << 16 | low);
}
template <uint16_t (*convert)(float)> static void convertOne(const LaneCall &call) {
  call.give(convert(call.argument<float>(0)));
}

std::optional<DeviceInstruction> emulator::findScalarInstruction(llvm::StringRef name) {
  static const llvm::StringMap<void *> pure = [] {
    llvm::StringMap<void *> table;
    addSpecialRegisters(table);
    addApproximations(table);
    addArithmetic(table);
    return table;
  }();
  if (auto it = pure.find(name); it != pure.end())
    return DeviceInstruction::pure(it->second);
  if (name == "llvm.nvvm.ff2f16x2.rn")
    return DeviceInstruction::byLane(convertPair<floatToHalf>);
  if (name == "llvm.nvvm.ff2bf16x2.rn")
    return DeviceInstruction::byLane(convertPair<floatToBfloat>);
  if (name == "llvm.nvvm.f2f16.rn" || name == "llvm.nvvm.f2h.rn")
    return DeviceInstruction::byLane(convertOne<floatToHalf>);
  if (name == "llvm.nvvm.f2bf16.rn")
    return DeviceInstruction::byLane(convertOne<floatToBfloat>);
  return std::nullopt;
}

std::optional<DeviceInstruction> emulator::findInstruction(llvm::StringRef name) {
  for (auto find : {findScalarInstruction, findMatrixInstruction, findWarpInstruction, findAsyncInstruction,
                    findBlockInstruction, findWarpgroupInstruction, findPtxInstruction})
    if (std::optional<DeviceInstruction> instruction = find(name))
      return instruction;
  return std::nullopt;
}
