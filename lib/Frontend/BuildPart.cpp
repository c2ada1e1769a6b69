//===- BuildPart.cpp - The heads of one part: compression, mechanism, LePE ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnBuilder.h"

using namespace mlir;

namespace attune {

static Value takeHeads(AttnBuilder &b, const Part &part, Value source, int64_t first, int64_t heads) {
  if (heads == AttnBuilder::headsOf(source))
    return source;
  auto type = AttnBuilder::withDim(cast<RankedTensorType>(source.getType()), 1, heads);
  return attn::TakeHeadsOp::create(b.builder, b.at(part, ""), type, source, b.integer(first)).getResult();
}

/// Those of the part's heads of values, each as often as values share it. A part has whole groups of these, or a share of one.
static Value repeatHeads(AttnBuilder &b, const Part &part, Value source) {
  int64_t group = b.spec.heads / *b.spec.qkHeads, count = (part.heads + group - 1) / group;
  Value own = takeHeads(b, part, source, part.firstHead / group, count);
  if (count == part.heads)
    return own;
  auto type = AttnBuilder::withDim(cast<RankedTensorType>(own.getType()), 1, part.heads);
  return attn::RepeatHeadsOp::create(b.builder, b.at("qk_heads"), type, own).getResult();
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
static Value addLepe(AttnBuilder &b, const Part &part, Value output, Value value) {
  const Mechanism &m = part.mechanism;
  DenseI64ArrayAttr grid = m.lepe->grid ? b.builder.getDenseI64ArrayAttr(*m.lepe->grid) : DenseI64ArrayAttr();
  // The window of eva does not bound the convolution: its blocks see each other through the chunks.
  attn::WindowAttr window = m.kind == MechanismKind::Eva ? attn::WindowAttr() : buildWindow(b, m);
  return attn::LepeOp::create(b.builder, b.at(part, "lepe"), output.getType(), output, value,
                              b.parameter(part, "lepe.weight"), b.parameter(part, "lepe.bias"), b.lengths(), grid,
                              window)
      .getResult();
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
  Value output = buildMechanism(b, part, heads, lengths, type);
  return m.lepe ? addLepe(b, part, output, value) : output;
}

} // namespace attune
