//===- ExecutedCounts.cpp - What kernels do, counted as they run ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutedCounts.h"

#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Array;
using reference::ExecutedOp;
using tile::Counted;
using tile::OpCount;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t test::sizeOf(func::FuncOp host, unsigned argument, unsigned dimension, const RunSizes &sizes) {
  int64_t known = cast<MemRefType>(host.getArgumentTypes()[argument]).getDimSize(dimension);
  if (ShapedType::isStatic(known))
    return known;
  auto tensor = host.getArgAttrOfType<TypeAttr>(argument, kernel::argumentTensorAttr);
  if (int64_t size = cast<RankedTensorType>(tensor.getValue()).getDimSize(dimension); ShapedType::isStatic(size))
    return size;
  char letter = host.getArgAttrOfType<StringAttr>(argument, kernel::argumentDimsAttr).getValue()[dimension];
  return letter == 'b' ? sizes.batch : letter == 'q' ? sizes.queries : sizes.keys;
}

static bool holds(DictionaryAttr rule, const RunSizes &sizes) {
  int64_t value = rule.getAs<IntegerAttr>("value").getInt();
  StringRef kind = rule.getAs<StringAttr>("kind").getValue();
  int64_t size = rule.getAs<StringAttr>("symbol").getValue() == "queries" ? sizes.queries : sizes.keys;
  if (kind == "divides")
    return size % value == 0;
  if (kind == "equals")
    return size == value;
  if (kind == "at_most")
    return size <= value;
  int64_t blocks = size / value; // blocks_divide
  return size % value == 0 && blocks > 0 && sizes.queries % blocks == 0;
}

bool test::takes(func::FuncOp host, const RunSizes &sizes) {
  if (host->hasAttr(kernel::equalLengthsAttr) && sizes.queries != sizes.keys)
    return false;
  auto rules = host->getAttrOfType<ArrayAttr>(kernel::sizeRulesAttr);
  auto isKept = [&](DictionaryAttr rule) { return holds(rule, sizes); };
  return !rules || llvm::all_of(rules.getAsRange<DictionaryAttr>(), isKept);
}

//===----------------------------------------------------------------------===//
// Executed
//===----------------------------------------------------------------------===//

/// Rows of a tile that are inside, by what `tile.load` says.
template <typename Op>
static int64_t rowsInside(const ExecutedOp &executed, Op op, const Array &memory, RankedTensorType tile) {
  auto dimension = static_cast<size_t>(memory.rank() - tile.getRank());
  int64_t start = executed.integer(op.getIndices()[dimension]), inside = 0;
  for (int64_t i = 0; i < tile.getDimSize(0); ++i) {
    int64_t number = (op.getFold() ? executed.integer(op.getFold()) : start) + i, row = number;
    if (op.getFold()) {
      auto columns = static_cast<int64_t>(*op.getColumns()), stride = static_cast<int64_t>(*op.getStride());
      row = start + number / columns * stride + number % columns;
    }
    bool below = op.getRows() && number >= executed.integer(op.getRows());
    bool above = op.getLower() && number < std::max<int64_t>(executed.integer(op.getLower()), 0);
    inside += !below && !above && row < memory.size(static_cast<int64_t>(dimension));
  }
  return inside;
}

template <typename Op>
static double bytesOf(const ExecutedOp &executed, Op op, mlir::Value held, RankedTensorType tile) {
  const Array &memory = executed.memory(held);
  int64_t columns = 0;
  for (int64_t j = 0; tile.getRank() == 2 && j < tile.getDimSize(1); ++j)
    columns += executed.integer(op.getIndices().back()) + j < memory.size(memory.rank() - 1);
  int64_t elements = rowsInside(executed, op, memory, tile) * (tile.getRank() == 2 ? columns : 1);
  return static_cast<double>(elements * tile.getElementTypeBitWidth()) / 8;
}

static Counted macsOf(tile::DotOp dot) {
  Type type = cast<RankedTensorType>(dot.getA().getType()).getElementType();
  bool tf32 = dot.getPrecision() && *dot.getPrecision() == tile::Precision::TF32;
  if (type.isF16() || type.isBF16())
    return type.isF16() ? Counted::MacsF16 : Counted::MacsBF16;
  return tf32 ? Counted::MacsTF32 : Counted::MacsF32;
}

static double elementsOf(mlir::Value tile) {
  double elements = 1;
  for (int64_t size : cast<RankedTensorType>(tile.getType()).getShape())
    elements *= static_cast<double>(size);
  return elements;
}

static OpCount countOf(const ExecutedOp &executed) {
  Operation &op = executed.op;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return OpCount::of(Counted::BytesLoaded, bytesOf(executed, load, load.getSource(), load.getType()));
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return OpCount::of(Counted::BytesStored,
                       bytesOf(executed, store, store.getTarget(), cast<RankedTensorType>(store.getValue().getType())));
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    auto inner = cast<RankedTensorType>(dot.getA().getType()).getDimSize(dot.getTransposeA() ? 0 : 1);
    return OpCount::of(macsOf(dot), elementsOf(dot) * static_cast<double>(inner));
  }
  if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    double state = elementsOf(scan.getState()), rows = static_cast<double>(scan.getRows());
    OpCount count = OpCount::of(Counted::MacsF32, (scan.getErase() ? 3 : 2) * rows * state); // into the state, and out of it
    if (scan.getDecay())
      count.add(OpCount::of(Counted::Elementwise, scan.decaysOnce() ? state : rows * state));
    return count;
  }
  StringRef name = op.getName().getStringRef();
  if (name == "arith.constant" || name == "tile.expand")
    return {};
  if (name == "tile.reduce")
    return OpCount::of(Counted::Elementwise, elementsOf(op.getOperand(0)));
  auto what = llvm::StringSwitch<Counted>(name)
                  .Case("math.exp2", Counted::Exponentials)
                  .Case("math.log2", Counted::Logarithms)
                  .Cases({"tile.sine", "tile.cosine"}, Counted::Sines)
                  .Default(Counted::Elementwise);
  return OpCount::of(what, elementsOf(op.getResult(0)));
}

/// `tile.any` has no tile result, and is not told of as it runs: each stands where its tile is made.
static void addAny(Operation &op, OpCount &count) {
  for (Operation *user : op.getUsers())
    if (isa<tile::AnyOp>(user))
      count.add(OpCount::of(Counted::Elementwise, elementsOf(op.getResult(0))));
}

static std::vector<reference::Argument> argumentsOf(func::FuncOp host, const RunSizes &sizes) {
  std::vector<reference::Argument> arguments;
  for (unsigned i = 0; i < host.getNumArguments(); ++i) {
    auto type = cast<MemRefType>(host.getArgumentTypes()[i]);
    SmallVector<int64_t> shape;
    for (unsigned dimension = 0; dimension < type.getRank(); ++dimension)
      shape.push_back(sizeOf(host, i, dimension, sizes));
    if (shape.size() == 1 && type.getElementType().isInteger(32))
      shape[0] = std::max(shape[0], sizes.batch); // whatever a pinned kernel calls its lengths
    arguments.push_back(Array(shape, /*fill=*/1 << 30)); // lengths, which are cut to those of the sequences
  }
  return arguments;
}

void test::runKernels(func::FuncOp host, const RunSizes &sizes, const std::function<void(const ExecutedOp &)> &count,
                      cost::Branches branches) {
  OwningOpRef<ModuleOp> module = host->getParentOfType<ModuleOp>().clone();
  reference::EvalTileOptions options;
  options.checkRaces = false;
  options.count = count;
  if (branches == cost::Branches::Rare)
    module->walk([](tile::AnyOp any) {
      OpBuilder builder(any);
      mlir::Value one = arith::ConstantIndexOp::create(builder, any.getLoc(), 1);
      any.getResult().replaceAllUsesWith(one); // the op stays, for what it costs
    });
  auto function = module->lookupSymbol<func::FuncOp>(host.getName());
  EXPECT_TRUE(succeeded(reference::evalTile(function, argumentsOf(host, sizes), options)));
}

CountsOfKernels test::executedCounts(func::FuncOp host, const RunSizes &sizes, cost::Branches branches) {
  CountsOfKernels counts;
  auto add = [&](const ExecutedOp &executed) {
    OpCount &count = counts[executed.op.getParentOfType<tile::KernelOp>().getName().str()];
    count.add(countOf(executed));
    addAny(executed.op, count);
  };
  runKernels(host, sizes, add, branches);
  return counts;
}

//===----------------------------------------------------------------------===//
// Compiled
//===----------------------------------------------------------------------===//

CountsOfKernels test::compiledCounts(func::FuncOp host, const RunSizes &sizes, cost::Branches branches) {
  CountsOfKernels counts;
  for (auto launch : host.getOps<tile::LaunchOp>()) {
    FailureOr<cost::KernelCounts> compiled = cost::KernelCounts::compile(launch);
    EXPECT_TRUE(succeeded(compiled)) << launch.getCallee().str();
    if (failed(compiled))
      continue;
    SmallVector<int64_t> inputs;
    for (const cost::SizeInput &input : compiled->inputs())
      inputs.push_back(test::sizeOf(host, input.argument, input.dimension, sizes));
    cost::EvaluatedCounts evaluated = compiled->evaluate(inputs, branches);
    EXPECT_TRUE(evaluated.isExact) << launch.getCallee().str();
    counts[launch.getCallee().str()].add(evaluated.count);
  }
  return counts;
}

static void expectEqual(const CountsOfKernels &compiled, CountsOfKernels executed) {
  for (const auto &[kernel, count] : compiled)
    for (size_t i = 0; i < count.counts.size(); ++i)
      EXPECT_EQ(count.counts[i], executed[kernel].counts[i])
          << kernel << ", " << stringifyCounted(static_cast<Counted>(i)).str();
}

int test::checkCounts(ModuleOp module, ArrayRef<RunSizes> allSizes) {
  int compared = 0;
  for (auto host : module.getOps<func::FuncOp>())
    for (const RunSizes &sizes : allSizes) {
      if (host.isDeclaration() || !takes(host, sizes))
        continue;
      SCOPED_TRACE(host.getName().str() + " of " + std::to_string(sizes.batch) + " sequences, n = " +
                   std::to_string(sizes.queries) + ", N = " + std::to_string(sizes.keys));
      for (auto branches : {cost::Branches::Usual, cost::Branches::Rare})
        expectEqual(compiledCounts(host, sizes, branches), executedCounts(host, sizes, branches));
      ++compared;
    }
  return compared;
}

std::unique_ptr<MLIRContext> test::countsContext() {
  DialectRegistry registry;
  registry.insert<attn::AttnDialect, tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  memref::MemRefDialect>();
  cost::registerCostModels(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}
