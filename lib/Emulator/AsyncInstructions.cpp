//===- AsyncInstructions.cpp - mbarrier, cp.async.bulk, proxy fences ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory of a cluster is that of the own block: clusters of several blocks are not modelled.
//
//===----------------------------------------------------------------------===//
#include "Instructions.h"
#include "Machine.h"
#include "TensorMap.h"

using namespace attune;
using namespace attune::emulator;

//===----------------------------------------------------------------------===//
// mbarrier
//===----------------------------------------------------------------------===//

static DeviceInstruction arrival(bool counted, bool expects, bool partial = false) {
  return DeviceInstruction::byLane([=](const LaneCall &call) {
    uint32_t operand = counted || expects ? call.argument<uint32_t>(1) : 1;
    if (partial)
      call.machine.checkIncomplete(call, operand);
    uint64_t phase = call.machine.arriveMbarrier(call, expects ? 1 : operand, expects ? operand : 0);
    if (!call.site.resultOffsets.empty())
      call.give(phase);
  });
}

/// mbarrier.{test,try}.wait[.parity][.tl]: by the state of an arrival, or by parity; a time limit is no limit here.
static DeviceInstruction wait(bool parity) {
  return DeviceInstruction::byLane([=](const LaneCall &call) {
    uint64_t value = parity ? call.argument<uint32_t>(1) : call.argument<uint64_t>(1);
    if (parity && value > 1)
      call.machine.report(FindingKind::BarrierMisuse, call.site, call.thread,
                          "expected a parity of 0 or 1, but got " + llvm::Twine(value));
    call.give(uint8_t(call.machine.waitMbarrier(call, {value, parity}, /*blocking=*/false)));
  });
}

static std::optional<DeviceInstruction> findMbarrier(llvm::StringRef name) {
  bool scoped = name.consume_back(".scope.cta.space.cta");
  if (name.ends_with(".relaxed")) // orders nothing, which is not modelled
    return std::nullopt;
  name.consume_back(".shared");
  if (name == "init")
    return DeviceInstruction::byLane(
        [](const LaneCall &call) { call.machine.initMbarrier(call, call.argument<uint32_t>(1)); });
  if (name == "inval")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.machine.invalidateMbarrier(call); });
  if (name == "arrive")
    return arrival(scoped, false);
  if (name == "arrive.noComplete")
    return arrival(true, false, /*partial=*/true);
  if (name == "arrive.expect.tx")
    return arrival(false, true);
  if (name == "expect.tx" || name == "complete.tx")
    return DeviceInstruction::byLane([adds = name == "expect.tx"](const LaneCall &call) {
      int64_t bytes = call.argument<uint32_t>(1);
      call.machine.addTransactions(call, adds ? bytes : -bytes);
    });
  if (name == "test.wait" || name == "try.wait" || name == "try.wait.tl")
    return wait(false);
  if (name == "test.wait.parity" || name == "try.wait.parity" || name == "try.wait.parity.tl")
    return wait(true);
  return std::nullopt;
}

/// Names of the table of inline assembly that are no intrinsics: the last operand is a predicate, or the wait loops.
static std::optional<DeviceInstruction> findMbarrierAsm(llvm::StringRef name) {
  if (name == "init.predicated")
    return DeviceInstruction::byLane([](const LaneCall &call) {
      if (call.argument<uint8_t>(2) & 1)
        call.machine.initMbarrier(call, call.argument<uint32_t>(1));
    });
  if (name == "arrive.expect_tx.predicated")
    return DeviceInstruction::byLane([](const LaneCall &call) {
      if (call.argument<uint8_t>(2) & 1)
        call.machine.arriveMbarrier(call, 1, call.argument<uint32_t>(1));
    });
  if (name == "wait.parity")
    return DeviceInstruction::byLane([](const LaneCall &call) {
      call.machine.waitMbarrier(call, {call.argument<uint32_t>(1), true}, /*blocking=*/true);
    });
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// cp.async.bulk
//===----------------------------------------------------------------------===//

/// Whether an operation that may name other blocks of a cluster does; then it is reported.
static bool leavesBlock(const LaneCall &call, unsigned flag) {
  if (!(call.argument<uint8_t>(flag) & 1))
    return false;
  call.machine.report(FindingKind::Trap, call.site, call.thread,
                      "copies to several blocks of a cluster are not modelled");
  return true;
}

static bool isBulkAligned(const LaneCall &call, const void *shared, const void *global, uint32_t bytes) {
  for (uint64_t number : {uint64_t(uintptr_t(shared)), uint64_t(uintptr_t(global)), uint64_t(bytes)})
    if (number % 16) {
      call.machine.report(FindingKind::Misaligned, call.site, call.thread,
                          "expected addresses and bytes of a bulk copy that are multiples of 16");
      return false;
    }
  return true;
}

/// Operands: to, mbarrier, from, bytes, and for clusters a mask of blocks; then a hint, then which of the two are
/// given.
static void bulkLoad(const LaneCall &call, bool cluster) {
  auto *to = call.argument<char *>(0), *mbarrier = call.argument<char *>(1);
  auto *from = call.argument<const char *>(2);
  uint32_t bytes = call.argument<uint32_t>(3);
  if ((cluster && leavesBlock(call, 6)) || !isBulkAligned(call, to, from, bytes))
    return;
  call.machine.startBulkLoad(call, mbarrier, {{to, from, bytes}}, bytes);
}

static void bulkStore(const LaneCall &call) {
  auto *to = call.argument<char *>(0);
  auto *from = call.argument<const char *>(1);
  uint32_t bytes = call.argument<uint32_t>(2);
  if (isBulkAligned(call, from, to, bytes))
    call.machine.startBulkStore(call, {{to, from, bytes}});
}

//===----------------------------------------------------------------------===//
// cp.async.bulk.tensor
//===----------------------------------------------------------------------===//

static std::vector<int32_t> coordinates(const LaneCall &call, unsigned first, unsigned rank) {
  std::vector<int32_t> result;
  for (unsigned i = 0; i < rank; ++i)
    result.push_back(call.argument<int32_t>(first + i));
  return result;
}

static const TensorMap *mapOf(const LaneCall &call, unsigned operand, unsigned rank) {
  const auto *address = call.argument<const void *>(operand);
  const TensorMap *map = call.machine.isGlobal(address, sizeof(TensorMap)) ? TensorMap::at(address) : nullptr;
  if (map && map->rank == rank)
    return map;
  call.machine.report(FindingKind::OutOfBounds, call.site, call.thread,
                      "expected the descriptor of a tensor of rank " + llvm::Twine(rank) +
                          ", but got another one or none");
  return nullptr;
}

static bool isBoxAligned(const LaneCall &call, const char *box) {
  if (uintptr_t(box) % 128 == 0)
    return true;
  call.machine.report(FindingKind::Misaligned, call.site, call.thread,
                      "expected a place of a tensor's box that is a multiple of 128");
  return false;
}

/// Operands: to, mbarrier, descriptor, coordinates, and for clusters a mask of blocks; a hint; which of the two are
/// given; for clusters the group of blocks.
static void tensorLoad(const LaneCall &call, unsigned rank, bool cluster) {
  auto *to = call.argument<char *>(0), *mbarrier = call.argument<char *>(1);
  const TensorMap *map = mapOf(call, 2, rank);
  if (!map || (cluster && leavesBlock(call, 5 + rank)))
    return;
  if (!isBoxAligned(call, to))
    return;
  call.machine.startBulkLoad(call, mbarrier, map->piecesOf(to, coordinates(call, 3, rank)), map->boxBytes());
}

static void tensorStore(const LaneCall &call, unsigned rank) {
  auto *from = call.argument<char *>(0);
  const TensorMap *map = mapOf(call, 1, rank);
  if (!map || !isBoxAligned(call, from))
    return;
  std::vector<CopyPiece> stores;
  for (const CopyPiece &piece : map->piecesOf(from, coordinates(call, 2, rank)))
    if (piece.from) // what is outside the tensor is not stored
      stores.push_back({const_cast<char *>(piece.from), piece.to, piece.bytes});
  call.machine.startBulkStore(call, std::move(stores));
}

static std::optional<DeviceInstruction> findTensorCopy(llvm::StringRef name) {
  bool store = name.consume_front("s2g.tile."), cta = !store && name.consume_front("g2s.cta.tile.");
  if (!store && !cta && !name.consume_front("g2s.tile."))
    return std::nullopt;
  unsigned rank = 0;
  if (name.consumeInteger(10, rank) || name != "d")
    return std::nullopt;
  if (store)
    return DeviceInstruction::byLane([=](const LaneCall &call) { tensorStore(call, rank); });
  return DeviceInstruction::byLane([=](const LaneCall &call) { tensorLoad(call, rank, !cta); });
}

static std::optional<DeviceInstruction> findBulkCopy(llvm::StringRef name) {
  if (name.consume_front("tensor."))
    return findTensorCopy(name);
  if (name == "global.to.shared.cta" || name == "global.to.shared.cluster")
    return DeviceInstruction::byLane(
        [cluster = name.ends_with("cluster")](const LaneCall &call) { bulkLoad(call, cluster); });
  if (name == "shared.cta.to.global")
    return DeviceInstruction::byLane(bulkStore);
  if (name == "commit.group")
    return DeviceInstruction::byLane([](const LaneCall &call) { call.machine.commitBulkStores(call.thread); });
  if (name == "wait.group" || name == "wait.group.read")
    return DeviceInstruction::byLane([onlyRead = name.ends_with("read")](const LaneCall &call) {
      call.machine.waitBulkStores(call.thread, call.argument<uint32_t>(0), onlyRead);
    });
  return std::nullopt;
}

std::optional<DeviceInstruction> emulator::findAsyncInstruction(llvm::StringRef name) {
  if (name.consume_front("attune.mbarrier."))
    return findMbarrierAsm(name);
  if (name.consume_front("llvm.nvvm.mbarrier."))
    return findMbarrier(name);
  if (name.consume_front("llvm.nvvm.cp.async.mbarrier.arrive")) {
    name.consume_back(".shared");
    if (name != "" && name != ".noinc")
      return std::nullopt;
    return DeviceInstruction::byLane(
        [counted = name == ".noinc"](const LaneCall &call) { call.machine.arriveAfterCopies(call, counted); });
  }
  if (name.consume_front("llvm.nvvm.cp.async.bulk."))
    return findBulkCopy(name);
  if (name == "llvm.nvvm.fence.proxy.async" || name == "llvm.nvvm.fence.proxy.async.shared_cta")
    return DeviceInstruction::byLane(
        [](const LaneCall &call) { call.machine.clock.fenceProxy(uint16_t(call.thread.index)); });
  return std::nullopt;
}
