//===- AttnToTile.cpp - attn functions to kernels and host code -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Families.h"
#include "Partition.h"
#include "Supported.h"
#include "attune/Kernel/Passes.h"
#include "attune/Kernel/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune::kernel {
#define GEN_PASS_DEF_ATTNTOTILE
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// The host function's arguments
//===----------------------------------------------------------------------===//

namespace {
/// Collects the arguments of the host function: the inputs, then the outputs, each with the name that SPEC §4 gives it.
struct HostSignature {
  SmallVector<Type> types;
  SmallVector<Type> tensors; // the types in the attn function, with the sizes that are static there
  SmallVector<StringRef> names;
  SmallVector<Value> sources; // the tensor argument of the attn function; null for outputs

  void add(StringRef name, Value source, Type tensor, Type type) {
    names.push_back(name), sources.push_back(source), tensors.push_back(tensor), types.push_back(type);
  }
  void add(StringRef name, Value source, Type type) { add(name, source, source.getType(), type); }
  std::optional<unsigned> find(StringRef name) const {
    auto place = llvm::find(names, name);
    return place == names.end() ? std::nullopt : std::optional<unsigned>(place - names.begin());
  }
};
} // namespace

/// Any outer strides, inner stride 1. Batch and sequence lengths are always run-time sizes.
static MemRefType memory(ArrayRef<int64_t> shape, Type element) {
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(element.getContext(), /*offset=*/0, strides);
  return shape.size() == 1 ? MemRefType::get(shape, element) : MemRefType::get(shape, element, layout);
}

static MemRefType tokens(Value tensor, int64_t width = 0) {
  auto type = cast<RankedTensorType>(tensor.getType());
  constexpr int64_t dynamic = ShapedType::kDynamic;
  return memory({dynamic, type.getDimSize(1), dynamic, width ? width : type.getDimSize(3)}, type.getElementType());
}

static HostSignature makeSignature(const Partition &partition, func::FuncOp function) {
  ArrayRef<Type> results = function.getResultTypes();
  HostSignature signature;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto shape = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  Type f32 = Float32Type::get(partition.query.getContext());
  int64_t heads = shape(partition.query)[1], shared = shape(partition.key)[1], dv = shape(partition.value)[3];
  signature.add("q", partition.query, tokens(partition.query));
  signature.add("k", partition.key, tokens(partition.key));
  signature.add("v", partition.value, tokens(partition.value));
  if (partition.lengths)
    signature.add("key_lengths", partition.lengths,
                  memory({dynamic}, IntegerType::get(partition.query.getContext(), 32)));
  int64_t features = partition.map ? partition.map.getFeatures(shape(partition.query)[3]) : 0;
  MemRefType state = memory({dynamic, shared, features, dv}, f32), sum = memory({dynamic, shared, features}, f32);
  if (partition.initialState) {
    signature.add("initial_state", partition.initialState, state);
    signature.add("initial_sum", partition.initialSum, sum);
  }
  signature.add("o", Value(), results[0], tokens(partition.query, dv));
  if (partition.lse)
    signature.add("lse", Value(), results[1], memory({dynamic, heads, dynamic}, f32));
  if (partition.finalState) {
    signature.add("final_state", Value(), results[1], state);
    signature.add("final_sum", Value(), results[2], sum);
  }
  return signature;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static func::FuncOp makeHost(func::FuncOp source, const HostSignature &signature) {
  OpBuilder builder(source);
  auto host = func::FuncOp::create(builder, source.getLoc(), source.getName(),
                                   builder.getFunctionType(signature.types, {}));
  for (auto [position, name] : llvm::enumerate(signature.names)) {
    host.setArgAttr(position, kernel::argumentNameAttr, builder.getStringAttr(name));
    host.setArgAttr(position, kernel::argumentTensorAttr, TypeAttr::get(signature.tensors[position]));
    if (auto argument = dyn_cast_or_null<BlockArgument>(signature.sources[position]))
      host.setArgAttr(position, kernel::argumentPositionAttr, builder.getI64IntegerAttr(argument.getArgNumber()));
  }
  if (Attribute plan = source->getAttr("attn.plan"))
    host->setAttr("attn.plan", plan);
  host.addEntryBlock();
  return host;
}

static Problem makeProblem(const Partition &partition, const HostSignature &signature, func::FuncOp host,
                           tile::ScheduleAttr schedule) {
  auto argument = [&](StringRef name) -> Value {
    std::optional<unsigned> place = signature.find(name);
    return place ? Value(host.getArgument(*place)) : Value();
  };
  auto size = [](Value tensor, unsigned position) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(position);
  };
  Problem problem;
  problem.name = host.getName().str();
  problem.schedule = schedule;
  problem.heads = size(partition.query, 1), problem.sharedHeads = size(partition.key, 1);
  problem.width = size(partition.query, 3), problem.valueWidth = size(partition.value, 3);
  problem.causal = partition.causal;
  problem.query = argument("q"), problem.key = argument("k"), problem.value = argument("v");
  problem.lengths = argument("key_lengths");
  problem.output = argument("o"), problem.lse = argument("lse");
  problem.initialState = argument("initial_state"), problem.initialSum = argument("initial_sum");
  problem.finalState = argument("final_state"), problem.finalSum = argument("final_sum");
  return problem;
}

static void buildFamily(BuildSite &site, const Problem &problem, const Partition &partition) {
  switch (partition.form) {
  case attn::Form::Online:
    return buildSoftmax(site, problem, partition.scale);
  case attn::Form::Quadratic:
    return buildQuadratic(site, problem, partition.map, partition.guard);
  case attn::Form::State:
    return buildStateAndReadout(site, problem, partition.map, partition.guard);
  case attn::Form::Chunked:
    return buildChunked(site, problem, partition.map, partition.guard);
  }
}

/// An argument that no kernel reads would silently change the library's interface.
static LogicalResult checkAllUsed(func::FuncOp source, const HostSignature &signature) {
  for (BlockArgument argument : source.getArguments())
    if (!llvm::is_contained(signature.sources, argument))
      return source.emitError() << "expected every argument to be part of the attention, but argument "
                                << argument.getArgNumber() << " is not";
  return success();
}

static LogicalResult lowerFunction(ModuleOp module, func::FuncOp source, tile::TargetKind target) {
  if (failed(checkSupported(source)))
    return failure();
  FailureOr<Partition> partition = kernel::partition(source);
  if (failed(partition))
    return failure();
  Type storage = cast<RankedTensorType>(partition->query.getType()).getElementType();
  if (target == tile::TargetKind::GPU && storage.isF32())
    return source.emitError() << "expected dtype f16 or bf16 for a GPU target, but got f32 (not supported yet)";
  HostSignature signature = makeSignature(*partition, source);
  if (failed(checkAllUsed(source, signature)))
    return failure();
  func::FuncOp host = makeHost(source, signature);
  if (partition->map && partition->causal)
    host->setAttr(kernel::equalLengthsAttr, UnitAttr::get(host.getContext()));
  auto schedule = source->getAttrOfType<tile::ScheduleAttr>("tile.schedule");
  Problem problem = makeProblem(*partition, signature, host, schedule ? schedule : defaultSchedule(target, storage));
  OpBuilder builder = OpBuilder::atBlockEnd(&host.getBody().front());
  BuildSite site{module, builder, source.getLoc()};
  buildFamily(site, problem, *partition);
  func::ReturnOp::create(builder, source.getLoc());
  source.erase();
  return success();
}

namespace {
struct AttnToTile : public kernel::impl::AttnToTileBase<AttnToTile> {
  using AttnToTileBase::AttnToTileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      bool attention = llvm::any_of(function.getOps(), [](Operation &op) { return isa<attn::AttnDialect>(op.getDialect()); });
      if (!attention)
        continue;
      if (failed(lowerFunction(module, function, target)))
        return signalPassFailure();
      ++numFunctions;
    }
  }
};
} // namespace
