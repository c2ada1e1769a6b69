//===- Registry.cpp - All laws, and what a name of one stands for ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/RewriteLaw.h"

#include "attune/Attn/Packed.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

std::vector<std::unique_ptr<graph::RewriteLaw>> graph::createLaws() {
  std::vector<std::unique_ptr<RewriteLaw>> laws;
#define ATTUNE_LAW(NAME) laws.push_back(create##NAME##Law());
  ATTUNE_LAWS(ATTUNE_LAW)
#undef ATTUNE_LAW
  return laws;
}

SmallVector<StringRef> RewriteLaw::formNames() const {
  return llvm::map_to_vector(forms(), [](const LawForm &form) { return StringRef(form.name); });
}

std::string graph::refuseParts(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (function && attn::isPacked(function))
    return "packed sequences run side by side, and have lengths that only the device knows";
  return "";
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
