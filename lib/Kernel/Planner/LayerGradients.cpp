//===- LayerGradients.cpp - Layers, and the gradients of their parameters ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model's rows [batch, tokens, D] are made of tokens by output projections. Those of a backward pass are sums of several, of which one
// kernel makes all; their weights are transposed where they are read.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"

#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/HeadRange.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

//===----------------------------------------------------------------------===//
// Rows of a model
//===----------------------------------------------------------------------===//

bool HostBuilder::areModelRows(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isa<attn::AddOp, attn::ScaleOp>(op))
    return areModelRows(op->getOperand(0));
  return op && isa<attn::ProjectOutputOp>(op);
}

/// Rows that are sums of these.
static Source sumOf(Value rows, const llvm::DenseMap<Value, Source> &projected) {
  if (Source known = projected.lookup(rows))
    return known;
  if (auto scale = rows.getDefiningOp<attn::ScaleOp>())
    return term(terms::scale(scale.getFactor().convertToDouble()), {sumOf(scale.getSource(), projected)});
  auto add = rows.getDefiningOp<attn::AddOp>();
  return term(terms::plus(), {sumOf(add.getLhs(), projected), sumOf(add.getRhs(), projected)});
}

LogicalResult HostBuilder::writeModelRows(Value value, const Output &output) {
  SmallVector<attn::ProjectOutputOp> projections;
  appendLeaves(value, projections);
  SmallVector<std::pair<Tokens, OutputProjection>> factors;
  for (attn::ProjectOutputOp op : projections) {
    FailureOr<OutputProjection> projection = projectionOf(op);
    FailureOr<Tokens> source = failed(projection) ? FailureOr<Tokens>(failure()) : read(op.getSource());
    if (failed(source))
      return failure();
    factors.push_back({*source, *projection});
  }
  std::optional<PreparedWeight> packed = projections.size() == 1 ? packedWeight(projections.front()) : std::nullopt;
  Value packedMemory = packed ? prepared.lookup(*packed).matrix : Value();
  if (packedMemory)
    factors.front().second.weight = packedMemory;
  Problem problem = startProblem();
  problem.query = factors.front().first, problem.output.memory = output.memory;
  return buildKernel(outputProjectionRegion(problem, packedMemory, [&](const RegionPlanner &plan) {
    llvm::DenseMap<Value, Source> projected;
    for (auto [op, factor] : llvm::zip_equal(projections, factors))
      projected[op.getResult()] = projectedHeads(plan, factor.first, attn::areSums(op.getSource()), factor.second);
    return sumOf(value, projected);
  }));
}

Value HostBuilder::modelMemory(Value rows) const {
  auto convert = rows.getDefiningOp<attn::ScaleOp>();
  bool widens = convert && convert.getFactor().isExactlyValue(1) && getElementTypeOrSelf(convert.getResult().getType()).isF32();
  return widens ? modelMemory(convert.getSource()) : memory(rows);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

template <typename Projection, typename Op> FailureOr<Projection> HostBuilder::projectionIn(Op op) {
  auto transpose = op.getWeight().template getDefiningOp<attn::TransposeOp>();
  Value weight = transpose ? Value(transpose.getSource()) : Value(op.getWeight());
  if (!isa<BlockArgument>(weight) && !memoryOf(weight))
    return op.emitOpError() << "expected a weight that is an argument of the function, or the transpose of one, but got one that it "
                               "computes (not supported yet)";
  return Projection{memory(weight), memory(op.getBias()), static_cast<bool>(transpose)};
}

FailureOr<OutputProjection> HostBuilder::projectionOf(attn::ProjectOutputOp op) { return projectionIn<OutputProjection>(op); }

FailureOr<TokenProjection> HostBuilder::projectionOf(attn::ProjectOp op) {
  FailureOr<TokenProjection> projection = projectionIn<TokenProjection>(op);
  std::optional<PreparedWeight> packed = packedWeight(op);
  Value matrix = packed ? prepared.lookup(*packed).matrix : Value();
  if (succeeded(projection) && matrix)
    projection->weight = matrix;
  return projection;
}

static LogicalResult refuseModel(Operation *op) {
  return op->emitOpError() << "expected rows of a model that are an argument of the function, in any type, but got some that it "
                              "computes (not supported yet)";
}

LogicalResult HostBuilder::writeWeightGradient(attn::WeightGradientOp op) {
  Value model = modelMemory(op.getModel());
  if (!model)
    return refuseModel(op);
  FailureOr<Tokens> heads = read(op.getHeads());
  if (failed(heads))
    return failure();
  Problem problem = startProblem();
  problem.key.memory = model;
  return buildKernel(weightGradientRegion(problem, *heads, model, memory(op.getResult()), op.getOutput()));
}

LogicalResult HostBuilder::writeTokenSum(attn::TokenSumOp op) {
  bool ofModel = cast<RankedTensorType>(op.getSource().getType()).getRank() == 3;
  if (ofModel) {
    Value model = modelMemory(op.getSource());
    if (!model)
      return refuseModel(op);
    Problem problem = startProblem();
    problem.key.memory = model;
    return buildKernel(tokenSumRegion(problem, model, memory(op.getResult())));
  }
  FailureOr<Tokens> heads = read(op.getSource());
  if (failed(heads))
    return failure();
  Problem problem = startProblem();
  problem.key = *heads;
  return buildKernel(tokenSumRegion(problem, *heads, memory(op.getResult())));
}
