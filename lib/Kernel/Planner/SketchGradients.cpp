//===- SketchGradients.cpp - Sketches beside what reads them ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sketch mixes all columns of a token by matrices that fill a kernel's memory, so sketches, and what reaches the tokens from theirs, are tokens that
// kernels of their own write.
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/SketchRegion.h"
#include "Regions/SquareRegion.h"
#include "attune/Kernel/SketchRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

FailureOr<Tokens> HostBuilder::computeSketch(attn::SketchOp op) {
  FailureOr<Tokens> tokens = read(op.getSource());
  if (failed(tokens))
    return failure();
  Problem problem = startProblem();
  problem.schedule = sketchSchedule(problem.schedule, tokens->width, op.getSize());
  Sketched result;
  result.tokens = workspaceFor(op.getResult(), tokens->memory);
  result.grid = {problem.queryTile(), problem.queryTile()};
  if (failed(buildKernel(sketchRegion(problem, *tokens, prepared.sketches.at(op), op.getScale().convertToDouble(), KeyUnit(), result))))
    return failure();
  return result.tokens;
}

FailureOr<Tokens> HostBuilder::computeSketchGradient(attn::SketchGradientOp op) {
  Tokens tokens, cotangent;
  if (failed(readAll({{op.getSource(), &tokens}, {op.getCotangent(), &cotangent}})))
    return failure();
  Problem problem = startProblem();
  problem.schedule = sketchSchedule(problem.schedule, tokens.width, op.getSize());
  Tokens result = placeFor(op.getResult(), tokens.memory);
  if (failed(buildKernel(sketchGradientRegion(problem, tokens, cotangent, prepared.sketches.at(op), op.getScale().convertToDouble(), result))))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Tensor squares, which are wider than a kernel's tiles
//===----------------------------------------------------------------------===//

/// Entries are read one by one.
static LogicalResult expectInMemory(Operation *op, const Tokens &tokens) {
  if (tokens.steps.empty() && !tokens.projection)
    return success();
  return op->emitOpError() << "expected tokens that lie in memory as they are squared, but got some that are rotated, normalised or projected in the "
                              "load (not supported yet)";
}

FailureOr<Tokens> HostBuilder::computeSquare(attn::MapOp op) {
  FailureOr<Tokens> tokens = read(op.getSource());
  if (failed(tokens) || failed(expectInMemory(op, *tokens)))
    return failure();
  Problem problem = startProblem();
  Tokens result = workspaceFor(op.getResult(), tokens->memory);
  auto region = op.getFeatureMap().getKind() == attn::FeatureKind::SymmetricSquare ? symmetricSquareRegion : squareRegion;
  if (failed(buildKernel(region(problem, *tokens, memory(op.getLengths()), result))))
    return failure();
  return result;
}

FailureOr<Tokens> HostBuilder::computeSquareGradient(attn::MapGradientOp op) {
  if (schedule.getTarget() == tile::TargetKind::GPU && schedule.getOperand().isF16())
    return op.emitOpError() << "expected f32 or bf16 for gradients of tensor squares on a GPU, whose sums leave the range of f16 (f16 is not supported yet)";
  Tokens tokens, cotangent;
  if (failed(readAll({{op.getSource(), &tokens}, {op.getCotangent(), &cotangent}})) || failed(expectInMemory(op, tokens)))
    return failure();
  Problem problem = startProblem();
  Tokens result = workspaceFor(op.getResult(), tokens.memory);
  auto region = op.getFeatureMap().getKind() == attn::FeatureKind::SymmetricSquare ? symmetricSquareGradientRegion : squareGradientRegion;
  if (failed(buildKernel(region(problem, tokens, memory(op.getLengths()), cotangent, result))))
    return failure();
  return result;
}
