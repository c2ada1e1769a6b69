//===- CountedKernels.cpp - What the kernels of plans do, from their IR ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/CountedKernels.h"
#include "LaunchKey.h"

#include "attune/Attn/CompressFirst.h"
#include "attune/Attn/HeadRange.h"
#include "attune/Graph/Metric.h"
#include "attune/Kernel/BuildKernels.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/GPU/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

void graph::loadDialectsOfKernels(MLIRContext &context) {
  DialectRegistry models;
  cost::registerCostModels(models);
  context.appendDialectRegistry(models);
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect, func::FuncDialect>();
}

//===----------------------------------------------------------------------===//
// A function of one piece
//===----------------------------------------------------------------------===//

/// Whether tokens in memory have a row for each query or key, and not for each slot.
static bool followsSequence(Value tokens) { return !isa_and_present<attn::CompressOp>(tokens.getDefiningOp()); }

/// Whether tokens are of the queries' sequence.
static bool isOfQueries(func::FuncOp plan, Value tokens) {
  auto project = tokens.getDefiningOp<attn::ProjectOp>();
  auto source = project ? dyn_cast<BlockArgument>(project.getSource()) : BlockArgument();
  auto name = source ? plan.getArgAttrOfType<StringAttr>(source.getArgNumber(), "attn.name") : StringAttr();
  return !name || name.getValue() != "context";
}

/// The type of an input: kernels store tokens in f32.
static Type typeOf(Value input) {
  auto tensor = dyn_cast<RankedTensorType>(input.getType());
  return isa<BlockArgument>(input) || !tensor ? input.getType()
                                              : tensor.clone(Float32Type::get(input.getContext()));
}

/// An argument that a layer projects.
static bool isLayerInput(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto project = dyn_cast<attn::ProjectOp>(use.getOwner());
    return project && use.get() == project.getSource();
  });
}

/// By an argument's name the host function knows which sizes are lengths, and of what.
static StringRef nameOf(func::FuncOp plan, BlockArgument argument) {
  auto tensor = dyn_cast<RankedTensorType>(argument.getType());
  if (tensor && tensor.getRank() == 4) // heads, of whichever sequence has their length
    return tensor.getDimSize(2) == sizesOf(plan).queries ? "q" : "k";
  return isLayerInput(argument) ? "x" : "";
}

static DictionaryAttr attributesOf(func::FuncOp plan, Value input) {
  Builder builder(plan.getContext());
  NamedAttrList said;
  StringRef name = !followsSequence(input) ? "slots" : isOfQueries(plan, input) ? "q" : "k";
  if (auto argument = dyn_cast<BlockArgument>(input)) {
    said = plan.getArgAttrDict(argument.getArgNumber());
    bool isNamed = said.get("attn.name") || said.get("attn.parameter");
    name = isNamed ? "" : nameOf(plan, argument);
  } else if (attn::areSums(input)) {
    said.set(attn::sumsAttr, builder.getUnitAttr());
  }
  if (!name.empty())
    said.set("attn.name", builder.getStringAttr(name));
  return said.getDictionary(plan.getContext());
}

/// Whether heads are stored for kernels that read them, and not returned.
static bool isStoredForOthers(Value output) {
  return llvm::any_of(output.getUsers(), [](Operation *user) {
    if (auto concat = dyn_cast<attn::ConcatHeadsOp>(user))
      return isStoredForOthers(concat.getResult());
    return !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// What reads tokens that are no output of attention, so that their kernels are made: attention of them with themselves.
static Value readerOf(OpBuilder &builder, Value tokens) {
  if (!isa<attn::ProjectOp, attn::CompressOp>(tokens.getDefiningOp()))
    return tokens;
  return attn::SoftmaxOp::create(builder, tokens.getLoc(), tokens.getType(), Type(), tokens, tokens, tokens, Value(), Value(),
                                 builder.getF64FloatAttr(1), UnitAttr(), attn::WindowAttr(), IntegerAttr(), FloatAttr(), /*execution=*/{})
      .getOutput();
}

static OwningOpRef<ModuleOp> moduleOf(func::FuncOp plan, const LaunchPiece &piece, tile::ScheduleAttr schedule) {
  Location loc = plan.getLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  OpBuilder builder(module->getBodyRegion());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (Value input : piece.inputs)
    types.push_back(typeOf(input)), attributes.push_back(attributesOf(plan, input));
  auto function = func::FuncOp::create(builder, loc, "piece", builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  function->setAttr("tile.schedule", schedule);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(piece.inputs.getArrayRef(), function.getArguments());
  for (Operation *op : piece.ops)
    builder.clone(*op, mapping);
  Value output = readerOf(builder, mapping.lookup(piece.output));
  if (isStoredForOthers(piece.output))
    output.setType(cast<RankedTensorType>(output.getType()).clone(builder.getF32Type()));
  SmallVector<Value> results{output};
  for (Value result : piece.optionalResults)
    results.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  return module;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// The kernel's name without that of its host function, and without the numbers that tell equal ones apart.
static std::string nameOf(tile::LaunchOp launch, func::FuncOp host) {
  StringRef name = launch.getCallee();
  name.consume_front(host.getName());
  name.consume_front("_");
  if (name.ends_with("_sketch")) // of queries and of keys
    return "sketch";
  if (size_t digits = name.find_first_not_of("0123456789"); digits > 0)
    name = name.substr(digits + 1);
  StringRef plain = name.rtrim("0123456789");
  return (plain.consume_back("_") ? plain : name).str();
}

const cost::WorkEstimate &CountedKernel::workAt(std::vector<int64_t> sizes) const {
  auto [place, missing] = known.try_emplace(std::move(sizes));
  if (!missing)
    return place->second;
  cost::EvaluatedCounts evaluated = counts.evaluate(place->first, cost::Branches::Usual, cost::nearly);
  place->second = target == tile::TargetKind::GPU ? cost::gpuWork(evaluated, counts.liveBytes()) : cost::cpuWork(evaluated, counts.liveBytes());
  return place->second;
}

static SizeMeaning meaningOf(func::FuncOp host, const cost::SizeInput &input) {
  using Kind = SizeMeaning::Kind;
  auto tensor = cast<RankedTensorType>(host.getArgAttrOfType<TypeAttr>(input.argument, kernel::argumentTensorAttr).getValue());
  auto dims = host.getArgAttrOfType<StringAttr>(input.argument, kernel::argumentDimsAttr).getValue();
  int64_t known = tensor.getDimSize(input.dimension);
  switch (dims[input.dimension]) {
  case 'b':
    return {Kind::Batch, known};
  case 'q':
    return {Kind::Queries, known};
  case 'k':
    return {Kind::Keys, known};
  default: // slots of a batch
    return {ShapedType::isDynamic(known) ? Kind::Batch : Kind::Fixed, known};
  }
}

/// Lanes of f32 that prices take for vectors: AVX-512's. A CPU with shorter ones computes no more than these.
static constexpr int64_t lanes = 16;

static FailureOr<CountedKernels> countsOf(ModuleOp module, tile::TargetKind target) {
  const cost::CpuInstructions ofCpu(lanes);
  const device::GpuInstructions ofGpu;
  const cost::Instructions &instructions = target == tile::TargetKind::GPU ? ofGpu : static_cast<const cost::Instructions &>(ofCpu);
  CountedKernels kernels;
  for (auto host : module.getOps<func::FuncOp>()) {
    if (host->hasAttr(kernel::prepareAttr)) // runs once, whatever the lengths
      continue;
    for (auto launch : host.getOps<tile::LaunchOp>()) {
      FailureOr<cost::KernelCounts> counts = cost::KernelCounts::compile(launch, instructions);
      if (failed(counts))
        return failure();
      SmallVector<SizeMeaning, 8> inputs;
      for (const cost::SizeInput &input : counts->inputs())
        inputs.push_back(meaningOf(host, input));
      kernels.emplace_back(nameOf(launch, host), target, std::move(*counts), std::move(inputs));
    }
  }
  return kernels;
}

/// What nobody reads is not computed, and what is computed twice is computed once. Folding, and on a CPU what is
/// taken out of loops, would take as long as all else together, and changes little.
static void simplify(tile::KernelOp kernel, tile::TargetKind target) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  if (target == tile::TargetKind::GPU) // shows in the shuffles of reductions
    kernel.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Makes a kernel what is counted of it.
static LogicalResult prepare(tile::KernelOp kernel, tile::TargetKind target) {
  simplify(kernel, target);
  return target == tile::TargetKind::GPU ? device::layOut(kernel) : success();
}

/// Calls `count`, whose first error is not printed but returned.
static llvm::Expected<CountedKernels> withoutPrinting(MLIRContext &context, llvm::function_ref<FailureOr<CountedKernels>()> count) {
  std::string refusal;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (refusal.empty())
      refusal = diagnostic.str();
    return success();
  });
  FailureOr<CountedKernels> kernels = count();
  if (succeeded(kernels))
    return std::move(*kernels);
  return llvm::createStringError(refusal.empty() ? "its kernels cannot be built" : refusal);
}

llvm::Expected<CountedKernels> graph::countKernels(ModuleOp module, tile::TargetKind target) {
  return withoutPrinting(*module.getContext(), [&]() -> FailureOr<CountedKernels> {
    for (auto kernel : module.getOps<tile::KernelOp>())
      if (failed(prepare(kernel, target)))
        return failure();
    return countsOf(module, target);
  });
}

/// Builds and counts the kernels of a piece.
static FailureOr<CountedKernels> countPiece(func::FuncOp plan, const LaunchPiece &piece, tile::ScheduleAttr schedule) {
  OwningOpRef<ModuleOp> module = moduleOf(plan, piece, schedule);
  auto function = *module->getOps<func::FuncOp>().begin();
  if (failed(kernel::buildKernels(*module, function, schedule.getTarget())))
    return failure();
  for (auto kernel : module->getOps<tile::KernelOp>())
    if (failed(prepare(kernel, schedule.getTarget())))
      return failure();
  return countsOf(*module, schedule.getTarget());
}

/// The key of a piece with a schedule.
static LaunchKey keyWith(tile::ScheduleAttr schedule, func::FuncOp plan, const LaunchPiece &piece) {
  LaunchKey key = keyOf(plan, piece);
  key.push_back(schedule.getAsOpaquePointer());
  return key;
}

bool KernelCounter::knows(func::FuncOp plan, Operation *root, const llvm::SmallPtrSetImpl<Operation *> &roots,
                          tile::ScheduleAttr schedule) const {
  return known.count(keyWith(schedule, plan, pieceOf(plan, root, roots)));
}

llvm::Expected<const CountedKernels &> KernelCounter::kernelsOf(func::FuncOp plan, Operation *root,
                                                                const llvm::SmallPtrSetImpl<Operation *> &roots,
                                                                tile::ScheduleAttr schedule) {
  LaunchPiece piece = pieceOf(plan, root, roots);
  auto [place, missing] = known.try_emplace(keyWith(schedule, plan, piece));
  Counted &counted = place->second;
  if (missing) {
    llvm::Expected<CountedKernels> kernels = withoutPrinting(*plan.getContext(), [&] { return countPiece(plan, piece, schedule); });
    counted = kernels ? Counted{std::move(*kernels), ""} : Counted{{}, llvm::toString(kernels.takeError())};
  }
  if (!counted.refusal.empty())
    return llvm::createStringError(counted.refusal);
  return counted.kernels;
}
