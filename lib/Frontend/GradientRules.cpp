//===- GradientRules.cpp - The field `gradients` --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which names there are, the tensors of the spec say: no mechanism is known here.
//
//===----------------------------------------------------------------------===//
#include "ParseFields.h"
#include "SpecRules.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"

#include "llvm/ADT/SmallVectorExtras.h"

namespace attune {

static std::string pathOf(size_t place) { return "gradients[" + std::to_string(place) + "]"; }

/// S100: `all`, or a list of names.
void parseGradients(Fields &top) {
  ParseState &state = top.parseState();
  const YamlNode &value = *top.valueOf("gradients");
  if (scalarOf(value).type == ScalarValue::String && value.text == "all") {
    state.spec.allGradients = true;
    return;
  }
  if (value.kind != YamlNode::Sequence || value.items.empty())
    return top.wrongValue("gradients", "'all' or a list of tensor names for 'gradients'",
                          "write `gradients: all`, or such a list as [q, k, v]");
  for (const YamlNode &item : value.items) {
    if (scalarOf(item).type == ScalarValue::String) {
      state.spec.places[pathOf(state.spec.gradients.size())] = {item.at, item.at};
      state.spec.gradients.push_back(item.text);
    } else if (item.kind != YamlNode::Refused) {
      state.error(item.at, "the name of a tensor in 'gradients'", show(item), "write such a list as [q, k, v]");
    }
  }
}

/// What is to be said of a name that has no gradient.
static std::string remedyFor(const Spec &spec, llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<SpecTensor> tensors = inputTensors(spec);
  llvm::append_range(tensors, parameterTensors(spec));
  if (llvm::any_of(tensors, [&](const SpecTensor &tensor) { return tensor.name == name; }))
    return "remove it: " + name.str() + " is a constant of the function, and no gradient flows to it";
  return suggestionNote(name, names, "`gradients: all` stands for all of these");
}

/// S101: each name is that of an input or a parameter that has a gradient. S102: it stands there once.
void checkGradients(RuleReporter &rules) {
  const Spec &spec = rules.spec;
  if (spec.gradients.empty())
    return;
  std::vector<SpecTensor> tensors = differentiableTensors(spec);
  llvm::SmallVector<llvm::StringRef> names = llvm::map_to_vector(tensors, [](const SpecTensor &tensor) -> llvm::StringRef { return tensor.name; });
  llvm::StringSet<> known, seen;
  known.insert(names.begin(), names.end());
  size_t mistakes = 0; // beyond the limit none is kept, and each costs a search
  for (size_t place = 0; place < spec.gradients.size() && mistakes < Diagnostics::limit; ++place) {
    const std::string &name = spec.gradients[place];
    if (!known.contains(name))
      ++mistakes, rules.atValue(pathOf(place), "one of " + joinNames(names) + " in 'gradients'", quoted(name), remedyFor(spec, name, names));
    else if (!seen.insert(name).second)
      ++mistakes, rules.atValue(pathOf(place), quoted(name) + " once", "it again", "remove one of the two");
  }
}

bool checkGradientsAsked(const Spec &spec, llvm::StringRef path, llvm::raw_ostream &errors) {
  if (spec.hasGradients())
    return true;
  Diagnostics diagnostics;
  diagnostics.add(spec.placeOf("").value, "`gradients` in a spec with --backward", "none",
                  "add `gradients: all`, or a list of the tensors whose gradients are to be computed");
  llvm::Expected<SourceFile> file = SourceFile::read(path, largestSpec);
  if (!file)
    llvm::consumeError(file.takeError());
  print(diagnostics, file ? *file : SourceFile(path.str(), ""), errors);
  return false;
}

} // namespace attune
