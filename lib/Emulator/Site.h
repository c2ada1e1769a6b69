//===- Site.h - One instruction of the program that the emulator handles --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_SITE_H
#define ATTUNE_EMULATOR_SITE_H

#include "BlockOrder.h"

#include "attune/Emulator/EmulatorReport.h"

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune::emulator {

class Machine;
struct Thread;
struct Warp;
struct Site;

/// A call by one thread. Arguments lie in a struct of the call's argument types, at the site's offsets.
struct LaneCall {
  Machine &machine;
  Site &site;
  Thread &thread;
  char *result;
  const char *arguments;

  template <typename T> T argument(unsigned index) const;
  template <typename T> void give(T value, unsigned index = 0) const;
};

/// One execution of a warp instruction by the lanes of `mask`, all of which have arrived.
struct WarpCall {
  Machine &machine;
  Site &site;
  Warp &warp;
  uint32_t mask;

  LaneCall lane(unsigned index) const;
};

using LaneAction = std::function<void(const LaneCall &)>;
using WarpAction = std::function<void(const WarpCall &)>;

/// How the emulator performs an instruction: by each lane for itself, by the lanes of a warp together (then
/// `maskArgument` tells which argument is the member mask; negative: the whole warp), by both, the lanes first together
/// and then each for itself, or as a pure host function of the same signature.
struct DeviceInstruction {
  LaneAction lane;
  WarpAction warp;
  int maskArgument = -1;
  void *pureFunction = nullptr;

  static DeviceInstruction byLane(LaneAction action) { return {std::move(action), nullptr, -1, nullptr}; }
  static DeviceInstruction byWarp(WarpAction action, int maskArgument = -1) {
    return {nullptr, std::move(action), maskArgument, nullptr};
  }
  static DeviceInstruction byBoth(WarpAction together, LaneAction each) {
    return {std::move(each), std::move(together), -1, nullptr};
  }
  static DeviceInstruction pure(void *function) { return {nullptr, nullptr, -1, function}; }
};

/// The instruction that an intrinsic's name stands for, if it is modelled.
std::optional<DeviceInstruction> findInstruction(llvm::StringRef name);

/// Gathers the lanes of one warp's accesses by one instruction: the k-th access of each lane belongs to the same
/// request.
struct WarpRequests {
  struct Request {
    uint32_t lanes = 0;
    std::array<uint64_t, 32> addresses;
  };
  std::vector<Request> requests;
  std::array<uint32_t, 32> next{};
  uint32_t open = 0;
};

struct Site {
  std::string function, text, location;
  DeviceInstruction instruction;
  // Accesses to memory.
  MemorySpace space = MemorySpace::Generic;
  bool load = false, store = false;
  bool readsConstant = false; ///< ld.global.nc: of memory that nobody writes
  bool ofConstants = false;   ///< in the state space .const
  uint32_t bytes = 0, alignment = 1;
  Ordering ordering; ///< of an atomic access of the device's scope, or of a fence
  // Layout of a call's arguments and results.
  std::vector<uint32_t> argumentOffsets, resultOffsets;
  // What was seen here.
  std::array<int32_t, numFindingKinds> findingIndex{};
  BankUse bankUse;
  SectorUse sectorUse;
  std::vector<WarpRequests> sharedRequests, globalRequests; ///< by warp
  bool flushPending = false;                                ///< some of them are open

  bool atomic() const { return (load && store) || ordering.atomic; } ///< at least within the block
};

template <typename T> T LaneCall::argument(unsigned index) const {
  T value;
  std::memcpy(&value, arguments + site.argumentOffsets[index], sizeof(T));
  return value;
}
template <typename T> void LaneCall::give(T value, unsigned index) const {
  std::memcpy(result + site.resultOffsets[index], &value, sizeof(T));
}

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_SITE_H
