//===- EvalMechanisms.cpp - Mechanisms of the attn dialect ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every mechanism by its definition, not by its decomposition: that the two agree is a test. Where selection marked a form,
// in the order of that form.
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"

#include "attune/Attn/Execution.h"
#include "attune/Reference/Attention.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// Key, value and lengths of a mechanism, and of its queries the rows that are needed.
template <typename Op> static AttentionInputs inputsOf(AttnFrame &frame, Op op, bool causal) {
  AttnValue query = frame.rowsFor(op.getOutput(), op.getQuery());
  std::optional<std::vector<int64_t>> rows;
  if (query.queries)
    rows = frame.rowsOf(query);
  return {query.array, frame[op.getKey()], frame[op.getValue()], frame.optional(op.getLengths()),
          causal,      std::move(rows),    query.queries};
}

/// The same with every query, for mechanisms that pool them; the rows are chosen of what comes out.
template <typename Op> static AttentionInputs pooledInputsOf(AttnFrame &frame, Op op, bool causal) {
  std::optional<std::vector<int64_t>> rows;
  if (frame.wantsRows(op.getOutput()))
    rows = frame.options.rows;
  return {frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()], frame.optional(op.getLengths()),
          causal,               std::move(rows)};
}

/// Stands beside a result that has the chosen rows only.
static std::optional<int64_t> chosenOf(const AttentionInputs &inputs) {
  return inputs.rows ? std::optional(inputs.queries()) : std::nullopt;
}

static LogicalResult checkAll(Operation *op, const AttentionInputs &inputs, function_ref<std::string()> more) {
  return check(op, [&] {
    std::string problem = inputs.problem();
    return problem.empty() ? more() : problem;
  }());
}

static LogicalResult evalSoftmax(AttnFrame &frame, attn::SoftmaxOp op) {
  AttentionInputs inputs = inputsOf(frame, op, op.getCausal());
  inputs.window = Window::of(op.getWindow()), inputs.last = op.getLast();
  if (failed(check(op, inputs.problem())))
    return failure();
  SoftmaxResults results = softmaxAttention(inputs, logitsOf(frame, op));
  frame.set(op.getOutput(), std::move(results.output), chosenOf(inputs));
  frame.set(op.getLse(), std::move(results.lse), chosenOf(inputs));
  return success();
}

static LogicalResult evalKernelAttention(AttnFrame &frame, attn::KernelOp op) {
  AttentionInputs inputs = inputsOf(frame, op, op.getCausal());
  inputs.window = Window::of(op.getWindow());
  KernelOptions options{FeatureMap::of(op.getFeatureMap()),         op.getDenominator().getBias(),
                        op.getDenominator().getFloor(),             frame.optional(op.getInitialState()),
                        frame.optional(op.getInitialSum()),         frame.optional(op.getParameter()),
                        frame.optional(op.getCompressKey()),        frame.optional(op.getCompressValue()),
                        static_cast<bool>(op.getFinalState()),      frame.optional(op.getDecay()),
                        !op.getDenominator().getNone(),             frame.optional(op.getErase()),
                        frame.optional(op.getWrite()),              frame.optional(op.getInitialScale()),
                        static_cast<bool>(op.getFinalScale()),      frame.optional(op.getPosition())};
  if (failed(checkAll(op, inputs, [&] { return kernelProblem(inputs, options); })))
    return failure();
  KernelResults results = kernelAttention(inputs, options);
  frame.set(op.getOutput(), std::move(results.output), chosenOf(inputs));
  frame.set(op.getFinalState(), std::move(results.finalState));
  frame.set(op.getFinalSum(), std::move(results.finalSum));
  frame.set(op.getFinalScale(), std::move(results.finalScale));
  return success();
}

static LogicalResult evalPower(AttnFrame &frame, Operation *op, mlir::Value output, const AttentionInputs &inputs,
                               const PowerOptions &options) {
  if (failed(checkAll(op, inputs, [&] { return powerProblem(inputs, options); })))
    return failure();
  frame.set(output, powerAttention(inputs, options), chosenOf(inputs));
  return success();
}

static LogicalResult evalSketchStates(AttnFrame &frame, attn::PolysketchOp op, const AttentionInputs &inputs, const PowerOptions &options) {
  if (failed(checkAll(op, inputs, [&] { return powerProblem(inputs, options); })))
    return failure();
  SketchResults results = sketchedByStates(inputs, options);
  frame.set(op.getOutput(), std::move(results.output), chosenOf(inputs));
  frame.set(op.getFinalState(), std::move(results.finalState));
  frame.set(op.getFinalSum(), std::move(results.finalSum));
  frame.set(op.getFinalScale(), std::move(results.finalScale));
  frame.set(op.getFinalKey(), std::move(results.finalKey));
  frame.set(op.getFinalValue(), std::move(results.finalValue));
  return success();
}

static LogicalResult evalPolynomial(AttnFrame &frame, attn::PolynomialOp op) {
  AttentionInputs inputs = inputsOf(frame, op, op.getCausal());
  inputs.window = Window::of(op.getWindow()), inputs.last = op.getLast();
  PowerOptions options;
  options.degree = static_cast<int64_t>(op.getDegree());
  options.scale = op.getScale().convertToDouble();
  options.bias = op.getDenominator().getBias(), options.floor = op.getDenominator().getFloor();
  return evalPower(frame, op, op.getOutput(), inputs, options);
}

static LogicalResult evalPolysketch(AttnFrame &frame, attn::PolysketchOp op) {
  AttentionInputs inputs = inputsOf(frame, op, op.getCausal());
  PowerOptions options;
  options.degree = static_cast<int64_t>(op.getDegree());
  options.scale = op.getScale().convertToDouble();
  options.bias = op.getDenominator().getBias(), options.floor = op.getDenominator().getFloor();
  options.signs = arraysOf(frame, op.getSigns()), options.indices = arraysOf(frame, op.getIndices());
  options.size = static_cast<int64_t>(op.getSize());
  if (op.getLocalExact())
    options.localExact = static_cast<int64_t>(*op.getLocalExact());
  options.initialState = frame.optional(op.getInitialState()), options.initialSum = frame.optional(op.getInitialSum());
  options.initialScale = frame.optional(op.getInitialScale()), options.position = frame.optional(op.getPosition());
  options.heldKey = frame.optional(op.getHeldKey()), options.heldValue = frame.optional(op.getHeldValue());
  options.wantsState = static_cast<bool>(op.getFinalState());
  if (op.hasStates() || attn::formOf(op) != attn::Form::Quadratic)
    return evalSketchStates(frame, op, inputs, options);
  return evalPower(frame, op, op.getOutput(), inputs, options);
}

static LogicalResult evalEffatt(AttnFrame &frame, attn::EffattOp op) {
  AttentionInputs inputs = inputsOf(frame, op, false);
  if (failed(check(op, inputs.problem())))
    return failure();
  EffattState left;
  frame.set(op.getOutput(), efficientAttention(inputs, &left), chosenOf(inputs));
  if (op.getState()) {
    frame.set(op.getState(), std::move(left.state));
    frame.set(op.getLse(), std::move(left.lse));
  }
  return success();
}

static LogicalResult evalAgent(AttnFrame &frame, attn::AgentOp op) {
  AttentionInputs inputs = pooledInputsOf(frame, op, false);
  auto agents = static_cast<int64_t>(op.getAgents());
  if (failed(checkAll(op, inputs, [&] { return agentProblem(inputs, agents); })))
    return failure();
  Array lse;
  frame.set(op.getOutput(), agentAttention(inputs, agents, op.getScale().convertToDouble(), &lse), chosenOf(inputs));
  if (op.getLse())
    frame.set(op.getLse(), std::move(lse), chosenOf(inputs));
  return success();
}

static LogicalResult evalEva(AttnFrame &frame, attn::EvaOp op) {
  AttentionInputs inputs = pooledInputsOf(frame, op, op.getCausal());
  EvaOptions options{static_cast<int64_t>(op.getChunk()),      std::nullopt,
                     op.getMuWeight().convertToDouble(), op.getScale().convertToDouble(),
                     op.getExcludeLocal(),               op.getMass()};
  if (op.getLocal())
    options.local = static_cast<int64_t>(*op.getLocal());
  if (failed(checkAll(op, inputs, [&] { return evaProblem(inputs, options); })))
    return failure();
  Array lse;
  frame.set(op.getOutput(), evaAttention(inputs, options, &lse), chosenOf(inputs));
  if (op.getLse())
    frame.set(op.getLse(), std::move(lse), chosenOf(inputs));
  return success();
}

void attune::reference::addMechanisms(Evaluators &all) {
  all.add(evalSoftmax, evalKernelAttention, evalPolynomial, evalPolysketch, evalEffatt, evalAgent, evalEva);
}
