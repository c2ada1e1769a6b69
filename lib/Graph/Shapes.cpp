//===- Shapes.cpp - The kernels of a function, by their sizes -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/CompressFirst.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/GroupedRows.h"
#include "attune/Attn/HeadRange.h"
#include "attune/Attn/Execution.h"
#include "attune/Graph/Metric.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using cost::AttentionShape;
using cost::Family;

using Shape = std::optional<AttentionShape>;

static ArrayRef<int64_t> shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

template <typename Op> static Op definingOp(Value value) { return value ? value.getDefiningOp<Op>() : Op(); }

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel does to tokens in the load.
struct Source {
  explicit Source(Value tokens) {
    while (isa_and_present<attn::TakeHeadsOp, attn::RepeatHeadsOp, attn::RopeOp, attn::QkNormOp, attn::GateOp>(tokens.getDefiningOp())) {
      Operation *op = tokens.getDefiningOp();
      rope |= isa<attn::RopeOp>(op), norm |= isa<attn::QkNormOp>(op);
      tokens = op->getOperand(0);
    }
    projected = static_cast<bool>(attn::projectionInLoad(tokens));
  }

  bool rope = false, norm = false, projected = false;
};
} // namespace

/// The sizes that every attention has.
static AttentionShape shapeOf(Family family, attn::Form form, Value query, Value key, Value value, Value output) {
  ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key);
  Source querySource(query), keySource(key);
  AttentionShape shape;
  shape.family = family, shape.form = form;
  shape.batch = q[0], shape.heads = q[1], shape.queries = q[2], shape.width = shape.features = q[3];
  shape.sharedHeads = k[1], shape.keys = k[2], shape.valueWidth = shapeOf(value)[3];
  shape.queryRope = querySource.rope, shape.keyRope = keySource.rope, shape.keyNorm = keySource.norm;
  shape.projectsInLoad = querySource.projected || keySource.projected || Source(value).projected;
  shape.projectsOutput = static_cast<bool>(attn::projectionInEpilogue(output));
  return shape;
}

//===----------------------------------------------------------------------===//
// Kernel attention
//===----------------------------------------------------------------------===//

/// The shape of features, by the maps that make them where they do.
static AttentionShape shapeOfFeatures(attn::Form form, Value queryFeatures, Value keyFeatures, Value value,
                                      attn::NormalizeOp root) {
  auto gated = definingOp<attn::GateOp>(keyFeatures);
  auto a = definingOp<attn::MapOp>(queryFeatures), b = definingOp<attn::MapOp>(gated ? gated.getSource() : keyFeatures);
  AttentionShape shape = shapeOf(Family::Kernel, form, a ? a.getSource() : queryFeatures,
                                 b ? b.getSource() : keyFeatures, value, root.getOutput());
  attn::DenominatorAttr guard = root.getGuard();
  shape.features = shapeOf(queryFeatures)[3];
  shape.wholeState = static_cast<bool>(gated);
  shape.map = b ? b.getFeatureMapAttr() : attn::FeatureMapAttr();
  shape.keysMapped = b && attn::isMappedAlone(b), shape.keyFolded = b && attn::isFolded(b.getSource());
  // Selection writes `constant` where the stabilizer cancels; there the kernels may take what they like.
  shape.runningMaximum =
      shape.map && attn::carriesExponents(shape.map, shape.width, guard);
  return shape;
}

/// Whether each token has a number of its own, or one of each feature, and not only each head.
static bool isOfTokens(Value gate) { return gate && shapeOf(gate).size() > 1; }

static Shape quadraticShape(attn::NormalizeOp root) {
  auto mix = definingOp<attn::ContractOp>(root.getNumerator());
  auto visible = mix ? definingOp<attn::VisibleOp>(mix.getLhs()) : attn::VisibleOp();
  Value weights = visible ? visible.getWeights() : mix ? mix.getLhs() : Value();
  auto decay = definingOp<attn::DecayOp>(weights);
  if (decay)
    weights = decay.getWeights();
  auto pairs = definingOp<attn::ContractOp>(weights);
  if (!pairs)
    return std::nullopt;
  AttentionShape shape = shapeOfFeatures(attn::Form::Quadratic, pairs.getLhs(), pairs.getRhs(), mix.getRhs(), root);
  shape.causal = visible && visible.getCausal();
  shape.gated = decay && isOfTokens(decay.getDecay());
  if (visible && visible.getWindow())
    shape.window = visible.getWindow()->getLength();
  return shape;
}

static Shape stateShape(attn::NormalizeOp root) {
  auto readout = definingOp<attn::ReadoutOp>(root.getNumerator());
  auto state = readout ? definingOp<attn::StateOp>(readout.getState()) : attn::StateOp();
  if (!state)
    return std::nullopt;
  // The naive low rank: features and values are compressed on the way.
  auto compress = definingOp<attn::CompressOp>(state.getFeatures());
  auto values = definingOp<attn::CompressOp>(state.getValue());
  AttentionShape shape =
      shapeOfFeatures(attn::Form::State, readout.getFeatures(), compress ? compress.getSource() : state.getFeatures(),
                      compress && values ? values.getSource() : state.getValue(), root);
  shape.fused = attn::executionOf(readout).values == attn::Values::Fused;
  shape.wholeState |= compress || llvm::any_of(state->getUsers(), [&](Operation *user) { return user != readout; });
  return shape;
}

static Shape chunkedShape(attn::NormalizeOp root) {
  auto readout = definingOp<attn::CausalReadoutOp>(root.getNumerator());
  if (!readout)
    return std::nullopt;
  AttentionShape shape = shapeOfFeatures(attn::Form::Chunked, readout.getQueryFeatures(), readout.getKeyFeatures(),
                                         readout.getValue(), root);
  shape.causal = true;
  shape.grouped = attn::executionOf(readout).grouped, shape.split = attn::executionOf(readout).split;
  shape.gated = isOfTokens(readout.getDecay()) || isOfTokens(readout.getErase());
  return shape;
}

static Shape shapeOf(attn::NormalizeOp root) {
  for (auto recognize : {quadraticShape, stateShape, chunkedShape})
    if (Shape shape = recognize(root))
      return shape;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Mechanisms of their own
//===----------------------------------------------------------------------===//

template <typename Op> static AttentionShape shapeOf(Op op, Family family, attn::Form form) {
  return shapeOf(family, form, op.getQuery(), op.getKey(), op.getValue(), op.getOutput());
}

static Shape shapeOf(attn::SoftmaxOp op) {
  AttentionShape shape = shapeOf(op, Family::Softmax, attn::Form::Online);
  shape.grouped = attn::areHeadsRows(op);
  shape.causal = op.getCausal() && !shape.grouped, shape.split = attn::executionOf(op).split;
  shape.window = op.getWindow() ? op.getWindow()->getLength() : 0;
  return shape;
}

static Shape shapeOf(attn::PolynomialOp op) {
  AttentionShape shape = shapeOf(op, Family::Polynomial, attn::Form::Quadratic);
  shape.causal = op.getCausal();
  shape.window = op.getWindow() ? op.getWindow()->getLength() : 0;
  return shape;
}

static Shape shapeOf(attn::PolysketchOp op) {
  AttentionShape shape = shapeOf(op, Family::Polysketch, attn::formOf(op));
  shape.causal = op.getCausal(), shape.degree = op.getDegree(), shape.sketch = op.getSize();
  shape.features = shape.sketch * shape.sketch, shape.split = attn::executionOf(op).split;
  return shape;
}

static Shape shapeOf(attn::EffattOp op) { return shapeOf(op, Family::Effatt, attn::Form::State); }

static Shape shapeOf(attn::EvaOp op) { return shapeOf(op, Family::Eva, attn::Form::Online); }

static Shape shapeOf(attn::AgentOp op) { return shapeOf(op, Family::Agent, attn::Form::Online); }

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static AttentionShape layer(Family family) {
  AttentionShape shape;
  shape.family = family;
  return shape;
}

static Shape shapeOf(attn::ProjectOp op) {
  return attn::projectsSlotsOnly(op) || attn::isInReader(op) ? Shape() : layer(Family::Project);
}

static Shape shapeOf(attn::ProjectOutputOp op) { return attn::isInEpilogue(op) ? Shape() : layer(Family::ProjectOutput); }

/// A part of the naive low rank, that is, of a state of compressed features, is none.
static Shape shapeOf(attn::CompressOp op) {
  bool isOfFeatures = llvm::any_of(op->getUsers(), [](Operation *user) {
    auto state = dyn_cast<attn::StateOp>(user);
    auto features = state ? definingOp<attn::CompressOp>(state.getFeatures()) : attn::CompressOp();
    return features && definingOp<attn::MapOp>(features.getSource());
  });
  if (isOfFeatures)
    return std::nullopt;
  AttentionShape shape = layer(Family::Compress);
  shape.projectsInLoad = Source(op.getSource()).projected;
  return shape;
}

/// E x is computed once for all that compress one input by one E, its sums once for all that have a bias.
static void addSlots(SmallVector<AttentionShape, 1> &shapes, attn::CompressOp op, attn::ProjectOp project) {
  bool first = true, firstBias = static_cast<bool>(project.getBias());
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    auto before = dyn_cast<attn::CompressOp>(other);
    auto after = before ? attn::projectionAfter(before) : attn::ProjectOp();
    bool same = after && after.getSource() == project.getSource() && before.getWeight() == op.getWeight() &&
                before.getLengths() == op.getLengths();
    first &= !same, firstBias &= !(same && after.getBias());
  }
  if (first)
    shapes.push_back(layer(Family::Compress));
  if (firstBias)
    shapes.push_back(layer(Family::SlotSums));
  shapes.push_back(layer(Family::ProjectSlots));
}

static Shape shapeOfOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, Shape>(op)
      .Case<attn::SoftmaxOp, attn::PolynomialOp, attn::PolysketchOp, attn::EffattOp, attn::EvaOp, attn::AgentOp,
            attn::NormalizeOp, attn::ProjectOp, attn::ProjectOutputOp, attn::CompressOp>(
          [](auto each) { return shapeOf(each); })
      .Default(std::nullopt);
}

/// The kernels of one op.
static void addShapes(SmallVector<AttentionShape, 1> &shapes, Operation *op) {
  auto compress = dyn_cast<attn::CompressOp>(op);
  if (attn::ProjectOp project = compress ? attn::projectionAfter(compress) : attn::ProjectOp())
    addSlots(shapes, compress, project);
  else if (Shape shape = shapeOfOp(op))
    shapes.push_back(*shape);
}

/// The attentions of parts that run in common launches, with the number of their mixture.
static llvm::DenseMap<Operation *, int32_t> partsTogether(func::FuncOp function) {
  llvm::DenseMap<Operation *, int32_t> parts;
  int32_t mixture = 0;
  for (auto concat : function.getOps<attn::ConcatHeadsOp>()) {
    ++mixture;
    if (attn::runsTogether(concat))
      for (Value part : concat.getParts())
        parts[attn::attentionOf(part)] = mixture;
  }
  return parts;
}

SmallVector<AttentionShape, 1> graph::attentionsOf(func::FuncOp function) {
  SmallVector<AttentionShape, 1> shapes;
  llvm::DenseMap<Operation *, int32_t> together = partsTogether(function);
  for (Operation &op : function.getOps()) {
    size_t before = shapes.size();
    addShapes(shapes, &op);
    for (AttentionShape &shape : MutableArrayRef(shapes).drop_front(before))
      shape.together = together.lookup(&op);
  }
  return shapes;
}

SmallVector<Operation *> graph::opsOfAttentions(func::FuncOp function) {
  SmallVector<AttentionShape, 1> shapes;
  SmallVector<Operation *> ops;
  for (Operation &op : function.getOps()) {
    addShapes(shapes, &op);
    ops.resize(shapes.size(), &op);
  }
  return ops;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

Type graph::storageOf(func::FuncOp function) {
  for (Type result : function.getResultTypes())
    if (auto output = dyn_cast<RankedTensorType>(result); output && isa<FloatType>(output.getElementType()))
      return output.getElementType();
  return Type();
}

graph::FunctionSizes graph::sizesOf(func::FuncOp function) {
  FunctionSizes sizes;
  bool compressed = false;
  for (Operation &op : function.getOps()) {
    if (auto compress = dyn_cast<attn::CompressOp>(op); compress && !compressed) {
      compressed = true;
      sizes.keys = shapeOf(compress.getSource())[2];
    }
    std::optional<AttentionShape> shape = shapeOfOp(&op);
    if (!shape || !shape->isAttention())
      continue;
    sizes.batch = shape->batch, sizes.queries = shape->queries;
    if (!compressed)
      sizes.keys = shape->keys;
    break;
  }
  return sizes;
}

bool graph::isMechanism(Operation *op) { return isa<attn::MechanismOpInterface>(op); }
