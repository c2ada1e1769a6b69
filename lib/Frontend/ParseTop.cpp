//===- ParseTop.cpp - The fields of a spec beside its mechanisms ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"
#include "ParseFields.h"

#include "attune/Laws/ApproximateLaw.h"
#include "attune/Laws/RewriteLaw.h"
#include "attune/Laws/SavePin.h"

#include "llvm/ADT/StringExtras.h"

namespace attune {

Names topFields() {
  static constexpr llvm::StringRef names[] = {"attention",   "dtype",    "batch",      "queries",   "keys",
                                              "heads",       "kv_heads", "qk_heads",   "head_dim",  "value_dim",   "causal",
                                              "key_lengths", "scale",    "projection", "rope",      "qk_norm",   "packed",      "sequences",
                                              "mechanism",   "parts",    "allow",      "pin",       "results",   "state",       "gradients"};
  return names;
}

std::string remarkOnField(llvm::StringRef field) {
  static constexpr llvm::StringRef planned[] = {"score", "mask", "weight", "tensors"};
  return llvm::is_contained(planned, field) ? "'" + field.str() + "' is not supported yet" : "";
}

static bool isKeywordOfC(llvm::StringRef name) {
  static constexpr llvm::StringRef keywords[] = {
      "auto",       "break",     "case",           "char",         "const",    "continue", "default",  "do",
      "double",     "else",      "enum",           "extern",       "float",    "for",      "goto",     "if",
      "inline",     "int",       "long",           "register",     "restrict", "return",   "short",    "signed",
      "sizeof",     "static",    "struct",         "switch",       "typedef",  "union",    "unsigned", "void",
      "volatile",   "while",     "_Alignas",       "_Alignof",     "_Atomic",  "_Bool",    "_Complex", "_Generic",
      "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local"};
  return llvm::is_contained(keywords, name);
}

static bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) && !isKeywordOfC(name) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static std::string parseName(Fields &top) {
  if (!top.require("attention"))
    return "";
  ScalarValue value = scalarOf(*top.valueOf("attention"));
  if (value.type == ScalarValue::String && isIdentifier(value.string))
    return value.string.str();
  top.wrongValue("attention", "a C identifier for 'attention'",
                 "it names the library and its functions: letters, digits and _, no digit first, no keyword of C");
  return "";
}

static void parseSizes(Fields &top, Spec &spec) {
  const char *note = "write an integer from 1 to 2147483647, or '?' in quotes if it is known only when the kernel runs";
  spec.packed = top.boolean("packed", false);
  if (!spec.packed)
    spec.batch = top.sizeOrUnknown("batch", note);
  else
    spec.batch = 1, spec.sequences = top.sizeOrUnknown("sequences", note);
  spec.queries = top.sizeOrUnknown("queries", note);
  spec.keysFollowQueries = !top.has("keys");
  spec.keys = spec.keysFollowQueries ? spec.queries : top.sizeOrUnknown("keys", note);
  if (spec.keysFollowQueries && !top.parseState().isGood("queries"))
    top.parseState().markBad("keys");
  spec.heads = top.size("heads");
  spec.kvHeads = top.size("kv_heads", spec.heads);
  if (top.has("qk_heads"))
    spec.qkHeads = top.size("qk_heads");
  spec.headDim = top.size("head_dim");
  spec.valueDim = top.size("value_dim", spec.headDim);
}

void visitFields(FieldIO &fields, Projection &of) {
  fields.size("model_dim", of.modelDim), fields.boolean("output", of.output, true);
  fields.boolean("bias", of.bias), fields.boolean("cross", of.cross);
}

void visitFields(FieldIO &fields, Rope &of) {
  fields.positive("base", of.base, 10000);
  fields.choice("layout", of.half, {"interleaved", "half"});
}

void visitFields(FieldIO &fields, QkNorm &of) {
  fields.choice("kind", of.l2, {"layer", "l2"});
  fields.positive("epsilon", of.epsilon, QkNorm::ofKind(of.l2).epsilon);
}

/// What a run gives beside the output.
static void parseResults(Fields &top) {
  ParseState &state = top.parseState();
  const YamlNode &list = *top.valueOf("results");
  if (list.kind != YamlNode::Sequence || list.items.empty())
    return top.wrongValue("results", "a list of results", "write `results: [lse]`");
  for (const YamlNode &item : list.items) {
    if (scalarOf(item).type != ScalarValue::String || item.text != "lse")
      state.error(item.at, "one of lse in 'results'", show(item), suggestionNote(item.text, {"lse"}, "write `results: [lse]`"));
    else if (state.spec.lse)
      state.error(item.at, "'lse' once", "it again", "remove one of the two");
    else
      state.spec.places["results[0]"] = {item.at, item.at}, state.spec.lse = true;
  }
}

static void parseState(Fields &top, Spec &spec) {
  Fields fields = top.submap("state", "state");
  fields.allowOnly({"initial", "final"}, "state");
  spec.initialState = fields.boolean("initial", false);
  spec.finalState = fields.boolean("final", false);
}

void parseTop(Fields &top) {
  Spec &spec = top.parseState().spec;
  top.allowOnly(topFields(), "the spec", [](llvm::StringRef key) -> std::string {
    std::string kinds = mechanismTable().ownersOf(key);
    return kinds.empty() ? remarkOnField(key) : "move it under `mechanism:`";
  });
  spec.name = parseName(top);
  static constexpr ElementType storage[] = {ElementType::F32, ElementType::F16, ElementType::BF16};
  spec.dtype = storage[top.choice("dtype", {"f32", "f16", "bf16"}).value_or(0)];
  parseSizes(top, spec);
  spec.causal = top.boolean("causal", false);
  spec.keyLengths = top.boolean("key_lengths", false);
  if (top.has("results"))
    parseResults(top);
  if (top.has("state"))
    parseState(top, spec);
  if (top.has("gradients"))
    parseGradients(top);
  if (top.has("scale"))
    spec.scale = top.positive("scale", 1);
  FieldIO io(top);
  io.map<Projection>("projection", spec.projection, {"model_dim", "output", "bias", "cross"}, visitFields);
  bool oneInput = spec.projection && !spec.projection->cross;
  if (oneInput && !spec.keys && top.parseState().isGood("keys"))
    spec.keys = spec.queries, spec.keysFollowQueries = true; // S17
  io.map<Rope>("rope", spec.rope, {"base", "layout"}, visitFields);
  io.map<QkNorm>("qk_norm", spec.qkNorm, {"epsilon", "kind"}, visitFields);
}

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

static void parseAllow(Fields &top) {
  const YamlNode &list = *top.valueOf("allow");
  auto isName = [](const YamlNode &item) { return scalarOf(item).type == ScalarValue::String; };
  if (list.kind != YamlNode::Sequence || !llvm::all_of(list.items, isName))
    return top.wrongValue("allow", "a list of law names for 'allow'", "write [LAW, …]");
  llvm::SmallVector<llvm::StringRef> approximate = graph::approximateLawNames(), known = graph::lawNames();
  llvm::append_range(known, approximate);
  for (const YamlNode &item : list.items) {
    if (llvm::is_contained(known, item.text)) // an exact law needs no consent, and changes nothing
      top.parseState().spec.allow.push_back(item.text);
    else
      top.parseState().error(item.at, "one of " + llvm::join(approximate, ", ") + " in allow", show(item),
                             suggestionNote(item.text, known, "remove it: there is no such law"));
  }
}

/// One of its forms, or a number of bytes a token.
static void parseSavePin(Fields &pin) {
  ScalarValue value = scalarOf(*pin.valueOf(graph::savePin));
  std::string form = value.isSize() ? std::to_string(*value.integer) : value.type == ScalarValue::String ? value.string.str() : "";
  if (graph::isSaveForm(form))
    return pin.parseState().spec.pin.push_back({graph::savePin.str(), form});
  llvm::ArrayRef<llvm::StringRef> forms = graph::saveForms;
  pin.wrongValue(graph::savePin, "one of " + joinNames(forms) + ", or a positive number of bytes a token, for 'save'",
                 suggestionNote(form, forms, "choose one of them"));
}

static void parsePin(Fields &top) {
  Fields pin = top.submap("pin", "pin");
  llvm::SmallVector<llvm::StringRef> names = graph::lawNames();
  names.push_back(graph::savePin);
  pin.allowOnly(names, "pin");
  for (llvm::StringRef law : graph::lawNames()) {
    llvm::SmallVector<llvm::StringRef> forms = graph::findLaw(law)->formNames();
    if (pin.has(law))
      if (std::optional<unsigned> form = pin.choice(law, forms))
        top.parseState().spec.pin.push_back({law.str(), forms[*form].str()});
  }
  if (pin.has(graph::savePin))
    parseSavePin(pin);
}

void parseLaws(Fields &top) {
  if (top.has("allow"))
    parseAllow(top);
  if (top.has("pin"))
    parsePin(top);
}

} // namespace attune
