//===- EvalAttn.cpp - Functions of attn ops ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/EvalAttn.h"

#include "Evaluators.h"
#include "Shapes.h"

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

AttnValue AttnFrame::rowsFor(mlir::Value result, mlir::Value operand, int64_t dimension) const {
  const AttnValue &value = get(operand);
  if (!wantsRows(result) || value.queries)
    return value;
  return {selectRows(value.array, *options.rows, dimension), value.array.size(dimension)};
}

std::vector<int64_t> AttnFrame::rowsOf(const AttnValue &value, int64_t dimension) const {
  if (value.queries)
    return *options.rows;
  std::vector<int64_t> all(value.array.size(dimension));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

LogicalResult attune::reference::check(Operation *op, const std::string &problem) {
  return problem.empty() ? success() : LogicalResult(op->emitOpError() << problem);
}

LogicalResult attune::reference::expectShape(Operation *op, StringRef what, const Array &array,
                                             ArrayRef<int64_t> shape) {
  return check(op, differs(what, array, shape));
}

FailureOr<std::vector<int64_t>> attune::reference::readLengths(AttnFrame &frame, Operation *op, mlir::Value lengths,
                                                               int64_t batch, int64_t tokens) {
  std::vector<int64_t> result(batch, tokens);
  if (!lengths)
    return result;
  const Array &given = frame[lengths];
  if (failed(expectShape(op, "lengths", given, {batch})))
    return failure();
  for (int64_t b = 0; b < batch; ++b) {
    double length = given({b});
    if (!(length >= 0 && length <= static_cast<double>(tokens)))
      return op->emitOpError() << "expected lengths from 0 to " << tokens << ", but got " << length;
    result[b] = static_cast<int64_t>(length);
  }
  return result;
}

std::vector<Array> attune::reference::arraysOf(const AttnFrame &frame, ValueRange values) {
  std::vector<Array> arrays;
  for (mlir::Value value : values)
    arrays.push_back(frame[value]);
  return arrays;
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

static LogicalResult evalConstant(AttnFrame &frame, arith::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense)
    return constant.emitOpError() << "expected dense elements, but got " << constant.getValue();
  std::vector<double> elements;
  for (Attribute element : dense.getValues<Attribute>())
    if (auto number = dyn_cast<FloatAttr>(element))
      elements.push_back(number.getValueAsDouble());
    else
      elements.push_back(static_cast<double>(cast<IntegerAttr>(element).getInt()));
  frame.set(constant, makeArray(dense.getType().getShape(), elements));
  return success();
}

LogicalResult Evaluators::run(AttnFrame &frame, Operation &op) const {
  auto found = evaluators.find(op.getName().getTypeID());
  if (found == evaluators.end())
    return op.emitOpError() << "expected an op that the interpreter of the attn dialect knows";
  return found->second(frame, op);
}

static Evaluators allEvaluators() {
  Evaluators all;
  all.add(evalConstant);
  for (auto add : {addMechanisms, addLayers, addSoftmaxTerms, addKernelTerms, addMapTerms, addWeightTerms,
                   addBlockedTerms})
    add(all);
  return all;
}

FailureOr<std::vector<Array>> attune::reference::evalAttn(func::FuncOp function, ArrayRef<Array> arguments,
                                                          const EvalAttnOptions &options) {
  if (function.getBody().getBlocks().size() != 1)
    return function.emitOpError() << "expected a function of one block";
  Block &body = function.getBody().front();
  AttnFrame frame(options, Demands(body));
  static const Evaluators evaluators = allEvaluators();
  if (failed(bindArguments(frame, function, arguments)))
    return failure();
  for (Operation &op : body.without_terminator())
    if (failed(evaluators.run(frame, op)))
      return failure();
  std::vector<Array> results;
  for (mlir::Value value : body.getTerminator()->getOperands())
    results.push_back(frame[value]);
  return results;
}
