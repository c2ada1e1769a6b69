//===- Differentiate.cpp - The gradients of a function --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Differentiate.h"

#include "FeatureUnits.h"
#include "GatherParts.h"
#include "attune/Graph/KeepForBackward.h"
#include "attune/Graph/Passes.h"
#include "attune/Laws/RewriteLaw.h"

#include "attune/Attn/Backward.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

namespace attune::graph {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

using namespace mlir;
using namespace attune;

static constexpr StringLiteral nameAttr = "attn.name", parameterAttr = "attn.parameter";

//===----------------------------------------------------------------------===//
// The forward pass as terms
//===----------------------------------------------------------------------===//

/// Whether pairs, where all sizes are known, take fewer multiply-adds than to make a state and to read it. Weights of pairs are products of rows of
/// so many entries, those through a state of so many features.
template <typename Mechanism> static bool arePairsFewer(Mechanism op, int64_t entries, int64_t features) {
  ArrayRef<int64_t> q = op.getQuery().getType().getShape(), v = op.getValue().getType().getShape();
  if (ShapedType::isDynamic(q[2]) || ShapedType::isDynamic(v[2]))
    return false;
  int64_t pairs = q[2] * v[2] * (entries + v[3]);
  return (op.getCausal() ? pairs / 2 : pairs) < (q[2] + v[2]) * features * v[3];
}

/// The form of states that attention is to go through in place of weights of pairs; empty: none.
static StringRef stateForm(Operation *op) {
  auto kernel = dyn_cast<attn::KernelOp>(op);
  if (!kernel)
    return "";
  const graph::RewriteLaw *linearize = graph::findLaw("linearize");
  if (linearize->refusal(op, "chunked").empty())
    return "chunked";
  int64_t heads = kernel.getKey().getType().getDimSize(1);
  bool mapsApart = attn::mappedHeads(heads, kernel.getParameter()) != heads; // keys that heads share
  bool hasStates = kernel.getInitialState() || kernel.getFinalState() || kernel.getCompressKey();
  if (mapsApart || hasStates || !linearize->refusal(op, "state").empty())
    return "";
  int64_t features = kernel.getFeatureMap().getFeatures(kernel.getQuery().getType().getDimSize(3));
  return arePairsFewer(kernel, features, features) ? "" : "state";
}

/// Whether sketches go through a state of squares. These are written and read by kernels of their own: measured, a multiply-add takes 1.2 to 1.4 times
/// that of a pair. Where lengths are open, wide ones would fill the memory. Of sketches that nearly
/// cancel, as many of a high degree do, a state loses twice the digits that products of pairs lose.
static bool goesThroughSquares(attn::PolysketchOp op) {
  constexpr double ofSquares = 1.3;
  constexpr int64_t widest = 16, highest = 4;
  bool isF16 = op.getQuery().getType().getElementType().isF16(); // whose range sums of squares leave
  if (isF16 || static_cast<int64_t>(op.getDegree()) > highest)
    return false;
  auto size = static_cast<int64_t>(op.getSize());
  int64_t products = attn::FeatureMapAttr::featuresOf(attn::FeatureKind::SymmetricSquare, size);
  bool open = ShapedType::isDynamic(op.getQuery().getType().getDimSize(2)) || ShapedType::isDynamic(op.getKey().getType().getDimSize(2));
  return !op.getLocalExact() && (open ? size <= widest : !arePairsFewer(op, size, std::llround(ofSquares * static_cast<double>(products))));
}

/// Of powers of a higher degree, or of gradients what is divided by their squares, the range of f32 does not hold all: rows are divided by their largest.
template <typename Op> static bool leavesRange(Op op) {
  constexpr int64_t highest = 4;
  return static_cast<int64_t>(op.getDegree()) > highest;
}

/// Queries of norm 1 where powers leave the range of f32 and a factor of a row's weights cancels. The function is the same one of each query's
/// direction, and so is its gradient.
static void normalizeQueries(OpBuilder &builder, attn::PolysketchOp op) {
  constexpr double nothing = 1e-30;
  if (!leavesRange(op) || !op.getDenominator().cancelsFactors())
    return;
  auto type = RankedTensorType::get(op.getQuery().getType().getShape(), builder.getF32Type());
  op.getQueryMutable().assign(attn::QkNormOp::create(builder, op.getLoc(), type, op.getQuery(), builder.getF64FloatAttr(nothing), builder.getUnitAttr()));
}

/// The terms of a mechanism: through a state, where that is `linear` and takes fewer multiply-adds, or else as it says what it is made of.
static SmallVector<Value> termsOf(OpBuilder &builder, attn::MechanismOpInterface op, bool linear) {
  if (auto powers = dyn_cast<attn::PolynomialOp>(op.getOperation()); powers && leavesRange(powers))
    return powers.decomposeInUnits(builder);
  if (auto sketched = dyn_cast<attn::PolysketchOp>(op.getOperation())) {
    normalizeQueries(builder, sketched);
    if (leavesRange(sketched))
      return sketched.decomposeInUnits(builder);
    return linear && goesThroughSquares(sketched) ? sketched.decomposeLinear(builder) : op.decompose(builder);
  }
  StringRef form = linear ? stateForm(op) : "";
  return form.empty() ? op.decompose(builder) : graph::findLaw("linearize")->build(builder, op, form);
}

/// Mechanisms that do not know their gradients as a whole become what they are made of.
static LogicalResult decomposeMechanisms(Block &body, bool linear) {
  SmallVector<attn::MechanismOpInterface> mechanisms;
  for (Operation &op : body)
    if (auto mechanism = dyn_cast<attn::MechanismOpInterface>(op); mechanism && !isa<attn::DifferentiableOpInterface>(op))
      mechanisms.push_back(mechanism);
  for (attn::MechanismOpInterface op : mechanisms) {
    OpBuilder builder(op);
    SmallVector<Value> terms = termsOf(builder, op, linear);
    if (terms.size() != op->getNumResults())
      return op->emitOpError() << "expected a mechanism that terms define, but got one of which they give " << terms.size() << " of "
                               << op->getNumResults() << " results";
    op->replaceAllUsesWith(terms);
    op->erase();
  }
  return success();
}

/// Online softmax over one piece is softmax attention, which a mechanism may have been made of.
static void raiseSoftmax(Block &body) {
  for (auto finish : llvm::make_early_inc_range(body.getOps<attn::SoftmaxFinishOp>())) {
    auto partial = finish.getSum().getDefiningOp<attn::SoftmaxPartialOp>();
    if (!partial || partial.getPieces() != 1)
      continue;
    OpBuilder builder(finish);
    auto softmax = attn::SoftmaxOp::create(builder, finish.getLoc(), finish.getOutput().getType(), finish.getLse().getType(), partial.getQuery(),
                                           partial.getKey(), partial.getValue(), partial.getLengths(), partial.getSlopes(), partial.getScaleAttr(),
                                           partial.getCausalAttr(), partial.getWindowAttr(), partial.getLastAttr(), partial.getSoftcapAttr(),
                                           /*execution=*/attn::ExecutionAttr());
    finish->replaceAllUsesWith(softmax->getResults());
    finish->erase();
    if (partial->use_empty())
      partial->erase();
  }
}

/// A state that stands rescaled holds features of keys without a stabilizer. Those of queries have the constant one: it cancels in what is divided, and
/// in no units they could leave the range of f32.
static void steadyQueries(Block &body) {
  for (auto readout : body.getOps<attn::CausalReadoutOp>()) {
    auto queries = readout.getQueryFeatures().getDefiningOp<attn::MapOp>();
    if ((readout.getInitialScale() || readout.getScale()) && queries && queries.getFeatureMap().isFavor())
      queries.setFeatureMapAttr(queries.getFeatureMap().withStabilizer(attn::Stabilizer::Constant));
  }
}

/// The backward pass makes weights from the logarithms of their sums.
static void askForSums(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body))
    if (isa<attn::SoftmaxOp, attn::EvaMixOp>(op))
      graph::withSums(&op);
}

/// It reads what keys that erase have written. Of heads that share keys this is another readout's than theirs.
static void askForWritten(Block &body) {
  for (auto readout : llvm::make_early_inc_range(body.getOps<attn::CausalReadoutOp>())) {
    if (!readout.getErase())
      continue;
    OpBuilder builder(readout);
    if (readout.getQueryFeatures().getType().getDimSize(1) == readout.getKeyFeatures().getType().getDimSize(1))
      attn::withWritten(readout);
    else
      attn::writtenOf(builder, readout);
  }
}

//===----------------------------------------------------------------------===//
// The backward pass
//===----------------------------------------------------------------------===//

static Value convert(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return attn::ScaleOp::create(builder, loc, type.clone(element), value, builder.getF64FloatAttr(1));
}

namespace {
/// What reaches each value of a block, while its ops are walked from the last to the first.
class Cotangents {
public:
  Cotangents(OpBuilder &builder) : builder(builder) {}

  void add(Value value, Value cotangent) {
    Value &known = all[value];
    known = known ? attn::AddOp::create(builder, value.getLoc(), known.getType(), known, cotangent).getResult() : cotangent;
  }
  Value of(Value value) const { return all.lookup(value); }

  /// An error at an op that something reaches and that has no gradient.
  LogicalResult pass(Operation &op) {
    SmallVector<Value> cotangents = llvm::map_to_vector(op.getResults(), [&](OpResult result) { return of(result); });
    if (llvm::none_of(cotangents, [](Value value) { return static_cast<bool>(value); }))
      return success();
    auto differentiable = dyn_cast<attn::DifferentiableOpInterface>(op);
    if (!differentiable)
      return op.emitOpError() << "expected an op that has a gradient, but this one has none";
    SmallVector<Value> gradients = differentiable.buildGradients(builder, cotangents);
    for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), gradients))
      if (gradient)
        add(operand, inSizesOf(operand, gradient));
    return success();
  }

private:
  /// Sizes may be open in the one and known in the other: the tokens of a cotangent that a weight's columns made are.
  Value inSizesOf(Value value, Value cotangent) {
    auto type = cast<RankedTensorType>(cotangent.getType()), wanted = type.clone(cast<RankedTensorType>(value.getType()).getShape());
    return type == wanted ? cotangent : attn::ScaleOp::create(builder, value.getLoc(), wanted, cotangent, builder.getF64FloatAttr(1)).getResult();
  }

  OpBuilder &builder;
  llvm::DenseMap<Value, Value> all;
};
} // namespace

/// Floating outputs have cotangents, behind all other arguments.
static void addCotangentArguments(func::FuncOp forward, func::FuncOp backward, Operation *end, Cotangents &cotangents, OpBuilder &builder) {
  for (auto [number, output] : llvm::enumerate(end->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(output.getType());
    if (!type || !isa<FloatType>(type.getElementType()))
      continue;
    auto name = forward.getResultAttrOfType<StringAttr>(number, nameAttr);
    std::string given = name ? name.str() : "o" + std::to_string(number);
    unsigned place = backward.getNumArguments();
    (void)backward.insertArgument(place, type, builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(attn::gradientPrefix + given))),
                                  output.getLoc());
    cotangents.add(output, convert(builder, output.getLoc(), backward.getArgument(place), builder.getF32Type()));
  }
}

/// The argument of that name; an error at the function if it has none.
static FailureOr<BlockArgument> argumentOf(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments())
    if (auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttr); given && given == name)
      return argument;
  return function.emitOpError() << "expected an argument named '" << name << "' to differentiate by, but found none";
}

static FailureOr<SmallVector<Value>> namedGradients(func::FuncOp function, ArrayAttr names, const Cotangents &cotangents, OpBuilder &builder) {
  SmallVector<Value> results;
  for (auto name : names.getAsRange<StringAttr>()) {
    FailureOr<BlockArgument> argument = argumentOf(function, name);
    if (failed(argument))
      return failure();
    Value gradient = cotangents.of(*argument);
    auto type = dyn_cast<RankedTensorType>(argument->getType());
    if (!gradient || !type)
      return function.emitOpError() << "expected outputs that depend on '" << name.getValue() << "', but none does";
    bool parameter = function.getArgAttr(argument->getArgNumber(), parameterAttr) != nullptr;
    results.push_back(convert(builder, argument->getLoc(), gradient, parameter ? builder.getF32Type() : type.getElementType()));
  }
  return results;
}

/// Whether features are made by numbers that come along with their state: units, or the logarithms of sums.
static bool readsNumbersOfFeatures(Operation *features) {
  auto map = dyn_cast_or_null<attn::MapOp>(features);
  return (map && map.getShift()) || isa_and_present<attn::SequenceWeightsOp>(features);
}

/// Reads what the forward pass has left in place of what is computed again. Of what a state is made of, which is not run where that is given, others
/// have a map of their own.
static void readSaved(func::FuncOp backward, const graph::SavePoint &point) {
  OpBuilder builder(backward.getContext());
  llvm::SmallPtrSet<Operation *, 4> own{point.op};
  Operation *features = isa<attn::StateOp>(point.op) ? point.op->getOperand(0).getDefiningOp() : nullptr;
  if (readsNumbersOfFeatures(features) && !features->hasOneUse()) {
    builder.setInsertionPointAfter(features);
    features->getResult(0).replaceAllUsesExcept(builder.clone(*features)->getResult(0), point.op);
    own.insert(features);
  }
  builder.setInsertionPointAfter(point.op);
  for (auto [name, value] : llvm::zip_equal(point.names, point.values)) {
    Value computed = value;
    unsigned place = backward.getNumArguments();
    auto named = builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(attn::savedPrefix + name)));
    (void)backward.insertArgument(place, computed.getType(), named, computed.getLoc());
    if (computed.getDefiningOp() != point.op)
      builder.setInsertionPointAfterValue(computed);
    auto saved = attn::SavedOp::create(builder, computed.getLoc(), computed.getType(), backward.getArgument(place), computed);
    own.insert(saved);
    computed.replaceAllUsesExcept(saved, own);
  }
}

/// Arguments that nothing reads are not taken.
static void eraseUnreadArguments(func::FuncOp backward) {
  for (unsigned place = backward.getNumArguments(); place-- > 0;) {
    auto name = backward.getArgAttrOfType<StringAttr>(place, nameAttr);
    if (name && name.getValue().starts_with(attn::savedPrefix) && backward.getArgument(place).use_empty())
      (void)backward.eraseArgument(place);
  }
}

/// What a backward pass is given, by the list of the forward function or, where it has none, of exact attention whose output is a result.
static SmallVector<graph::SavePoint> pointsToRead(func::FuncOp forward, func::FuncOp backward) {
  SmallVector<graph::SavePoint> points;
  if (Operation *kept = graph::keptAttention(forward) ? graph::keptAttention(backward) : nullptr)
    points.emplace_back(kept, ArrayRef<std::string>{"o", "lse"});
  std::optional<std::vector<std::string>> names = graph::savedNames(forward);
  if (!names)
    return points;
  llvm::append_range(points, graph::savePoints(backward));
  llvm::append_range(points, graph::pointsOfTerms(backward));
  auto isNamed = [&](const std::string &name) { return llvm::is_contained(*names, name); };
  llvm::erase_if(points, [&](const graph::SavePoint &point) { return llvm::none_of(point.names, isNamed); });
  return points;
}

static void eraseUnused(Block &body) {
  SmallVector<Operation *> ops = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

static func::FuncOp copyOf(func::FuncOp forward) {
  func::FuncOp backward = forward.clone();
  backward.setName((forward.getName() + "_backward").str());
  for (StringRef attribute : {StringRef(graph::gradientsAttr), StringRef("attn.pin"), StringRef(graph::savedAttr)})
    backward->removeAttr(attribute);
  backward->setAttr(attn::backwardAttr, UnitAttr::get(forward.getContext()));
  forward->getBlock()->getOperations().insertAfter(forward->getIterator(), backward);
  return backward;
}

/// The forward pass in terms that have gradients.
static LogicalResult bringToTerms(Block &body, bool linear) {
  if (failed(decomposeMechanisms(body, linear)))
    return failure();
  if (linear)
    graph::shiftFeatures(body);
  raiseSoftmax(body);
  askForSums(body);
  askForWritten(body);
  attn::splitSequenceSoftmaxes(body);
  steadyQueries(body);
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> graph::forwardTerms(func::FuncOp function) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
  func::FuncOp copy = function.clone();
  module->push_back(copy);
  if (failed(bringToTerms(copy.getBody().front(), /*linear=*/true)))
    return failure();
  return module;
}

static LogicalResult differentiate(func::FuncOp forward, func::FuncOp backward, ArrayAttr names, bool linear, bool save) {
  Block &body = backward.getBody().front();
  if (failed(bringToTerms(body, linear)))
    return failure();
  SmallVector<graph::SavePoint> points = save ? pointsToRead(forward, backward) : SmallVector<graph::SavePoint>();
  Operation *end = body.getTerminator();
  OpBuilder builder(end);
  Cotangents cotangents(builder);
  SmallVector<Operation *> ops = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  addCotangentArguments(forward, backward, end, cotangents, builder);
  for (Operation *op : llvm::reverse(ops))
    if (failed(cotangents.pass(*op)))
      return failure();
  FailureOr<SmallVector<Value>> gradients = namedGradients(backward, names, cotangents, builder);
  if (failed(gradients))
    return failure();
  end->setOperands(*gradients);
  backward.setType(builder.getFunctionType(backward.getFunctionType().getInputs(), ValueRange(*gradients).getTypes()));
  SmallVector<Attribute> attributes = llvm::map_to_vector(names.getAsRange<StringAttr>(), [&](StringAttr name) -> Attribute {
    return builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(attn::gradientPrefix + name.getValue())));
  });
  backward.setResAttrsAttr(builder.getArrayAttr(attributes));
  graph::gatherParts(body);
  for (const graph::SavePoint &point : points)
    readSaved(backward, point);
  eraseUnused(body);
  eraseUnreadArguments(backward);
  return success();
}

FailureOr<func::FuncOp> graph::buildBackward(func::FuncOp forward, bool linear, bool save) {
  auto names = forward->getAttrOfType<ArrayAttr>(gradientsAttr);
  if (!names || names.empty() || !llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name); }))
    return forward.emitOpError() << "expected `attn.gradients`, names of arguments to differentiate by";
  if (!forward.getBody().hasOneBlock())
    return forward.emitOpError() << "expected a function of one block to differentiate";
  func::FuncOp backward = copyOf(forward);
  if (failed(differentiate(forward, backward, names, linear, save))) {
    backward.erase();
    return failure();
  }
  return backward;
}

namespace {
struct Differentiate : public graph::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!function->hasAttr(graph::gradientsAttr))
        continue;
      if (failed(graph::buildBackward(function, linear, save)))
        return signalPassFailure();
      ++numFunctions;
    }
  }
};
} // namespace
