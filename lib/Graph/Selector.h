//===- Selector.h - Candidates, choice and record of one function -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memo: every form beside the op it equals.  Enumerate: whole plans within a bound.  Metric: a plan's kernels and
// price. Select: the cheapest, or the lower envelope over the length where that is unknown.  Record: what was decided,
// and why.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_SELECTOR_H
#define ATTUNE_LIB_GRAPH_SELECTOR_H

#include "LengthModel.h"
#include "SelectPlan.h"
#include "attune/Graph/KeepForBackward.h"

#include <map>

namespace attune::graph {

/// A whole plan that the device can run.
struct Candidate {
  llvm::SmallVector<unsigned> choice;
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  PricedPlan priced;
  llvm::SmallBitVector computed; ///< of each group: the plan has what its choice is about
  bool allowed = false;          ///< agrees with the pins
  bool steps = false;            ///< another one's chunks of one row, for a few tokens

  bool has(unsigned group, unsigned alternative) const { return choice[group] == alternative && computed[group]; }
};

/// Makes the choice for one function.
class Selector {
public:
  Selector(mlir::func::FuncOp function, llvm::ArrayRef<std::unique_ptr<RewriteLaw>> laws, const SelectOptions &options)
      : function(function), options(options), memo(function, laws), metric(options.device) {}

  mlir::FailureOr<FunctionPlans> run();

private:
  /// A pinned form must be possible for one of the ops that its law speaks of.
  mlir::LogicalResult checkPin(const Pin &pin);
  /// Realizes the plans within the bound that the device can run.
  mlir::LogicalResult makeCandidates();
  bool anyAllowed() const {
    return llvm::any_of(candidates, [](const Candidate &candidate) { return candidate.allowed; });
  }
  /// Whether something does not fit, and all that does sums up the weights of every pair of a kernel attention.
  bool onlyPairsFit() const;
  /// Adds one of them, or why the device cannot run it.
  void addCandidate(llvm::SmallVector<unsigned> choice, llvm::ArrayRef<llvm::SmallVector<unsigned>> forms,
                    cost::Slices slices);
  /// Adds those that go on from a state by few tokens: a decoder's runs, whose chunks have one row. They run where that is cheaper, and
  /// are told of nowhere else.
  void addSteps();
  /// Allows those that agree with the pins. Those that do away with a pinned op are among them only if all that agree do.
  void allowCandidates();
  /// Says what the first plan lacks, which has the pinned forms, and of other choices the plainest.
  mlir::LogicalResult refuse();
  /// Allowed candidates by their price at a length; of equally cheap ones the first comes first.
  llvm::SmallVector<unsigned> ranked(int64_t length);
  /// Finds the segments among the allowed candidates, or takes the one at the place that was asked for.
  mlir::LogicalResult solve();

  // SelectionRecord.cpp
  void describe(FunctionSelection &selection);
  Decision describe(unsigned group, unsigned alternative);
  /// A decision without prices.
  Decision named(unsigned group, unsigned alternative);
  std::string reasonOf(const Decision &decision, unsigned group, unsigned alternative);
  /// Whether somebody wants to know at which lengths other plans would be cheaper, which takes prices at all lengths.
  bool tellsCrossovers() { return options.curves || function.getContext()->getRemarkEngine(); }
  /// At which lengths from `from` on the alternative is the cheapest.
  std::string whereCheapest(int64_t from, unsigned group, unsigned alternative) const;
  std::optional<ExactComparison> compareWithSoftmax();
  /// The function with exact softmax in place of every attention; nothing if it is that already, or if the device cannot
  /// run it.
  std::optional<PricedPlan> softmaxPlan();
  void describeKernels(FunctionSelection &selection);
  void describeSingle(FunctionSelection &selection);

  // SavePrices.cpp
  /// Finds what plans could leave for gradients, and which of their ops store it.
  void findSaved();
  /// What a point costs the backward pass: its kernels again, of a plan that has them.
  double againSeconds(unsigned point, int64_t length);
  /// Seconds of the kernels of an op of a plan.
  double secondsOf(mlir::Operation *op, unsigned candidate, int64_t length);
  /// Seconds by which plans are compared: where gradients follow, with what the plan does not leave for them.
  double trainedSeconds(unsigned candidate, int64_t length);
  /// What the plan at the selection's length could leave for gradients, and what of it is left.
  void describeSaved(FunctionSelection &selection);

  // PriceCurves.cpp
  /// "law: form" of every choice of a candidate.
  std::string formsOf(const Candidate &candidate);
  void describeRejected(FunctionSelection &selection);
  void describeCurves(FunctionSelection &selection);
  /// The cheapest candidate with that form, pinned or not; none if the device can run none.
  std::optional<unsigned> cheapestWith(unsigned group, unsigned alternative, int64_t length);

  const Pin *pinOf(const RewriteLaw &law) const {
    auto place = llvm::find_if(options.pins, [&](const Pin &pin) { return pin.law == law.name(); });
    return place == options.pins.end() ? nullptr : &*place;
  }
  /// Whether a form is the one that the pins ask for; an op that cannot take the pinned form agrees with any.
  bool agrees(const EqualForms &group, const Alternative &alternative) const;
  /// Whether all other ops are in forms that the pins ask for.
  bool agreesBeside(const Candidate &candidate, unsigned group) const;
  /// Whether a plan computes an op in the form that a pin asks for.
  bool binds(const Pin &pin, const Candidate &plan) const;
  /// Whether a plan does away with an op that could take a pinned form. An op that another form is made of is not missed where
  /// the pin binds something else.
  bool misses(const Candidate &plan, unsigned group) const;
  /// The pins that are in none of the plans that were chosen.
  std::vector<Pin> unboundPins() const;
  attn::Form formOf(const Candidate &candidate) const;
  /// Indices of the alternatives that can be built, pinned ones first.
  llvm::SmallVector<unsigned> formsToTry(const EqualForms &group) const;
  /// The price of a candidate. Each decision asks for those of all candidates, so they are kept by length.
  double seconds(unsigned candidate, int64_t length);
  /// The candidate that runs at a length.
  unsigned chosenAt(int64_t length) const {
    const Segment *last = segments.begin();
    for (const Segment &segment : segments)
      last = segment.from <= length ? &segment : last;
    return last->plan;
  }

  mlir::func::FuncOp function;
  const SelectOptions &options;
  Memo memo;
  Metric metric;
  mlir::OwningOpRef<mlir::ModuleOp> savedTerms;      ///< the function as its backward pass has it
  std::vector<SavePoint> saved;                     ///< what backward passes read that plans could leave
  std::map<std::pair<unsigned, int64_t>, double> againAt; ///< prices of points by their places and lengths
  std::vector<std::vector<mlir::Operation *>> storing; ///< of each candidate and point the op that stores it, or null
  std::optional<LengthModel> lengths;
  std::vector<Candidate> candidates;
  std::map<int64_t, std::vector<double>> secondsAt; ///< of every candidate at a length, NaN where nobody has asked
  llvm::SmallVector<Segment, 3> segments;
  /// A plan that the device cannot run, and why.
  struct Misfit {
    llvm::SmallVector<unsigned> choice;
    std::string reason;
  };
  std::vector<Misfit> misfits;
  bool computePinned = false; ///< a plan that does away with a pinned op does not agree with the pins
  bool complete = true;
};

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_SELECTOR_H
