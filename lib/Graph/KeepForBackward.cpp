//===- KeepForBackward.cpp - What the forward pass leaves for gradients ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/KeepForBackward.h"

#include "SavedStates.h"
#include "attune/Attn/Backward.h"
#include "attune/Attn/Execution.h"
#include "attune/Attn/Folded.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Graph/Metric.h"

using namespace mlir;
using namespace attune;

static constexpr StringLiteral nameAttr = "attn.name";

static bool hasSums(Operation *op) { return isa_and_present<attn::SoftmaxOp, attn::EvaOp, attn::EvaMixOp, attn::AgentOp>(op); }

Operation *graph::keptAttention(func::FuncOp function) {
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return nullptr;
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands()) {
    Operation *attention = result.get().getDefiningOp();
    auto softmax = dyn_cast_or_null<attn::SoftmaxOp>(attention);
    bool isOutput = hasSums(attention) && result.get() == attention->getResult(0) && function.getResultAttr(result.getOperandNumber(), nameAttr);
    if (isOutput && !(softmax && softmax.getWindow() && softmax.getWindow()->isGrid()))
      return attention;
  }
  return nullptr;
}

Operation *graph::withSums(Operation *attention) {
  assert(hasSums(attention) && "others have no sums of exponentials");
  if (attention->getNumResults() == 2)
    return attention;
  OpBuilder builder(attention);
  auto query = cast<RankedTensorType>(attention->getOperand(0).getType());
  OperationState state(attention->getLoc(), attention->getName(), attention->getOperands(), attention->getResultTypes());
  state.addTypes(RankedTensorType::get(query.getShape().drop_back(), builder.getF32Type()));
  state.propertiesAttr = attention->getPropertiesAsAttribute();
  state.addAttributes(attention->getDiscardableAttrDictionary().getValue());
  Operation *result = builder.create(state);
  attention->getResult(0).replaceAllUsesWith(result->getResult(0));
  attention->erase();
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void returnSaved(func::FuncOp function, Value value, StringRef name) {
  Operation *end = function.getBody().front().getTerminator();
  if (llvm::is_contained(end->getOperands(), value))
    return;
  OpBuilder builder(end);
  end->insertOperands(end->getNumOperands(), value);
  auto named = builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(attn::savedPrefix + name)));
  (void)function.insertResult(function.getNumResults(), value.getType(), named);
}

void graph::keepForBackward(func::FuncOp function) {
  if (Operation *attention = keptAttention(function))
    returnSaved(function, withSums(attention)->getResult(1), "lse");
}

std::optional<std::vector<std::string>> graph::savedNames(func::FuncOp function) {
  auto list = function->getAttrOfType<ArrayAttr>(savedAttr);
  if (!list)
    return std::nullopt;
  std::vector<std::string> names;
  for (Attribute each : list)
    if (auto name = dyn_cast<StringAttr>(each))
      names.push_back(name.str());
  return names;
}

void graph::setSavedNames(func::FuncOp function, ArrayRef<std::string> names) {
  SmallVector<StringRef> list(names.begin(), names.end());
  function->setAttr(savedAttr, Builder(function.getContext()).getStrArrayAttr(list));
}

//===----------------------------------------------------------------------===//
// What a run could leave
//===----------------------------------------------------------------------===//

graph::SavePoint::SavePoint(Operation *op, ArrayRef<std::string> names) : op(op), names(names) {
  llvm::append_range(values, op->getResults().take_front(std::min<size_t>(names.size(), op->getNumResults()))); // sums may not be there yet
}

void graph::SavePoint::keepOnly(function_ref<bool(StringRef)> isWanted) {
  for (size_t place = names.size(); place-- > 0;)
    if (!isWanted(names[place])) {
      names.erase(names.begin() + place);
      if (place < values.size())
        values.erase(values.begin() + place);
    }
}

/// The name of an argument; empty for other values.
static StringRef argumentName(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto name = argument ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttr) : StringAttr();
  return name ? name.getValue() : StringRef();
}

/// "q" for what wq projects; empty for other weights.
static StringRef nameByWeight(func::FuncOp function, attn::ProjectOp project) {
  StringRef weight = argumentName(function, project.getWeight());
  return llvm::is_contained({"wq", "wk", "wv"}, weight) ? weight.drop_front() : StringRef();
}

/// The only exact attention of a function, where its output is none of the results. What an encoding is added to in the same kernel has no memory
/// of its own, nor have the heads of a part, which lie among those of others.
static attn::SoftmaxOp innerSoftmax(func::FuncOp function) {
  auto all = llvm::to_vector(function.getOps<attn::SoftmaxOp>());
  if (all.size() != 1 || graph::keptAttention(function))
    return nullptr;
  attn::SoftmaxOp softmax = all.front();
  bool isPart = llvm::any_of(softmax.getOutput().getUsers(), llvm::IsaPred<attn::LepeOp, attn::ConcatHeadsOp>);
  return isPart || (softmax.getWindow() && softmax.getWindow()->isGrid()) ? attn::SoftmaxOp() : softmax;
}

SmallVector<graph::SavePoint> graph::savePoints(func::FuncOp function) {
  SmallVector<SavePoint> points;
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return points;
  attn::SoftmaxOp inner = innerSoftmax(function);
  for (Operation &op : function.getOps()) {
    if (auto project = dyn_cast<attn::ProjectOp>(op)) {
      if (StringRef tokens = nameByWeight(function, project); !tokens.empty())
        points.emplace_back(&op, ArrayRef<std::string>{tokens.str()});
    } else if (auto compress = dyn_cast<attn::CompressOp>(op)) {
      StringRef tokens = argumentName(function, compress.getSource());
      if (auto project = compress.getSource().getDefiningOp<attn::ProjectOp>())
        tokens = nameByWeight(function, project);
      if (llvm::is_contained({"k", "v"}, tokens))
        points.emplace_back(&op, ArrayRef<std::string>{("slots_" + tokens).str()});
    } else if (inner && &op == inner.getOperation()) {
      points.emplace_back(&op, ArrayRef<std::string>{"o", "lse"});
    }
  }
  return points;
}

SmallVector<graph::SavePoint> graph::savePoints(func::FuncOp function, OwningOpRef<ModuleOp> &terms) {
  SmallVector<SavePoint> points = savePoints(function);
  FailureOr<OwningOpRef<ModuleOp>> made = forwardTerms(function);
  if (failed(made))
    return points;
  terms = std::move(*made);
  llvm::append_range(points, pointsOfTerms(*terms->getOps<func::FuncOp>().begin()));
  return points;
}

SmallVector<graph::SavePoint> graph::pointsOfTerms(func::FuncOp function) {
  SmallVector<SavePoint> points;
  for (std::optional<SavePoint> point : {statePoint(function), writtenPoint(function)})
    if (point)
      points.push_back(std::move(*point));
  return points;
}

/// The arguments that a run reads which is given all that a run may leave: what only makes that again is not read.
static llvm::SmallDenseSet<Value> readWhereAllIsGiven(func::FuncOp backward) {
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> left(backward.getBody().front().getTerminator()->getOperands());
  while (!left.empty()) {
    Value value = left.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second || !op)
      continue;
    if (auto saved = dyn_cast<attn::SavedOp>(op))
      left.push_back(saved.getGiven());
    else
      llvm::append_range(left, op->getOperands());
  }
  return seen;
}

std::vector<std::string> graph::savedThatBackwardReads(func::FuncOp function) {
  OwningOpRef<ModuleOp> terms;
  SmallVector<SavePoint> points = savePoints(function, terms);
  if (points.empty())
    return {};
  OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
  func::FuncOp copy = function.clone();
  module->push_back(copy);
  std::vector<std::string> names;
  for (const SavePoint &point : points)
    llvm::append_range(names, point.names);
  setSavedNames(copy, names);
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); }); // told where gradients are compiled
  FailureOr<func::FuncOp> backward = buildBackward(copy, /*linear=*/true, /*save=*/true);
  if (failed(backward))
    return {};
  llvm::SmallDenseSet<Value> read = readWhereAllIsGiven(*backward);
  llvm::erase_if(names, [&](const std::string &name) {
    return llvm::none_of(backward->getArguments(), [&](BlockArgument argument) {
      return read.contains(argument) && argumentName(*backward, argument) == (attn::savedPrefix + name).str();
    });
  });
  return names;
}

//===----------------------------------------------------------------------===//
// Leaving it
//===----------------------------------------------------------------------===//

/// Whether kernels of the plan store what the op makes: it has some, and is not made where it is read.
static bool isStored(func::FuncOp plan, Operation *op) {
  auto project = dyn_cast<attn::ProjectOp>(op);
  bool isRead = attn::isFolded(op->getResult(0)) || (project && attn::isInReader(project));
  Value tokens = op->getResult(0);
  auto isEpilogueOf = [](Operation *user) {
    auto output = dyn_cast<attn::ProjectOutputOp>(user);
    return output && attn::isInEpilogue(output);
  };
  return !isRead && llvm::none_of(tokens.getUsers(), isEpilogueOf) && llvm::is_contained(graph::opsOfAttentions(plan), op);
}

Operation *graph::storingOp(func::FuncOp plan, const SavePoint &wanted) {
  if (isa<attn::StateOp>(wanted.op))
    return storedState(plan, wanted);
  if (isa<attn::CausalReadoutOp>(wanted.op))
    return storedWritten(plan);
  for (const SavePoint &each : savePoints(plan))
    if (llvm::is_contained(each.names, wanted.names.front()) && isStored(plan, each.op))
      return each.op;
  return nullptr;
}

Operation *graph::cloneWithOperands(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp(); source && !mapping.contains(operand))
      cloneWithOperands(source, builder, mapping);
  return builder.clone(*op, mapping);
}

/// Has the plan return a value where a run asks for it. Numbers of rows lie nowhere else.
static void returnKept(func::FuncOp plan, Value value, StringRef name, bool isKept) {
  OpBuilder builder(plan.getBody().front().getTerminator());
  returnSaved(plan, isKept ? attn::KeepOp::create(builder, value.getLoc(), value.getType(), value).getResult() : value, name);
}

/// Has the plan return what lies in the function's terms alone, if names are of that.
static void keepTerms(func::FuncOp plan, func::FuncOp original, ArrayRef<std::string> names) {
  SmallVector<graph::SavePoint> others = graph::savePoints(original);
  auto isOfOthers = [&](const std::string &name) {
    return llvm::any_of(others, [&](const graph::SavePoint &point) { return llvm::is_contained(point.names, name); });
  };
  if (llvm::all_of(names, isOfOthers))
    return;
  FailureOr<OwningOpRef<ModuleOp>> terms = graph::forwardTerms(original);
  if (failed(terms))
    return;
  auto function = *(*terms)->getOps<func::FuncOp>().begin();
  OpBuilder builder(plan.getBody().front().getTerminator());
  IRMapping mapping;
  mapping.map(function.getArguments(), plan.getArguments());
  for (const graph::SavePoint &wanted : graph::pointsOfTerms(function)) {
    bool isState = isa<attn::StateOp>(wanted.op);
    graph::SavePoint left = isState ? graph::stateInPlan(plan, wanted, builder, mapping) : graph::writtenInPlan(plan, wanted, builder, mapping);
    for (auto [name, value] : llvm::zip_equal(left.names, left.values))
      if (llvm::is_contained(names, name))
        returnKept(plan, value, name, /*isKept=*/isState);
  }
}

void graph::keepInPlan(func::FuncOp plan, func::FuncOp original, ArrayRef<std::string> names) {
  if (names.empty())
    return;
  SmallVector<Operation *> stored = llvm::map_to_vector(savePoints(original), [&](const SavePoint &point) { return storingOp(plan, point); });
  OpBuilder builder(plan.getBody().front().getTerminator());
  IRMapping mapping;
  mapping.map(original.getArguments(), plan.getArguments());
  for (auto [point, made] : llvm::zip_equal(savePoints(original), stored)) {
    if (llvm::none_of(point.names, [&](const std::string &name) { return llvm::is_contained(names, name); }))
      continue;
    Operation *op = made ? made : cloneWithOperands(point.op, builder, mapping);
    if (isa<attn::SoftmaxOp>(op))
      op = withSums(op);
    mapping.map(point.op->getResult(0), op->getResult(0));
    for (auto [name, result] : llvm::zip(point.names, op->getResults()))
      if (llvm::is_contained(names, name))
        returnKept(plan, result, name, /*isKept=*/cast<RankedTensorType>(result.getType()).getRank() == 4);
  }
  keepTerms(plan, original, names);
}
