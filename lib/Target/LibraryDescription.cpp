//===- LibraryDescription.cpp - What a compiled library will say of itself ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attune/Target/LibraryDescription.h"

#include "HeaderText.h"
#include "attune/Support/TensorFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace attune::target;
using namespace llvm;

namespace {

Error refuse(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

Error checkTensor(const TensorDescription &tensor) {
  auto wrong = [&](const Twine &message) { return refuse("tensor '" + tensor.name + "': " + message); };
  if (!attune::isTensorName(tensor.name))
    return wrong("expected a name of letters, digits, '_' and '.', but got another");
  if (tensor.dims.size() > ATTUNE_RT_MAX_RANK)
    return wrong("expected a rank of at most " + Twine(ATTUNE_RT_MAX_RANK) + ", but got " + Twine(tensor.dims.size()));
  if (any_of(tensor.dims, [](int64_t dim) { return dim < -ATTUNE_RT_SYMBOL_COUNT; }))
    return wrong("expected sizes or symbols, but got an unknown symbol");
  if (tensor.role == ATTUNE_RT_PREPARED && any_of(tensor.dims, [](int64_t dim) { return dim < 0; }))
    return wrong("expected static sizes of a prepared tensor, but got one known only at run");
  if ((tensor.indexBound || tensor.mostPosition) && tensor.dtype != ATTUNE_RT_I32)
    return wrong("expected indices of dtype i32, but got " + dtypeName(tensor.dtype));
  return Error::success();
}

Error checkTensors(const LibraryDescription &description) {
  bool prepared = false;
  StringSet<> fields;
  for (const TensorDescription &tensor : description.tensors) {
    if (Error error = checkTensor(tensor))
      return error;
    if (!fields.insert(fieldName(tensor)).second)
      return refuse("tensor '" + tensor.name + "': expected a name of its own, but got that of another tensor");
    if (prepared && tensor.role != ATTUNE_RT_PREPARED)
      return refuse("tensor '" + tensor.name + "': expected prepared tensors to come last, but got one before it");
    prepared |= tensor.role == ATTUNE_RT_PREPARED;
  }
  return Error::success();
}

/// The runtime reads a size known only at run off a tensor that is always there.
Error checkSizes(const LibraryDescription &description) {
  constexpr StringLiteral names[] = {"batch", "queries", "keys"};
  for (int symbol = 0; symbol < ATTUNE_RT_SYMBOL_COUNT; ++symbol) {
    int64_t dim = dynamicSize(static_cast<attune_rt_symbol>(symbol));
    bool shown = any_of(description.tensors, [dim](const TensorDescription &tensor) {
      bool given = tensor.role == ATTUNE_RT_INPUT || tensor.role == ATTUNE_RT_OUTPUT;
      return given && is_contained(tensor.dims, dim);
    });
    bool follows = symbol == ATTUNE_RT_KEYS && description.queriesEqualKeys;
    if (description.sizes[symbol] < 0 && !shown && !follows)
      return refuse("expected an input or output whose shape has the size '" + names[symbol] +
                    "', which is known only at run, but got none");
  }
  return Error::success();
}

Error checkVariant(const VariantDescription &variant) {
  if (variant.plans.empty() || variant.plans.size() > ATTUNE_MAX_PLANS)
    return refuse("expected 1 to " + Twine(ATTUNE_MAX_PLANS) + " plans for each target, but got " +
                  Twine(variant.plans.size()));
  int64_t least = 0;
  for (const PlanDescription &plan : variant.plans) {
    bool first = &plan == variant.plans.begin();
    if (first ? plan.fromLength != 0 : plan.fromLength <= least)
      return refuse("plan '" + plan.form + "': expected lengths that start with 0 and ascend, but got " +
                    Twine(plan.fromLength));
    least = plan.fromLength;
  }
  if (variant.target == ATTUNE_RT_CUDA && variant.cubin.empty() && variant.ptx.empty())
    return refuse("expected a cubin or PTX for sm_" + Twine(variant.arch) + ", but got neither");
  return Error::success();
}

} // namespace

Error attune::target::checkLibraryName(StringRef name) {
  if (!isIdentifier(name))
    return refuse("expected a C identifier as the library's name, but got '" + name + "'");
  // The types of the common header and the runtime's own functions begin so.
  if (name == "attune" || name == "attune_rt")
    return refuse("expected a library name other than 'attune' and 'attune_rt', which belong to the common header, but "
                  "got '" +
                  name + "'; rename the attention");
  return Error::success();
}

Error attune::target::checkDescription(const LibraryDescription &description) {
  if (Error error = checkLibraryName(description.name))
    return error;
  if (Error error = checkTensors(description))
    return error;
  if (Error error = checkSizes(description))
    return error;
  if (description.variants.empty())
    return refuse("expected code for at least one target, but got none");
  for (const VariantDescription &variant : description.variants)
    if (Error error = checkVariant(variant))
      return error;
  return Error::success();
}

StringRef attune::target::compilerVersion() { return "Attune " ATTUNE_VERSION; }

StringRef attune::target::dtypeName(attune_rt_dtype dtype) {
  switch (dtype) {
  case ATTUNE_RT_F32:
    return "f32";
  case ATTUNE_RT_F16:
    return "f16";
  case ATTUNE_RT_BF16:
    return "bf16";
  case ATTUNE_RT_I32:
    return "i32";
  }
  llvm_unreachable("every type is above");
}

/// A parameter of a sketch, by the last part of its name.
static StringRef sketchMeaning(StringRef name) {
  bool leaf = name.starts_with("sketch.leaf");
  if (name.rsplit('.').second.starts_with("sign"))
    return leaf ? "signs of a leaf's Hadamard transform, for the features padded to a power of two"
                : "signs of a node's Hadamard transform, for the numbers of its child";
  return leaf ? "which transformed features a leaf keeps" : "which transformed numbers of its child a node keeps";
}

StringRef attune::target::standardMeaning(StringRef tensor) {
  if (StringRef rest = tensor; rest.consume_front("part") && isDigit(rest.empty() ? ' ' : rest.front()))
    tensor = rest.split('.').second;
  if (tensor.starts_with("grad_"))
    return "";
  if (tensor.starts_with("sketch."))
    return sketchMeaning(tensor);
  return StringSwitch<StringRef>(tensor)
      .Case("q", "queries")
      .Case("k", "keys")
      .Case("v", "values")
      .Case("x", "tokens that are projected to queries, and to keys and values unless there is a context")
      .Case("context", "tokens that are projected to keys and values")
      .Case("key_lengths", "number of keys that exist, for each entry of the batch: 0 ... N")
      .Case("offsets", "where each sequence begins among the tokens, and where the last one ends: rises from 0 to their number")
      .Case("key_offsets", "the same of the keys")
      .Case("o", "output")
      .Case("y", "output, projected back to the model's width")
      .Case("lse", "natural logarithm of the sum of the exponentials of each row's scaled logits; -inf without keys")
      .Cases({"initial_state", "state.s"},
             "state before the first of these tokens, Σ φ(k) vᵀ over those before: [features, value], of a sketch of r entries r² features, "
             "number f r + g the product of entries f and g; NULL: 0, the start of a sequence")
      .Cases({"initial_sum", "state.z"}, "denominators before the first of these tokens, Σ φ(k); NULL: 0")
      .Cases({"initial_scale", "state.scale"}, "logarithm of what the state and its sum stand for, times them, of each feature or of all; NULL: 0")
      .Case("state.k", "keys before the first of these tokens of the block that it lies in, after RoPE and qk_norm, then rows of 0; NULL: 0")
      .Case("state.v", "the values of these keys; NULL: 0")
      .Case("final_state.k", "keys of the block that these tokens end in, unless they fill it, then rows of 0; may be the memory of state.k")
      .Case("final_state.v", "the values of these keys; may be the memory of state.v")
      .Cases({"position", "state.position"}, "how many tokens came before these, for each entry of the batch; NULL: 0")
      .Cases({"final_state", "final_state.s"}, "state after these tokens, to go on from; may be the memory of the state before them")
      .Cases({"final_sum", "final_state.z"}, "denominators after these tokens; may be the memory of those before them")
      .Cases({"final_scale", "final_state.scale"}, "the scale of the state after these tokens; may be the memory of that before them")
      .Cases({"final_position", "final_state.position"},
             "how many tokens there were with these, those at or past key_lengths not counted; may be the memory of those before")
      .Case("wq", "q = x wq + bq: PyTorch's linear.weight.T; head h has columns h d ... (h+1) d - 1")
      .Case("wk", "k = context wk + bk (x without a context): PyTorch's linear.weight.T, a head after another")
      .Case("wv", "v = context wv + bv (x without a context): PyTorch's linear.weight.T, a head after another")
      .Case("wo", "y = o wo + bo, the heads of o side by side: PyTorch's linear.weight.T")
      .Cases({"bq", "bk", "bv", "bo"}, "bias that is added after the weight of that letter: PyTorch's linear.bias")
      .Case("omega", "directions of the random features, a row each, as drawn: norms are part of them")
      .Case("focus", "learned scale of each channel, before the softplus; it divides")
      .Case("e", "compression of the keys: row s weighs all N of them into compressed token s; of the values too unless there is an f")
      .Case("f", "compression of the values: row s weighs all N of them into compressed token s")
      .Case("lepe.weight", "depthwise filter of each value channel, added to the output: correlation taps in order")
      .Case("lepe.bias", "bias of each value channel of the depthwise filter")
      .Default("");
}
