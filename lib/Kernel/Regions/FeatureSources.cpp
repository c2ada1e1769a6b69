//===- FeatureSources.cpp - Feature maps as sources ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureSources.h"

#include "FeatureMaps.h"
#include "Terms.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using attn::FeatureKind;

/// ω [m, d] or focus [d] of the head, if heads have their own.
Source FeatureSources::makeParameter() const {
  auto type = cast<MemRefType>(map.parameter.getType());
  if (map.map.getKind() == FeatureKind::Focused)
    return fusion::memory(map.parameter, {entryOf(head), columnsOf(type.getDimSize(1))});
  Dimension own = type.getDimSize(0) > 1 ? entryOf(head) : Dimension{};
  return fusion::memory(map.parameter, {own, columnsOf(type.getDimSize(1)), columnsOf(type.getDimSize(2))});
}

Source FeatureSources::favor(Source x, bool ofKeys) const {
  using Kind = terms::FavorOptions::Stabilizer;
  attn::Stabilizer stabilizer = map.map.getStabilizer();
  terms::FavorOptions options{map.map.getScale(), map.map.getEpsilon(), map.features,
                              ofKeys ? map.keyFolded : map.queryFolded, /*squares=*/true, Kind::None};
  SmallVector<Source> operands{x};
  if (!options.folded)
    operands.push_back(parameter);
  if (stabilizer == attn::Stabilizer::None)
    return fusion::term(terms::favor(options), operands);
  if (!ofKeys) {
    options.stabilizer = Kind::Row;
    options.squares = stabilizer == attn::Stabilizer::Projection; // else they are in the maximum as well
  } else if (stabilizer == attn::Stabilizer::Constant) {
    options.stabilizer = Kind::OfFeatures;
    operands.push_back(fusion::term(terms::omegaSquares(), {parameter}));
  } else {
    options.stabilizer = Kind::One;
    int64_t count = cast<MemRefType>(map.shift.getType()).getDimSize(1);
    Dimension batch{Axis::Batch, 1, 0, 1, 1}, shared{head, heads / count, 0, 1, 1};
    operands.push_back(fusion::memory(map.shift, {batch, shared}));
  }
  return fusion::term(terms::favor(options), operands);
}

Source FeatureSources::mapped(Source x, Axis axis, bool ofKeys) const {
  attn::FeatureMapAttr kind = map.map;
  switch (kind.getKind()) {
  case FeatureKind::Elu1:
    return fusion::term(terms::elu1(), {x});
  case FeatureKind::Relu:
    return fusion::term(terms::relu(), {x});
  case FeatureKind::Cosformer:
    return fusion::term(terms::cosformer(axis, kind.getMaxPosition()), {x});
  case FeatureKind::Focused:
    return fusion::term(terms::focused(kind.getPower(), kind.getEpsilon()),
                        {x, fusion::term(terms::inverseSoftplus(), {parameter})});
  case FeatureKind::Favor:
    return favor(x, ofKeys);
  case FeatureKind::FavorRelu: {
    SmallVector<Source> operands{x};
    if (!(ofKeys ? map.keyFolded : map.queryFolded))
      operands.push_back(parameter);
    return fusion::term(terms::favorRelu(kind.getScale(), kind.getEpsilon()), operands);
  }
  case FeatureKind::Softmax:
  case FeatureKind::TensorSquare:
    break; // not maps of kernel attention: `partition` has refused them
  }
  llvm_unreachable("a feature map of kernel attention");
}

/// Features that a kernel of their own has written, block by block.
Source FeatureSources::written(ArrayRef<int64_t> widths) const {
  const Tokens &tokens = plan.problem.key;
  Dimension shared{head, heads / tokens.heads, tokens.firstHead};
  SmallVector<Source> blocks;
  int64_t column = 0;
  for (int64_t width : widths) {
    Dimension columns = columnsOf(width);
    columns.add = column;
    blocks.push_back(fusion::memory(tokens.memory, {entryOf(Axis::Batch), shared, rowsOf(Axis::Key), columns}));
    column += width;
  }
  return blocks.size() == 1 ? blocks.front() : fusion::term(terms::blocks(), blocks);
}

Source FeatureSources::queries() const {
  return mapped(plan.tokens(plan.problem.query, Axis::Query), Axis::Query, /*ofKeys=*/false);
}

Source FeatureSources::keys() const {
  if (map.keysMapped)
    return written(featureWidths(map));
  return mapped(plan.tokens(plan.problem.key, Axis::Key, head, heads), Axis::Key, /*ofKeys=*/true);
}

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

Source FeatureSources::exponents(Source x, bool folded, bool squares) const {
  if (map.map.getKind() == FeatureKind::Focused)
    return fusion::term(terms::focusedExponents(map.map.getPower(), map.map.getEpsilon()),
                        {x, fusion::term(terms::inverseSoftplus(), {parameter})});
  SmallVector<Source> operands{x};
  if (!folded)
    operands.push_back(parameter);
  return fusion::term(terms::exponents(map.map.getScale(), squares), operands);
}

Source FeatureSources::queryExponents() const {
  return exponents(plan.tokens(plan.problem.query, Axis::Query), map.queryFolded, /*squares=*/false);
}

Source FeatureSources::rawKeyExponents(bool squares) const {
  if (!map.keysMapped)
    return exponents(plan.tokens(plan.problem.key, Axis::Key, head, heads), map.keyFolded, squares);
  SmallVector<int64_t> widths(map.map.getKind() == FeatureKind::Focused ? 2 : 1, map.features);
  return fusion::term(terms::writtenExponents(), {written(widths)});
}

Source FeatureSources::keyExponents() const {
  return fusion::term(terms::existing(Axis::Key), {rawKeyExponents()});
}
