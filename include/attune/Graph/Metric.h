//===- Metric.h - The price of a whole plan -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_METRIC_H
#define ATTUNE_GRAPH_METRIC_H

#include "attune/Cost/ChooseSchedule.h"
#include "attune/Cost/KernelPrice.h"
#include "attune/Graph/CountedKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace attune::graph {

/// Values for the sizes that are known only when a kernel runs. `scale` multiplies the lengths that are known, for the
/// question from which length on another plan would be cheaper.
struct RuntimeSizes {
  int64_t batch = 1, queries = 1, keys = 1;
  double scale = 1;
};

/// Whether an op is attention, as opposed to a term of it or to what stands around it.
bool isMechanism(mlir::Operation *op);

/// The sizes of a function's tokens: those of its first attention, before the keys were compressed. Unknown ones are
/// kDynamic.
struct FunctionSizes {
  int64_t batch = 1, queries = 1, keys = 1;
};
FunctionSizes sizesOf(mlir::func::FuncOp function);

/// The attentions of a function and the ops around them that have kernels, each of which becomes the kernels of one
/// family; unknown sizes are kDynamic.
llvm::SmallVector<cost::AttentionShape, 1> attentionsOf(mlir::func::FuncOp function);

/// For each of them the op that it is of.
llvm::SmallVector<mlir::Operation *> opsOfAttentions(mlir::func::FuncOp function);

/// Why a device cannot run an attention with the output projection as its epilogue; empty if it can, or if there is none.
std::string epilogueRefusal(const cost::AttentionShape &shape, tile::TargetKind target);

/// The element type of the function's output, null if it has none.
mlir::Type storageOf(mlir::func::FuncOp function);

/// The kernels of an attention, which the metric that counted them owns; none where they were not counted.
using CountedAttention = llvm::SmallVector<const CountedKernel *, 3>;

/// A plan as far as its price is concerned: its attentions with the schedule that they run with.
struct PricedPlan {
  llvm::SmallVector<cost::AttentionShape, 1> attentions;
  tile::ScheduleAttr schedule;
  std::vector<CountedAttention> counted = {}; ///< of each attention, if the plan is priced by counts
};

/// Work and time of a plan at some sizes.
struct PlanPrice {
  double seconds = 0;
  cost::WorkEstimate work;
};

/// One kernel of a plan at some sizes.
struct PricedKernel {
  cost::KernelWork kernel;
  cost::KernelPrice price;
  llvm::SmallVector<size_t, 2> attentions; ///< of the plan, by their places in it: several where parts share a launch
};

/// Prices plans on one device. A kernel family is priced once for every shape it is asked for.
class Metric {
public:
  explicit Metric(const cost::DeviceDescription &device) : machine(device) {}

  /// The kernels of a function and their schedule, or why the device cannot run them.
  llvm::Expected<PricedPlan> partition(mlir::func::FuncOp function) const;
  /// Builds the kernels of a plan for a CPU and counts them: from then on its prices are made of that. Of an attention whose
  /// kernels cannot be counted they stay those of the formulas.
  void count(mlir::func::FuncOp function, PricedPlan &plan);
  PlanPrice price(const PricedPlan &plan, const RuntimeSizes &sizes);
  /// The kernels that `price` adds up.
  std::vector<PricedKernel> kernels(const PricedPlan &plan, const RuntimeSizes &sizes) const;
  /// The schedule with which all attentions of a plan run.
  llvm::Expected<tile::ScheduleAttr> scheduleOf(llvm::ArrayRef<cost::AttentionShape> attentions, mlir::Type storage,
                                                const cost::IsMade &isMade = nullptr,
                                                const cost::LongSequence &seconds = nullptr) const;
  const cost::DeviceDescription &device() const { return machine; }

private:
  /// Of all kernels of a function with a schedule, in a long sequence.
  double longSeconds(mlir::func::FuncOp function, llvm::ArrayRef<cost::AttentionShape> attentions,
                     tile::ScheduleAttr schedule) const;

  using Key = decltype(std::tuple_cat(cost::AttentionShape().key(), std::make_tuple((const void *)nullptr, (const void *)nullptr)));

  const cost::DeviceDescription &machine;
  mutable KernelCounter counter; ///< of plans, and of schedules that are tried
  std::map<std::vector<Key>, PlanPrice> cache; ///< of an attention, or of parts that run in common launches
};

} // namespace attune::graph

#endif // ATTUNE_GRAPH_METRIC_H
