//===- WarpInstructions.cpp - Shuffles, votes and reductions of a warp ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"

#include "llvm/ADT/StringSwitch.h"

#include <bit>

using namespace attune;
using namespace attune::emulator;

template <typename Visit> static void forEachLane(const WarpCall &call, Visit visit) {
  for (uint32_t rest = call.mask; rest; rest &= rest - 1)
    visit(call.lane(unsigned(std::countr_zero(rest))), unsigned(std::countr_zero(rest)));
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

enum class ShuffleKind { Index, Up, Down, Butterfly };

/// The source lane, and whether it lies within the segment. `control` holds the clamp (bits 0 to 4) and the segment
/// mask (bits 8 to 12).
static std::pair<unsigned, bool> shuffleSource(ShuffleKind kind, unsigned lane, uint32_t operand, uint32_t control) {
  int clamp = int(control & 31), segment = int(control >> 8 & 31), b = int(operand & 31), self = int(lane);
  int last = (self & segment) | (clamp & ~segment), first = self & segment, source = self;
  switch (kind) {
  case ShuffleKind::Index:
    source = first | (b & ~segment);
    break;
  case ShuffleKind::Up:
    source = self - b;
    break;
  case ShuffleKind::Down:
    source = self + b;
    break;
  case ShuffleKind::Butterfly:
    source = self ^ b;
    break;
  }
  bool inside = kind == ShuffleKind::Up ? source >= last : source <= last;
  return {unsigned(inside ? source : self), inside};
}

static void shuffle(const WarpCall &call, ShuffleKind kind, bool givesPredicate) {
  std::array<uint32_t, 32> values{};
  forEachLane(call, [&](LaneCall part, unsigned lane) { values[lane] = part.argument<uint32_t>(1); });
  forEachLane(call, [&](LaneCall part, unsigned lane) {
    auto [source, inside] = shuffleSource(kind, lane, part.argument<uint32_t>(2), part.argument<uint32_t>(3));
    if (!(call.mask >> source & 1))
      call.machine.report(FindingKind::InactiveLane, call.site, part.thread,
                          "lane " + llvm::Twine(lane) + " reads lane " + llvm::Twine(source) +
                              ", which is not in the member mask");
    part.give(values[source], 0);
    if (givesPredicate)
      part.give(uint8_t(inside), 1);
  });
  ++call.machine.counters().shuffles;
}

static std::optional<DeviceInstruction> findShuffle(llvm::StringRef name) {
  auto [kindName, type] = name.split('.');
  auto kind = llvm::StringSwitch<std::optional<ShuffleKind>>(kindName)
                  .Case("idx", ShuffleKind::Index)
                  .Case("up", ShuffleKind::Up)
                  .Case("down", ShuffleKind::Down)
                  .Case("bfly", ShuffleKind::Butterfly)
                  .Default(std::nullopt);
  bool predicate = type.consume_back("p");
  if (!kind || (type != "i32" && type != "f32"))
    return std::nullopt;
  return DeviceInstruction::byWarp([=](const WarpCall &call) { shuffle(call, *kind, predicate); }, 0);
}

//===----------------------------------------------------------------------===//
// Votes, matches, reductions
//===----------------------------------------------------------------------===//

static uint32_t ballot(const WarpCall &call) {
  uint32_t votes = 0;
  forEachLane(call, [&](LaneCall part, unsigned lane) { votes |= uint32_t(part.argument<uint8_t>(1) & 1) << lane; });
  return votes;
}

static std::optional<DeviceInstruction> findVote(llvm::StringRef kind) {
  WarpAction action;
  auto giveAll = [](const WarpCall &call, auto value) {
    forEachLane(call, [&](LaneCall part, unsigned) { part.give(value); });
  };
  if (kind == "ballot.sync")
    action = [=](const WarpCall &call) { giveAll(call, ballot(call)); };
  else if (kind == "all.sync")
    action = [=](const WarpCall &call) { giveAll(call, uint8_t(ballot(call) == call.mask)); };
  else if (kind == "any.sync")
    action = [=](const WarpCall &call) { giveAll(call, uint8_t(ballot(call) != 0)); };
  else if (kind == "uni.sync")
    action = [=](const WarpCall &call) {
      uint32_t votes = ballot(call);
      giveAll(call, uint8_t(votes == 0 || votes == call.mask));
    };
  else
    return std::nullopt;
  return DeviceInstruction::byWarp(action, 0);
}

static void matchAny(const WarpCall &call) {
  forEachLane(call, [&](LaneCall part, unsigned) {
    uint32_t equal = 0;
    forEachLane(call, [&](LaneCall other, unsigned lane) {
      equal |= uint32_t(other.argument<uint32_t>(1) == part.argument<uint32_t>(1)) << lane;
    });
    part.give(equal);
  });
}

static std::optional<DeviceInstruction> findReduction(llvm::StringRef name) {
  using Combine = uint32_t (*)(uint32_t, uint32_t);
  auto combine = llvm::StringSwitch<Combine>(name)
                     .Case("add", [](uint32_t a, uint32_t b) { return a + b; })
                     .Case("and", [](uint32_t a, uint32_t b) { return a & b; })
                     .Case("or", [](uint32_t a, uint32_t b) { return a | b; })
                     .Case("xor", [](uint32_t a, uint32_t b) { return a ^ b; })
                     .Case("umin", [](uint32_t a, uint32_t b) { return std::min(a, b); })
                     .Case("umax", [](uint32_t a, uint32_t b) { return std::max(a, b); })
                     .Case("min", [](uint32_t a, uint32_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); })
                     .Case("max", [](uint32_t a, uint32_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); })
                     .Default(nullptr);
  if (!combine)
    return std::nullopt;
  return DeviceInstruction::byWarp(
      [=](const WarpCall &call) {
        std::optional<uint32_t> sum;
        forEachLane(call, [&](LaneCall part, unsigned) {
          uint32_t value = part.argument<uint32_t>(0);
          sum = sum ? combine(*sum, value) : value;
        });
        forEachLane(call, [&](LaneCall part, unsigned) { part.give(*sum); });
        ++call.machine.counters().shuffles;
      },
      1);
}

std::optional<DeviceInstruction> emulator::findWarpInstruction(llvm::StringRef name) {
  if (name.consume_front("llvm.nvvm.shfl.sync."))
    return findShuffle(name);
  if (name.consume_front("llvm.nvvm.vote."))
    return findVote(name);
  if (name.consume_front("llvm.nvvm.redux.sync."))
    return findReduction(name);
  if (name == "llvm.nvvm.match.any.sync.i32")
    return DeviceInstruction::byWarp(matchAny, 0);
  if (name == "llvm.nvvm.bar.warp.sync")
    return DeviceInstruction::byWarp([](const WarpCall &call) { call.machine.clock.syncWarp(call.warp.index); }, 0);
  return std::nullopt;
}
