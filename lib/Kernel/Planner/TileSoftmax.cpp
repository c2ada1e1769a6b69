//===- TileSoftmax.cpp - Softmax of rows whose keys are all in one tile ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a tile has all keys of a query:  P = softmax(S) of its rows,   δ_i = ⟨ō_i, o_i⟩ = Σ_j P_ij ⟨ō_i, v_j⟩
//
// Then gradients need neither the logarithms of the sums nor the output of the forward pass, which would be made again otherwise: two products of
// pairs and a pass over o.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool kernel::areOneTile(const SeenKeys &seen, tile::ScheduleAttr schedule) {
  int64_t keys = seen.window ? seen.window.getLength() : shapeOf(seen.keys)[2];
  return !ShapedType::isDynamic(keys) && keys <= schedule.getKeyTile();
}

/// Whether the weights are those of the softmax.
static bool isOfSoftmax(attn::SoftmaxWeightsOp weights, attn::SoftmaxOp softmax) {
  return weights.getLse() == softmax.getLse() && weights.getQuery() == softmax.getQuery() && weights.getKey() == softmax.getKey() &&
         weights.getLengths() == softmax.getLengths() && weights.getSlopes() == softmax.getSlopes() && weights.getScale() == softmax.getScale() &&
         weights.getCausal() == softmax.getCausal() && weights.getWindowAttr() == softmax.getWindowAttr() && weights.getLast() == softmax.getLast() &&
         weights.getSoftcapAttr() == softmax.getSoftcapAttr();
}

/// ō Vᵀ of the pairs, for δ = ⟨ō, o⟩; null: nobody makes it.
static attn::ContractOp pairsOfOutput(attn::ContractOp product, attn::SoftmaxOp softmax) {
  for (Operation *user : product.getLhs().getUsers())
    if (auto pairs = dyn_cast<attn::ContractOp>(user); pairs && makesPairs(pairs) && pairs.getLhs() == product.getLhs() && pairs.getRhs() == softmax.getValue())
      return pairs;
  return nullptr;
}

/// Whether numbers of rows are read by pairs alone, be they scaled or terms of a sum.
static bool isReadByPairs(Value numbers) {
  return llvm::all_of(numbers.getUsers(), [](Operation *user) {
    if (auto spread = dyn_cast<attn::SpreadOp>(user))
      return arePairs(spread.getResult());
    return isa<attn::ScaleOp, attn::AddOp>(user) && shapeOf(user->getResult(0)).size() == 3 && isReadByPairs(user->getResult(0));
  });
}

/// Whether an op sums up pairs that are made of these weights: no pairs are its result.
static bool sumsPairsOf(Operation *op, attn::SoftmaxWeightsOp weights) {
  if (op->getNumOperands() == 0 || !arePairs(op->getOperand(0)) || originOfPairs(op->getOperand(0)) != weights)
    return false;
  return llvm::none_of(op->getResults(), arePairs);
}

attn::SoftmaxWeightsOp HostBuilder::weightsInTile(attn::SoftmaxOp softmax) const {
  if (!softmax || !softmax.getLse() || !softmax.getLse().hasOneUse() || schedule.getTarget() != tile::TargetKind::CPU || schedule.isSliced() || packed)
    return nullptr;
  auto weights = dyn_cast<attn::SoftmaxWeightsOp>(*softmax.getLse().user_begin());
  SeenKeys seen{softmax.getKey(), softmax.getLengths(), softmax.getCausal(), softmax.getWindowAttr(), static_cast<int64_t>(softmax.getLast().value_or(0))};
  if (!weights || !isOfSoftmax(weights, softmax) || !areOneTile(seen, schedule))
    return nullptr;
  for (Operation *user : softmax.getOutput().getUsers()) {
    auto product = dyn_cast<attn::ContractOp>(user);
    if (!product || !multipliesRows(product) || product.getRhs() != softmax.getOutput() || !pairsOfOutput(product, softmax) || !isReadByPairs(product.getResult()))
      return nullptr;
  }
  // Weights in a region of queries would need both.
  for (Operation &op : weights->getBlock()->without_terminator()) {
    auto sum = dyn_cast<attn::ContractOp>(op);
    bool isInRegionOfKeys = sum && (sumsQueries(sum) || (sumsKeys(sum) && partnerOf(sum)));
    if (sumsPairsOf(&op, weights) && !isInRegionOfKeys)
      return nullptr;
  }
  return weights;
}

bool HostBuilder::isMadeInTile(Operation *reader, Value value) const {
  auto softmax = value.getDefiningOp<attn::SoftmaxOp>();
  return softmax && isa<attn::SoftmaxWeightsOp, attn::ContractOp>(reader) && !memoryOf(value) && !placeOf(value) && weightsInTile(softmax);
}

std::optional<Source> kernel::weightsOfTile(attn::SoftmaxWeightsOp op, const Source &logits, const RegionDraft &draft) {
  if (!draft.host.isMadeInTile(op, op.getLse()))
    return std::nullopt;
  return term(terms::softmaxOfPairs(), {logits});
}

std::optional<Source> kernel::productsOfTile(attn::ContractOp product, RegionDraft &draft, const Place &at) {
  if (!draft.host.isMadeInTile(product, product.getRhs()))
    return std::nullopt;
  auto softmax = product.getRhs().getDefiningOp<attn::SoftmaxOp>();
  Value weights = draft.host.weightsInTile(softmax).getResult(), pairs = pairsOfOutput(product, softmax).getResult();
  return term(terms::rowProducts(), {draft.read(weights, at), draft.read(pairs, at)});
}
