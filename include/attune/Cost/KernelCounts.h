//===- KernelCounts.h - What a launch of a kernel does, at any sizes -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is compiled once, from the IR of its kernel and of its host function, and evaluated at sizes. Nothing else
// is known of the kernel: docs/Rationale/Counts.md says how, and what the IR cannot know.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_KERNELCOUNTS_H
#define ATTUNE_COST_KERNELCOUNTS_H

#include "attune/Cost/Instructions.h"
#include "attune/Cost/WorkEstimate.h"
#include "attune/Tile/Tile.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attune::cost {

struct CountProgram;

/// A size of a host function's tensors that only a run knows.
struct SizeInput {
  unsigned argument, dimension;
};

/// What is assumed of branches that numbers decide (`tile.any`): that no number is above 0, which is usual, or that one
/// is.
enum class Branches { Usual, Rare };

/// Programs, or steps of a loop, that are visited one by one where a bound has no closed form: of more, as many are sampled.
inline constexpr int64_t exactly = 256, nearly = 16;

/// Distinct bytes of memories.
struct Touched {
  double loaded = 0, stored = 0;
  double workspace = 0; ///< of the latter: in memory that later kernels of the plan read

  double bytes() const { return loaded + stored; }
};

/// What main memory has to give and take at least, and what a cache has to hold so that nothing is fetched twice.
struct Footprint {
  Touched launch;  ///< of all programs together
  Touched program; ///< of one alone
};

/// A loop that carries tiles.
struct CarryingLoop {
  double steps = 0; ///< of all programs together
  double carriedBytes = 0, liveBytes = 0; ///< of a step: what it carries, and all tiles that it needs
};

/// Counts of all programs of a launch together.
struct EvaluatedCounts {
  tile::OpCount count;
  double shuffles = 0;      ///< of the instructions of a target
  double bytesInPieces = 0; ///< those of the bytes that the target asks for in pieces
  double programs = 0;
  double busyPrograms = 0;  ///< those whose loops have steps
  tile::OpCount last;       ///< of the above what is left to programs that wait for others, which arrive before them
  double lastPrograms = 0;  ///< how many such programs there are
  Footprint footprint;
  llvm::SmallVector<CarryingLoop, 2> loops;
  /// False: bounds are not linear in the program's number, and of more programs than are visited some were sampled.
  bool isExact = true;
};

class KernelCounts {
public:
  /// What a target's instructions do; of none, what the ops say. Errors say which bound, index or op cannot be counted.
  static mlir::FailureOr<KernelCounts> compile(tile::LaunchOp launch, const Instructions &instructions = {});
  KernelCounts(KernelCounts &&);
  KernelCounts &operator=(KernelCounts &&);
  ~KernelCounts();

  /// What `evaluate` wants to know, in this order.
  llvm::ArrayRef<SizeInput> inputs() const;
  /// Lengths of sequences that are read from memory count as the sequence's size.
  EvaluatedCounts evaluate(llvm::ArrayRef<int64_t> sizes, Branches branches = Branches::Usual,
                           int64_t mostVisited = exactly) const;

  /// The most bytes of tiles that a program holds at once.
  double liveBytes() const;

  /// A bound or an access depends on several axes of the grid: one of them is counted program by program.
  bool hasSeveralAxes() const;
  /// Instructions of the compiled program.
  size_t size() const;

private:
  explicit KernelCounts(std::unique_ptr<CountProgram> program);
  std::unique_ptr<CountProgram> program;
};

/// Of a CPU with vectors of so many lanes of f32.
class CpuInstructions : public Instructions {
public:
  explicit CpuInstructions(int64_t lanes) : lanes(lanes) {}
  Issued issuedFor(mlir::Operation *op) const override;

private:
  int64_t lanes;
};

/// What a CPU does for a launch, by rules about ops on tiles.
WorkEstimate cpuWork(const EvaluatedCounts &counts, double liveBytes);
/// What a GPU does for it; the counts are those of its instructions.
WorkEstimate gpuWork(const EvaluatedCounts &counts, double liveBytes);

/// Tells the ops of arith and math what they do (`tile::CostOpInterface`).
void registerCostModels(mlir::DialectRegistry &registry);

} // namespace attune::cost

#endif // ATTUNE_COST_KERNELCOUNTS_H
