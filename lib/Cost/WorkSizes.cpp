//===- WorkSizes.cpp - Sizes and costs that the estimates share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include "attune/Attn/Exponents.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Tile/WindowTiles.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static double keyWidth(const AttentionShape &shape) {
  if (shape.keysMapped)
    return 4 * writtenWidth(shape) / static_cast<double>(shape.keyBytes);
  return static_cast<double>(shape.keyFolded ? shape.features : shape.width);
}

Sizes::Sizes(const AttentionShape &shape, tile::ScheduleAttr schedule)
    : batch(shape.batch), heads(shape.heads), shared(shape.sharedHeads), features(shape.featureHeads), windows(1),
      d(shape.width), m(shape.features), dv(shape.valueWidth), qw(shape.queryFolded ? shape.features : shape.width),
      kw(keyWidth(shape)), keyHeads(shape.keysMapped ? shape.featureHeads : shape.sharedHeads), o(shape.elementBytes), q(shape.queryBytes), k(shape.keyBytes),
      schedule(schedule) {
  int64_t queries = shape.queries, keys = shape.keys;
  int64_t queryTile = schedule.getQueryTile(), keyTile = schedule.getKeyTile();
  if (shape.window) {
    windows = llvm::divideCeil(queries, shape.window);
    queries = keys = shape.window;
    queryTile = tile::windowTile(shape.window, queryTile), keyTile = tile::windowTile(shape.window, keyTile);
  }
  n = queries, N = keys, Tq = queryTile, Tk = keyTile;
  blocks = llvm::divideCeil(queries, queryTile), keyTiles = llvm::divideCeil(keys, keyTile);
  pieces = llvm::divideCeil(keys, schedule.getPiece());
  pairs = visibleTiles(queries, keys, shape.causal, queryTile, keyTile);
  keysRead = visibleKeys(queries, keys, shape.causal, queryTile, keyTile);
  visible = visiblePairs(queries, keys, shape.causal);
}

SplitSizes::SplitSizes(const Sizes &z, double chunk) {
  auto most = static_cast<double>(z.schedule.getParts());
  auto perPart = static_cast<double>(tile::piecesOfPart(z.schedule.getParts()));
  double part = perPart * std::ceil(z.n / (most * perPart * chunk)) * chunk;
  parts = std::ceil(z.n / part), pieces = (parts - 1) * perPart, keys = (parts - 1) * part;
  merges = perPart * parts * (parts - 1) / 2;
}

double Sizes::tensorBytes() const {
  return batch * windows * (heads * n * (qw * q + dv * o) + N * (keyHeads * kw + shared * dv) * k);
}

double Sizes::visitedBytes() const { return points() * (n * (qw * q + dv * o) + pairs * Tk * (kw + dv) * k); }

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

MapCost cost::mapCost(attn::FeatureMapAttr map, double d, double m) {
  if (!map)
    return {};
  switch (map.getKind()) {
  case attn::FeatureKind::Elu1: // x + 1 or the exponential: the minimum, the maximum, their sum
    return {0, 3 * m, m};
  case attn::FeatureKind::Identity: // queries are scaled
  case attn::FeatureKind::Relu:
    return {0, m, 0};
  case attn::FeatureKind::Cosformer: // relu; two products a channel; sine and cosine of the place, some 8 each
    return {0, d + m + 16, 0};
  case attn::FeatureKind::Focused: { // relu + ε, over softplus; over the maximum; two norms and the factor; the power
    double power = map.getPower();
    // Exponents: two logarithms, three exponentials, the power in two parts.
    if (attn::carriesExponents(map, static_cast<int64_t>(d), attn::DenominatorAttr::get(map.getContext(), 0, 0)))
      return {0, 24 * d, 6 * d};
    bool whole = power == std::floor(power) && power <= 64;
    return {0, 10 * d + (whole ? d * std::log2(power + 1) : 2 * d), whole ? 0 : 2 * d};
  }
  case attn::FeatureKind::Favor: // √s·x, |x'|²; L less the norm and c, + ε, times m^{-1/2}
    return {d * m, 3 * d + 4 * m, m};
  case attn::FeatureKind::FavorRelu:
    return {d * m, (map.getScale() ? d : 0) + 2 * m, 0};
  case attn::FeatureKind::Softmax: // maximum, subtraction, sum, division
    return {0, 4 * d, d};
  case attn::FeatureKind::TensorSquare:
    return {0, m, 0};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

// Per element. RoPE: the turns (7), sine and cosine (8 each), x cos + partner · (∓ sin) (4). Norm: two sums, the
// subtraction, the square, the product.
static constexpr double ropeOps = 27, normOps = 5;

static double stepOps(bool rope, bool norm, double width) { return width * (rope * ropeOps + norm * normOps); }

double cost::queryOps(const AttentionShape &shape) { return stepOps(shape.queryRope, shape.queryNorm, shape.width); }
double cost::keyOps(const AttentionShape &shape) { return stepOps(shape.keyRope, shape.keyNorm, shape.width); }

double cost::readKeyOps(const AttentionShape &shape) { return shape.keysMapped ? 0 : keyOps(shape); }

double cost::outputOps(const AttentionShape &shape) { return 2.0 * shape.taps * shape.valueWidth; }

double cost::powerOps(int64_t degree) {
  return llvm::Log2_64(std::max<int64_t>(degree, 1)) + llvm::popcount(static_cast<uint64_t>(degree)) - 1;
}

WorkEstimate cost::mergeWork(double points, double pieces, double elements, double initial) {
  WorkEstimate work;
  work.elementwise = points * pieces * elements;
  work.mainBytes = points * (pieces + 1 + initial) * 4 * elements;
  work.nearBytes = work.mainBytes;
  work.liveBytes = 2 * 4 * elements;
  work.workspaceBytes = points * 4 * elements;
  work.grain = points;
  return work;
}
