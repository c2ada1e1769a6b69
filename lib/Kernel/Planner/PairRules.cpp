//===- PairRules.cpp - Weights of pairs and what sums them up ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   quadratic:  a = φ(q);  for each key tile:  w = visible(a bᵀ);  num += w v;  den += Σ_j w           one stage for all that sums w up
//
// The cheapest form for short sequences: no state, no workspace. Of exponents, in a unit of each row:
//
//   for each key tile that all rows see:
//     R_f = max_j L(k)_jf;   t = L(q) + R;   M' = max(M, max_f t)
//     w = g(q) 2^(t − M') · (g(k) 2^(L(k) − R))ᵀ;   num, den rescaled by 2^(M − M'), plus w v, w 1
//   causal: the tile at the diagonal (LogPairs.h)
//
// Causal kernel attention has n = N, and key tiles are as long as the query tile: one of them is at the diagonal.
//
//===----------------------------------------------------------------------===//
#include "FeaturePairRules.h"
#include "GradientRules.h"
#include "HostBuilder.h"
#include "StateRules.h"
#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/GroupedRows.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static bool hasRoles(ArrayAttr roles, ArrayRef<attn::Role> wanted) {
  return llvm::equal(roles.getAsRange<attn::RoleAttr>(), wanted,
                     [](attn::RoleAttr role, attn::Role want) { return role.getValue() == want; });
}

static bool hasRoles(attn::ContractOp op, ArrayRef<attn::Role> lhs, ArrayRef<attn::Role> rhs, ArrayRef<attn::Role> result) {
  auto ofHeads = [](ArrayRef<attn::Role> roles) {
    SmallVector<attn::Role> all{attn::Role::Batch, attn::Role::Head};
    llvm::append_range(all, roles);
    return all;
  };
  return hasRoles(op.getLhsRoles(), ofHeads(lhs)) && hasRoles(op.getRhsRoles(), ofHeads(rhs)) &&
         hasRoles(op.getResultRoles(), ofHeads(result));
}

bool kernel::makesPairs(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query, Feature}, {Key, Feature}, {Query, Key}) ||
         hasRoles(op, {Query, attn::Role::Value}, {Key, attn::Role::Value}, {Query, Key});
}
bool kernel::sumsKeys(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query, Key}, {Key, attn::Role::Value}, {Query, attn::Role::Value}) ||
         hasRoles(op, {Query, Key}, {Key, Feature}, {Query, Feature});
}
bool kernel::sumsQueries(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query, Key}, {Query, attn::Role::Value}, {Key, attn::Role::Value}) ||
         hasRoles(op, {Query, Key}, {Query, Feature}, {Key, Feature});
}
bool kernel::multipliesRows(attn::ContractOp op) {
  using enum attn::Role;
  for (attn::Role rows : {Query, Key})
    for (attn::Role columns : {attn::Role::Value, Feature})
      if (hasRoles(op, {rows, columns}, {rows, columns}, {rows}))
        return true;
  return false;
}

bool kernel::multipliesKeys(attn::ContractOp op) {
  return multipliesRows(op) && cast<attn::RoleAttr>(op.getResultRoles()[2]).getValue() == attn::Role::Key;
}

bool kernel::transposesCompression(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op.getLhsRoles(), {Batch, Head, Query, Feature}) && hasRoles(op.getRhsRoles(), {Head, Query, Key}) &&
         hasRoles(op.getResultRoles(), {Batch, Head, Key, Feature});
}
bool kernel::makesCompressionWeight(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op.getLhsRoles(), {Batch, Head, Query, Feature}) && hasRoles(op.getRhsRoles(), {Batch, Head, Key, Feature}) &&
         hasRoles(op.getResultRoles(), {Head, Query, Key});
}

bool kernel::makesState(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query, Feature}, {Query, attn::Role::Value}, {Feature, attn::Role::Value});
}
bool kernel::sumsFeatures(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query, Feature}, {Query}, {Feature});
}
bool kernel::multipliesStates(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Feature, attn::Role::Value}, {Feature, attn::Role::Value}, {Feature});
}
bool kernel::timesSums(attn::ContractOp op) {
  using enum attn::Role;
  return hasRoles(op, {Query}, {Feature}, {Query, Feature});
}
bool kernel::timesState(attn::ContractOp op) {
  using enum attn::Role;
  for (attn::Role rows : {Query, Key})
    if (hasRoles(op, {rows, Feature}, {Feature, attn::Role::Value}, {rows, attn::Role::Value}) ||
        hasRoles(op, {rows, attn::Role::Value}, {Feature, attn::Role::Value}, {rows, Feature}))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The operand of an op of pairs that says which pairs there are; null: the op makes them.
static Value pairsBefore(Operation *op) {
  if (!op)
    return Value();
  if (auto gradient = dyn_cast<attn::SoftcapGradientOp>(op))
    return gradient.getCotangent();
  if (auto spread = dyn_cast<attn::SpreadOp>(op))
    return spread.getLike();
  bool entries = isa<attn::VisibleOp, attn::DecayOp, attn::AddOp, attn::MultiplyOp, attn::ScaleOp, attn::PowerOp, attn::DiagonalBlocksOp,
                     attn::OnlyBlocksOp>(op);
  return entries ? op->getOperand(0) : Value();
}

bool kernel::arePairs(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto contract = dyn_cast<attn::ContractOp>(op))
    return makesPairs(contract);
  if (auto spread = dyn_cast<attn::SpreadOp>(op))
    return llvm::is_contained(spread.getLikeRoles().getAsRange<attn::RoleAttr>(), attn::RoleAttr::get(op->getContext(), attn::Role::Key)) &&
           arePairs(spread.getLike());
  if (isa<attn::SoftmaxWeightsOp, attn::SoftcapGradientOp, attn::VisibleOp, attn::DecayOp>(op))
    return true;
  Value before = pairsBefore(op);
  return before && arePairs(before);
}

/// A product is 0 where its first factor is.
bool kernel::areMasked(Value weights) {
  Operation *op = weights.getDefiningOp();
  if (!op || isa<attn::VisibleOp, attn::SoftmaxWeightsOp>(op))
    return op != nullptr;
  bool keepsZeros = isa<attn::MultiplyOp, attn::SoftcapGradientOp, attn::ScaleOp, attn::DecayOp, attn::PowerOp, attn::OnlyBlocksOp>(op);
  return keepsZeros && areMasked(pairsBefore(op));
}

Operation *kernel::originOfPairs(Value weights) {
  while (true) {
    Operation *op = weights.getDefiningOp();
    Value before = pairsBefore(op);
    if (!before)
      return op;
    weights = before;
  }
}

/// An operand of what makes weights; of others, which are refused where they are read, the weights.
static Value operandOfPairs(Value weights, unsigned number) {
  Operation *origin = originOfPairs(weights);
  return origin && number < origin->getNumOperands() ? origin->getOperand(number) : weights;
}

Value kernel::rowsOfPairs(Value weights) { return operandOfPairs(weights, 0); }

Value kernel::rowsOperand(Operation *term) {
  auto contract = dyn_cast<attn::ContractOp>(term);
  if (contract && sumsQueries(contract))
    return operandOfPairs(contract.getLhs(), 1);
  if (contract && sumsKeys(contract))
    return rowsOfPairs(contract.getLhs());
  if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(term)) // as many queries as keys
    return gradient.getKeyFeatures();
  if (auto gradients = dyn_cast<attn::FeatureKeyGradientsOp>(term))
    return gradients.getKey();
  if (isa<attn::RowSumOp, attn::RowMaximumOp>(term))
    return rowsOfPairs(term->getOperand(0));
  return term->getNumOperands() ? term->getOperand(0) : Value();
}

namespace {
/// Weights and who may see whom.
struct Pairs {
  explicit Pairs(Value weights) : product(dyn_cast_or_null<attn::ContractOp>(originOfPairs(weights))) {
    for (Value before = weights; before; before = pairsBefore(before.getDefiningOp())) {
      mask = mask ? mask : before.getDefiningOp<attn::VisibleOp>();
      decay = decay ? decay : before.getDefiningOp<attn::DecayOp>();
    }
  }
  /// Keys that exist: the mask says so, or the map of the keys.
  Value lengths() {
    if (mask && mask.getLengths())
      return mask.getLengths();
    return lengthsOf(product.getRhs());
  }
  bool causal() { return mask && mask.getCausal(); }
  attn::WindowAttr window() { return mask ? mask.getWindowAttr() : attn::WindowAttr(); }
  int64_t last() { return mask ? static_cast<int64_t>(mask.getLast().value_or(0)) : 0; }

  attn::VisibleOp mask; ///< null: every query sees every key
  attn::DecayOp decay;  ///< null: keys count alike, wherever they are
  attn::ContractOp product; ///< null: the weights are those of softmax
};
} // namespace

SeenKeys kernel::keysOfSum(Operation *op) {
  if (auto weights = dyn_cast_or_null<attn::SoftmaxWeightsOp>(originOfPairs(op->getOperand(0))))
    return {weights.getKey(), weights.getLengths(), weights.getCausal(), weights.getWindowAttr(),
            static_cast<int64_t>(weights.getLast().value_or(0))};
  Pairs pairs(op->getOperand(0));
  return {pairs.product.getRhs(), pairs.lengths(), pairs.causal(), pairs.window(), pairs.last()};
}

bool kernel::sumsAsWritten(Operation *sum) {
  Pairs pairs(sum->getOperand(0));
  if (!pairs.decay || cast<RankedTensorType>(pairs.decay.getDecay().getType()).getRank() == 1)
    return true;
  bool plain = pairs.mask && pairs.mask.getWeights() == pairs.decay.getResult() && pairs.product && pairs.decay.getWeights() == pairs.product.getResult();
  return plain && ruleOf(sum)->frame == Frame::Rows;
}

/// Are features made of products with a matrix?
static bool isProjected(Value features) {
  auto map = features.getDefiningOp<attn::MapOp>();
  return map && map.getFeatureMap().getFeatureCount() > 0;
}

Source kernel::visibleWeights(Value weights, RegionDraft &draft, const Place &at) {
  Source w = draft.read(weights, at);
  return areMasked(weights) ? w : term(terms::visible(), {w});
}

/// Σ_j w_ij |i + N − n − j| of each row, in memory.
static LogicalResult materializeDistanceSums(Operation *op, HostBuilder &host, const Problem &named) {
  Value weights = cast<attn::DistanceSumsOp>(op).getWeights();
  SeenKeys seen = keysOfSum(op);
  Problem problem = host.rowsProblem(named, {weights, Output()}, seen);
  RegionDraft draft(host, problem, RegionPlanner::OfAll);
  Source w = visibleWeights(weights, draft, {Axis::Query, Axis::Head, problem.heads()});
  const Extents &extents = *draft.plan.extents;
  Source distant = term(terms::timesDistances(extents[Axis::Query], extents[Axis::Key]), {w});
  Source sums = stream(draft.keys(seen, /*dearSteps=*/false), {terms::weightedSums({}, draft.wide()), {distant}});
  Output rows;
  rows.memory = host.allocateSums(op, rowsOfPairs(weights), problem.heads(), seen.window);
  return host.buildKernel(draft.plan.region("distances", draft.plan.output(sums, rows, /*width=*/0)));
}

static Tiles buildDecay(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::DecayOp>(result.getOwner());
  return {decayed(draft.read(op.getWeights(), at), terms::DecaySpan::Between, op.getDecay(), draft, at)};
}

static Tiles buildVisible(OpResult result, RegionDraft &draft, const Place &at) {
  return {term(terms::visible(), {draft.read(result.getOwner()->getOperand(0), at)})};
}

static Tiles buildPower(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::PowerOp>(result.getOwner());
  Source w = draft.read(op.getWeights(), at);
  if (double scale = op.getScale().convertToDouble(); scale != 1)
    w = term(terms::scale(scale), {w});
  int64_t degree = op.getDegree();
  return {degree == 1 ? w : term(terms::wholePower(degree), {w})};
}

static Tiles buildDiagonalBlocks(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::DiagonalBlocksOp>(result.getOwner());
  return {term(terms::diagonalBlocks(op.getBlock()), {draft.read(op.getInside(), at), draft.read(op.getOutside(), at)})};
}

static Tiles buildOnlyBlocks(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::OnlyBlocksOp>(result.getOwner());
  return {term(terms::onlyBlocks(op.getBlock(), op.getOutside()), {draft.read(op.getWeights(), at)})};
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The ops that sum up some weights: products with values, in their order, then the sum of each row if anyone reads it.
static SmallVector<Operation *> sumsOf(Value weights) {
  SmallVector<Operation *> products, sums;
  for (Operation *user : weights.getUsers())
    if (auto product = dyn_cast<attn::ContractOp>(user))
      products.push_back(user);
    else if (isa<attn::RowSumOp>(user) && sums.empty())
      sums.push_back(user);
  llvm::sort(products, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::append_range(products, sums);
  return products;
}

/// Of a decay of each token. What lies between a row and keys before its tile is left out of their weights, for it is the same for
/// all of them: every step decays what the sums of a row hold so far, and only the tile at the diagonal tells its rows apart. Sums
/// over all tokens between would lose digits.
static Source decayingSums(Value weights, ArrayRef<int64_t> widths, ArrayRef<Source> values, bool withSums, Stage keys,
                           RegionDraft &draft, const Place &at) {
  using terms::DecaySpan;
  Pairs pairs(weights);
  Value decay = pairs.decay.getDecay();
  Source a = draft.read(pairs.product.getLhs(), at), b = draft.read(pairs.product.getRhs(), RegionDraft::keysOf(at));
  auto stepOf = [&](Source w, Source left) {
    SmallVector<Source> operands{term(terms::visible(), {w})};
    llvm::append_range(operands, values);
    operands.push_back(left);
    return StepForm{terms::weightedSums(widths, draft.wide(), withSums, /*decays=*/true), operands};
  };
  auto product = [&](Source keys) { return term(terms::logits(Representation::Plain, 1, draft.wide()), {a, keys}); };
  StepForm diagonal = stepOf(decayed(product(b), DecaySpan::Between, decay, draft, at), decayOver(DecaySpan::Since, decay, draft, at));
  keys.step = draft.problem.queryTile();
  keys.segments = {{"seen", Border::Begin, Border::Rows, /*masked=*/true},
                   {"diagonal", Border::Rows, Border::RowsEnd, /*masked=*/true, std::make_shared<StepForm>(diagonal)}};
  return stream(keys, stepOf(product(decayed(b, DecaySpan::Until, decay, draft, at)),
                             decayOver(DecaySpan::Whole, decay, draft, at, keys.step)));
}

/// What is summed up, a block of columns each, and their widths.
static void addBlocks(Value x, RegionDraft &draft, const Place &keys, SmallVectorImpl<Source> &blocks, SmallVectorImpl<int64_t> &widths) {
  llvm::append_range(blocks, draft.blocks(x, draft.values(keys)));
  for (int64_t width : featureWidths(x))
    widths.push_back(draft.valueTile(width));
}

static Source plainSums(Value weights, ArrayRef<Operation *> sums, RegionDraft &draft, const Place &at) {
  Pairs pairs(weights);
  SmallVector<Source> values;
  SmallVector<int64_t> widths;
  for (Operation *sum : sums)
    if (auto product = dyn_cast<attn::ContractOp>(sum))
      addBlocks(product.getRhs(), draft, RegionDraft::keysOf(at), values, widths);
  Stage keys = draft.keys(keysOfSum(sums.front()), pairs.product && isProjected(pairs.product.getRhs()));
  bool withSums = isa<attn::RowSumOp>(sums.back());
  if (pairs.decay && cast<RankedTensorType>(pairs.decay.getDecay().getType()).getRank() > 1)
    return decayingSums(weights, widths, values, withSums, std::move(keys), draft, at);
  SmallVector<Source> operands{visibleWeights(weights, draft, at)};
  llvm::append_range(operands, values);
  if (pairs.decay && pairs.lengths()) // queries behind the last key count it as the last one also where they see a whole tile
    keys.segments = {{"masked", Border::Begin, Border::End, /*masked=*/true}};
  return stream(keys, {terms::weightedSums(widths, draft.wide(), withSums), operands});
}

Source kernel::sumsInUnits(const FeatureSums &of, RegionDraft &draft, const Place &at) {
  auto map = of.key.getDefiningOp<attn::MapOp>();
  attn::DenominatorAttr guard = of.guard;
  int64_t width = draft.valueTile(cast<RankedTensorType>(of.value.getType()).getDimSize(3));
  Place keys = RegionDraft::keysOf(at);
  Source q = draft.read(of.query, draft.channels(at)), v = draft.read(of.value, draft.values(keys));
  Source k = term(terms::existing(Axis::Key), {draft.read(of.key, draft.channels(keys))});
  Source unit = term(terms::featureUnit(), {k}), t = term(terms::inFeatureUnit(), {q, unit});
  Stage stage = draft.keys(of.seen);
  stage.step = draft.problem.queryTile();
  stage.segments = {{"seen", Border::Begin, of.seen.causal ? Border::Rows : Border::End, /*masked=*/true}};
  int64_t bands = attn::bandCount(map.getFeatureMap(), cast<RankedTensorType>(map.getSource().getType()).getDimSize(3));
  StepForm ofSeen{terms::logPartial(width, guard), {t, k, unit, v}}, ofRest{terms::logDiagonal(width, guard, bands), {q, k, unit, v}};
  if (draft.plan.isSliced()) { // pairs are summed up over slices first, in units of their own
    Stage slices = draft.plan.slices(draft.channelsOf(map.getResult()));
    Source seen = stream(slices, {terms::logPartial(std::nullopt, guard), {t, k, unit}});
    Source rest = stream(slices, {terms::logDiagonal(std::nullopt, guard, bands), {q, k, unit}});
    ofSeen = {terms::weighedPartial(width, guard), {seen, v}}, ofRest = {terms::weighedPartial(width, guard), {rest, v}};
  }
  if (of.seen.causal)
    stage.segments.push_back({"diagonal", Border::Rows, Border::RowsEnd, /*masked=*/true, std::make_shared<StepForm>(ofRest)});
  return stream(stage, ofSeen);
}

/// Of weights of pairs that features make.
static FeatureSums sumsOfFeatures(Value weights) {
  Pairs pairs(weights);
  auto mix = cast<attn::ContractOp>(sumsOf(weights).front());
  return {pairs.product.getLhs(), pairs.product.getRhs(), mix.getRhs(), guardOf(mix), keysOfSum(mix)};
}

static Tiles sumOver(OpResult result, RegionDraft &draft, const Place &at) {
  Value weights = result.getOwner()->getOperand(0);
  Source &source = draft.shared(weights.getAsOpaquePointer());
  if (draft.host.groups().inUnits(result.getOwner())) {
    if (!source)
      source = sumsInUnits(sumsOfFeatures(weights), draft, at);
    return {source, {isa<attn::RowSumOp>(result.getOwner()) ? 1u : 2u}, 3};
  }
  SmallVector<Operation *> sums = sumsOf(weights);
  llvm::erase_if(sums, [&](Operation *sum) { return !draft.reads.contains(sum); });
  if (!source)
    source = plainSums(weights, sums, draft, at);
  Tiles tiles{source, {}, 0};
  for (Operation *sum : sums)
    for (size_t block = 0, count = isa<attn::RowSumOp>(sum) ? 1 : featureWidths(sum->getOperand(1)).size(); block < count; ++block, ++tiles.of)
      if (sum == result.getOwner())
        tiles.which.push_back(tiles.of);
  return tiles;
}

static Tiles buildRowSum(OpResult result, RegionDraft &draft, const Place &at) { return sumOver(result, draft, at); }

static Tiles buildRowMaximum(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::RowMaximumOp>(result.getOwner());
  Source each = term(terms::rowMagnitude(), {visibleWeights(op.getWeights(), draft, at)});
  Source largest = stream(draft.keys(keysOfSum(op)), {terms::maximum(draft.problem.queryTile(), /*least=*/0), {each}});
  for (int64_t root = op.getRoot(); root > 1; root /= 2)
    largest = term(terms::length(/*powerOfTwo=*/false), {largest}); // the square root of a number a row
  return {largest};
}

bool kernel::timesStateInSlices(attn::ContractOp op, const HostBuilder &host) { return host.columnsOfStates() > 0 && timesState(op) && !host.groups().inUnits(op); }

/// a S, or a Sᵀ, of which a program holds some columns of a, and what they meet of S, at a time: a wide S fills a GPU's shared memory. a is in memory.
static Tiles timesSlices(attn::ContractOp op, RegionDraft &draft, const Place &at, bool sumsFeatures, ArrayRef<int64_t> widths) {
  int64_t width = draft.host.columnsOfStates();
  const kernel::Tokens &rows = *draft.host.placeOf(op.getLhs());
  Value memory = draft.host.memoryOf(op.getRhs());
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape(); // [batch, heads, m, dv]
  auto times = [&](int64_t count, const Dimension &features, const Dimension &values, int64_t columns) {
    Source a = draft.plan.tokens(rows, at.tokens, at.head, at.heads, Dimension{Axis::Feature, 1, 0, 1, width});
    Source s = fusion::memory(memory, {entryOf(Axis::Batch), Dimension{at.head, at.heads / shape[1]}, features, values});
    return stream(draft.plan.over(Axis::Feature, count, width), {terms::contract(at.tokens, columns, /*wide=*/true, /*transposed=*/!sumsFeatures), {a, s}});
  };
  Dimension slice{Axis::Feature, 1, 0, 1, width};
  if (sumsFeatures)
    return {times(shape[2], slice, columnsOf(shape[3]), shape[3])};
  return tilesOfBlocks(llvm::map_to_vector(blockColumns(widths), [&](const Dimension &features) { return times(shape[3], features, slice, features.count); }));
}

static Tiles buildContract(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::ContractOp>(result.getOwner());
  if (sumsKeys(op))
    return sumOver(result, draft, at);
  if (sumsQueries(op))
    return buildSumOverQueries(result, draft, at);
  if (multipliesRows(op))
    return buildRowProducts(result, draft, at);
  if (makesPairs(op)) {
    Source a = draft.read(op.getLhs(), draft.channels(at)), b = draft.read(op.getRhs(), draft.channels(RegionDraft::keysOf(at)));
    return {draft.plan.pairs(a, b, draft.channelsOf(op.getLhs()), Representation::Plain, 1, draft.wide())};
  }
  if (timesSums(op)) {
    SmallVector<Source> z = sumsAt(op.getRhs(), featureWidths(result), draft, at);
    return tilesOfBlocks(llvm::map_to_vector(z, [&](const Source &z) { return term(terms::outer(), {draft.read(op.getLhs(), at), z}); }));
  }
  // The other operand is a state: a S, or a Sᵀ.
  bool wide = draft.wide() || draft.problem.schedule.getTarget() == tile::TargetKind::GPU;
  bool sumsFeatures = op.getLhsRoles()[3] == op.getRhsRoles()[2];
  SmallVector<int64_t, 2> widths = featureWidths(sumsFeatures ? op.getLhs() : Value(result));
  if (timesStateInSlices(op, draft.host))
    return timesSlices(op, draft, at, sumsFeatures, widths);
  Source a = draft.read(op.getLhs(), at);
  Source s = draft.host.stateOf(op.getRhs(), Value(), widths, at);
  if (sumsFeatures)
    return {term(terms::stateReadout(wide, /*divides=*/false), {a, s})};
  SmallVector<Source> blocks;
  for (unsigned block : llvm::seq<unsigned>(0, widths.size()))
    blocks.push_back(term(terms::logits(Representation::Plain, 1, wide), {a, widths.size() == 1 ? s : term(terms::select(block), {s})}));
  return tilesOfBlocks(blocks);
}

//===----------------------------------------------------------------------===//
// Exponentials and powers
//===----------------------------------------------------------------------===//

template <typename Op> static SeenKeys keysOfAttention(Operation *op) {
  auto attention = cast<Op>(op);
  return {attention.getKey(), attention.getLengths(), attention.getCausal(), attention.getWindowAttr(),
          static_cast<int64_t>(attention.getLast().value_or(0))};
}

static SeenKeys keysOfSoftmax(Operation *op) {
  SeenKeys seen = keysOfAttention<attn::SoftmaxOp>(op);
  if (auto heads = op->getAttrOfType<IntegerAttr>(attn::headsAsRowsAttr))
    seen.heads = heads.getInt();
  return seen;
}

static Tiles buildSoftmax(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::SoftmaxOp>(result.getOwner());
  Source &state = draft.shared(op);
  if (!state) {
    Place keys = RegionDraft::keysOf(at);
    Source q = draft.read(op.getQuery(), draft.channels(at)), k = draft.read(op.getKey(), draft.channels(keys));
    Source v = draft.read(op.getValue(), draft.values(keys));
    Stage stage = draft.keys(keysOfSoftmax(op));
    if (attn::executionOf(op).split)
      stage.cut = StageCut{};
    int64_t width = draft.valueTile(cast<RankedTensorType>(op.getValue().getType()).getDimSize(3));
    SoftmaxLogits logits{op.getScale().convertToDouble()};
    if (op.getSoftcap())
      logits.softcap = op.getSoftcap()->convertToDouble();
    if (op.getSlopes())
      logits.slope = gateAt(op.getSlopes(), draft, at);
    state = softmaxState(draft.plan, stage, {q, k, v}, logits, draft.channelsOf(op.getQuery()), width);
  }
  return {term(result == op.getOutput() ? terms::softmaxFinish() : terms::logSumExp(), {state})};
}

static Tiles buildPolynomial(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::PolynomialOp>(result.getOwner());
  Place keys = RegionDraft::keysOf(at);
  Source q = draft.read(op.getQuery(), draft.channels(at)), k = draft.read(op.getKey(), draft.channels(keys));
  Source v = draft.read(op.getValue(), draft.values(keys));
  attn::DenominatorAttr guard = op.getDenominator();
  double scale = op.getScale().convertToDouble();
  if (scale != 1)
    q = term(terms::scale(scale), {q});
  Source t = term(terms::visible(), {draft.plan.pairs(q, k, draft.channelsOf(op.getQuery()), Representation::Plain, 1, /*wide=*/true)});
  int64_t degree = op.getDegree(), width = draft.valueTile(cast<RankedTensorType>(op.getValue().getType()).getDimSize(3));
  Stage stage = draft.keys(keysOfAttention<attn::PolynomialOp>(op));
  Source state = stream(stage, {terms::powerPartial(degree, width, guard), {t, v}});
  return {term(terms::powerFinish(degree, guard), {state})};
}

void kernel::addPairRules(TermRules &rules) {
  constexpr Side rows = Side::Rows, keys = Side::Keys;
  rules.add<attn::VisibleOp>({.sides = {rows}, .build = buildVisible});
  rules.add<attn::DecayOp>({.sides = {rows}, .build = buildDecay});
  rules.add<attn::PowerOp>({.sides = {rows}, .build = buildPower});
  rules.add<attn::DiagonalBlocksOp>({.sides = {rows, rows}, .build = buildDiagonalBlocks});
  rules.add<attn::OnlyBlocksOp>({.sides = {rows}, .build = buildOnlyBlocks});
  rules.add<attn::RowSumOp>({.sides = {rows}, .frame = Frame::Rows, .kernel = "quadratic", .build = buildRowSum, .keys = keysOfSum});
  rules.add<attn::RowMaximumOp>({.sides = {rows}, .frame = Frame::Rows, .kernel = "row_maximum", .build = buildRowMaximum, .keys = keysOfSum});
  rules.add<attn::DistanceSumsOp>({.sides = {rows}, .materialize = materializeDistanceSums});
  rules.add<attn::SoftmaxOp>({.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "softmax", .build = buildSoftmax, .keys = keysOfSoftmax});
  rules.add<attn::PolynomialOp>({.sides = {rows, keys, keys}, .frame = Frame::Rows, .kernel = "polynomial", .build = buildPolynomial,
                                 .keys = keysOfAttention<attn::PolynomialOp>});
}

const TermRule *kernel::ruleOfContract(attn::ContractOp op) {
  static const TermRule pairs{.sides = {Side::Rows, Side::Keys}, .build = buildContract};
  static const TermRule sums{.sides = {Side::Rows, Side::Keys}, .frame = Frame::Rows, .kernel = "quadratic", .build = buildContract,
                             .keys = keysOfSum};
  static const TermRule ofState{.sides = {Side::Rows, Side::Memory}, .build = buildContract};
  static const TermRule keys{.sides = {Side::Rows, Side::Rows}, .frame = Frame::Keys, .kernel = "key_gradients", .build = buildContract,
                             .keys = keysOfSum};
  static const TermRule products{.sides = {Side::Rows, Side::Rows}, .build = buildContract};
  static const TermRule keyProducts{.sides = {Side::Rows, Side::Rows}, .isEpilogue = true, .build = buildContract};
  if (sumsQueries(op))
    return &keys;
  if (multipliesRows(op))
    return multipliesKeys(op) ? &keyProducts : &products;
  if (makesState(op) || sumsFeatures(op))
    return ruleOfQuerySums();
  if (multipliesStates(op))
    return ruleOfStateProducts();
  return makesPairs(op) ? &pairs : sumsKeys(op) ? &sums : timesState(op) || timesSums(op) ? &ofState : nullptr;
}
