//===- BuildPart.cpp - The heads of one part: compression, mechanism, LePE ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"

using namespace mlir;

namespace attune {

static Value takeHeads(AttnBuilder &b, const Part &part, Value source, int64_t first, int64_t heads) {
  if (heads == AttnBuilder::headsOf(source))
    return source;
  auto type = AttnBuilder::withDim(cast<RankedTensorType>(source.getType()), 1, heads);
  return attn::TakeHeadsOp::create(b.builder, b.at(part, ""), type, source, b.integer(first)).getResult();
}

/// `count` heads from `first` on, each as often as makes `heads` of them.
static Value repeatHeads(AttnBuilder &b, const Part &part, Value source, int64_t first, int64_t count, int64_t heads) {
  Value own = takeHeads(b, part, source, first, count);
  if (count == heads)
    return own;
  auto type = AttnBuilder::withDim(cast<RankedTensorType>(own.getType()), 1, heads);
  return attn::RepeatHeadsOp::create(b.builder, b.at("qk_heads"), type, own).getResult();
}

/// Those of the part's heads of values, each as often as values share it. A part that has neither whole groups of these nor a share of one has heads side
/// by side, of each group those that are its own.
static Value repeatHeads(AttnBuilder &b, const Part &part, Value source) {
  int64_t group = b.spec.heads / *b.spec.qkHeads, end = part.firstHead + part.heads;
  bool isShare = part.firstHead / group == (end - 1) / group;
  if (isShare || (part.firstHead % group == 0 && part.heads % group == 0))
    return repeatHeads(b, part, source, part.firstHead / group, (part.heads + group - 1) / group, part.heads);
  SmallVector<Value> groups;
  for (int64_t head = part.firstHead, next; head < end; head = next) {
    next = std::min((head / group + 1) * group, end);
    groups.push_back(repeatHeads(b, part, source, head / group, 1, next - head));
  }
  auto type = AttnBuilder::withDim(cast<RankedTensorType>(source.getType()), 1, part.heads);
  return attn::ConcatHeadsOp::create(b.builder, b.at("qk_heads"), type, groups, /*execution=*/{}).getResult();
}

/// The query heads of a part and the key-value heads that serve them.
static Heads takeHeads(AttnBuilder &b, const Part &part, const Heads &all) {
  if (b.spec.qkHeads)
    return {repeatHeads(b, part, all.query), repeatHeads(b, part, all.key),
            takeHeads(b, part, all.value, part.firstHead, part.heads)};
  int64_t group = b.spec.headsPerKvHead(), first = part.firstHead / group, shared = part.heads / group;
  return {takeHeads(b, part, all.query, part.firstHead, part.heads), takeHeads(b, part, all.key, first, shared),
          takeHeads(b, part, all.value, first, shared)};
}

static Value compress(AttnBuilder &b, const Part &part, Value source, llvm::StringRef weight) {
  auto type = AttnBuilder::withDim(AttnBuilder::withElement(source, b.builder.getF32Type()), 2,
                                   part.mechanism.lowRank->rank);
  return attn::CompressOp::create(b.builder, b.at(part, "low_rank"), type, source, b.parameter(part, weight),
                                  b.lengths(), /*execution=*/{})
      .getResult();
}

/// The part's output with the convolution of its values added. The values are those before compression.
static Value addLepe(const PartBuilder &of, Value output, Value value) {
  AttnBuilder &b = of.b;
  const std::optional<Grid> &image = of.m.lepe->grid;
  DenseI64ArrayAttr grid = image ? b.builder.getDenseI64ArrayAttr(*image) : DenseI64ArrayAttr();
  // A window that is no mask does not bound the convolution: its blocks see each other.
  attn::WindowAttr window = of.m.kind->hasOwnWindow() ? attn::WindowAttr() : of.window();
  return attn::LepeOp::create(b.builder, b.at(of.part, "lepe"), output.getType(), output, value, of.parameter("lepe.weight"),
                              of.parameter("lepe.bias"), b.lengths(), grid, window)
      .getResult();
}

attn::WindowAttr PartBuilder::window() const {
  if (!m.window || m.window->last)
    return {};
  const Window &window = *m.window;
  if (window.length)
    return attn::WindowAttr::get(b.builder.getContext(), *window.length);
  return attn::WindowAttr::get(b.builder.getContext(), (*window.size)[0], (*window.size)[1], (*window.grid)[0],
                               (*window.grid)[1]);
}

Value buildPart(AttnBuilder &b, const Part &part, const Heads &all, Type element) {
  const Mechanism &m = part.mechanism;
  Heads heads = takeHeads(b, part, all);
  Value value = heads.value, lengths = b.lengths();
  if (m.lowRank && m.lowRank->order == CompressionOrder::BeforeMap) {
    heads.key = compress(b, part, heads.key, "e");
    heads.value = compress(b, part, heads.value, m.lowRank->tied ? "e" : "f");
    lengths = Value(); // every slot exists
  }
  Type type = b.tokens(part.heads, b.spec.queries, b.spec.valueDim, element);
  PartBuilder of{b, part, m, heads.query, heads.key, heads.value, lengths, type, b.at(part, "")};
  Value output = m.kind->build(of);
  return m.lepe ? addLepe(of, output, value) : output;
}

} // namespace attune
