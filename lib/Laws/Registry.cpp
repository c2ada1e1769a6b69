//===- Registry.cpp - All laws, and what a name of one stands for ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/RewriteLaw.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

std::vector<std::unique_ptr<graph::RewriteLaw>> graph::createLaws() {
  std::vector<std::unique_ptr<RewriteLaw>> laws;
  laws.push_back(createLinearizeLaw());
  laws.push_back(createFoldLaw());
  laws.push_back(createLowRankLaw());
  laws.push_back(createProjectLaw());
  laws.push_back(createProjectOutLaw());
  laws.push_back(createMapLaw());
  laws.push_back(createLaunchLaw());
  laws.push_back(createKeysLaw());
  return laws;
}

SmallVector<StringRef> RewriteLaw::formNames() const {
  return llvm::map_to_vector(forms(), [](const LawForm &form) { return StringRef(form.name); });
}

/// Made once, for questions about names.
static ArrayRef<std::unique_ptr<RewriteLaw>> registered() {
  static const std::vector<std::unique_ptr<RewriteLaw>> laws = createLaws();
  return laws;
}

const RewriteLaw *graph::findLaw(StringRef name) {
  const auto *found = llvm::find_if(registered(), [&](const auto &law) { return law->name() == name; });
  return found == registered().end() ? nullptr : found->get();
}

SmallVector<StringRef> graph::lawNames() {
  return llvm::map_to_vector(registered(), [](const auto &law) { return law->name(); });
}

StringRef graph::describeForm(StringRef name, StringRef form) {
  const RewriteLaw *law = findLaw(name);
  for (const LawForm &each : law ? law->forms() : ArrayRef<LawForm>())
    if (each.name == form)
      return each.text;
  return "";
}

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

std::optional<PinRefusal> graph::refusePin(Block &function, const RewriteLaw &law, StringRef form) {
  std::string reason;
  llvm::SmallSetVector<StringRef, 8> possible;
  for (Operation &op : function) {
    if (!law.appliesTo(&op))
      continue;
    std::string refusal = law.refusal(&op, form);
    if (refusal.empty())
      return std::nullopt;
    reason = reason.empty() ? refusal : reason;
    for (StringRef other : law.formNames())
      if (law.refusal(&op, other).empty())
        possible.insert(other);
  }
  if (reason.empty())
    return PinRefusal{true, (law.row.subject + " for " + law.name()).str(), "none",
                      ("remove the pin: " + law.row.without).str()};
  return PinRefusal{false, "a form that this attention can take (" + llvm::join(possible, ", ") + ")",
                    ("'" + form + "'").str(), reason};
}
