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
#include <tuple>

namespace attune::graph {

/// Values for the sizes that are known only when a kernel runs. `scale` multiplies the lengths that are known, for the
/// question from which length on another plan would be cheaper.
struct RuntimeSizes {
  int64_t batch = 1, queries = 1, keys = 1;
  double scale = 1;
};

/// Whether an op is attention, as opposed to a term of it or to what stands around it.
bool isMechanism(mlir::Operation *op);

/// What a kernel does at these sizes.
const cost::WorkEstimate &workOf(const CountedKernel &kernel, const RuntimeSizes &sizes);

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

/// The element type of the function's output, null if it has none.
mlir::Type storageOf(mlir::func::FuncOp function);

/// The kernels of an attention, which the metric that counted them owns.
using CountedAttention = llvm::SmallVector<const CountedKernel *, 3>;

/// A plan as far as its price is concerned: its attentions with the schedule that they run with.
struct PricedPlan {
  llvm::SmallVector<cost::AttentionShape, 1> attentions;
  tile::ScheduleAttr schedule;
  std::vector<CountedAttention> counted = {}; ///< of each attention, once the plan can be priced
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

/// Prices plans on one device. Equal kernels are built, counted and priced once.
class Metric {
public:
  explicit Metric(const cost::DeviceDescription &device) : machine(device) {}

  /// The kernels of a function, built and counted, and their schedule, or why the device cannot run them.
  llvm::Expected<PricedPlan> partition(mlir::func::FuncOp function, cost::Slices slices = cost::Slices::None);
  /// The same with the schedule of a run of one token, if that is another one than for long sequences.
  llvm::Expected<PricedPlan> partitionForOne(mlir::func::FuncOp function);
  /// The kernels of a plan, which its prices are made of.
  llvm::Error count(mlir::func::FuncOp function, PricedPlan &plan);
  PlanPrice price(const PricedPlan &plan, const RuntimeSizes &sizes);
  /// The kernels that `price` adds up.
  std::vector<PricedKernel> kernels(const PricedPlan &plan, const RuntimeSizes &sizes) const;
  const cost::DeviceDescription &device() const { return machine; }

private:
  /// The schedule with which all attentions of a function run.
  llvm::Expected<tile::ScheduleAttr> scheduleOf(mlir::func::FuncOp function, llvm::ArrayRef<cost::AttentionShape> attentions,
                                                cost::Slices slices);
  llvm::Expected<PricedPlan> withSchedule(mlir::func::FuncOp function, PricedPlan plan, llvm::Expected<tile::ScheduleAttr> schedule);
  /// Of all kernels of a plan, in a long sequence.
  double longSeconds(mlir::func::FuncOp function, const PricedPlan &plan) const;

  /// Kernels that run one after another or side by side, and the sizes: batch, queries, keys, scale.
  using Key = std::pair<std::vector<const CountedKernel *>, std::tuple<int64_t, int64_t, int64_t, double>>;

  const cost::DeviceDescription &machine;
  KernelCounter counter; ///< of plans, and of schedules that are tried
  std::map<Key, PlanPrice> cache; ///< of an attention, or of parts that run in common launches
};

} // namespace attune::graph

#endif // ATTUNE_GRAPH_METRIC_H
