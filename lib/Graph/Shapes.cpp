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

static int64_t bytesOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth() / 8; }

template <typename Op> static Op definingOp(Value value) { return value ? value.getDefiningOp<Op>() : Op(); }

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel reads for tokens, and what it does to them in the load.
struct Source {
  explicit Source(Value value) : memory(value) {
    while (Operation *op = memory.getDefiningOp()) {
      if (!isa<attn::TakeHeadsOp, attn::RopeOp, attn::QkNormOp>(op))
        return;
      rope |= isa<attn::RopeOp>(op), norm |= isa<attn::QkNormOp>(op);
      if (auto rotation = dyn_cast<attn::RopeOp>(op))
        halves |= rotation.getHalf();
      memory = op->getOperand(0);
    }
  }

  /// D where the kernel projects the tokens itself; else 0.
  int32_t model() const {
    attn::ProjectOp project = attn::projectionInLoad(memory);
    return project ? static_cast<int32_t>(shapeOf(project.getSource())[2]) : 0;
  }

  Value memory;
  bool rope = false, norm = false, halves = false;
};
} // namespace

/// The convolution that is added to an output in its kernel's epilogue.
static void addTaps(AttentionShape &shape, Value output) {
  for (Operation *user : output.getUsers()) {
    auto lepe = dyn_cast<attn::LepeOp>(user);
    if (!lepe || lepe.getSource() != output)
      continue;
    shape.taps = shapeOf(lepe.getWeight()).size() == 4 ? 9 : 3;
    shape.tapBytes = static_cast<int32_t>(bytesOf(Source(lepe.getValue()).memory));
    shape.tapsInWindow = static_cast<bool>(lepe.getWindow()), shape.bias = static_cast<bool>(lepe.getBias());
    if (lepe.getWindow() && lepe.getWindow()->isGrid())
      shape.tapColumns = static_cast<int32_t>(lepe.getWindow()->getColumns());
    else if (lepe.getGrid())
      shape.tapColumns = static_cast<int32_t>((*lepe.getGrid())[1]);
    return;
  }
}

/// The sizes that every attention has.
static AttentionShape shapeOf(Family family, attn::Form form, Value query, Value key, Value value, Value output) {
  ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key);
  Source querySource(query), keySource(key);
  AttentionShape shape;
  shape.family = family, shape.form = form;
  shape.batch = q[0], shape.heads = q[1], shape.queries = q[2], shape.width = q[3];
  shape.sharedHeads = shape.featureHeads = k[1], shape.keys = k[2];
  shape.features = q[3], shape.valueWidth = shapeOf(value)[3];
  shape.elementBytes = bytesOf(output);
  shape.queryBytes = bytesOf(querySource.memory), shape.keyBytes = bytesOf(keySource.memory);
  shape.fixedKeys = isa_and_present<attn::CompressOp>(keySource.memory.getDefiningOp());
  shape.queryRope = querySource.rope, shape.queryNorm = querySource.norm, shape.queryHalves = querySource.halves;
  shape.keyRope = keySource.rope, shape.keyNorm = keySource.norm, shape.keyHalves = keySource.halves;
  shape.queryModel = querySource.model(), shape.keyModel = keySource.model(), shape.valueModel = Source(value).model();
  addTaps(shape, output);
  if (attn::ProjectOutputOp project = attn::projectionInEpilogue(output))
    shape.outputModel = static_cast<int32_t>(shapeOf(project.getResult())[2]);
  return shape;
}

//===----------------------------------------------------------------------===//
// Kernel attention
//===----------------------------------------------------------------------===//

/// The shape of features, by the maps that make them where they do.
static AttentionShape shapeOfFeatures(attn::Form form, Value queryFeatures, Value keyFeatures, Value value,
                                      attn::NormalizeOp root) {
  auto a = definingOp<attn::MapOp>(queryFeatures), b = definingOp<attn::MapOp>(keyFeatures);
  AttentionShape shape = shapeOf(Family::Kernel, form, a ? a.getSource() : queryFeatures,
                                 b ? b.getSource() : keyFeatures, value, root.getOutput());
  attn::DenominatorAttr guard = root.getGuard();
  shape.features = shapeOf(queryFeatures)[3], shape.featureHeads = shapeOf(keyFeatures)[1];
  shape.map = b ? b.getFeatureMapAttr() : attn::FeatureMapAttr();
  shape.keyMaximum = b && b.getShift(), shape.keysMapped = b && attn::isMappedAlone(b);
  shape.queryFolded = a && attn::isFolded(a.getSource()), shape.keyFolded = b && attn::isFolded(b.getSource());
  // Selection writes `constant` where the stabilizer cancels; there the kernels may take what they like.
  shape.runningMaximum =
      shape.map && attn::carriesExponents(shape.map, shape.width, guard);
  return shape;
}

static Shape quadraticShape(attn::NormalizeOp root) {
  auto mix = definingOp<attn::ContractOp>(root.getNumerator());
  auto visible = mix ? definingOp<attn::VisibleOp>(mix.getLhs()) : attn::VisibleOp();
  Value weights = visible ? visible.getWeights() : mix ? mix.getLhs() : Value();
  if (auto decay = definingOp<attn::DecayOp>(weights))
    weights = decay.getWeights();
  auto pairs = definingOp<attn::ContractOp>(weights);
  if (!pairs)
    return std::nullopt;
  AttentionShape shape = shapeOfFeatures(attn::Form::Quadratic, pairs.getLhs(), pairs.getRhs(), mix.getRhs(), root);
  shape.causal = visible && visible.getCausal();
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
  if (compress)
    shape.rank = shapeOf(compress.getWeight())[1];
  shape.finalState = llvm::any_of(state->getUsers(), [&](Operation *user) { return user != readout; });
  attn::Execution execution = attn::executionOf(readout);
  shape.fused = execution.values == attn::Values::Fused, shape.merged = execution.ending == attn::Ending::LastBlock;
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
  shape.initialState = static_cast<bool>(readout.getInitialState());
  shape.finalState = !readout.getState().use_empty() || !readout.getSum().use_empty();
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
  shape.causal = op.getCausal(), shape.lse = static_cast<bool>(op.getLse()), shape.split = attn::executionOf(op).split;
  shape.window = op.getWindow() ? op.getWindow()->getLength() : 0;
  return shape;
}

static Shape shapeOf(attn::PolynomialOp op) {
  AttentionShape shape = shapeOf(op, Family::Polynomial, attn::Form::Quadratic);
  shape.causal = op.getCausal(), shape.degree = op.getDegree();
  shape.window = op.getWindow() ? op.getWindow()->getLength() : 0;
  return shape;
}

static Shape shapeOf(attn::PolysketchOp op) {
  AttentionShape shape = shapeOf(op, Family::Polysketch, attn::formOf(op));
  shape.causal = op.getCausal(), shape.degree = op.getDegree(), shape.sketch = op.getSize();
  shape.features = shape.sketch * shape.sketch, shape.featureHeads = shape.heads;
  shape.localExact = op.getLocalExact().value_or(0), shape.split = attn::executionOf(op).split;
  shape.guarded = op.getDenominator().getBias() != 0 || op.getDenominator().getFloor() != 0;
  return shape;
}

static Shape shapeOf(attn::EffattOp op) { return shapeOf(op, Family::Effatt, attn::Form::State); }

static Shape shapeOf(attn::EvaOp op) {
  AttentionShape shape = shapeOf(op, Family::Eva, attn::Form::Online);
  shape.causal = op.getCausal(), shape.chunk = op.getChunk(), shape.local = op.getLocal().value_or(0);
  shape.excludeLocal = op.getExcludeLocal();
  return shape;
}

static Shape shapeOf(attn::AgentOp op) {
  AttentionShape shape = shapeOf(op, Family::Agent, attn::Form::Online);
  shape.agents = op.getAgents();
  return shape;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// The features of the map that reads a folded projection: as wide as its product.
static ArrayRef<int64_t> projectedShape(attn::ProjectOp op) {
  if (attn::isFolded(op))
    for (Operation *user : op->getUsers())
      if (auto map = dyn_cast<attn::MapOp>(user))
        return shapeOf(map.getResult());
  return shapeOf(op.getResult());
}

static Shape shapeOf(attn::ProjectOp op) {
  if (attn::projectsSlotsOnly(op) || attn::isInReader(op))
    return std::nullopt;
  ArrayRef<int64_t> result = projectedShape(op);
  AttentionShape shape;
  shape.family = Family::Project;
  shape.batch = result[0], shape.heads = result[1], shape.queries = shape.keys = result[2], shape.width = result[3];
  shape.model = shapeOf(op.getSource())[2], shape.elementBytes = bytesOf(op.getSource());
  if (ShapedType::isDynamic(shape.model)) // known only to a run: as wide as the heads
    shape.model = shape.heads * shape.width;
  shape.queryFolded = attn::isFolded(op), shape.bias = static_cast<bool>(op.getBias());
  return shape;
}

static Shape shapeOf(attn::ProjectOutputOp op) {
  if (attn::isInEpilogue(op))
    return std::nullopt;
  ArrayRef<int64_t> source = shapeOf(op.getSource());
  AttentionShape shape;
  shape.family = Family::ProjectOutput;
  shape.batch = source[0], shape.heads = source[1], shape.queries = shape.keys = source[2], shape.width = source[3];
  shape.model = shapeOf(op.getResult())[2], shape.elementBytes = bytesOf(op.getResult());
  shape.bias = static_cast<bool>(op.getBias()), shape.sums = attn::areSums(op.getSource());
  return shape;
}

/// Whether the compression is a part of the naive low rank, that is, of a state of compressed features.
static bool isOfFeatures(attn::CompressOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto state = dyn_cast<attn::StateOp>(user);
    auto features = state ? definingOp<attn::CompressOp>(state.getFeatures()) : attn::CompressOp();
    return features && definingOp<attn::MapOp>(features.getSource());
  });
}

/// E x, which has a head for each block of columns and each head of E.
static AttentionShape inputShape(attn::CompressOp op, attn::ProjectOp project) {
  ArrayRef<int64_t> x = shapeOf(project.getSource()), weight = shapeOf(op.getWeight());
  AttentionShape shape;
  shape.family = Family::Compress;
  shape.model = x[2], shape.width = std::min(attn::inputColumns, x[2]);
  shape.heads = shape.sharedHeads = weight[0] * llvm::divideCeil(x[2], shape.width);
  shape.batch = x[0], shape.queries = shape.keys = x[1];
  shape.rank = weight[1], shape.sharedWeights = weight[0];
  shape.elementBytes = bytesOf(op.getWeight()), shape.keyBytes = bytesOf(project.getSource());
  return shape;
}

/// The projection of those slots.
static AttentionShape slotShape(attn::CompressOp op, attn::ProjectOp project) {
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  AttentionShape shape;
  shape.family = Family::ProjectSlots;
  shape.batch = result[0], shape.heads = result[1], shape.width = result[3], shape.rank = result[2];
  shape.queries = shape.keys = result[2], shape.fixedKeys = true;
  shape.sharedWeights = shapeOf(op.getWeight())[0];
  shape.model = shapeOf(project.getSource())[2], shape.elementBytes = bytesOf(project.getWeight());
  shape.bias = static_cast<bool>(project.getBias());
  return shape;
}

/// The sums of the rows of E, which a bias is multiplied by.
static AttentionShape sumShape(attn::CompressOp op, attn::ProjectOp project) {
  AttentionShape shape = inputShape(op, project);
  shape.family = Family::SlotSums;
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
    shapes.push_back(inputShape(op, project));
  if (firstBias)
    shapes.push_back(sumShape(op, project));
  shapes.push_back(slotShape(op, project));
}

static Shape shapeOf(attn::CompressOp op) {
  if (isOfFeatures(op))
    return std::nullopt;
  ArrayRef<int64_t> source = shapeOf(op.getSource());
  Source tokens(op.getSource());
  AttentionShape shape;
  shape.family = Family::Compress;
  shape.batch = source[0], shape.heads = shape.sharedHeads = source[1], shape.queries = shape.keys = source[2];
  shape.width = source[3];
  shape.rank = shapeOf(op.getWeight())[1], shape.sharedWeights = shapeOf(op.getWeight())[0];
  shape.elementBytes = bytesOf(op.getWeight()), shape.keyBytes = bytesOf(tokens.memory);
  shape.keyRope = tokens.rope, shape.keyNorm = tokens.norm, shape.keyHalves = tokens.halves;
  shape.keyModel = tokens.model();
  return shape;
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
    if (!shape || shape->family >= Family::Project)
      continue;
    sizes.batch = shape->batch, sizes.queries = shape->queries;
    if (!compressed)
      sizes.keys = shape->keys;
    break;
  }
  return sizes;
}

bool graph::isMechanism(Operation *op) {
  return isa<attn::SoftmaxOp, attn::KernelOp, attn::PolynomialOp, attn::PolysketchOp, attn::EffattOp, attn::EvaOp,
             attn::AgentOp>(op);
}
