//===- HostReads.cpp - Where the tokens are that families read -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What acts on single tokens becomes a step of the load; what does not is computed once, into a workspace.
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "attune/Attn/CompressFirst.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/Execution.h"
#include "Regions/Regions.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Tile/Product.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

FailureOr<Tokens> HostBuilder::read(Value value) {
  if (const Tokens *known = placeOf(value))
    return *known;
  FailureOr<Tokens> tokens = readOnce(value);
  if (succeeded(tokens))
    computed[value] = *tokens;
  return tokens;
}

FailureOr<Tokens> HostBuilder::readOnce(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (Value known = memoryOf(value))
    return Tokens{known, 0, shape[1], shape[3], {}};
  Operation *op = value.getDefiningOp();
  if (auto take = dyn_cast_or_null<attn::TakeHeadsOp>(op)) {
    FailureOr<Tokens> tokens = read(take.getSource());
    if (succeeded(tokens))
      tokens->firstHead += take.getFirst(), tokens->heads = shape[1];
    return tokens;
  }
  if (auto repeat = dyn_cast_or_null<attn::RepeatHeadsOp>(op))
    return read(repeat.getSource()); // whoever reads head h divides it by how many share one
  if (auto rope = dyn_cast_or_null<attn::RopeOp>(op))
    return readRope(rope);
  if (auto norm = dyn_cast_or_null<attn::QkNormOp>(op)) {
    auto kind = norm.getL2() ? TokenStep::Kind::L2 : TokenStep::Kind::Norm;
    return withStep(read(norm.getSource()), {kind, norm.getEpsilon().convertToDouble(), false, false, Value()}, isReadWhole(norm.getResult()));
  }
  return compute(value);
}

FailureOr<Value> HostBuilder::offsetOf(Operation *rotation, Value aligned, const Tokens &tokens) {
  if (isa<IntegerType>(getElementTypeOrSelf(aligned.getType()))) {
    if (Value places = memoryOf(aligned))
      return places;
    return rotation->emitOpError() << "expected places that are an argument of the function (others are not supported yet)";
  }
  FailureOr<Tokens> others = read(aligned);
  if (failed(others))
    return failure();
  TileBuilder host(site.host, site.loc);
  return host.sub(tokenCount(host, others->memory), tokenCount(host, tokens.memory));
}

FailureOr<Tokens> HostBuilder::readRope(attn::RopeOp op) {
  FailureOr<Tokens> tokens = read(op.getSource());
  if (failed(tokens))
    return failure();
  TokenStep step{TokenStep::Kind::Rope, op.getBase().convertToDouble(), op.getHalf(), /*backwards=*/false, Value()};
  if (op.getAligned()) {
    FailureOr<Value> offset = offsetOf(op, op.getAligned(), *tokens);
    if (failed(offset))
      return failure();
    step.offset = *offset;
  }
  return withStep(tokens, step);
}

LogicalResult HostBuilder::prepareRotation(attn::RopeGradientOp op) {
  if (!op.getAligned() || offsets.contains(op))
    return success();
  Value rows = rowsBehind(op.getSource());
  FailureOr<Tokens> tokens = read(rows);
  FailureOr<Value> offset = failed(tokens) ? FailureOr<Value>(failure()) : offsetOf(op, op.getAligned(), *tokens);
  if (failed(offset))
    return failure();
  offsets[op] = *offset;
  return success();
}

Tokens HostBuilder::workspaceFor(Value value, Value like) {
  ArrayRef<int64_t> shape = shapeOf(value);
  TileBuilder host(site.host, site.loc);
  SmallVector<Value> sizes{host.dim(like, 0)};
  bool rank3 = cast<MemRefType>(like.getType()).getRank() == 3;
  // Batch and sequence lengths are sizes of the run, even where the type knows them.
  sizes.push_back(host.dim(like, rank3 ? 1 : 2));
  constexpr int64_t dynamic = ShapedType::kDynamic;
  return {orKept(value, site.workspace({dynamic, shape[1], dynamic, shape[3]}, sizes)), 0, shape[1], shape[3], {}};
}

Tokens HostBuilder::placeFor(Value value, Value like) {
  Output output = missing.contains(value) ? outputOf(value) : Output();
  if (!output.memory || output.lepe || output.projection)
    return workspaceFor(value, like);
  ArrayRef<int64_t> shape = shapeOf(value);
  return {output.memory, output.firstHead, shape[1], shape[3], {}};
}

/// The value whose rows those of a value follow, and which is read as tokens.
Value HostBuilder::rowsBehind(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value;
  if (auto concat = dyn_cast<attn::ConcatHeadsOp>(op))
    return rowsBehind(concat.getParts().front());
  bool follows = isa<attn::MechanismOpInterface, attn::LepeOp>(op) || ruleOf(op);
  return follows ? rowsBehind(rowsOperand(op)) : value;
}

static Operation *lastOf(Block &block) { return block.empty() ? nullptr : &block.back(); }

FailureOr<Tokens> HostBuilder::compute(Value value) {
  Block &block = *site.host.getInsertionBlock();
  Operation *before = lastOf(block);
  FailureOr<Tokens> tokens = computeTokens(value);
  for (tile::LaunchOp launch : launchesAfter(block, before, ofTokens))
    ofTokens.insert(launch);
  return tokens;
}

FailureOr<Tokens> HostBuilder::computeTokens(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto project = dyn_cast_or_null<attn::ProjectOp>(op))
    return computeProjection(project);
  if (auto compress = dyn_cast_or_null<attn::CompressOp>(op))
    return computeCompression(compress);
  if (auto transposed = transposedCompression(value))
    return computeTransposed(*transposed, missing.contains(value) ? outputOf(value) : Output());
  if (op)
    if (std::optional<LogicalResult> eva = computeEva(op)) {
      if (failed(*eva))
        return failure();
      return *placeOf(value);
    }
  if (auto lepe = dyn_cast_or_null<attn::LepeGradientOp>(op)) {
    FailureOr<Tokens> like = read(lepe.getValue());
    if (failed(like))
      return failure();
    Tokens result = workspaceFor(value, like->memory);
    if (failed(writeLepeValues(lepe, result)))
      return failure();
    return result;
  }
  if (isa_and_nonnull<attn::PoolOp, attn::UnpoolOp>(op))
    return computePooled(op);
  if (auto sketch = dyn_cast_or_null<attn::SketchOp>(op))
    return computeSketch(sketch);
  if (auto gradient = dyn_cast_or_null<attn::SketchGradientOp>(op))
    return computeSketchGradient(gradient);
  if (auto map = dyn_cast_or_null<attn::MapOp>(op); map && !ruleOf(map))
    return computeSquare(map);
  if (auto gradient = dyn_cast_or_null<attn::MapGradientOp>(op); gradient && !ruleOf(gradient))
    return computeSquareGradient(gradient);
  if (auto take = dyn_cast_or_null<attn::TakeFromBlocksOp>(op))
    return computeTaken(take);
  if (auto place = dyn_cast_or_null<attn::PlaceInBlocksOp>(op))
    return computePlaced(place);
  // An attention that another op reads.
  Value rows = rowsBehind(value);
  if (rows == value)
    return emitError(value.getLoc()) << "expected tokens that a kernel can read, but got "
                                     << (op ? op->getName().getStringRef() : "an argument of another shape") << " (not supported yet)";
  FailureOr<Tokens> source = read(rows);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(value);
  Output output = missing.contains(value) ? outputOf(value) : Output{workspaceFor(value, source->memory).memory, 0, std::nullopt};
  if (failed(write(value, output)))
    return failure();
  return Tokens{output.memory, output.firstHead, shape[1], shape[3], {}};
}

/// Means of runs of tokens, or the transpose of that.
FailureOr<Tokens> HostBuilder::computePooled(Operation *op) {
  bool pools = isa<attn::PoolOp>(op);
  Value source = op->getOperand(0), like = pools ? source : op->getOperand(1);
  Tokens rows, tokens;
  if (failed(readAll({{source, &rows}, {like, &tokens}})))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(tokens.memory, 0), count = host.dim(tokens.memory, 2);
  int64_t runs = shapeOf(pools ? op->getResult(0) : source)[2];
  Value memory = pools ? site.workspace({ShapedType::kDynamic, shape[1], runs, shape[3]}, batch)
                       : site.workspace({ShapedType::kDynamic, shape[1], ShapedType::kDynamic, shape[3]}, {batch, count});
  Tokens result{memory, 0, shape[1], shape[3], {}};
  Problem problem = startProblem();
  problem.query = rows;
  if (failed(buildKernel((pools ? poolRegion : unpoolRegion)(problem, result))))
    return failure();
  return result;
}

/// Says that a kernel is a product and no more, where it is: of plain weights, with operands as they are stored.
static void markProduct(tile::KernelOp kernel, Value x, const TokenProjection &projection, const Tokens &result) {
  auto tokens = cast<MemRefType>(x.getType()), weights = cast<MemRefType>(projection.weight.getType()),
       out = cast<MemRefType>(result.memory.getType());
  Type type = tokens.getElementType();
  bool gpu = kernel.getSchedule()->getTarget() == tile::TargetKind::GPU;
  if (gpu && !projection.bias && !projection.transposed && weights.getRank() == 2 && weights.getElementType() == type &&
      kernel.getSchedule()->getOperand() == type && out.getElementType().isF32() && out.getDimSize(1) == result.heads)
    tile::Product{type, result.heads, result.width, weights.getDimSize(0)}.mark(kernel);
}

LogicalResult HostBuilder::buildProjection(Value x, const TokenProjection &projection, const Tokens &result) {
  Problem problem = startProblem();
  problem.query = {x, 0, result.heads, result.width, {}, projection};
  problem.value.width = result.width, problem.output.memory = result.memory;
  FailureOr<tile::KernelOp> kernel = buildKernel(projectionRegion(problem));
  if (failed(kernel))
    return failure();
  markProduct(*kernel, x, projection, result);
  return success();
}

FailureOr<Tokens> HostBuilder::computeProjection(attn::ProjectOp op) {
  Value source = modelMemory(op.getSource());
  if (!source)
    return op.emitOpError() << "expected an argument of the function to project (others are not supported yet)";
  if (attn::isFolded(op))
    return computeFolded(op, source);
  FailureOr<TokenProjection> projection = projectionOf(op);
  if (failed(projection))
    return failure();
  if (attn::isInReader(op)) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    return Tokens{source, 0, shape[1], shape[3], {}, *projection};
  }
  Tokens result = workspaceFor(op.getResult(), source);
  if (failed(buildProjection(source, *projection, result)))
    return failure();
  return result;
}

/// ω·token in the place of the tokens.
FailureOr<Tokens> HostBuilder::computeFolded(attn::ProjectOp op, Value source) {
  WeightMemory folded = prepared.lookup(*foldedWeight(op)); // what cannot be folded was refused when it was to be prepared
  ArrayRef<int64_t> shape = cast<MemRefType>(folded.matrix.getType()).getShape(); // [H, D, m]
  if (attn::isInReader(op))
    return Tokens{source, 0, shape[0], shape[2], {}, TokenProjection{folded.matrix, folded.shift}};
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value memory = site.workspace({dynamic, shape[0], dynamic, shape[2]}, {host.dim(source, 0), host.dim(source, 1)});
  Tokens result{memory, 0, shape[0], shape[2], {}};
  if (failed(buildProjection(source, {folded.matrix, folded.shift}, result)))
    return failure();
  return result;
}

/// E as `prepare` packs it, if it does and a tile of tokens lies within a block, or as it is.
Value HostBuilder::packedOr(const std::optional<PreparedWeight> &packing, Value weight) const {
  Value packed = packing && tile::slotTokens % schedule.getKeyTile() == 0 ? prepared.lookup(*packing).matrix : Value();
  return packed ? packed : weight;
}

Value HostBuilder::weightOf(attn::CompressOp op) const { return packedOr(packedWeight(op), memory(op.getWeight())); }

/// E goes first: the input is compressed once for all heads, and for keys and values if they have one E; then slots are
/// projected.
FailureOr<Tokens> HostBuilder::computeSlots(attn::CompressOp op, attn::ProjectOp project) {
  FailureOr<TokenProjection> projection = projectionOf(project);
  if (failed(projection))
    return failure();
  Value source = memory(project.getSource()), weight = weightOf(op), bias = projection->bias;
  if (!source || ShapedType::isDynamic(cast<MemRefType>(source.getType()).getDimSize(2)))
    return op.emitOpError() << "expected an argument of known width to compress before its projection (others are not "
                               "supported yet)";
  Problem problem = startProblem();
  problem.lengths = memory(op.getLengths());
  auto key = std::tuple(source.getAsOpaquePointer(), weight.getAsOpaquePointer(), problem.lengths.getAsOpaquePointer());
  auto [place, missing] = inputs.try_emplace(key);
  CompressedInput &input = place->second;
  TileBuilder host(site.host, site.loc);
  problem.key.memory = source;
  if (missing) {
    input = allocateInput(site, source, weight);
    if (failed(buildKernel(inputCompressionRegion(problem, weight, input))))
      return failure();
  }
  if (bias && !input.sums) {
    ArrayRef<int64_t> slots = cast<MemRefType>(input.slots.getType()).getShape(); // [batch, heads of E, blocks, k, columns]
    input.sums = site.workspace({ShapedType::kDynamic, slots[1], slots[3]}, host.dim(source, 0));
    if (failed(buildKernel(weightSumsRegion(problem, weight, input.sums))))
      return failure();
  }
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  Value own = site.workspace({ShapedType::kDynamic, shape[1], shape[2], shape[3]}, host.dim(source, 0));
  Tokens result{orKept(op.getResult(), own), 0, shape[1], shape[3], {}};
  if (failed(buildKernel(slotProjectionRegion(problem, input, *projection, result))))
    return failure();
  return result;
}

/// Of features the tokens are read and mapped in the load: the features of all tokens are never stored.
FailureOr<Tokens> HostBuilder::computeCompression(attn::CompressOp op) {
  if (attn::ProjectOp project = attn::projectionAfter(op))
    return computeSlots(op, project);
  auto map = op.getSource().getDefiningOp<attn::MapOp>();
  FailureOr<Tokens> source = read(map ? map.getSource() : op.getSource());
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  TileBuilder host(site.host, site.loc);
  Value own = site.workspace({ShapedType::kDynamic, shape[1], shape[2], shape[3]}, host.dim(source->memory, 0));
  Tokens result{orKept(op.getResult(), own), 0, shape[1], shape[3], {}};
  Problem problem = startProblem();
  problem.key = *source;
  problem.lengths = memory(op.getLengths());
  RegionDraft draft(*this, problem, RegionPlanner::OfKeys);
  fusion::Source mapped = map ? draft.read(map.getResult(), {fusion::Axis::Key, fusion::Axis::Head, shape[1]}) : nullptr;
  if (failed(buildKernel(compressionRegion(problem, weightOf(op), result, mapped, featureWidths(op.getSource())))))
    return failure();
  return result;
}
