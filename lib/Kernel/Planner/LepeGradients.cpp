//===- LepeGradients.cpp - Gradients of positional encodings ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/LepeGradientRegion.h"
#include "TermRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// Where the neighbors of a token are.
static terms::Lattice latticeOf(attn::LepeGradientOp op) {
  if (std::optional<attn::WindowAttr> window = op.getWindow()) {
    if (window->isGrid())
      return {window->getGridColumns(), window->getColumns(), window->getRows()};
    return {0, window->getLength(), 0};
  }
  if (std::optional<ArrayRef<int64_t>> grid = op.getGrid())
    return {(*grid)[1], (*grid)[1], 0};
  return {};
}

FailureOr<LepeGradient> HostBuilder::readLepe(attn::LepeGradientOp op) {
  FailureOr<Tokens> cotangent = read(op.getCotangent());
  if (failed(cotangent))
    return failure();
  std::optional<PreparedWeight> packed = packedWeight(op);
  Value matrix = packed ? prepared.lookup(*packed).matrix : Value();
  return LepeGradient{*cotangent, matrix ? matrix : memory(op.getWeight()), static_cast<bool>(matrix), memory(op.getLengths()), latticeOf(op)};
}

LogicalResult HostBuilder::writeLepeValues(attn::LepeGradientOp op, const Tokens &result, bool adds) {
  FailureOr<LepeGradient> lepe = readLepe(op);
  if (failed(lepe))
    return failure();
  Problem problem = startProblem();
  problem.query = lepe->cotangent;
  return buildKernel(lepeValuesRegion(problem, *lepe, result, adds));
}

std::optional<HostBuilder::LepeSum> HostBuilder::lepeSum(Value value) const {
  auto add = value.getDefiningOp<attn::AddOp>();
  if (!add || !addsUpIn(outputOf(value)))
    return std::nullopt;
  for (auto [one, other] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
    if (auto lepe = one.getDefiningOp<attn::LepeGradientOp>(); lepe && one == lepe.getValueGradient() && one.hasOneUse() && other.hasOneUse() &&
                                                               other.getDefiningOp() && ruleOf(other.getDefiningOp()))
      return LepeSum{lepe, other};
  return std::nullopt;
}

LogicalResult HostBuilder::writeLepeSum(const LepeSum &sum, const Output &output) {
  if (missing.contains(sum.other) && failed(write(sum.other, outputOf(sum.other))))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(sum.other.getType()).getShape();
  return writeLepeValues(sum.lepe, {output.memory, output.firstHead, shape[1], shape[3], {}}, /*adds=*/true);
}

LogicalResult HostBuilder::writeLepeGradient(Value result, const Output &output) {
  auto op = result.getDefiningOp<attn::LepeGradientOp>();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  if (result == op.getValueGradient())
    return writeLepeValues(op, {output.memory, output.firstHead, shape[1], shape[3], {}});
  FailureOr<LepeGradient> lepe = readLepe(op);
  FailureOr<Tokens> value = failed(lepe) ? FailureOr<Tokens>(failure()) : read(op.getValue());
  if (failed(value))
    return failure();
  Problem problem = startProblem();
  problem.query = lepe->cotangent;
  auto memoryOfMissing = [&](Value gradient) { return missing.remove(gradient) ? memory(gradient) : Value(); };
  Value weight = memoryOfMissing(op.getWeightGradient()), bias = memoryOfMissing(op.getBiasGradient());
  return buildKernel(lepeParametersRegion(problem, *lepe, *value, weight, bias));
}
