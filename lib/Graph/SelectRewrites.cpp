//===- SelectRewrites.cpp - Every function of mechanisms in its cheapest forms -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SelectPlan.h"
#include "attune/Graph/Passes.h"

#include "llvm/ADT/StringSet.h"

namespace attune::graph {
#define GEN_PASS_DEF_SELECTREWRITES
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

using namespace mlir;
using namespace attune;
using namespace attune::graph;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// A pin must name a law and one of its forms, and no law may be pinned twice.
static LogicalResult checkPins(Location module, ArrayRef<std::unique_ptr<RewriteLaw>> laws, ArrayRef<Pin> pins) {
  llvm::StringSet<> pinned;
  for (const Pin &pin : pins) {
    auto law = llvm::find_if(laws, [&](const auto &law) { return law->name() == pin.law; });
    if (law == laws.end())
      return emitError(module) << "expected the name of a law in a pin, but got '" << pin.law << "'";
    if (!llvm::is_contained((*law)->forms(), pin.form))
      return emitError(module) << "expected a form of " << pin.law << " (" << llvm::join((*law)->forms(), ", ")
                               << ") in a pin, but got '" << pin.form << "'";
    if (!pinned.insert(pin.law).second)
      return emitError(module) << "expected one pin of " << pin.law << ", but got several";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// Whether a function has attention that nobody has selected for yet.
static bool isOpen(func::FuncOp function) {
  return !function.isDeclaration() && !function->hasAttr("attn.plan") &&
         llvm::any_of(function.getOps(), [](Operation &op) { return isMechanism(&op); });
}

/// `name` for the plan from length 0, `name__form` for the others; a number where that is taken.
static std::string nameOf(ModuleOp module, StringRef base, const CommittedPlan &plan, bool first) {
  if (first)
    return base.str();
  std::string name = (base + "__" + attn::stringifyForm(plan.form)).str();
  for (int suffix = 2; module.lookupSymbol(name); ++suffix)
    name = (base + "__" + attn::stringifyForm(plan.form) + "_" + Twine(suffix)).str();
  return name;
}

static void commit(ModuleOp module, func::FuncOp original, FunctionPlans &plans) {
  OpBuilder builder(original);
  StringAttr base = original.getNameAttr();
  SmallVector<func::FuncOp> placed;
  for (auto [index, plan] : llvm::enumerate(plans.committed)) {
    func::FuncOp function = plan.function.release();
    function.setName(nameOf(module, base, plan, index == 0));
    function->setAttr("attn.plan", attn::PlanAttr::get(module.getContext(), plan.form, plan.from));
    function->setAttr("tile.schedule", plan.schedule);
    builder.insert(function);
    plans.selection.plans.push_back({function.getName().str(), plan.form, plan.from});
  }
  original.erase();
}

FailureOr<Selection> graph::selectRewrites(ModuleOp module, const SelectOptions &options) {
  module.getContext()->getOrLoadDialect<tile::TileDialect>(); // of the schedules
  std::vector<std::unique_ptr<RewriteLaw>> laws = createLaws();
  if (failed(checkPins(module.getLoc(), laws, options.pins)))
    return failure();
  SmallVector<func::FuncOp> functions = llvm::filter_to_vector(module.getOps<func::FuncOp>(), isOpen);
  std::vector<FunctionPlans> plans;
  for (func::FuncOp function : functions) {
    FailureOr<FunctionPlans> chosen = selectPlans(function, laws, options);
    if (failed(chosen))
      return failure();
    plans.push_back(std::move(*chosen));
  }
  Selection selection;
  for (auto [function, chosen] : llvm::zip_equal(functions, plans)) {
    if (chosen.committed.empty())
      continue;
    commit(module, function, chosen);
    emitRemarks(chosen.selection);
    selection.functions.push_back(std::move(chosen.selection));
  }
  return selection;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SelectRewrites : public graph::impl::SelectRewritesBase<SelectRewrites> {
  using SelectRewritesBase::SelectRewritesBase;

  void runOnOperation() override {
    FailureOr<SelectOptions> options = readOptions();
    FailureOr<Selection> selection = failure();
    if (succeeded(options))
      selection = selectRewrites(getOperation(), *options);
    if (failed(selection))
      return signalPassFailure();
    for (const FunctionSelection &function : selection->functions)
      for (const Decision &decision : function.decisions)
        ++(decision.taken ? numTaken : numMissed);
  }

private:
  FailureOr<SelectOptions> readOptions() {
    llvm::Expected<cost::DeviceDescription> description = cost::DeviceDescription::named(device);
    if (!description)
      return emitError(getOperation().getLoc()) << llvm::toString(description.takeError());
    SelectOptions options{std::move(*description), {}};
    for (const std::string &text : pins) {
      auto [law, form] = StringRef(text).split(':');
      options.pins.push_back({law.trim().str(), form.trim().str()});
    }
    return options;
  }
};
} // namespace
