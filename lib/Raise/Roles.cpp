//===- Roles.cpp - Indices to the dimensions of attn.softmax ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an index is follows from where it stands: in queries, keys, values and output alike it counts batches or heads;
// in queries and output alone, query tokens or the queries of one key-value head; in keys and values alone, keys.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

namespace {
using Indices = SmallVector<unsigned, 2>;

struct Roles {
  Indices batch, heads, groupHeads, queries, keys, features, values;
  Grouping query, key, value, output;
};

class RoleFinder {
public:
  RoleFinder(Terms &terms, const SoftmaxMatch &match, const Visibility &visibility, Refusal &refusal)
      : terms(terms), match(match), visibility(visibility), refusal(refusal) {}
  bool find(Roles &roles);

private:
  void splitGroupedHeads(ArrayRef<AffineExpr> at);
  bool findGroupings(Roles &roles);
  bool sortOutputIndices(Roles &roles);
  void chooseQueries(Roles &roles, Indices own);
  bool chooseBatch(Roles &roles, Indices shared);
  bool sortSummedIndices(Roles &roles);
  Terms &terms;
  const SoftmaxMatch &match;
  const Visibility &visibility;
  Refusal &refusal;
};
} // namespace

static bool holds(const Grouping &grouping, unsigned index) {
  return llvm::any_of(grouping, [&](ArrayRef<unsigned> group) { return llvm::is_contained(group, index); });
}

/// Query head h reads key-value head ⌊h / r⌋ or h mod r: h is two indices from now on.
void RoleFinder::splitGroupedHeads(ArrayRef<AffineExpr> at) {
  for (AffineExpr place : at)
    terms.simplify(place).walk([&](AffineExpr expr) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      bool divides = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
      auto dim = binary && divides ? dyn_cast<AffineDimExpr>(binary.getLHS()) : AffineDimExpr(nullptr);
      auto by = binary && divides ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
      if (!dim || !by || by.getValue() <= 1 || terms.simplify(dim) != dim)
        return;
      int64_t size = terms.extent(dim.getPosition());
      if (!ShapedType::isDynamic(size) && size % by.getValue() == 0)
        terms.split(dim.getPosition(), by.getValue());
    });
}

bool RoleFinder::findGroupings(Roles &roles) {
  SmallVector<AffineExpr> rootAt;
  for (unsigned index : match.indices)
    rootAt.push_back(terms.expr(index));
  std::tuple<Grouping *, Value, ArrayRef<AffineExpr>, StringRef> tensors[] = {
      {&roles.query, match.logits.query->value, match.logits.query->at, "queries"},
      {&roles.key, match.logits.key->value, match.logits.key->at, "keys"},
      {&roles.value, match.value->value, match.value->at, "values"},
      {&roles.output, match.root, rootAt, "output"}};
  for (auto &[grouping, tensor, at, name] : tensors)
    splitGroupedHeads(at);
  for (auto &[grouping, tensor, at, name] : tensors) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !(type.getElementType().isF32() || type.getElementType().isF16() || type.getElementType().isBF16()))
      return refusal.because(llvm::formatv("expected {0} of f32, f16 or bf16, but got {1}", name, tensor.getType()),
                             tensor);
    std::optional<Grouping> found = groupingOf(terms, at, type.getShape());
    if (!found)
      return refusal.because(llvm::formatv("expected {0} whose dimensions are read whole and once, but got slices, "
                                           "diagonals or steps of them",
                                           name),
                             tensor);
    *grouping = *found;
  }
  return true;
}

void RoleFinder::chooseQueries(Roles &roles, Indices own) {
  if (own.empty())
    return;
  // Without a mask any of them can count the tokens: the longest does, for there are fewer heads than tokens.
  auto length = [&](unsigned index) {
    int64_t extent = terms.extent(index);
    return ShapedType::isDynamic(extent) ? std::numeric_limits<int64_t>::max() : extent;
  };
  unsigned chosen = own.back();
  for (unsigned index : own)
    chosen = length(index) > length(chosen) ? index : chosen;
  chosen = visibility.query.value_or(chosen);
  for (unsigned index : own)
    (index == chosen ? roles.queries : roles.groupHeads).push_back(index);
}

bool RoleFinder::chooseBatch(Roles &roles, Indices shared) {
  // What numbers of keys are counted by is the batch.
  auto counted = visibility.batch ? llvm::find(shared, *visibility.batch) : shared.begin();
  if (visibility.batch && counted == shared.end())
    return refusal.because(
        "expected a number of keys for each entry of the batch, but got numbers of another dimension", match.root);
  std::rotate(shared.begin(), counted, shared.end() == counted ? counted : std::next(counted));
  bool single = !visibility.batch && shared.size() == 1 && roles.query.size() >= 4 && roles.groupHeads.empty() &&
                !ShapedType::isDynamic(terms.extent(shared[0]));
  size_t inBatch = shared.empty() || single ? 0 : 1;
  roles.batch.assign(shared.begin(), shared.begin() + inBatch);
  roles.heads.assign(shared.begin() + inBatch, shared.end());
  for (unsigned index : llvm::concat<const unsigned>(roles.heads, roles.groupHeads))
    if (ShapedType::isDynamic(terms.extent(index)))
      return refusal.because("expected a static number of heads, but got a dynamic one", match.root);
  return true;
}

bool RoleFinder::sortOutputIndices(Roles &roles) {
  Indices own, shared;
  for (ArrayRef<unsigned> group : roles.output)
    for (unsigned index : group) {
      bool inQuery = holds(roles.query, index), inKey = holds(roles.key, index), inValue = holds(roles.value, index);
      if (inQuery && inKey && inValue)
        shared.push_back(index);
      else if (inQuery && !inKey && !inValue)
        own.push_back(index);
      else if (inValue && !inQuery && !inKey)
        roles.values.push_back(index);
      else
        return refusal.because(llvm::formatv("expected batches and heads that queries, keys and values have, but got a "
                                             "dimension of the output that only {0} have",
                                             inKey && inValue ? "keys and values"
                                             : inKey          ? "queries and keys"
                                             : inQuery        ? "queries and values"
                                                              : "none"),
                               match.root);
    }
  chooseQueries(roles, own);
  return chooseBatch(roles, shared);
}

/// What is summed: keys, in keys and values; features, in queries and keys.
bool RoleFinder::sortSummedIndices(Roles &roles) {
  auto check = [&](const Grouping &grouping, auto belongs, StringRef name) {
    for (ArrayRef<unsigned> group : grouping)
      for (unsigned index : group)
        if (!holds(roles.output, index) && !belongs(index))
          return refusal.because(llvm::formatv("expected {0} summed over their features or keys alone, but got another "
                                               "dimension",
                                               name),
                                 match.root);
    return true;
  };
  for (ArrayRef<unsigned> group : roles.key)
    for (unsigned index : group)
      if (!holds(roles.output, index))
        (holds(roles.value, index) ? roles.keys : roles.features).push_back(index);
  auto isFeature = [&](unsigned index) { return llvm::is_contained(roles.features, index); };
  auto isKey = [&](unsigned index) { return llvm::is_contained(roles.keys, index); };
  for (unsigned index : roles.features)
    if (!holds(roles.query, index))
      return refusal.because("expected keys summed over their features or keys alone, but got another dimension",
                             match.root);
  return check(roles.query, isFeature, "queries") && check(roles.value, isKey, "values");
}

bool RoleFinder::find(Roles &roles) {
  return findGroupings(roles) && sortOutputIndices(roles) && sortSummedIndices(roles);
}

static int64_t countOf(const Terms &terms, ArrayRef<unsigned> indices) {
  int64_t count = 1;
  for (unsigned index : indices)
    count = ShapedType::isDynamic(terms.extent(index)) ? ShapedType::kDynamic : count * terms.extent(index);
  return count;
}

/// One length for every batch.
static Value lengthsOf(OpBuilder &builder, Location loc, int64_t batch, int64_t length) {
  auto type = RankedTensorType::get({batch}, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, static_cast<int32_t>(length)));
}

namespace {
/// What a mechanism takes, in the order of attn's dimensions, and the way back.
struct Operands {
  Value query, key, value, lengths;
  RankedTensorType type;
  UnitAttr causal;
  attn::WindowAttr window;
};
} // namespace

/// The mechanism in place of the root: `create` is given its operands and returns its output.
static Value build(OpBuilder &builder, Terms &terms, const SoftmaxMatch &match, const Visibility &visibility,
                   Refusal &refusal, function_ref<Value(const Operands &)> create) {
  Roles roles;
  if (!RoleFinder(terms, match, visibility, refusal).find(roles))
    return {};
  bool counted = visibility.length >= 0 || visibility.lengths;
  if (counted && ShapedType::isDynamic(countOf(terms, roles.batch)))
    return refusal.because("expected a static batch beside a number of keys, but got a dynamic one", match.root),
           Value();
  if (visibility.lengths && ShapedType::isDynamic(countOf(terms, roles.keys)))
    return refusal.because("expected static keys beside numbers of them, but got a dynamic dimension", match.root),
           Value();
  Location loc = match.root.getLoc();
  Indices allHeads = roles.heads;
  allHeads.append(roles.groupHeads.begin(), roles.groupHeads.end());
  auto bring = [&](TermRef from, const Grouping &grouping, const Grouping &wanted) {
    return rearrange(builder, loc, terms, from->value, grouping, wanted);
  };
  Operands operands;
  operands.query = bring(match.logits.query, roles.query, {roles.batch, allHeads, roles.queries, roles.features});
  operands.key = bring(match.logits.key, roles.key, {roles.batch, roles.heads, roles.keys, roles.features});
  operands.value = bring(match.value, roles.value, {roles.batch, roles.heads, roles.keys, roles.values});
  if (visibility.lengths)
    operands.lengths = buildLengths(builder, loc, visibility.lengths, countOf(terms, roles.keys));
  else if (visibility.length >= 0)
    operands.lengths = lengthsOf(builder, loc, countOf(terms, roles.batch), visibility.length);
  operands.type = RankedTensorType::get({countOf(terms, roles.batch), countOf(terms, allHeads),
                                         countOf(terms, roles.queries), countOf(terms, roles.values)},
                                        getElementTypeOrSelf(match.root.getType()));
  if (visibility.window != 0)
    operands.window = attn::WindowAttr::get(builder.getContext(), visibility.window);
  if (visibility.causal)
    operands.causal = builder.getUnitAttr();
  Value output = create(operands);
  if (!output)
    return {};
  return rearrange(builder, loc, terms, output, {roles.batch, allHeads, roles.queries, roles.values}, roles.output);
}

Value attune::raise::buildSoftmax(OpBuilder &builder, Terms &terms, const SoftmaxMatch &match,
                                  const Visibility &visibility, Refusal &refusal) {
  return build(builder, terms, match, visibility, refusal, [&](const Operands &from) -> Value {
    return attn::SoftmaxOp::create(builder, match.root.getLoc(), TypeRange{from.type}, from.query, from.key, from.value,
                                   from.lengths, Value(), builder.getF64FloatAttr(match.logits.scale), from.causal, from.window,
                                   IntegerAttr(), FloatAttr(), /*execution=*/{})
        .getOutput();
  });
}

Value attune::raise::buildEfficient(OpBuilder &builder, Terms &terms, const SoftmaxMatch &match,
                                    const Visibility &visibility, Refusal &refusal) {
  return build(builder, terms, match, visibility, refusal, [&](const Operands &from) -> Value {
    if (from.causal || from.window)
      return refusal.because("expected efficient attention over all keys, but got causal order or windows", match.root),
             Value();
    return attn::EffattOp::create(builder, match.root.getLoc(), from.type, /*left=*/TypeRange(), from.query, from.key, from.value, from.lengths)
        .getOutput();
  });
}

/// φ(Q) (φ(K)ᵀ V), divided by nothing.
static Value buildUndivided(OpBuilder &builder, Location loc, const Operands &from, attn::FeatureMapAttr map,
                            attn::DenominatorAttr guard) {
  auto f32Of = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); };
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  ArrayRef<int64_t> k = shapeOf(from.key), o = from.type.getShape();
  Value query = attn::MapOp::create(builder, loc, f32Of(shapeOf(from.query)), from.query, Value(), Value(), Value(), Value(),
                                    map, UnitAttr(), /*execution=*/{});
  Value key =
      attn::MapOp::create(builder, loc, f32Of(k), from.key, from.lengths, Value(), Value(), Value(), map, builder.getUnitAttr(), /*execution=*/{});
  auto state = attn::StateOp::create(builder, loc, f32Of({k[0], k[1], k[3], o[3]}), f32Of({k[0], k[1], k[3]}), key,
                                     from.value, from.lengths);
  auto readout =
      attn::ReadoutOp::create(builder, loc, f32Of(o), f32Of(o.drop_back()), query, state.getState(), state.getSum(), /*execution=*/{});
  return attn::NormalizeOp::create(builder, loc, from.type, readout.getNumerator(), Value(), guard);
}

Value attune::raise::buildLinear(OpBuilder &builder, Terms &terms, const LinearMatch &match,
                                 const Visibility &visibility, Refusal &refusal) {
  auto map = attn::FeatureMapAttr::get(builder.getContext(), match.map);
  auto guard = attn::DenominatorAttr::get(builder.getContext(), match.bias, match.floor);
  return build(builder, terms, match, visibility, refusal, [&](const Operands &from) -> Value {
    auto key = cast<RankedTensorType>(from.key.getType());
    if (from.causal && key.getDimSize(2) != from.type.getDimSize(2))
      return refusal.because("expected as many queries as keys with causal linear attention, but got other numbers",
                             match.root),
             Value();
    if (!match.normalised && (from.causal || from.window))
      return refusal.because("expected a divisor of causal or windowed linear attention, but got none", match.root),
             Value();
    if (!match.normalised)
      return buildUndivided(builder, match.root.getLoc(), from, map, guard);
    return attn::KernelOp::create(builder, match.root.getLoc(), from.type, Type(), Type(), Type(), from.query, from.key,
                                  from.value, from.lengths, Value(), Value(), Value(), Value(), Value(), Value(), Value(), Value(), Value(),
                                  Value(), map, guard, from.causal, from.window)
        .getOutput();
  });
}
