//===- MapRule.cpp - Features of tokens ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// features:     parallel over (batch, head of the features, block of keys)     B = φ(k), or the exponents of φ(k) and their factors
//
// Readers of features find rows of f32 in the place of keys, the blocks of features side by side, and nothing to do to them.
//
//===----------------------------------------------------------------------===//
#include "MapRule.h"

#include "HostBuilder.h"
#include "Regions/KeyStage.h"
#include "Regions/SlicedFeaturesRegion.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Folded.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using attn::FeatureKind;

static int64_t lastSize(Value value) { return cast<RankedTensorType>(value.getType()).getShape().back(); }

/// Whether a value is what reaches features of two blocks.
static bool reachesBlocks(Value cotangent) {
  return llvm::any_of(cotangent.getUsers(), [&](Operation *user) {
    if (isa<attn::SumHeadsOp, attn::AddOp, attn::ExistingOp, attn::ScaleOp>(user))
      return reachesBlocks(user->getResult(0));
    auto gradient = dyn_cast<attn::MapGradientOp>(user);
    return gradient && gradient.getCotangent() == cotangent && gradient.getFeatureMap().getKind() == FeatureKind::Cosformer;
  });
}

SmallVector<Dimension, 2> kernel::blockColumns(ArrayRef<int64_t> widths) {
  SmallVector<Dimension, 2> blocks;
  int64_t column = 0;
  for (int64_t width : widths) {
    blocks.push_back(columnsOf(width));
    blocks.back().add = column, column += width;
  }
  return blocks;
}

SmallVector<int64_t, 2> kernel::featureWidths(Value features) {
  int64_t count = lastSize(features);
  if (reachesBlocks(features))
    return {count / 2, count / 2};
  attn::MapOp map = mapOf(features);
  if (map && map.getFeatureMap().getKind() == FeatureKind::Cosformer)
    return {count / 2, count / 2};
  return {count};
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// The operands of s ω xᵀ − … for a map, or its gradient, of so many features; with its stabilizer, over the keys in memory if it is a
/// maximum of them.
template <typename Op>
static SmallVector<Source> favorOperands(Op op, RegionDraft &draft, const Place &at, Source x, int64_t features, terms::FavorOptions &options) {
  using Kind = terms::FavorOptions::Stabilizer;
  attn::FeatureMapAttr map = op.getFeatureMap();
  attn::Stabilizer stabilizer = map.getStabilizer();
  options = {map.getScale(), map.getEpsilon(), features, attn::isFolded(op.getSource()), /*squares=*/true, Kind::None};
  SmallVector<Source> operands{std::move(x)};
  if (!options.folded)
    operands.push_back(draft.parameter(op.getParameter(), at));
  if (stabilizer == attn::Stabilizer::None)
    return operands;
  if (!op.getKeys()) {
    options.stabilizer = Kind::Row;
    options.squares = stabilizer == attn::Stabilizer::Projection; // else they are in the maximum as well
  } else if (stabilizer == attn::Stabilizer::Constant) {
    options.stabilizer = Kind::OfFeatures;
    operands.push_back(term(terms::omegaSquares(), {draft.parameter(op.getParameter(), at)}));
  } else {
    options.stabilizer = Kind::One;
    Value shift = draft.host.memoryOf(op.getShift());
    Dimension batch{Axis::Batch, 1, 0, 1, 1};
    Dimension shared{at.head, at.heads / cast<MemRefType>(shift.getType()).getDimSize(1), 0, 1, 1};
    operands.push_back(fusion::memory(shift, {batch, shared}));
  }
  return operands;
}

static Source favor(attn::MapOp op, RegionDraft &draft, const Place &at, Source x) {
  terms::FavorOptions options{};
  SmallVector<Source> operands = favorOperands(op, draft, at, std::move(x), lastSize(op.getResult()), options);
  return term(terms::favor(options), operands);
}

template <typename Op> static Source inverseFocus(Op op, RegionDraft &draft, const Place &at) {
  return term(terms::inverseSoftplus(), {draft.parameter(op.getParameter(), at)});
}

Source kernel::exponentsOf(Value tokens, Value parameter, attn::FeatureMapAttr map, RegionDraft &draft, const Place &at, bool squares) {
  SmallVector<Source> operands{draft.read(tokens, at)};
  if (map.getKind() == FeatureKind::Focused) {
    operands.push_back(term(terms::inverseSoftplus(), {draft.parameter(parameter, at)}));
    return term(terms::focusedExponents(map.getPower(), map.getEpsilon()), operands);
  }
  if (!attn::isFolded(tokens))
    operands.push_back(draft.parameter(parameter, at));
  return term(terms::exponents(map.getScale(), squares), operands);
}

template <typename Op> static Source exponents(Op op, RegionDraft &draft, const Place &at, bool squares) {
  return exponentsOf(op.getSource(), op.getParameter(), op.getFeatureMap(), draft, at, squares);
}

/// Whether features have a shift each. Slices of features stand as they are: in a quotient shifts cancel.
template <typename Op> static bool hasUnits(Op op, const RegionDraft &draft) {
  return attn::isOfFeatures(op.getShift()) && !draft.host.slices().isSliced();
}

/// Features of keys in the units M of a shift, and of queries in those of their row: 2^(L − M), 2^(L + M − max_f).
template <typename Op> static Source featuresInUnits(Op op, RegionDraft &draft, const Place &at) {
  Source unit = draft.shifts(op.getShift(), at);
  Source l = exponents(op, draft, at, /*squares=*/static_cast<bool>(op.getKeys()));
  if (op.getKeys()) // M may be far below the logarithms of zeros, which is what a key that does not exist is loaded as
    return term(terms::inUnit(), {term(terms::existing(at.tokens), {l}), unit});
  return term(terms::inRowUnit(), {term(terms::inFeatureUnit(), {l, unit})});
}

/// L̄ of features: their cotangent, or that times what they are.
template <typename Op> static Source logarithmsOf(Op op, RegionDraft &draft, const Place &at, Source cotangent) {
  return op.getLogarithms() ? cotangent : term(terms::times(), {featuresInUnits(op, draft, at), cotangent});
}

/// The place of token 0, if the run says it.
template <typename Op> static void addPosition(Op op, RegionDraft &draft, SmallVectorImpl<Source> &operands) {
  if (op.getPosition())
    operands.push_back(beginOf(draft.host.memoryOf(op.getPosition())));
}

bool kernel::areNonnegative(Value features) {
  attn::MapOp map = mapOf(features);
  if (!map)
    return false;
  FeatureKind kind = map.getFeatureMap().getKind();
  return kind != FeatureKind::Identity && kind != FeatureKind::TensorSquare && kind != FeatureKind::SymmetricSquare;
}

/// Features as numbers.
static Source mapped(attn::MapOp op, RegionDraft &draft, const Place &at) {
  if (hasUnits(op, draft))
    return featuresInUnits(op, draft, at);
  attn::FeatureMapAttr map = op.getFeatureMap();
  Source x = draft.read(op.getSource(), at);
  switch (map.getKind()) {
  case FeatureKind::Elu1:
    return term(terms::elu1(), {x});
  case FeatureKind::Relu:
    return term(terms::relu(), {x});
  case FeatureKind::Identity:
    return op.getKeys() ? x : term(terms::scale(map.getScale()), {x});
  case FeatureKind::Cosformer: {
    SmallVector<Source> operands{x};
    addPosition(op, draft, operands);
    return term(terms::cosformer(at.tokens, map.getMaxPosition()), operands);
  }
  case FeatureKind::Focused:
    return term(terms::focused(map.getPower(), map.getEpsilon()), {x, inverseFocus(op, draft, at)});
  case FeatureKind::Favor:
    return favor(op, draft, at, x);
  case FeatureKind::FavorRelu: {
    SmallVector<Source> operands{x};
    if (!attn::isFolded(op.getSource()))
      operands.push_back(draft.parameter(op.getParameter(), at));
    return term(terms::favorRelu(map.getScale(), map.getEpsilon()), operands);
  }
  case FeatureKind::Softmax:
    return term(terms::softmaxOfRows(), {x});
  case FeatureKind::TensorSquare:
  case FeatureKind::SymmetricSquare:
    break; // a kernel of its own writes it, see SketchGradients.cpp
  }
  llvm_unreachable("a feature map of tokens");
}

/// The softmax whose gradient that is: what others in the region read, too.
static Source softmaxBeside(attn::MapGradientOp op, RegionDraft &draft, const Place &at, const Source &x) {
  for (Operation *user : op.getSource().getUsers())
    if (auto map = dyn_cast<attn::MapOp>(user); map && map.getFeatureMap() == op.getFeatureMap() && map->isBeforeInBlock(op))
      return draft.read(map.getResult(), at);
  return term(terms::softmaxOfRows(), {x});
}

/// x̄ of a map, from what reaches its features.
static Tiles buildMapGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::MapGradientOp>(result.getOwner());
  attn::FeatureMapAttr map = op.getFeatureMap();
  Source x = draft.read(op.getSource(), at), cotangent = draft.read(op.getCotangent(), at);
  bool ofLogarithms = op.getLogarithms() || hasUnits(op, draft);
  if (ofLogarithms)
    cotangent = logarithmsOf(op, draft, at, cotangent);
  SmallVector<Source> operands{x, cotangent};
  switch (map.getKind()) {
  case FeatureKind::Elu1:
    return {term(terms::elu1Gradient(), operands)};
  case FeatureKind::Relu:
    return {term(terms::reluGradient(), operands)};
  case FeatureKind::Identity:
    return {op.getKeys() ? cotangent : term(terms::scale(map.getScale()), {cotangent})};
  case FeatureKind::Cosformer:
    addPosition(op, draft, operands);
    return {term(terms::cosformerGradient(at.tokens, map.getMaxPosition()), operands)};
  case FeatureKind::Focused:
    return {term(terms::focusedGradient(map.getPower(), map.getEpsilon(), ofLogarithms), {x, inverseFocus(op, draft, at), cotangent})};
  case FeatureKind::Favor: {
    if (ofLogarithms)
      return {term(terms::favorLogGradient(map.getScale()), {x, draft.parameter(op.getParameter(), at), cotangent})};
    terms::FavorOptions options{};
    operands = favorOperands(op, draft, at, x, lastSize(op.getCotangent()), options);
    operands.push_back(cotangent);
    return {term(terms::favorGradient(options), operands)};
  }
  case FeatureKind::FavorRelu:
    operands.push_back(draft.parameter(op.getParameter(), at));
    return {term(terms::favorReluGradient(map.getScale()), operands)};
  case FeatureKind::Softmax:
    return {term(terms::softmaxOfRowsGradient(), {softmaxBeside(op, draft, at, x), cotangent})};
  case FeatureKind::TensorSquare:
  case FeatureKind::SymmetricSquare:
    break; // a kernel of its own writes it, see SketchGradients.cpp
  }
  llvm_unreachable("a feature map of tokens");
}

Source kernel::parameterRows(attn::MapParameterGradientOp op, RegionDraft &draft, const Place &at) {
  attn::FeatureMapAttr map = op.getFeatureMap();
  Source x = draft.read(op.getSource(), at), cotangent = draft.read(op.getCotangent(), at);
  bool ofLogarithms = op.getLogarithms() || hasUnits(op, draft);
  if (ofLogarithms)
    cotangent = logarithmsOf(op, draft, at, cotangent);
  if (map.getKind() == FeatureKind::Focused)
    return term(terms::focusGradient(map.getPower(), map.getEpsilon(), ofLogarithms), {x, inverseFocus(op, draft, at), cotangent});
  if (map.getKind() == FeatureKind::FavorRelu)
    return term(terms::favorReluProductGradient(map.getScale()), {x, cotangent, draft.parameter(op.getParameter(), at)});
  assert(map.getKind() == FeatureKind::Favor && "no other map has a parameter");
  if (ofLogarithms)
    return term(terms::favorLogProductGradient(map.getScale()), {x, draft.parameter(op.getParameter(), at), cotangent});
  terms::FavorOptions options{};
  SmallVector<Source> operands = favorOperands(op, draft, at, x, lastSize(op.getCotangent()), options);
  operands.push_back(cotangent);
  return term(terms::favorProductGradient(options), operands);
}

/// The widths of the blocks of features as a group carries them: exponents of the focused map have factors behind them.
static SmallVector<int64_t, 2> carriedWidths(attn::MapOp op, bool inUnits) {
  bool factors = inUnits && op.getFeatureMap().getKind() == FeatureKind::Focused;
  return factors ? SmallVector<int64_t, 2>(2, lastSize(op.getResult())) : featureWidths(op.getResult());
}

/// Features that a kernel of their own has written, block by block.
static Source written(const kernel::Tokens &tokens, ArrayRef<int64_t> widths, const Place &at) {
  SmallVector<Source> blocks;
  for (const Dimension &columns : blockColumns(widths)) {
    Dimension head{at.head, at.heads / tokens.heads, tokens.firstHead};
    blocks.push_back(fusion::memory(tokens.memory, {entryOf(Axis::Batch), head, rowsOf(at.tokens), columns}));
  }
  return blocks.size() == 1 ? blocks.front() : term(terms::blocks(), blocks);
}

/// The slice at the site of each block of features.
static Source writtenSlices(const kernel::Tokens &tokens, int64_t count, RegionDraft &draft, const Place &at) {
  SmallVector<Source> blocks;
  for (int64_t block = 0; block < count; ++block) {
    Dimension columns = draft.plan.featureColumns(tokens.width / count), head{at.head, at.heads / tokens.heads, tokens.firstHead};
    columns.add = block * (tokens.width / count);
    blocks.push_back(fusion::memory(tokens.memory, {entryOf(Axis::Batch), head, rowsOf(at.tokens), columns}));
  }
  return blocks.size() == 1 ? blocks.front() : term(terms::blocks(), blocks);
}

/// In units the features of queries lack −|x'|²/2, which cancels.
static Source carried(attn::MapOp op, RegionDraft &draft, const Place &at) {
  bool inUnits = draft.host.groups().inUnits(op);
  if (const kernel::Tokens *tokens = draft.host.featuresOf(op)) {
    Source blocks = at.slice ? writtenSlices(*tokens, tokens->width / draft.channelsOf(op.getResult()), draft, at)
                             : written(*tokens, carriedWidths(op, inUnits), at);
    return inUnits ? term(terms::writtenExponents(), {blocks}) : blocks;
  }
  return inUnits ? exponents(op, draft, at, /*squares=*/at.tokens == Axis::Key) : mapped(op, draft, at);
}

static Tiles buildMap(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::MapOp>(result.getOwner());
  unsigned blocks = at.slice ? 1 : featureWidths(result).size();
  return {carried(op, draft, at), llvm::to_vector<2>(llvm::seq<unsigned>(0, blocks)), blocks};
}

//===----------------------------------------------------------------------===//
// Kernels of features
//===----------------------------------------------------------------------===//

/// Features of which readers have slices.
static LogicalResult storeSlices(attn::MapOp map, HostBuilder &host, const Problem &named, bool inUnits) {
  int64_t heads = map.getResult().getType().getDimSize(1);
  Problem problem = host.keyProblem(named, map.getSource(), map.getLengths(), heads);
  problem.schedule = host.slices();
  FeatureSlices slices{problem, map.getFeatureMap(), host.memoryOf(map.getParameter()), host.memoryOf(map.getShift()),
                       lastSize(map.getResult()), lastSize(map.getSource()), attn::isFolded(map.getSource()), inUnits,
                       static_cast<bool>(map.getKeys()), heads, {}, host.memoryOf(map.getPosition())};
  slices.result = host.allocateRows(map.getSource(), heads, slices.blocks() * slices.width());
  if (failed(host.buildKernel(slices.region())))
    return failure();
  if (!inUnits && map.getFeatureMap().isFavor()) { // something is taken off first, which all slices have to do with
    kernel::Tokens products = slices.result;
    slices.result = host.allocateRows(map.getSource(), heads, products.width);
    if (failed(host.buildKernel(slices.powersRegion(products))))
      return failure();
  }
  host.placeFeatures(map, slices.result);
  return success();
}

static LogicalResult materializeMap(Operation *op, HostBuilder &host, const Problem &named) {
  auto map = cast<attn::MapOp>(op);
  bool inUnits = host.groups().inUnits(map);
  if (host.slices().isSliced())
    return storeSlices(map, host, named, inUnits);
  SmallVector<int64_t, 2> widths = carriedWidths(map, inUnits);
  int64_t columns = 0;
  for (int64_t width : widths)
    columns += width;
  kernel::Tokens result = host.allocateRows(map.getSource(), map.getResult().getType().getDimSize(1), columns);
  RegionDraft draft(host, host.keyProblem(named, map.getSource(), map.getLengths(), result.heads), RegionPlanner::OfKeys);
  Place at{Axis::Key, Axis::Head, result.heads};
  Source blocks = carried(map, draft, at);
  KernelRegion region = stateKernel(draft.plan, "features");
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, draft.problem.keyTile()});
  int64_t column = 0;
  for (auto [number, width] : llvm::enumerate(widths)) {
    Dimension place = columnsOf(width);
    place.add = column, column += width;
    region.outputs.push_back({blocks, result.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Key), place},
                              static_cast<unsigned>(number)});
  }
  host.placeFeatures(map, result);
  return host.buildKernel(region);
}

void kernel::addMapRules(TermRules &rules) {
  auto isAlone = [](Operation *op) { return attn::isMappedAlone(cast<attn::MapOp>(op)); };
  rules.add<attn::MapOp>({.sides = {Side::Rows}, .build = buildMap, .materialize = materializeMap, .isMaterialized = isAlone});
  rules.add<attn::MapGradientOp>({.sides = {Side::Rows, Side::Rows}, .isEpilogue = true, .build = buildMapGradient});
  rules.add<attn::KeyMaximumOp>({.sides = {Side::Keys}, .materialize = materializeKeyMaximum});
}
