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

#include <map>
#include <random>
#include <set>

namespace attune::emulator {

struct AsyncCopy {
  char *destination;
  const char *source;
  uint32_t bytes, sourceBytes; ///< the rest of `bytes` is filled with zeros
  Site *site;
};

/// Bytes that a bulk copy moves: from shared memory, or to it; without a source zeros.
struct CopyPiece {
  char *to;
  const char *from;
  uint32_t bytes;
};

/// A cp.async.bulk in flight.
struct BulkCopy {
  std::vector<CopyPiece> pieces;
  uint32_t bytes; ///< that it tells its mbarrier
  Site *site;
  Thread *thread;
  bool read = false; ///< of a store: its bytes are in `data`, on their way
  std::vector<char> data = {};
};

/// The phase of an mbarrier that a thread waits for: by its parity, or by what its arrival gave.
struct PhaseWanted {
  uint64_t value;
  bool parity;
  bool isDone(uint64_t phase) const { return parity ? (phase & 1) != (value & 1) : phase != value; }
};

enum class ThreadState : uint8_t { Ready, AtWarpInstruction, AtBarrier, AtMbarrier, Ended };

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
  uint32_t predicates = 0, atBarrier = 0; ///< true predicates, and threads, at the barrier it has passed
  // cp.async: copies in order of issue, of which `groups` hold the ends of the committed groups.
  std::vector<AsyncCopy> copies;
  std::vector<size_t> groups;
  // cp.async.bulk from shared memory, alike.
  std::vector<BulkCopy> stores;
  std::vector<size_t> storeGroups;
  // Where it waits, if at an mbarrier.
  uint32_t mbarrier = 0;
  PhaseWanted wanted{};
  bool blocking = false, phaseDone = false;
  std::set<std::tuple<uint32_t, uint64_t, bool>> asked; ///< phases it has asked for once: mbarrier, value, parity
  uint64_t productTag = 0; ///< of its last wgmma
};

/// wgmma of one warp.
struct WarpProducts {
  struct Product {
    uint64_t number;
    std::vector<uint32_t> reads; ///< offsets of 16 bytes each
  };
  std::vector<Product> inFlight;
  std::vector<size_t> groups; ///< ends of the committed ones
  uint64_t issued = 0, finished = 0;
  bool fenced = false; ///< wgmma.fence since the start or the last wait
  /// What a warpgroup's products were given by those of its warps that have come to them; kept by its first warp.
  struct Given {
    const Site *site;
    std::vector<uint64_t> operands;
    unsigned warps;
  };
  std::map<uint64_t, Given> given; ///< by number
};

struct Warp {
  uint32_t index = 0;
  uint32_t lanes = 0; ///< those that exist; a block's last warp may be partial
  uint32_t ready = 0, atInstruction = 0, ended = 0;
  Thread *threads = nullptr;
  WarpProducts products;
};

/// An mbarrier in shared memory. Copies land when a thread waits for them, not before.
struct Mbarrier {
  uint32_t expected = 0;
  int64_t pending = 0;      ///< arrivals
  int64_t transactions = 0; ///< bytes
  uint64_t phase = 0;
  OrderClock::Row arriving, completed;
  std::vector<BulkCopy> copies;
  struct Deferred {
    Thread *thread;
    std::vector<AsyncCopy> copies;
  };
  std::vector<Deferred> deferred; ///< cp.async.mbarrier.arrive
  uint32_t initTime = 0;
  uint16_t initThread = 0;
  unsigned waiting = 0;
};

/// What an instruction says of its barrier.
struct BarrierUse {
  unsigned id = 0, count = 0; ///< of threads
  bool reduces = false;
};

/// A barrier of the block by its number. `arrived` also counts bar.arrive, which does not wait.
struct Barrier {
  BarrierUse use;
  unsigned arrived = 0;                              ///< by whole warps
  unsigned threads = 0;                              ///< that exist
  std::array<uint32_t, OrderClock::maxWarps> lanes{}; ///< that have arrived, by warp
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
  void barrierArrive(const LaneCall &call, const BarrierUse &use, bool wait, bool predicate);
  void startCopy(const LaneCall &call, uint32_t bytes, uint32_t sourceBytes);
  void commitCopies(Thread &thread);
  void waitCopies(Thread &thread, size_t pendingGroups);
  void waitAllCopies(Thread &thread);
  // Mbarriers.cpp. Each gives the mbarrier of its call, null after a report if there is none.
  void initMbarrier(const LaneCall &call, uint32_t expected);
  void invalidateMbarrier(const LaneCall &call);
  Mbarrier *mbarrierOf(const LaneCall &call, char *address);
  /// Gives the phase that the arrival belongs to.
  uint64_t arriveMbarrier(const LaneCall &call, uint32_t count, int64_t bytes);
  /// Reports an arrival that says it leaves its phase incomplete, but does not.
  void checkIncomplete(const LaneCall &call, uint32_t count);
  void addTransactions(const LaneCall &call, int64_t bytes);
  bool waitMbarrier(const LaneCall &call, PhaseWanted wanted, bool blocking);
  void arriveAfterCopies(const LaneCall &call, bool counted);
  // BulkCopies.cpp
  void startBulkLoad(const LaneCall &call, char *mbarrier, std::vector<CopyPiece> pieces, uint32_t bytes);
  void startBulkStore(const LaneCall &call, std::vector<CopyPiece> pieces);
  bool isGlobal(const void *address, size_t bytes) { return global.find(address, bytes) != nullptr; }
  void commitBulkStores(Thread &thread);
  /// `onlyRead`: what is stored has been read, but need not be there.
  void waitBulkStores(Thread &thread, size_t pendingGroups, bool onlyRead);
  /// 16 bytes of shared memory that a product reads, from a descriptor's address; null if out of bounds.
  char *productRow(Site &site, Thread &thread, uint32_t windowAddress, std::vector<uint32_t> &reads);
  void finishProducts(Warp &warp, size_t pendingGroups);
  /// A result of the product `tag` is used.
  void checkProduct(Site &site, uint64_t tag);

  /// Rows of ldmatrix and stmatrix; null if out of bounds.
  char *matrixRow(Site &site, Thread &thread, void *address, bool store);
  void countBankPhase(Site &site, llvm::ArrayRef<uint32_t> offsets, uint32_t bytes);

  /// Order between blocks: an atomic access of the running thread that has been done, a fence.
  void orderAccess(Site &site, const void *address, bool stores);
  void orderFence(Ordering ordering);

  void report(FindingKind kind, Site &site, const Thread &thread, const llvm::Twine &message);
  WorkCounters &counters() { return log.report.counters; }

  const EmulatorOptions &options;
  unsigned capability = 80; ///< of sm_80
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
  void checkArrival(const LaneCall &call, const Barrier &barrier, const BarrierUse &use);
  std::string explainStop();

  char *accessShared(Site &site, Thread &thread, char *address, SharedAccess kind, uint32_t bytes, bool wholeWarp);
  char *accessGlobal(Site &site, Thread &thread, char *address, uint32_t bytes, bool store, Atomicity atomic);
  bool checkAlignment(Site &site, Thread &thread, const void *address, uint32_t alignment);
  void describeSharedFault(Site &site, Thread &thread, const SharedFault &fault, SharedAccess kind);
  void joinRequest(Site &site, const Thread &thread, MemorySpace space, uint64_t address);
  void finishRequest(Site &site, MemorySpace space, WarpRequests::Request &request);
  void countBanks(Site &site, const WarpRequests::Request &request);
  void countSectors(Site &site, const WarpRequests::Request &request);
  void countBytes(const Site &site, const WarpRequests::Request &request);
  void flush(Site &site, MemorySpace space, WarpRequests &pending);
  void flushRequests();
  void land(Thread &thread, size_t count);
  void land(Thread &thread, const AsyncCopy &copy);
  void land(BulkCopy &copy);
  void readForStore(BulkCopy &copy);
  void landStores(Thread &thread, size_t count);
  bool overlapsMbarrier(uint32_t offset, uint32_t bytes) const;
  void settle(uint32_t offset, Mbarrier &mbarrier, const LaneCall *call, bool wanted);
  void landFor(Mbarrier &mbarrier);
  bool releasePolling();
  std::string describeMbarrier(uint32_t offset) const;
  void checkEnd();
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
  std::map<uint32_t, Mbarrier> mbarriers; ///< by offset in shared memory
  unsigned idlePolls = 0;                 ///< since a phase was completed
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
