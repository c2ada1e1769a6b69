//===- PlanBench.h - Plans of a spec, timed beside one another ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_PLANBENCH_H
#define ATTUNE_COMMANDS_PLANBENCH_H

#include "TimedLibrary.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// A plan of a spec: what was predicted, and what was measured in each round.
struct TimedPlan {
  std::string forms; ///< "linearize: state, fold wq: apart"
  double predicted = 0;
  std::vector<double> seconds;
};

/// The plans of one spec of known sizes, the cheapest by price first.
struct PlanTable {
  std::string name;
  int64_t priced = 0; ///< plans that selection priced
  std::vector<TimedPlan> plans;
};

/// Compiles the `arguments.plans` cheapest plans of each spec and times all of them in turn, round after round. Errors of
/// the compiler have been printed.
llvm::Expected<std::vector<PlanTable>> timePlans(llvm::ArrayRef<Spec> specs, const Arguments &arguments);

void printPlans(const PlanTable &table, llvm::raw_ostream &out);
llvm::json::Object plansAsJson(const PlanTable &table);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_PLANBENCH_H
