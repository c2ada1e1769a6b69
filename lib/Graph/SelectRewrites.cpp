//===- SelectRewrites.cpp - Every function of mechanisms in its cheapest forms -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelsFit.h"
#include "SelectPlan.h"
#include "attune/Attn/PinPlaces.h"
#include "attune/Graph/CanonicalLaws.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Graph/KeepForBackward.h"
#include "attune/Graph/Passes.h"
#include "attune/Laws/ApproximateLaw.h"
#include "attune/Laws/RewriteLaw.h"
#include "attune/Laws/SavePin.h"
#include "attune/Support/Suggestions.h"

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

/// An error for a name that is none of `known`, with the one that was probably meant.
static LogicalResult refuseName(Location place, const Twine &expected, StringRef where, StringRef name,
                                ArrayRef<StringRef> known) {
  InFlightDiagnostic error = emitError(place) << "expected " << expected << " (" << joinNames(known) << ") " << where
                                              << ", but got '" << name << "'";
  if (std::string note = suggestionNote(name, known); !note.empty())
    error.attachNote() << note;
  return error;
}

/// What may be allowed: the names of approximate laws. Those of exact ones need no consent and change nothing.
static LogicalResult checkAllowed(Location place, ArrayRef<std::string> allowed) {
  SmallVector<StringRef> known = approximateLawNames();
  for (const std::string &name : allowed)
    if (!findLaw(name) && !llvm::is_contained(known, name))
      return refuseName(place, "the name of a law", "to allow", name, known);
  return success();
}

/// The function's attribute `attn.allow`: a list of such names.
static LogicalResult checkAllowedBy(func::FuncOp function) {
  Attribute attribute = function->getAttr("attn.allow");
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (attribute && (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>)))
    return emitError(function.getLoc()) << "expected a list of names in attn.allow, but got " << attribute;
  std::vector<std::string> names;
  for (Attribute name : list ? list.getValue() : ArrayRef<Attribute>())
    names.push_back(cast<StringAttr>(name).str());
  return checkAllowed(function.getLoc(), names);
}

/// The function's attribute `attn.pin`: a dictionary of names.
static LogicalResult checkPinnedBy(func::FuncOp function) {
  Attribute attribute = function->getAttr("attn.pin");
  auto pins = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto isName = [](NamedAttribute pin) { return isa<StringAttr>(pin.getValue()); };
  if (attribute && (!pins || !llvm::all_of(pins, isName)))
    return emitError(function.getLoc()) << "expected names of forms by names of laws in attn.pin, but got " << attribute;
  return success();
}

/// A pin must name a law and one of its forms, and no law may be pinned twice.
static LogicalResult checkPins(Location module, ArrayRef<Pin> pins) {
  llvm::StringSet<> pinned;
  for (const Pin &pin : pins) {
    const RewriteLaw *law = findLaw(pin.law);
    if (pin.law == savePin) {
      if (!isSaveForm(pin.form))
        return refuseName(module, "a number of bytes a token, or what a run leaves for its gradients", "in the pin " + pin.law, pin.form, saveForms);
      if (!pinned.insert(pin.law).second)
        return emitError(module) << "expected one pin of " << pin.law << ", but got several";
      continue;
    }
    if (!law)
      return refuseName(module, "the name of a law", "in a pin", pin.law, lawNames());
    if (!law->hasForm(pin.form))
      return refuseName(module, "a form of " + pin.law, "in a pin", pin.form, law->formNames());
    if (!pinned.insert(pin.law).second)
      return emitError(module) << "expected one pin of " << pin.law << ", but got several";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// Plans are priced for the type of the output.
static bool hasOutput(func::FuncOp function) {
  Type storage = storageOf(function);
  return storage && (storage.isF32() || storage.isF16() || storage.isBF16());
}

/// Whether a function has attention that nobody has selected for yet.
static bool isOpen(func::FuncOp function) {
  return !function.isDeclaration() && !function->hasAttr("attn.plan") && hasOutput(function) &&
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

/// Names of all that a run of the function leaves for its gradients.
static std::vector<std::string> leftBy(func::FuncOp original, const FunctionSelection &selection, const SelectOptions &options) {
  std::vector<std::string> names;
  for (const SavedTensors &saved : selection.saved)
    if (saved.taken)
      llvm::append_range(names, saved.names);
  if (keptAttention(original) && options.savePin != "none")
    llvm::append_range(names, ArrayRef<std::string>{"o", "lse"});
  return names;
}

static void commit(ModuleOp module, func::FuncOp original, FunctionPlans &plans, const SelectOptions &options) {
  OpBuilder builder(original);
  bool leaves = options.save && original->hasAttr(gradientsAttr);
  StringAttr base = original.getNameAttr();
  SmallVector<func::FuncOp> placed;
  for (auto [index, plan] : llvm::enumerate(plans.committed)) {
    func::FuncOp function = plan.function.release();
    function.setName(nameOf(module, base, plan, index == 0));
    function->setAttr("attn.plan", attn::PlanAttr::get(module.getContext(), plan.form, plan.from));
    function->setAttr("tile.schedule", plan.schedule);
    if (leaves) {
      std::vector<std::string> names = leftBy(original, plans.selection, options);
      keepInPlan(function, original, names);
      setSavedNames(function, names);
    }
    builder.insert(function);
    plans.selection.plans.push_back({function.getName().str(), plan.form, plan.from, plan.forms});
  }
  original.erase();
}

/// The options for one function: its attribute `attn.pin` adds pins of laws that no option pins.
static SelectOptions optionsFor(func::FuncOp function, const SelectOptions &options) {
  SelectOptions own = options;
  auto pins = function->getAttrOfType<DictionaryAttr>("attn.pin");
  for (NamedAttribute each : pins ? pins.getValue() : ArrayRef<NamedAttribute>()) {
    auto form = dyn_cast<StringAttr>(each.getValue());
    bool given = llvm::any_of(options.pins, [&](const Pin &pin) { return pin.law == each.getName().getValue(); });
    if (form && !given)
      own.pins.push_back({each.getName().str(), form.str()});
  }
  return own;
}

/// The pin of what is left for gradients says nothing of forms.
static void takeSavePin(SelectOptions &options) {
  auto pin = llvm::find_if(options.pins, [](const Pin &each) { return each.law == savePin; });
  if (pin == options.pins.end())
    return;
  options.savePin = pin->form;
  options.pins.erase(pin);
}

/// Warns of the pins that bind nothing: of a function's own, and of the options' where that is so in every function.
static void warnOfUnbound(func::FuncOp function, const FunctionSelection &selection, ArrayRef<FunctionPlans> all,
                          const SelectOptions &options) {
  auto unbound = [](const Pin &pin) {
    return [&](const FunctionPlans &each) { return llvm::is_contained(each.selection.unbound, pin); };
  };
  for (const Pin &pin : selection.unbound) {
    if (llvm::is_contained(options.pins, pin) && (&all.front().selection != &selection || !llvm::all_of(all, unbound(pin))))
      continue;
    InFlightDiagnostic warning = emitWarning(attn::placeOfPin(function.getLoc(), pin.law))
                                 << "expected the pin " << pin.law << ": " << pin.form
                                 << " to bind a form of this attention, but got a plan in which it binds nothing";
    warning.attachNote() << "remove the pin; attn-opt --attn-list-laws says of what the forms of " << pin.law << " are";
  }
}

FailureOr<Selection> graph::selectRewrites(ModuleOp module, const SelectOptions &options) {
  loadDialectsOfKernels(*module.getContext());
  std::vector<std::unique_ptr<RewriteLaw>> laws = createLaws();
  if (failed(checkPins(module.getLoc(), options.pins)) || failed(checkAllowed(module.getLoc(), options.allowed)))
    return failure();
  SmallVector<func::FuncOp> functions = llvm::filter_to_vector(module.getOps<func::FuncOp>(), isOpen);
  std::vector<FunctionPlans> plans;
  std::vector<SelectOptions> optionsOf; // of each function
  for (func::FuncOp function : functions) {
    if (failed(checkAllowedBy(function)) || failed(checkPinnedBy(function)))
      return failure();
    SelectOptions own = optionsFor(function, options);
    if (failed(checkPins(function.getLoc(), own.pins)))
      return failure();
    takeSavePin(own);
    if (own.save && function->hasAttr(gradientsAttr) && own.savePin != "none")
      keepForBackward(function);
    applyCanonicalLaws(function);
    FailureOr<FunctionPlans> chosen = selectWithConsent(function, laws, own);
    if (failed(chosen))
      return failure();
    plans.push_back(std::move(*chosen)), optionsOf.push_back(std::move(own));
  }
  for (auto [function, chosen] : llvm::zip_equal(functions, plans))
    warnOfUnbound(function, chosen.selection, plans, options);
  Selection selection;
  for (auto [function, chosen, own] : llvm::zip_equal(functions, plans, optionsOf)) {
    if (chosen.committed.empty())
      continue;
    Location place = function.getLoc();
    commit(module, function, chosen, own);
    emitRemarks(chosen.selection, place);
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

  void getDependentDialects(DialectRegistry &registry) const override {
    SelectRewritesBase::getDependentDialects(registry);
    graph::addDialectsOfKernels(registry);
    cost::registerCostModels(registry);
  }

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
    SelectOptions options;
    options.device = std::move(*description);
    options.allowed.assign(allowed.begin(), allowed.end());
    options.offers = offers;
    options.device.runOn(threads);
    options.place = place, options.save = save;
    if (!saved.empty())
      options.saved = std::vector<std::string>(saved.begin(), saved.end());
    for (const std::string &text : pins) {
      auto [law, form] = StringRef(text).split(':');
      options.pins.push_back({law.trim().str(), form.trim().str()});
    }
    return options;
  }
};
} // namespace
