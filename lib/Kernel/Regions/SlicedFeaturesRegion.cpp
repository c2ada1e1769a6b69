//===- SlicedFeaturesRegion.cpp - Features of which tiles have slices -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   features:     parallel over (batch, head × slice of features, block of tokens)
//                   φ of that slice of x, or √s x ωᵀ of those rows of ω, summed over slices of channels
//                 the focused map, which needs whole rows:  parallel over (batch, head, block of 16 tokens)
//   powers:       parallel over (batch, head, block of tokens)            of FAVOR's features that are not carried as exponents
//                   c = what is taken off;  for each slice:  m^{-1/2} (2^(L − c) + ε)
//   key_maximum:  parallel over (batch, head)                             c of the keys, where it is their maximum
//
// Blocks of features lie side by side, each with a whole number of slices, so that readers need no bounds: what is behind the last
// feature is what stands for 0.
//
//===----------------------------------------------------------------------===//
#include "SlicedFeaturesRegion.h"

#include "KeyStage.h"
#include "Terms.h"
#include "attune/Tile/KernelSizes.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using attn::FeatureKind;
using attn::Stabilizer;

static bool needsRows(attn::FeatureMapAttr map) { return map.getKind() == FeatureKind::Focused; }
static bool isProduct(attn::FeatureMapAttr map) { return map.getFeatureCount() > 0; }

int64_t FeatureSlices::blocks() const {
  bool mantissas = exponents && needsRows(map);
  return map.getKind() == FeatureKind::Cosformer || mantissas ? 2 : 1;
}

int64_t FeatureSlices::width() const {
  int64_t count = map.getKind() == FeatureKind::Cosformer ? features / 2 : features;
  return llvm::alignTo(count, std::min(problem.schedule.getFeatureTile(), count));
}

namespace {
/// The sources of one region.
struct Slices {
  Slices(const FeatureSlices &of, const Problem &problem)
      : of(of), map(of.map), plan(problem, RegionPlanner::OfKeys), tokens(problem.key) {}

  /// √s in units of log 2 of what becomes an exponent.
  double root() const { return map.getScale() == 0 ? 1 : std::sqrt(map.getScale()); }
  Source columns(Dimension columns) const { return plan.tokens(tokens, axis, head, of.heads, columns); }
  Dimension channels() const { return {Axis::Model, 1, 0, 1, plan.featureTile(of.channels)}; }
  Stage overChannels() const { return plan.over(Axis::Model, of.channels, plan.featureTile(of.channels)); }
  Source omega() const;
  Source product(double factor, Representation gives) const;
  Source halfSquares() const;
  Source slice() const;
  Source rows() const;
  Source existing(Source x, int64_t count) const;
  /// The products at the site, and their largest of each row.
  Source products(const Tokens &written) const;
  Source largestProducts(const Tokens &written, int64_t rows) const;
  Source largestOmega(int64_t rows) const;
  Source exponentsOfPowers(const Tokens &written, int64_t rows) const;
  GridAxis blocksOfTokens(int64_t rows) const {
    return {axis, tile::Axis::KeyPiece, rows};
  }
  RegionOutput output(Source source, unsigned tile, Dimension columns) const {
    return {std::move(source), of.result.memory, {entryOf(Axis::Batch), entryOf(head), rowsOf(axis), columns}, tile};
  }

  const FeatureSlices &of;
  attn::FeatureMapAttr map;
  RegionPlanner plan;
  const Tokens &tokens;
  static constexpr Axis axis = Axis::Key, head = Axis::Head;
};
} // namespace

Source Slices::omega() const {
  auto type = cast<MemRefType>(of.parameter.getType());
  Dimension own = type.getDimSize(0) > 1 ? entryOf(head) : Dimension{};
  return fusion::memory(of.parameter, {own, plan.featureColumns(of.features), channels()});
}

/// factor · x ωᵀ [T, slice].
Source Slices::product(double factor, Representation gives) const {
  if (of.folded)
    return term(terms::scale(factor, gives), {columns(plan.featureColumns(of.features))});
  Source x = term(terms::scale(factor), {columns(channels())});
  return stream(overChannels(), {terms::pairs(axis, Axis::Feature, gives, terms::Digits::All), {x, omega()}});
}

/// s |x|²/2 [T] in units of log 2.
Source Slices::halfSquares() const {
  return stream(overChannels(), {terms::squares(axis, map.getScale() * M_LOG2E / 2), {columns(channels())}});
}

/// What is behind the last of `count` features stands for 0.
Source Slices::existing(Source x, int64_t count) const {
  return count % plan.featureTile(count) == 0 ? x : term(terms::existingFeatures(count), {std::move(x)});
}

Source Slices::slice() const {
  Source x = isProduct(map) ? Source() : columns(plan.featureColumns(of.channels));
  if (map.getKind() == FeatureKind::Cosformer)
    return existing(term(terms::cosformer(axis, map.getMaxPosition()),
                         of.position ? SmallVector<Source>{x, beginOf(of.position)} : SmallVector<Source>{x}),
                    of.channels);
  if (map.getKind() == FeatureKind::Identity)
    return of.ofKeys ? x : term(terms::scale(map.getScale()), {x});
  if (!isProduct(map))
    return existing(term(map.getKind() == FeatureKind::Relu ? terms::relu() : terms::elu1(), {x}), of.channels);
  if (map.getKind() == FeatureKind::FavorRelu) {
    Source y = product(root(), Representation::Plain);
    return existing(term(terms::favorRelu(/*scale=*/0, map.getEpsilon()), {y}), of.features);
  }
  Source l = product(M_LOG2E * root(), Representation::Log);
  if (of.exponents && of.ofKeys)
    l = term(terms::lowered(), {l, halfSquares()});
  return existing(l, of.features);
}

Source Slices::rows() const {
  Source x = plan.tokens(tokens, axis, head, of.heads);
  auto type = cast<MemRefType>(of.parameter.getType());
  Source inverse = term(terms::inverseSoftplus(), {fusion::memory(of.parameter, {entryOf(head), columnsOf(type.getDimSize(1))})});
  return of.exponents ? term(terms::focusedExponents(map.getPower(), map.getEpsilon()), {x, inverse})
                      : term(terms::focused(map.getPower(), map.getEpsilon()), {x, inverse});
}

KernelRegion FeatureSlices::region() const {
  Problem own = problem;
  if (needsRows(map))
    own.schedule = tile::scheduleOfRows(problem.schedule);
  Slices slices(*this, own);
  bool rows = needsRows(map);
  KernelRegion region = stateKernel(slices.plan, "features", slices.head);
  if (!rows)
    slices.plan.addFeatureSlices(region, isProduct(map) ? features : channels);
  region.grid.push_back(slices.blocksOfTokens(own.schedule.getKeyTile()));
  Source source = rows ? slices.rows() : slices.slice();
  for (int64_t block = 0; block < blocks(); ++block) {
    Dimension columns = rows ? columnsOf(channels) : slices.plan.featureColumns(isProduct(map) ? features : channels);
    columns.add = block * width();
    region.outputs.push_back(slices.output(source, block, columns));
    if (!rows || channels == width())
      continue;
    Dimension rest = columnsOf(width() - channels);
    rest.add = block * width() + channels;
    double zero = zeroOf(exponents && block == 0 ? Representation::Log : Representation::Plain);
    region.outputs.push_back(slices.output(term(terms::filled(slices.axis, rest.count, zero), {}), 0, rest));
  }
  return region;
}

//===----------------------------------------------------------------------===//
// FAVOR with a stabilizer that does not cancel
//===----------------------------------------------------------------------===//

Source Slices::products(const Tokens &written) const {
  Dimension columns = plan.featureColumns(written.width);
  return term(terms::writtenExponents(), {fusion::memory(written.memory, {entryOf(Axis::Batch), entryOf(head), rowsOf(axis), columns})});
}

Source Slices::largestProducts(const Tokens &written, int64_t rows) const {
  return stream(plan.slices(written.width), {terms::maximum(rows), {term(terms::rowMaximum(), {products(written)})}});
}

/// max_f |ω_f|²/2 in units of log 2.
Source Slices::largestOmega(int64_t rows) const {
  Source squares = stream(overChannels(), {terms::squares(Axis::Feature, M_LOG2E / 2), {omega()}});
  return stream(plan.slices(of.features), {terms::maximum(rows), {term(terms::largestForRows(axis), {squares})}});
}

/// √s x ωᵀ less what is taken off, as RandomFeatures.cpp has it.
Source Slices::exponentsOfPowers(const Tokens &written, int64_t rows) const {
  Stabilizer stabilizer = map.getStabilizer();
  bool none = stabilizer == Stabilizer::None;
  Source l = products(written);
  if (!none && !of.ofKeys)
    l = term(terms::lowered(), {l, largestProducts(written, rows)});
  else if (!none && stabilizer == Stabilizer::Constant)
    l = term(terms::lowered(), {l, largestOmega(rows)});
  else if (!none) {
    int64_t count = cast<MemRefType>(of.shift.getType()).getDimSize(1);
    Dimension batch{Axis::Batch, 1, 0, 1, 1}, own{head, of.heads / count, 0, 1, 1};
    l = term(terms::lowered(), {l, term(terms::largestForRows(axis), {fusion::memory(of.shift, {batch, own})})});
  }
  bool squares = none || of.ofKeys || stabilizer == Stabilizer::Projection;
  return squares ? term(terms::lowered(), {l, halfSquares()}) : l;
}

KernelRegion FeatureSlices::powersRegion(const Tokens &products) const {
  Slices slices(*this, problem);
  int64_t rows = problem.schedule.getKeyTile();
  KernelRegion region = stateKernel(slices.plan, "powers", slices.head);
  region.grid.push_back(slices.blocksOfTokens(rows));
  double factor = 1 / std::sqrt(static_cast<double>(features));
  Source l = slices.exponentsOfPowers(products, rows);
  Source all = slices.existing(term(terms::powers(map.getEpsilon(), factor), {l}), features);
  RegionOutput output = slices.output(all, 0, slices.plan.featureColumns(products.width));
  region.effects = {stream(slices.plan.slices(products.width), {terms::nothing(), {}, {output}})};
  return region;
}

KernelRegion FeatureSlices::maximumRegion(const Tokens &products, Value maximum) const {
  Slices slices(*this, problem);
  int64_t rows = problem.schedule.getKeyTile();
  Source l = slices.largestProducts(products, rows);
  if (map.getStabilizer() != Stabilizer::Projection) // which leaves |x'|² out
    l = term(terms::lowered(), {l, slices.halfSquares()});
  Source maxima = stream(existingKeys(slices.plan), {terms::maximum(rows), {term(terms::existing(Axis::Key), {l})}});
  KernelRegion region = stateKernel(slices.plan, "key_maximum", slices.head);
  Dimension one{slices.head, 1, 0, 1, 1};
  region.outputs = {{term(terms::largestRowOrZero(), {maxima}), maximum, {entryOf(Axis::Batch), one}}};
  return region;
}
