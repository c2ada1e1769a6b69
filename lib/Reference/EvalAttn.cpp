//===- EvalAttn.cpp - Functions of attn ops ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/EvalAttn.h"
#include "attune/Attn/Packed.h"

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
                   addBlockedTerms, addBlocks, addGradientTerms, addStateGradients, addFeaturePairs, addEvaGradients})
    add(all);
  return all;
}

static FailureOr<std::vector<Array>> evalOne(func::FuncOp function, ArrayRef<Array> arguments, const EvalAttnOptions &options) {
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

//===----------------------------------------------------------------------===//
// Packed sequences
//===----------------------------------------------------------------------===//

/// Before the names of gradients.
static constexpr StringLiteral gradientOf = "grad_";

/// Copies `count` entries of a dimension from a place in one array to one in another.
static void copyEntries(const Array &from, int64_t first, const Array &to, int64_t place, int64_t count, int64_t dimension) {
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < from.rank(); ++i)
    (i < dimension ? outer : inner) *= i == dimension ? 1 : from.size(i);
  SmallVector<int64_t, 4> source(from.rank(), 0), target(from.rank(), 0);
  for (int64_t number = 0; number < outer * count * inner; ++number) {
    int64_t rest = number;
    for (int64_t i = from.rank(); i-- > 0;) {
      int64_t size = i == dimension ? count : from.size(i), index = rest % size;
      rest /= size;
      source[i] = index + (i == dimension ? first : 0), target[i] = index + (i == dimension ? place : 0);
    }
    to(target) = from(source);
  }
}

static LogicalResult checkOffsets(func::FuncOp function, const Array &offsets, int64_t tokens) {
  if (offsets.rank() != 1 || offsets.size(0) < 2 || offsets({0}) != 0 || offsets({offsets.size(0) - 1}) != static_cast<double>(tokens))
    return function.emitOpError() << "expected offsets from 0 to " << tokens << ", but got others";
  for (int64_t i = 1; i < offsets.size(0); ++i)
    if (offsets({i}) < offsets({i - 1}))
      return function.emitOpError() << "expected offsets that do not fall, but got " << offsets({i - 1}) << " and then " << offsets({i});
  return success();
}

namespace {
/// What of an argument, or of a result, a sequence has: entries of a dimension, those between its offsets or, without any, its own.
struct Share {
  unsigned dimension;
  const Array *offsets;

  int64_t first(int64_t s) const { return offsets ? static_cast<int64_t>((*offsets)({s})) : s; }
  int64_t count(int64_t s) const { return first(s + 1) - first(s); }
};
} // namespace

/// None of what each sequence is given as it is.
static std::optional<Share> shareOf(func::FuncOp function, unsigned argument, ArrayRef<Array> arguments) {
  if (function.getArgAttr(argument, "attn.parameter") || function.getArgAttr(argument, attn::offsetsAttr))
    return std::nullopt;
  std::optional<unsigned> tokens = attn::tokenDimension(function.getArgumentTypes()[argument]);
  if (!tokens)
    return Share{0, nullptr};
  auto name = function.getArgAttrOfType<StringAttr>(argument, "attn.name");
  char letter = argument == 0 || (name && (name == "q" || name.getValue().starts_with(gradientOf))) ? 'q' : 'k';
  return Share{*tokens, &arguments[attn::offsetsOf(function, letter).getArgNumber()]};
}

/// The same of a result: of a gradient, that of its argument; none where each sequence gives a summand.
static std::optional<Share> shareOfResult(func::FuncOp function, unsigned result, ArrayRef<Array> arguments) {
  auto name = function.getResultAttrOfType<StringAttr>(result, "attn.name");
  StringRef argument = name ? name.getValue() : "";
  for (unsigned i = 0; argument.starts_with(gradientOf) && i < function.getNumArguments(); ++i)
    if (auto given = function.getArgAttrOfType<StringAttr>(i, "attn.name"); given && given == argument.drop_front(gradientOf.size()))
      return shareOf(function, i, arguments);
  std::optional<unsigned> tokens = attn::tokenDimension(function.getResultTypes()[result]);
  return Share{tokens.value_or(0), tokens ? &arguments[attn::offsetsOf(function, 'q').getArgNumber()] : nullptr};
}

static LogicalResult checkShare(func::FuncOp function, const Share &share, const Array &argument, int64_t sequences) {
  int64_t size = share.dimension < argument.rank() ? argument.size(share.dimension) : -1;
  if (share.offsets)
    return checkOffsets(function, *share.offsets, size);
  return size == sequences ? success() : LogicalResult(function.emitOpError() << "expected states of " << sequences << " sequences, but got those of " << size);
}

static Array sumOf(const Array &one, const Array &other) {
  std::vector<double> sum = one.elements();
  for (auto [element, more] : llvm::zip_equal(sum, other.elements()))
    element += more;
  return makeArray(one.shape(), sum);
}

/// What one sequence has, at its place among what all have.
static void place(const Array &one, std::optional<Array> &all, const Share &share, int64_t sequence, int64_t sequences) {
  if (!all) {
    SmallVector<int64_t, 4> shape(one.shape());
    shape[share.dimension] = share.first(sequences);
    all.emplace(shape);
  }
  copyEntries(one, 0, *all, share.first(sequence), share.count(sequence), share.dimension);
}

static FailureOr<std::vector<Array>> evalPacked(func::FuncOp function, ArrayRef<Array> arguments, const EvalAttnOptions &options) {
  std::vector<std::optional<Array>> results(function.getNumResults());
  const Array &queries = arguments[attn::offsetsOf(function, 'q').getArgNumber()];
  int64_t sequences = queries.size(0) - 1;
  for (unsigned i = 0; i < arguments.size(); ++i)
    if (std::optional<Share> share = shareOf(function, i, arguments))
      if (failed(checkShare(function, *share, arguments[i], sequences)))
        return failure();
  for (int64_t s = 0; s < sequences; ++s) {
    std::vector<Array> own(arguments.begin(), arguments.end());
    for (unsigned i = 0; i < own.size(); ++i)
      if (std::optional<Share> share = shareOf(function, i, arguments)) {
        SmallVector<int64_t, 4> shape(arguments[i].shape());
        shape[share->dimension] = share->count(s);
        own[i] = Array(shape);
        copyEntries(arguments[i], share->first(s), own[i], 0, share->count(s), share->dimension);
      }
    auto one = evalOne(function, own, options);
    if (failed(one))
      return failure();
    for (auto [number, result] : llvm::enumerate(*one))
      if (std::optional<Share> share = shareOfResult(function, number, arguments))
        place(result, results[number], *share, s, sequences);
      else
        results[number] = results[number] ? sumOf(*results[number], result) : result;
  }
  std::vector<Array> all;
  for (const std::optional<Array> &result : results)
    all.push_back(*result);
  return all;
}

FailureOr<std::vector<Array>> attune::reference::evalAttn(func::FuncOp function, ArrayRef<Array> arguments,
                                                          const EvalAttnOptions &options) {
  bool packed = attn::isPacked(function) && function.getNumArguments() == arguments.size();
  return packed ? evalPacked(function, arguments, options) : evalOne(function, arguments, options);
}
