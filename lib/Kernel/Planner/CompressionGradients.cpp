//===- CompressionGradients.cpp - Gradients of low-rank compression ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With y = E x over tokens that exist: x̄ = Eᵀ ȳ, which is read as tokens, and Ē = Σ ȳ xᵀ, which one kernel has for all that E compresses.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "PreparedWeights.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static bool isConversion(Operation *op) {
  auto scale = dyn_cast_or_null<attn::ScaleOp>(op);
  return scale && scale.getFactor().isExactlyValue(1);
}

std::optional<HostBuilder::Transposed> HostBuilder::transposedCompression(Value value) {
  if (Operation *op = value.getDefiningOp(); isConversion(op))
    value = op->getOperand(0);
  auto existing = value.getDefiningOp<attn::ExistingOp>();
  Value product = existing ? Value(existing.getSource()) : value;
  auto op = product.getDefiningOp<attn::ContractOp>();
  if (!op || !transposesCompression(op))
    return std::nullopt;
  return Transposed{op, existing ? Value(existing.getLengths()) : Value()};
}

bool HostBuilder::isCompressionWeight(Value value) {
  Operation *op = value.getDefiningOp();
  if (isConversion(op) || isa_and_nonnull<attn::AddOp, attn::SumHeadsOp>(op))
    return llvm::all_of(op->getOperands(), isCompressionWeight);
  auto contract = dyn_cast_or_null<attn::ContractOp>(op);
  return contract && makesCompressionWeight(contract);
}

FailureOr<Tokens> HostBuilder::computeTransposed(const Transposed &value, Output into) {
  attn::ContractOp op = value.op;
  Value weight = memory(op.getRhs());
  if (!weight)
    return op.emitOpError() << "expected a weight that is an argument of the function, but got one that it computes (not supported yet)";
  FailureOr<Tokens> slots = read(op.getLhs());
  if (failed(slots))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  if (!into.memory) {
    TileBuilder host(site.host, site.loc);
    constexpr int64_t dynamic = ShapedType::kDynamic;
    into.memory = site.workspace({dynamic, shape[1], dynamic, shape[3]}, {host.dim(slots->memory, 0), host.dim(weight, 2)});
  }
  Tokens result{into.memory, into.firstHead, shape[1], shape[3], {}};
  Problem problem = startProblem();
  problem.query = *slots, problem.lengths = memory(value.lengths);
  if (failed(buildKernel(compressionTransposeRegion(problem, *slots, packedOr(packedWeight(op), weight), result))))
    return failure();
  return result;
}

LogicalResult HostBuilder::writeCompressionWeight(Value value, const Output &output) {
  SmallVector<attn::ContractOp> products;
  appendLeaves(value, products);
  SmallVector<CompressionPair> pairs;
  SmallVector<std::pair<attn::MapOp, Tokens>> sources;
  for (attn::ContractOp op : products) {
    Value tokens = op.getRhs(), lengths;
    if (auto existing = tokens.getDefiningOp<attn::ExistingOp>())
      tokens = existing.getSource(), lengths = existing.getLengths();
    auto map = tokens.getDefiningOp<attn::MapOp>();
    FailureOr<Tokens> slots = read(op.getLhs()), source = failed(slots) ? slots : read(map ? map.getSource() : tokens);
    if (failed(source))
      return failure();
    pairs.push_back({*slots, shapeOf(op.getLhs())[1], featureWidths(tokens), nullptr, memory(lengths)});
    sources.push_back({map, *source});
  }
  Problem problem = startProblem();
  problem.query = pairs.front().slots, problem.key = sources.front().second;
  RegionDraft draft(*this, problem, RegionPlanner::OfAll);
  for (auto [pair, source] : llvm::zip_equal(pairs, sources))
    pair.tokens = source.first ? draft.read(source.first.getResult(), {Axis::Key, Axis::Head, pair.heads})
                               : draft.plan.tokens(source.second, Axis::Key, Axis::Head, pair.heads);
  return buildKernel(compressionWeightRegion(problem, pairs, output.memory));
}
