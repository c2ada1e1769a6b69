//===- ParameterGradients.cpp - Gradients of the parameters of maps and masks ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   rows:   what reaches x ωᵀ of each token, or what it adds to the focus, in memory, for blocks of features share it
//   parts:  their products with tokens, or their sums, of each entry and head; pieces side by side
//   sum:    of all parts, of queries and of keys, in their order
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "MapRule.h"
#include "Regions/BatchSums.h"
#include "Regions/KeyStage.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

LogicalResult kernel::materializeParameterParts(Operation *op, HostBuilder &host, const Problem &named) {
  auto gradient = cast<attn::MapParameterGradientOp>(op);
  bool isFocus = gradient.getFeatureMap().getKind() == attn::FeatureKind::Focused;
  int64_t heads = shapeOf(gradient.getCotangent())[1], width = shapeOf(gradient.getSource())[3];
  Problem problem = host.keyProblem(named, gradient.getSource(), gradient.getLengths(), heads);
  Tokens rows = host.allocateRows(gradient.getSource(), heads, isFocus ? width : shapeOf(gradient.getCotangent())[3]);
  RegionDraft draft(host, problem, RegionPlanner::OfKeys);
  Place at{Axis::Key, Axis::Head, heads};
  KernelRegion region = stateKernel(draft.plan, "parameter_rows");
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  region.outputs = {{term(terms::existing(Axis::Key), {parameterRows(gradient, draft, at)}), rows.memory,
                     {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Key), columnsOf(rows.width)}}};
  if (failed(host.buildKernel(region)))
    return failure();
  Value parts = host.allocateParts(op, rows);
  return host.buildKernel(partsOfParameterRegion(problem, rows, isFocus ? nullptr : draft.read(gradient.getSource(), at), parts, width));
}

Value HostBuilder::allocateParts(Operation *gradient, const Tokens &rows) {
  TileBuilder host(site.host, site.loc);
  SmallVector<int64_t> shape{ShapedType::kDynamic, rows.heads};
  llvm::append_range(shape, shapeOf(gradient->getResult(0)).drop_front());
  return workspaces[gradient->getResult(0)] = site.workspace(shape, host.dim(rows.memory, 0));
}

bool HostBuilder::isMapParameter(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isa<attn::AddOp>(op))
    return llvm::all_of(op->getOperands(), isMapParameter);
  return op && isa<attn::MapParameterGradientOp>(op);
}

LogicalResult HostBuilder::writeMapParameter(Value value, const Output &output) {
  SmallVector<attn::MapParameterGradientOp> gradients;
  appendLeaves(value, gradients);
  SmallVector<Value> parts;
  for (attn::MapParameterGradientOp op : gradients) {
    Value gradient = op.getResult();
    if (!workspaces.contains(gradient) && failed(writeTerms(gradient, Output())))
      return failure();
    parts.push_back(workspaces.lookup(gradient));
  }
  Problem problem = startProblem();
  problem.key.memory = parts.front();
  return buildKernel(parameterGradientRegion(problem, parts, output.memory));
}

//===----------------------------------------------------------------------===//
// Slopes
//===----------------------------------------------------------------------===//

Value HostBuilder::allocateSums(Operation *op, Value rows, int64_t heads, attn::WindowAttr window) {
  return workspaces[op->getResult(0)] = allocateNumbers(heads, rows, window);
}

bool HostBuilder::areDistanceSums(Value value) {
  if (auto scale = value.getDefiningOp<attn::ScaleOp>())
    return areDistanceSums(scale.getSource());
  return value.getDefiningOp<attn::DistanceSumsOp>() != nullptr;
}

LogicalResult HostBuilder::writeDistanceSums(Value value, const Output &output) {
  double factor = 1;
  for (auto scale = value.getDefiningOp<attn::ScaleOp>(); scale; scale = value.getDefiningOp<attn::ScaleOp>())
    factor *= scale.getFactor().convertToDouble(), value = scale.getSource();
  if (!workspaces.contains(value) && failed(writeTerms(value, Output())))
    return failure();
  Problem problem = startProblem();
  Value numbers = workspaces.lookup(value);
  problem.key.memory = numbers;
  return buildKernel(numberSumRegion(problem, {numbers, 0, shapeOf(value)[0], 1, {}}, factor, output.memory));
}
