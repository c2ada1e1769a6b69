//===- EvalAttn.cpp - Functions of attn ops ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/EvalAttn.h"

#include "AttnFrame.h"

#include "attune/Reference/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

void AttnFrame::set(mlir::Value value, Array array, std::optional<int64_t> queries) {
  if (!value)
    return;
  if (options.precision == Precision::Faithful) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    array = makeArray(array.shape(), array.elements(), element);
  }
  values.insert_or_assign(value, AttnValue{std::move(array), queries});
}

AttnValue AttnFrame::chosen(mlir::Value value) const {
  const AttnValue &full = get(value);
  if (!options.rows || full.queries)
    return full;
  return {selectRows(full.array, *options.rows), full.array.size(2)};
}

std::vector<int64_t> AttnFrame::rowsOf(const AttnValue &value) const {
  if (value.queries)
    return *options.rows;
  std::vector<int64_t> all(value.array.size(2));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

static void print(InFlightDiagnostic &diagnostic, ArrayRef<int64_t> shape) {
  diagnostic << '[';
  llvm::interleaveComma(shape, diagnostic);
  diagnostic << ']';
}

LogicalResult attune::reference::expectShape(Operation *op, StringRef what, const Array &array,
                                             ArrayRef<int64_t> shape) {
  if (array.shape() == shape)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError() << "expected " << what << " of ";
  print(diagnostic, shape);
  diagnostic << ", but got ";
  print(diagnostic, array.shape());
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Mechanisms
//===----------------------------------------------------------------------===//

static LogicalResult evalSoftmax(AttnFrame &frame, attn::SoftmaxOp op) {
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()],
                         frame.optional(op.getLengths()), op.getCausal(), frame.options.rows};
  if (std::string problem = inputs.problem(); !problem.empty())
    return op.emitOpError() << problem;
  SoftmaxResults results = softmaxAttention(inputs, op.getScale().convertToDouble());
  std::optional<int64_t> queries;
  if (inputs.rows)
    queries = inputs.queries();
  frame.set(op.getOutput(), std::move(results.output), queries);
  frame.set(op.getLse(), std::move(results.lse), queries);
  return success();
}

static LogicalResult evalKernelAttention(AttnFrame &frame, attn::KernelOp op) {
  if (op.getFeatureMap().getKind() != attn::FeatureKind::Elu1 || op.getCompressKey() || op.getWindow())
    return op.emitOpError() << "expected elu1 without compression and window (others are not supported yet)";
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()],
                         frame.optional(op.getLengths()), op.getCausal(), frame.options.rows};
  KernelOptions options{op.getFeatureMap().getKind(), op.getDenominator().getBias(), op.getDenominator().getFloor(),
                        frame.optional(op.getInitialState()), frame.optional(op.getInitialSum())};
  std::string problem = inputs.problem();
  if (problem.empty())
    problem = kernelProblem(inputs, options);
  if (!problem.empty())
    return op.emitOpError() << problem;
  KernelResults results = kernelAttention(inputs, options);
  std::optional<int64_t> queries;
  if (inputs.rows)
    queries = inputs.queries();
  frame.set(op.getOutput(), std::move(results.output), queries);
  frame.set(op.getFinalState(), std::move(results.finalState));
  frame.set(op.getFinalSum(), std::move(results.finalSum));
  return success();
}

/// Mechanisms that read what another one has computed for the chosen rows only would mistake rows for tokens.
static LogicalResult checkFull(AttnFrame &frame, Operation &op) {
  for (mlir::Value operand : op.getOperands())
    if (frame.get(operand).queries)
      return op.emitOpError() << "expected operands with every row, but got one with chosen rows (run without chosen "
                                 "rows)";
  return success();
}

std::optional<LogicalResult> attune::reference::evalMechanism(AttnFrame &frame, Operation &op) {
  if (!isa<attn::SoftmaxOp, attn::KernelOp>(op))
    return std::nullopt;
  if (failed(checkFull(frame, op)))
    return failure();
  if (auto softmax = dyn_cast<attn::SoftmaxOp>(op))
    return evalSoftmax(frame, softmax);
  return evalKernelAttention(frame, cast<attn::KernelOp>(op));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool fits(const Array &array, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == array.rank() &&
         llvm::all_of(llvm::zip_equal(tensor.getShape(), array.shape()), [](auto pair) {
           auto [expected, got] = pair;
           return ShapedType::isDynamic(expected) || expected == got;
         });
}

static LogicalResult bindArguments(AttnFrame &frame, func::FuncOp function, ArrayRef<Array> arguments) {
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError() << "expected " << function.getNumArguments() << " arguments, but got "
                                  << arguments.size();
  for (auto [value, array] : llvm::zip_equal(function.getArguments(), arguments)) {
    if (!fits(array, value.getType()))
      return function.emitOpError() << "expected argument " << value.getArgNumber() << " to fit " << value.getType();
    frame.set(value, array);
  }
  return success();
}

static std::optional<LogicalResult> evalConstant(AttnFrame &frame, Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  if (!dense)
    return std::nullopt;
  std::vector<double> elements;
  for (FloatAttr element : dense.getValues<FloatAttr>())
    elements.push_back(element.getValueAsDouble());
  frame.set(constant, makeArray(dense.getType().getShape(), elements));
  return success();
}

static LogicalResult evalOp(AttnFrame &frame, Operation &op) {
  for (auto eval : {evalMechanism, evalSoftmaxTerm, evalKernelTerm, evalWeightTerm, evalConstant})
    if (std::optional<LogicalResult> result = eval(frame, op))
      return *result;
  return op.emitOpError() << "expected an op that the interpreter of the attn dialect knows";
}

FailureOr<std::vector<Array>> attune::reference::evalAttn(func::FuncOp function, ArrayRef<Array> arguments,
                                                          const EvalAttnOptions &options) {
  if (function.getBody().getBlocks().size() != 1)
    return function.emitOpError() << "expected a function of one block";
  AttnFrame frame(options);
  if (failed(bindArguments(frame, function, arguments)))
    return failure();
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(evalOp(frame, op)))
      return failure();
  std::vector<Array> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(frame[value]);
  return results;
}
