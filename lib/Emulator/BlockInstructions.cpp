//===- BlockInstructions.cpp - Barriers, asynchronous copies, fences ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"

#include <bit>

using namespace attune;
using namespace attune::emulator;

//===----------------------------------------------------------------------===//
// barrier.cta.{sync,arrive,red.*}[.aligned].{all,count}
//===----------------------------------------------------------------------===//

/// Without a count all of the block, as devices count it: by warps.
static BarrierUse barrierUse(const LaneCall &call, bool counted, bool reduces) {
  auto threads = unsigned(call.machine.launch.block.count());
  return {call.argument<uint32_t>(0), counted ? call.argument<uint32_t>(1) : (threads + 31) / 32 * 32, reduces};
}

/// The lanes of a warp reach an aligned barrier at one instruction, and mean the same barrier.
static DeviceInstruction barrierBy(bool aligned, bool counted, LaneAction arrive) {
  if (!aligned)
    return DeviceInstruction::byLane(std::move(arrive));
  auto meet = [=](const WarpCall &call) {
    LaneCall first = call.lane(unsigned(std::countr_zero(call.mask)));
    for (uint32_t rest = call.mask; rest; rest &= rest - 1) {
      LaneCall other = call.lane(unsigned(std::countr_zero(rest)));
      for (unsigned operand = 0; operand <= unsigned(counted); ++operand)
        if (other.argument<uint32_t>(operand) != first.argument<uint32_t>(operand))
          return call.machine.report(FindingKind::Divergence, call.site, other.thread,
                                     "expected one barrier and one count for all lanes of the warp, but got others");
    }
  };
  return DeviceInstruction::byBoth(meet, std::move(arrive));
}

static std::optional<DeviceInstruction> findReducingBarrier(llvm::StringRef operation, bool aligned, bool counted) {
  if (operation != "and" && operation != "or" && operation != "popc")
    return std::nullopt;
  return barrierBy(aligned, counted, [=, operation = operation.str()](const LaneCall &call) {
    bool predicate = call.argument<uint8_t>(counted ? 2 : 1) & 1;
    call.machine.barrierArrive(call, barrierUse(call, counted, /*reduces=*/true), true, predicate);
    uint32_t sum = call.thread.predicates;
    if (operation == "popc")
      call.give(sum);
    else
      call.give(uint8_t(operation == "and" ? sum == call.thread.atBarrier : sum != 0));
  });
}

static std::optional<DeviceInstruction> findBarrier(llvm::StringRef name) {
  bool counted = name.consume_back(".count");
  if (!counted && !name.consume_back(".all"))
    return std::nullopt;
  bool aligned = name.consume_back(".aligned");
  if (name.consume_front("red."))
    return findReducingBarrier(name, aligned, counted);
  if (name != "sync" && name != "arrive")
    return std::nullopt;
  bool wait = name == "sync";
  return barrierBy(aligned, counted, [=](const LaneCall &call) {
    call.machine.barrierArrive(call, barrierUse(call, counted, /*reduces=*/false), wait, false);
  });
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

static std::optional<DeviceInstruction> findCopy(llvm::StringRef name) {
  if (name == "commit.group")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.machine.commitCopies(call.thread); });
  if (name == "wait.group")
    return DeviceInstruction::byLane(
        [](const LaneCall &call) { call.machine.waitCopies(call.thread, call.argument<uint32_t>(0)); });
  if (name == "wait.all")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.machine.waitAllCopies(call.thread); });
  bool onlyL2 = name.consume_front("cg.shared.global.");
  if (!onlyL2 && !name.consume_front("ca.shared.global."))
    return std::nullopt;
  bool sized = name.consume_back(".s");
  unsigned bytes = 0;
  if (name.getAsInteger(10, bytes) || (bytes != 16 && (onlyL2 || (bytes != 4 && bytes != 8))))
    return std::nullopt;
  return DeviceInstruction::byLane(
      [=](const LaneCall &call) { call.machine.startCopy(call, bytes, sized ? call.argument<uint32_t>(2) : bytes); });
}

std::optional<DeviceInstruction> emulator::findBlockInstruction(llvm::StringRef name) {
  if (name.consume_front("llvm.nvvm.barrier.cta."))
    return findBarrier(name);
  if (name.consume_front("llvm.nvvm.cp.async."))
    return findCopy(name);
  if (name == "llvm.nvvm.membar.gl" || name == "llvm.nvvm.membar.sys")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.machine.orderFence({true, true, true}); });
  // The threads of a block share one memory here: a fence among them changes nothing. So does a prefetch, which may name any
  // address.
  if (name.starts_with("llvm.nvvm.membar.") || name.starts_with("llvm.nvvm.fence.") ||
      name.starts_with("llvm.nvvm.prefetch."))
    return DeviceInstruction::byLane([](const LaneCall &) {});
  if (name == "llvm.trap")
    return DeviceInstruction::byLane([](const LaneCall &call) {
      call.machine.report(FindingKind::Trap, call.site, call.thread, "the program stops itself here");
    });
  return std::nullopt;
}
