//===- Machine.h - One multiprocessor: the threads of a block and their schedule --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread runs until it must wait: at a warp instruction for the other lanes, at a barrier for other threads. It then
// switches straight to the next thread that can run. The last lane to arrive at a warp instruction performs it for all.
// When nothing can run, control returns to `runBlock`, which finds that all threads have ended or why they cannot.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_MACHINE_H
#define ATTUNE_EMULATOR_MACHINE_H

#include "Fiber.h"
#include "FindingLog.h"
#include "GlobalMemory.h"
#include "OrderClock.h"
#include "SharedMemory.h"
#include "Site.h"

#include "attune/Emulator/DeviceEmulator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <random>

namespace attune::emulator {

struct AsyncCopy {
  char *destination;
  const char *source;
  uint32_t bytes, sourceBytes; ///< the rest of `bytes` is filled with zeros
  Site *site;
};

enum class ThreadState : uint8_t { Ready, AtWarpInstruction, AtBarrier, Ended };

struct Thread {
  Fiber fiber;
  uint32_t index = 0, lane = 0;
  Dim3 id;
  Warp *warp = nullptr;
  ThreadState state = ThreadState::Ready;
  // Where it waits.
  Site *site = nullptr;
  char *result = nullptr;
  const char *arguments = nullptr;
  uint32_t mask = 0;
  unsigned barrier = 0;
  uint32_t predicates = 0; ///< true predicates at the barrier it has passed
  // cp.async: copies in order of issue, of which `groups` hold the ends of the committed groups.
  std::vector<AsyncCopy> copies;
  std::vector<size_t> groups;
};

struct Warp {
  uint32_t index = 0;
  uint32_t lanes = 0; ///< those that exist; a block's last warp may be partial
  uint32_t ready = 0, atInstruction = 0, ended = 0;
  Thread *threads = nullptr;
};

/// A barrier of the block by its number. `arrived` also counts bar.arrive, which does not wait.
struct Barrier {
  unsigned arrived = 0, expected = 0;
  uint32_t warps = 0; ///< that have arrived, at least in part
  OrderClock::Row published{};
  uint32_t predicates = 0; ///< arrivals with a true predicate, for the reductions
};

struct BlockLaunch {
  void (*entry)(const uint64_t *) = nullptr;
  const uint64_t *parameters = nullptr;
  std::string kernel;
  Dim3 grid, block;
};

class Machine {
public:
  Machine(const EmulatorOptions &options, SharedMemory &shared, GlobalMemory &global, FindingLog &log)
      : options(options), shared(shared), global(global), log(log), random(options.seed) {}

  /// Runs one block; an error message if it cannot go on, else empty.
  std::string runBlock(const BlockLaunch &launch, Dim3 blockIndex, llvm::ArrayRef<std::unique_ptr<Site>> sites);

  // Called from the program.
  /// Checks an access and gives the address to use: the program's own, or a harmless one.
  void *access(Site &site, void *address);
  void call(Site &site, char *result, const char *arguments);

  // For the instructions.
  Thread &current() { return *running; }
  void barrierArrive(const LaneCall &call, unsigned id, unsigned count, bool wait, bool predicate);
  void startCopy(const LaneCall &call, uint32_t bytes, uint32_t sourceBytes);
  void commitCopies(Thread &thread);
  void waitCopies(Thread &thread, size_t pendingGroups);
  void waitAllCopies(Thread &thread);
  /// Rows of ldmatrix and stmatrix; null if out of bounds.
  char *matrixRow(Site &site, Thread &thread, void *address, bool store);
  void countBankPhase(Site &site, llvm::ArrayRef<uint32_t> offsets, uint32_t bytes);

  void report(FindingKind kind, Site &site, const Thread &thread, const llvm::Twine &message);
  WorkCounters &counters() { return log.report.counters; }

  const EmulatorOptions &options;
  BlockLaunch launch;
  Dim3 blockIndex;
  OrderClock clock;

private:
  static void threadMain();
  void prepareThreads();
  void endThread();
  /// Leaves the running thread for another one that can run.
  void yield();
  Thread *nextThread(const Warp &after);
  void meetWarp(const LaneCall &call, uint32_t mask);
  void maybeSwitchWarp();
  void completeBarrier(unsigned id);
  void checkAlignedBarrier(const Thread &thread);
  std::string explainStop();

  char *accessShared(Site &site, Thread &thread, char *address, SharedAccess kind, uint32_t bytes, bool wholeWarp);
  char *accessGlobal(Site &site, Thread &thread, char *address, uint32_t bytes, bool store, bool atomic);
  bool checkAlignment(Site &site, Thread &thread, const void *address, uint32_t alignment);
  void describeSharedFault(Site &site, Thread &thread, const SharedFault &fault, SharedAccess kind);
  void joinRequest(Site &site, const Thread &thread, MemorySpace space, uint64_t address);
  void finishRequest(Site &site, MemorySpace space, WarpRequests::Request &request);
  void countBanks(Site &site, const WarpRequests::Request &request);
  void countSectors(Site &site, const WarpRequests::Request &request);
  void flush(Site &site, MemorySpace space, WarpRequests &pending);
  void flushRequests();
  void land(Thread &thread, size_t count);
  void add(FindingKind kind, Site &site, const Thread &thread, std::string buffer, uint64_t address, uint32_t bytes,
           std::string message);
  uint32_t linearBlock() const { return blockIndex.x + launch.grid.x * (blockIndex.y + launch.grid.y * blockIndex.z); }

  SharedMemory &shared;
  GlobalMemory &global;
  FindingLog &log;
  std::mt19937_64 random;

  FiberStacks stacks;
  Fiber scheduler;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  Thread *running = nullptr;
  std::vector<Site *> openSites;   ///< with open requests
  alignas(64) char harmless[1024]; ///< stands in for memory that must not be touched
};

/// The machine whose threads run on this host thread.
Machine *activeMachine();

inline LaneCall WarpCall::lane(unsigned index) const {
  Thread &thread = warp.threads[index];
  return {machine, site, thread, thread.result, thread.arguments};
}

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_MACHINE_H
