//===- Prepare.cpp - What a library computes once from its parameters ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Prepare.h"

#include "attune/Kernel/Passes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// What reads sketches: attention, or a sketch of tokens and its gradient.
struct SketchReader {
  Operation *op;
  ValueRange signs, indices;
  RankedTensorType tokens;
  int64_t size;

  int64_t leaves() const { return (static_cast<int64_t>(signs.size()) + 2) / 3; } // and two sides of each node
};

/// A matrix to prepare, of signs and indices that are arguments of the attn function.
struct SketchMatrix {
  std::string name;
  SketchReader reader;
  unsigned number; ///< of the leaves, then of the sides of the nodes
  MemRefType type; ///< [H, d or r, r]
  Value sign() const { return reader.signs[number]; }
  Value index() const { return reader.indices[number]; }
  /// Whether both are one tensor (identity I23).
  bool sameAs(const SketchMatrix &other) const {
    return sign() == other.sign() && index() == other.index() && type == other.type && isLeaf() == other.isLeaf();
  }
  bool isLeaf() const { return number < reader.leaves(); }
};
} // namespace

static SmallVector<SketchReader> sketchReaders(func::FuncOp source) {
  SmallVector<SketchReader> readers;
  auto add = [&](auto op, Value tokens) {
    readers.push_back({op, op.getSigns(), op.getIndices(), cast<RankedTensorType>(tokens.getType()), static_cast<int64_t>(op.getSize())});
  };
  for (Operation &op : source.getOps())
    if (auto attention = dyn_cast<attn::PolysketchOp>(op))
      add(attention, attention.getQuery());
    else if (auto sketch = dyn_cast<attn::SketchOp>(op))
      add(sketch, sketch.getSource());
    else if (auto gradient = dyn_cast<attn::SketchGradientOp>(op))
      add(gradient, gradient.getSource());
  return readers;
}

/// Readers of the same signs have one number: those of a function and of its gradient have the same matrices.
static SmallVector<SketchMatrix> matricesOf(func::FuncOp source) {
  SmallVector<SketchMatrix> matrices;
  SmallVector<SketchReader> apart;
  for (const SketchReader &reader : sketchReaders(source)) {
    auto same = [&](const SketchReader &other) { return reader.signs == other.signs && reader.indices == other.indices; };
    auto *known = llvm::find_if(apart, same);
    auto sketch = known - apart.begin();
    if (known == apart.end())
      apart.push_back(reader);
    for (unsigned number = 0; number < reader.signs.size(); ++number) {
      SketchMatrix matrix{"sketch" + std::to_string(sketch) + "." + std::to_string(number), reader, number, {}};
      int64_t rows = matrix.isLeaf() ? reader.tokens.getDimSize(3) : reader.size;
      int64_t heads = cast<RankedTensorType>(reader.signs[number].getType()).getDimSize(0);
      matrix.type = MemRefType::get({heads, rows, reader.size}, Float32Type::get(source.getContext()));
      matrices.push_back(matrix);
    }
  }
  return matrices;
}

LogicalResult kernel::checkSketches(func::FuncOp source) {
  for (const SketchReader &reader : sketchReaders(source))
    for (ValueRange values : {reader.signs, reader.indices})
      if (!llvm::all_of(values, parameterNumber))
        return reader.op->emitOpError() << "expected signs and indices that are arguments with attn.parameter, but got others";
  return success();
}

static NamedAttrList attributesOf(StringRef name, MemRefType type, Builder builder) {
  NamedAttrList list;
  list.append(kernel::argumentNameAttr, builder.getStringAttr(name));
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  list.append(kernel::argumentTensorAttr, TypeAttr::get(tensor));
  list.append(kernel::argumentRoleAttr, builder.getStringAttr("prepared"));
  list.append(kernel::argumentDimsAttr, builder.getStringAttr(std::string(type.getRank(), '.')));
  return list;
}

/// The argument of `host` that is to be a prepared tensor.
static Value addArgument(func::FuncOp host, StringRef name, MemRefType type) {
  unsigned place = host.getNumArguments();
  (void)host.insertArgument(place, type, DictionaryAttr(), host.getLoc());
  host.setArgAttrs(place, attributesOf(name, type, Builder(host.getContext())));
  return host.getArgument(place);
}

/// The name of the host's argument for argument `position` of the attn function.
static std::string nameOf(func::FuncOp host, unsigned position) {
  for (unsigned place = 0; place < host.getNumArguments(); ++place) {
    auto number = host.getArgAttrOfType<IntegerAttr>(place, kernel::argumentPositionAttr);
    if (number && number.getInt() == position)
      return host.getArgAttrOfType<StringAttr>(place, kernel::argumentNameAttr).str();
  }
  return "argument" + std::to_string(position);
}

static std::string suffixOf(const PreparedWeight &weight) {
  return weight.copy ? "." + std::to_string(weight.copy + 1) : "";
}

static std::string nameOf(func::FuncOp host, const PreparedWeight &weight) {
  return nameOf(host, weight.weight) + (weight.folded() ? ".folded" : ".packed") + suffixOf(weight);
}

static WeightMemory addArguments(func::FuncOp host, func::FuncOp names, const PreparedWeight &weight) {
  WeightMemory memory{addArgument(host, nameOf(names, weight), weight.matrix), Value()};
  if (weight.bias)
    memory.shift = addArgument(host, nameOf(names, *weight.bias) + ".folded" + suffixOf(weight), weight.shift);
  return memory;
}

PreparedTensors kernel::addPreparedArguments(func::FuncOp host, func::FuncOp source, ArrayRef<PreparedWeight> weights) {
  PreparedTensors prepared;
  SmallVector<std::pair<SketchMatrix, Value>> sketches;
  for (const SketchMatrix &matrix : matricesOf(source)) {
    SketchMatrices &all = prepared.sketches[matrix.reader.op];
    const auto *made = llvm::find_if(sketches, [&](const auto &each) { return each.first.sameAs(matrix); });
    if (made == sketches.end()) {
      sketches.push_back({matrix, addArgument(host, matrix.name, matrix.type)});
      made = &sketches.back();
    }
    (matrix.isLeaf() ? all.leaves : all.nodes).push_back(made->second);
  }
  for (const PreparedWeight &weight : weights)
    prepared.weights.push_back({weight, addArguments(host, host, weight)});
  return prepared;
}

/// `<name>__prepare` with the parameters of `host` as arguments; maps the attn function's arguments to them.
static func::FuncOp makePrepare(ModuleOp module, func::FuncOp host, func::FuncOp source, IRMapping &memories) {
  OpBuilder builder(host);
  auto prepare = func::FuncOp::create(builder, host.getLoc(), (host.getName() + "__prepare").str(),
                                      builder.getFunctionType({}, {}));
  prepare->setAttr(kernel::prepareAttr, builder.getUnitAttr());
  prepare.addEntryBlock();
  for (unsigned place = 0; place < host.getNumArguments(); ++place) {
    auto role = host.getArgAttrOfType<StringAttr>(place, kernel::argumentRoleAttr);
    auto position = host.getArgAttrOfType<IntegerAttr>(place, kernel::argumentPositionAttr);
    if (!role || role.getValue() != "parameter" || !position)
      continue;
    unsigned next = prepare.getNumArguments();
    (void)prepare.insertArgument(next, host.getArgumentTypes()[place], host.getArgAttrDict(place), host.getLoc());
    memories.map(source.getArgument(position.getInt()), prepare.getArgument(next));
  }
  return prepare;
}

/// A problem to name the kernels of one prepared tensor.
static Problem problemOf(func::FuncOp prepare, StringRef name, tile::ScheduleAttr schedule) {
  Problem problem;
  problem.name = (prepare.getName() + "_" + name).str();
  problem.schedule = schedule;
  return problem;
}

LogicalResult kernel::buildPrepareFunction(ModuleOp module, func::FuncOp host, func::FuncOp source, ArrayRef<PreparedWeight> weights,
                                  tile::ScheduleAttr schedule) {
  SmallVector<SketchMatrix> matrices = matricesOf(source);
  if (matrices.empty() && weights.empty())
    return success();
  IRMapping memories;
  func::FuncOp prepare = makePrepare(module, host, source, memories);
  OpBuilder builder = OpBuilder::atBlockEnd(&prepare.getBody().front());
  BuildSite site{module, builder, host.getLoc()};
  for (auto [place, matrix] : llvm::enumerate(matrices)) {
    if (llvm::any_of(ArrayRef(matrices).take_front(place), [&](const SketchMatrix &other) { return other.sameAs(matrix); }))
      continue;
    Value sign = memories.lookup(matrix.sign()), index = memories.lookup(matrix.index());
    Value result = addArgument(prepare, matrix.name, matrix.type);
    if (failed(buildRegion(site, signMatrixRegion(problemOf(prepare, matrix.name, schedule), sign, index, result))))
      return failure();
  }
  for (const PreparedWeight &weight : weights) {
    auto parameter = [&](std::optional<unsigned> position) {
      return position ? memories.lookup(Value(source.getArgument(*position))) : Value();
    };
    WeightMemory result = addArguments(prepare, host, weight);
    Problem problem = problemOf(prepare, nameOf(host, weight), schedule);
    buildPreparedWeight(site, problem, weight, parameter(weight.weight), parameter(weight.bias), parameter(weight.omega),
                      result);
  }
  func::ReturnOp::create(builder, host.getLoc());
  return success();
}
