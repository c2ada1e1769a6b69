//===- EmulatorReport.h - What a run of device code showed ------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Findings (faults of the program), counters (its work, for comparison with the cost model) and bank use (how many
// waves its shared-memory instructions took). Findings of one kind at one instruction are counted together: a removed
// barrier gives some hundred thousand races, and the first of them tells the story.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_EMULATORREPORT_H
#define ATTUNE_EMULATOR_EMULATORREPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace attune {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

enum class FindingKind : uint8_t {
  OutOfBounds,       ///< an access outside every registered buffer
  Misaligned,        ///< an address that the access width does not allow
  UninitialisedRead, ///< shared memory read before any write
  Race,              ///< two threads, one of them writing, nothing that orders them
  CopyInFlight,      ///< shared memory touched while a copy writes it, or written while one reads it
  CopyNotWaited,     ///< a thread that ends while its copies are in flight
  Divergence,        ///< a warp instruction that not all of its lanes reach
  InactiveLane,      ///< a shuffle that reads a lane outside its member mask
  Deadlock,          ///< a barrier that not all of its threads reach
  Trap,              ///< the program's own trap
  ProxyOrder,        ///< the async proxy reads what threads wrote, without a proxy fence between
  RegisterInFlight,  ///< a result of wgmma used before it is there, or wgmma without its fence
  BarrierMisuse,     ///< an mbarrier that is not one, or that more arrives at than it expects; a barrier's wrong count
};
constexpr unsigned numFindingKinds = 13;
llvm::StringRef findingName(FindingKind kind);

enum class MemorySpace : uint8_t { Generic, Shared, Global, Local };

struct Finding {
  FindingKind kind;
  std::string kernel;
  Dim3 block;           ///< index of the block in the grid
  uint32_t thread = 0;  ///< linear index in the block
  std::string buffer;   ///< the buffer touched, or the nearest one; empty if none
  uint64_t address = 0; ///< byte offset from that buffer's begin, or the address itself
  uint32_t bytes = 0;
  std::string message;
  std::string instruction; ///< its text: PTX, or LLVM IR
  std::string location;    ///< ptx:line; of LLVM IR file:line:column, if the module has debug locations
  uint64_t count = 1;      ///< how often this kind happened at this instruction
};

/// Waves of one shared-memory instruction. A warp access of 4 bytes a lane is one phase, of 8 bytes two, of 16 bytes
/// (and each 8x8 matrix of ldmatrix) four and one; a phase without bank conflicts takes one wave.
struct BankUse {
  std::string kernel, instruction, location;
  bool inLoop = false; ///< the instruction is within a loop of the kernel
  uint64_t requests = 0, phases = 0, waves = 0;
  double wavesPerPhase() const { return phases ? double(waves) / double(phases) : 0; }
};

/// Sectors of 32 bytes that the warps' accesses to global memory touched, by instruction.
struct SectorUse {
  std::string kernel, instruction, location;
  uint64_t requests = 0, bytes = 0, sectors = 0;
  /// The part of the sectors that the instruction used; above 1 if lanes share bytes.
  double efficiency() const { return sectors ? double(bytes) / (32.0 * double(sectors)) : 0; }
};

/// Warp instructions count once per warp, bytes are summed over the lanes but for `globalBytes`.
struct WorkCounters {
  uint64_t blocks = 0, barriers = 0;
  uint64_t matrixMultiplies = 0, matrixMultiplyAdds = 0, matrixLoads = 0, matrixStores = 0;
  uint64_t tf32MultiplyAdds = 0; ///< those of the multiply-adds whose operands are tf32
  uint64_t depth4Multiplies = 0, depth8Multiplies = 0, depth16Multiplies = 0; ///< m16n8k4, m16n8k8, m16n8k16
  uint64_t shuffles = 0, specialFunctions = 0;
  uint64_t asyncCopies = 0, asyncCopyBytes = 0;
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0, sharedLoadBytes = 0, sharedStoreBytes = 0;
  /// What the warps asked of global memory by loads, stores and cp.async: bytes that lanes of a warp share, once.
  uint64_t globalBytes = 0;
  /// Those requests by the bytes of a lane: narrower than 4, 4, 8, 16.
  uint64_t narrowRequests = 0, requestsOf4 = 0, requestsOf8 = 0, requestsOf16 = 0;
  uint64_t wideGlobalBytes = 0; ///< of `globalBytes` those asked for by 16 bytes a lane

  WorkCounters &operator+=(const WorkCounters &other);
};

/// A counter and what it is called.
struct CounterName {
  llvm::StringRef name;
  uint64_t WorkCounters::*counter;
};
llvm::ArrayRef<CounterName> counterNames();

/// The work of one launch.
struct LaunchWork {
  std::string kernel;
  WorkCounters counters;
};

struct EmulatorReport {
  std::vector<Finding> findings; ///< bounded; `totals` counts all of them
  std::array<uint64_t, numFindingKinds> totals{};
  WorkCounters counters;            ///< of all launches, and then of each
  std::vector<LaunchWork> launches;
  std::vector<BankUse> bankUse;     ///< one entry an instruction that touched shared memory
  std::vector<SectorUse> sectorUse; ///< one entry an instruction that touched global memory

  bool clean() const;
  uint64_t total(FindingKind kind) const { return totals[unsigned(kind)]; }
  /// Waves per phase over all shared-memory instructions; 1 without conflicts, 0 without shared accesses.
  double wavesPerPhase() const;
  uint64_t globalSectors() const;
  void printFindings(llvm::raw_ostream &os) const;
  void printCounters(llvm::raw_ostream &os) const;
};

} // namespace attune

#endif // ATTUNE_EMULATOR_EMULATORREPORT_H
