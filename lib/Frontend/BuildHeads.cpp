//===- BuildHeads.cpp - Queries, keys and values of all heads ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnBuilder.h"

using namespace mlir;

namespace attune {

static Value project(AttnBuilder &b, Value source, llvm::StringRef which, int64_t heads, Size length, int64_t width) {
  RankedTensorType type = b.tokens(heads, length, width, b.builder.getF32Type());
  return attn::ProjectOp::create(b.builder, b.at("projection"), type, source, b.argument(("w" + which).str()),
                                 b.argument(("b" + which).str()), /*execution=*/{})
      .getResult();
}

static Heads projectAll(AttnBuilder &b) {
  const Spec &spec = b.spec;
  Value x = b.argument("x"), context = spec.projection->cross ? b.argument("context") : x;
  // Self-attention has as many keys as queries, whatever '?' stands for.
  Size keys = spec.projection->cross ? spec.keys : spec.queries;
  return {project(b, x, "q", spec.queryHeads(), spec.queries, spec.headDim),
          project(b, context, "k", spec.keyHeads(), keys, spec.headDim),
          project(b, context, "v", spec.kvHeads, keys, spec.valueDim)};
}

/// Whether the last query sits at the last key by itself.
static bool startTogether(const Spec &spec) {
  bool follow = spec.keysFollowQueries || (spec.projection && !spec.projection->cross);
  return follow || (spec.queries && spec.queries == spec.keys);
}

static Value rotate(AttnBuilder &b, Value source, Value aligned) {
  const Rope &rope = *b.spec.rope;
  return attn::RopeOp::create(b.builder, b.at("rope"), AttnBuilder::withElement(source, b.builder.getF32Type()), source,
                              aligned, b.number(rope.base), b.unitIf(rope.half))
      .getResult();
}

static Value normalize(AttnBuilder &b, Value source) {
  return attn::QkNormOp::create(b.builder, b.at("qk_norm"), AttnBuilder::withElement(source, b.builder.getF32Type()),
                                source, b.number(b.spec.qkNorm->epsilon), b.unitIf(b.spec.qkNorm->l2))
      .getResult();
}

Heads buildHeads(AttnBuilder &b) {
  const Spec &spec = b.spec;
  Heads heads = spec.projection ? projectAll(b) : Heads{b.argument("q"), b.argument("k"), b.argument("v")};
  if (spec.rope) {
    bool shifted = spec.causal && !startTogether(spec);
    heads.query = rotate(b, heads.query, shifted ? heads.key : b.argument("state.position"));
    heads.key = rotate(b, heads.key, b.argument("state.position"));
  }
  if (spec.qkNorm) {
    heads.query = normalize(b, heads.query);
    heads.key = normalize(b, heads.key);
  }
  return heads;
}

} // namespace attune
