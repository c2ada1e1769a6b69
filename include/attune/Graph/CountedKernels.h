//===- CountedKernels.h - What the kernels of plans do, from their IR -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of an attention are built as they would be compiled, with no more simplified than takes little time, and counted.
// Their launches are programs over the sizes of a run (attune/Cost/KernelCounts.h), so one build serves every length.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_COUNTEDKERNELS_H
#define ATTUNE_GRAPH_COUNTEDKERNELS_H

#include "attune/Cost/KernelCounts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace attune::graph {

/// Loads the dialects of kernels, with what their ops do.
void loadDialectsOfKernels(mlir::MLIRContext &context);

/// A size of a host function's tensors, by what it means.
struct SizeMeaning {
  enum class Kind { Batch, Queries, Keys, Fixed } kind = Kind::Fixed;
  int64_t known = mlir::ShapedType::kDynamic; ///< when the plan was made
};

/// A kernel, and the meaning of what its counts want to know.
class CountedKernel {
public:
  CountedKernel(std::string name, tile::TargetKind target, cost::KernelCounts counts, llvm::SmallVector<SizeMeaning, 8> inputs)
      : name(std::move(name)), inputs(std::move(inputs)), target(target), counts(std::move(counts)) {}

  /// What it does with inputs of these sizes.
  const cost::WorkEstimate &workAt(std::vector<int64_t> sizes) const;
  /// The most bytes of tiles that a program holds at once.
  double liveBytes() const { return counts.liveBytes(); }

  std::string name; ///< softmax, state, merge …
  llvm::SmallVector<SizeMeaning, 8> inputs;

private:
  tile::TargetKind target;
  cost::KernelCounts counts;
  mutable std::map<std::vector<int64_t>, cost::WorkEstimate> known; ///< plans share kernels
};

using CountedKernels = std::vector<CountedKernel>;

/// The kernels that the host functions of a module launch, in their order; those that make parameters ready are not among them, which run
/// once. Kernels are simplified, and get layouts on a GPU. An error says which cannot be counted.
llvm::Expected<CountedKernels> countKernels(mlir::ModuleOp module, tile::TargetKind target);

/// Builds and counts the kernels of plans, those of equal pieces once.
class KernelCounter {
public:
  /// The kernels of an op of `opsOfAttentions`, in the order in which they run, or why they cannot be built or counted.
  /// `roots` are all of these ops.
  llvm::Expected<const CountedKernels &> kernelsOf(mlir::func::FuncOp plan, mlir::Operation *root,
                                                   const llvm::SmallPtrSetImpl<mlir::Operation *> &roots,
                                                   tile::ScheduleAttr schedule);
  /// Whether that is known already.
  bool knows(mlir::func::FuncOp plan, mlir::Operation *root, const llvm::SmallPtrSetImpl<mlir::Operation *> &roots,
             tile::ScheduleAttr schedule) const;

private:
  struct Counted {
    CountedKernels kernels;
    std::string refusal; ///< empty if there is none
  };
  std::map<std::vector<const void *>, Counted> known;
};

} // namespace attune::graph

#endif // ATTUNE_GRAPH_COUNTEDKERNELS_H
