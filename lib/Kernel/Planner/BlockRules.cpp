//===- BlockRules.cpp - Tokens in blocks that runs share, and given states ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   take_from_blocks, place_in_blocks:  parallel over (batch, head, block of rows)    rows of blocks, or of a part of them
//   true_state:                         parallel over (batch, head, block of rows)    e^c S, and e^c z
//   add of states:                      the same                                      S + S', or z + z'
//
//===----------------------------------------------------------------------===//
#include "HostBuilder.h"

#include "Regions/HandedState.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "Terms.h"
#include "attune/Attn/Backward.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Blocks of the rows of `memory` [batch, heads, rows, …].
static KernelRegion rowsRegion(const Problem &problem, StringRef suffix, Value memory) {
  auto extents = std::make_shared<Extents>();
  (*extents)[Axis::Batch] = {memory, 0}, (*extents)[Axis::Head].count = cast<MemRefType>(memory.getType()).getDimSize(1);
  (*extents)[Axis::Query] = {memory, 2};
  return {problem.name, suffix.str(), problem.schedule,
          {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head}, {Axis::Query, tile::Axis::QueryBlock, problem.queryTile()}}, extents, {}};
}

static SmallVector<Dimension, 4> placeOfRows(Value memory, Dimension rows, int64_t firstHead = 0) {
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), {Axis::Head, 1, firstHead}, std::move(rows)};
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  if (shape.size() == 4)
    place.push_back(columnsOf(shape[3]));
  return place;
}

/// The rows of a state, numbers of one or what is held of a block, that a run may leave out.
static Source rowsOfState(Value memory) {
  Dimension rows = kernel::rowsOf(Axis::Query);
  rows.limit = limitOfGiven(memory, cast<MemRefType>(memory.getType()).getDimSize(2));
  return fusion::memory(memory, placeOfRows(memory, rows));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// A memory that a run leaves out is read as zeros by tiles alone: places of rows are made of this copy.
Value HostBuilder::positionOf(Value position, Value like) {
  Value &known = positions[position];
  if (known)
    return known;
  TileBuilder host(site.host, site.loc);
  Problem problem = startProblem();
  problem.key.memory = like;
  known = site.workspace({ShapedType::kDynamic}, host.dim(like, 0), site.host.getI32Type());
  KernelRegion region = stateKernel(RegionPlanner(problem, RegionPlanner::OfKeys), "position");
  region.grid.pop_back();
  region.outputs = {{term(terms::advanced(0), {beginOf(memory(position))}), known, {{Axis::Batch, 1, 0, 1, 1}}}};
  return succeeded(buildKernel(region)) ? known : Value();
}

namespace {
/// Where the rows of a run lie in blocks.
struct BlockPlaces {
  BlockPlaces(int64_t block, Value position, Value lengths, const Index &run) {
    before = Index(0);
    if (position) {
      Index place = Index::length(position, std::numeric_limits<int32_t>::max());
      before = place - place / block * block;
    }
    end = before + (lengths ? Index::length(lengths, run) : run), whole = end / block * block;
  }

  /// The row of blocks that a part begins with, and the one behind its last.
  std::pair<Index, Index> rowsOf(attn::BlockPart part) const {
    switch (part) {
    case attn::BlockPart::Run:
      return {before, end};
    case attn::BlockPart::Held:
      return {0, before};
    case attn::BlockPart::Whole:
      return {0, whole};
    case attn::BlockPart::Last:
      return {whole, end};
    }
    llvm_unreachable("a part of blocks");
  }

  Index before, end, whole;
};
} // namespace

/// Places are read on the host's side of kernels, from arguments.
template <typename Op> static LogicalResult expectArguments(Op op) {
  for (Value each : {op.getPosition(), op.getLengths()})
    if (each && !isa<BlockArgument>(each))
      return op.emitOpError() << "expected a position and lengths that are arguments of the function (others are not supported yet)";
  return success();
}

FailureOr<Tokens> HostBuilder::computeTaken(attn::TakeFromBlocksOp op) {
  FailureOr<Tokens> blocks = read(op.getSource());
  if (failed(blocks) || failed(expectArguments(op)))
    return failure();
  auto block = static_cast<int64_t>(op.getBlock());
  if (!blocks->steps.empty() || blocks->projection)
    return op.emitOpError() << "expected blocks of tokens that lie in memory (others are not supported yet)";
  Value position = op.getPosition() ? positionOf(op.getPosition(), blocks->memory) : Value();
  if (op.getPosition() && !position)
    return failure();
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(blocks->memory, 0), all = host.dim(blocks->memory, 2), count = host.index(block);
  if (op.getPart() == attn::BlockPart::Run)
    count = host.sub(all, host.index(block));
  else if (op.getPart() == attn::BlockPart::Whole)
    count = all;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Tokens result{site.workspace({dynamic, blocks->heads, dynamic, blocks->width}, {batch, count}), 0, blocks->heads, blocks->width, {}};
  BlockPlaces places(block, position, memory(op.getLengths()), Index::size(blocks->memory, 2) - block);
  auto [first, end] = places.rowsOf(op.getPart());
  Problem problem = startProblem();
  KernelRegion region = rowsRegion(problem, "taken", result.memory);
  Dimension rows = columnsOf(problem.queryTile());
  rows.at = first + Index::first(Axis::Query), rows.limit = end;
  region.outputs = {{fusion::memory(blocks->memory, placeOfRows(blocks->memory, rows, blocks->firstHead)), result.memory,
                     placeOfRows(result.memory, kernel::rowsOf(Axis::Query))}};
  if (failed(buildKernel(region)))
    return failure();
  return result;
}

FailureOr<Tokens> HostBuilder::computePlaced(attn::PlaceInBlocksOp op) {
  Tokens tokens, like;
  if (failed(expectArguments(op)) || failed(readAll({{op.getSource(), &tokens}})) || (op.getLike() && failed(readAll({{op.getLike(), &like}}))))
    return failure();
  auto block = static_cast<int64_t>(op.getBlock());
  Value rowsLike = like ? like.memory : tokens.memory; // a run may leave out what is held
  Value position = op.getPosition() ? positionOf(op.getPosition(), rowsLike) : Value();
  if (op.getPosition() && !position)
    return failure();
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(rowsLike, 0), count = tokenCount(host, rowsLike);
  Index all = Index::size(rowsLike, cast<MemRefType>(rowsLike.getType()).getRank() - 2);
  if (op.getPart() == attn::BlockPart::Run)
    count = host.add(count, host.index(block)), all = all + block;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Tokens result{site.workspace({dynamic, tokens.heads, dynamic, tokens.width}, {batch, count}), 0, tokens.heads, tokens.width, {}};
  BlockPlaces places(block, position, memory(op.getLengths()), all - block);
  auto [first, end] = places.rowsOf(op.getPart());
  if (isa<BlockArgument>(tokens.memory) && op.getLike()) { // rows that are shifted are read wherever there are some
    Value copy = site.workspace({dynamic, tokens.heads, block, tokens.width}, batch);
    KernelRegion region = rowsRegion(startProblem(), "held", copy);
    region.outputs = {{rowsOfState(tokens.memory), copy, placeOfRows(copy, kernel::rowsOf(Axis::Query))}};
    if (failed(buildKernel(region)))
      return failure();
    tokens.memory = copy;
  }
  Problem problem = startProblem();
  problem.query = tokens;
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  KernelRegion region = rowsRegion(problem, "placed", result.memory);
  Source rows = term(terms::behind(first, end - first), {plan.tokens(tokens, Axis::Query, Axis::Head, tokens.heads)});
  region.outputs = {{rows, result.memory, placeOfRows(result.memory, kernel::rowsOf(Axis::Query))}};
  if (failed(buildKernel(region)))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

Value HostBuilder::stateMemory(Value value, Value like) {
  if (Value result = memory(value))
    return workspaces[value] = result;
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  shape[0] = ShapedType::kDynamic;
  TileBuilder host(site.host, site.loc);
  return workspaces[value] = site.workspace(shape, host.dim(like, 0));
}

/// Whether a run may leave an argument out: parts of states, and what reaches or is left of outputs.
static bool mayBeAbsent(func::FuncOp function, BlockArgument argument) {
  auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name");
  StringRef name = given ? given.getValue() : "";
  bool isState = llvm::any_of(argument.getUsers(), [](Operation *user) { return isa<attn::TrueStateOp>(user); });
  return isState || name.contains('.') || name.starts_with(attn::gradientPrefix) || name.starts_with(attn::savedPrefix);
}

/// Tokens, or the rows of a model, which have as many entries as the run; an error at the op if the function has none.
FailureOr<Value> HostBuilder::batchLike(Operation *op) const {
  auto function = cast<func::FuncOp>(op->getParentOp());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool isTokens = type && type.getRank() >= 3 && isa<FloatType>(type.getElementType()) && !function.getArgAttr(argument.getArgNumber(), "attn.parameter");
    if (isTokens && !mayBeAbsent(function, argument))
      return memory(argument);
  }
  return op->emitOpError() << "expected a function that has tokens, which say how many entries a batch has, but found none among its arguments";
}

static LogicalResult materializeTrueState(Operation *each, HostBuilder &host, const Problem &) {
  auto op = cast<attn::TrueStateOp>(each);
  FailureOr<Value> like = host.batchLike(op);
  if (failed(like))
    return failure();
  Value scale = host.memoryOf(op.getScale());
  int64_t heads = cast<MemRefType>(scale.getType()).getDimSize(1);
  Dimension ofHead{Axis::Head, 1, 0, 1, 1};
  ofHead.limit = limitOfGiven(scale, heads);
  Source by = fusion::memory(scale, {entryOf(Axis::Batch), ofHead});
  for (auto [given, state] : {std::pair<Value, Value>(op.getGivenState(), op.getState()), std::pair<Value, Value>(op.getGivenSum(), op.getSum())}) {
    Value result = host.stateMemory(state, *like);
    KernelRegion region = rowsRegion(host.startProblem(), "true_state", result);
    region.outputs = {{term(terms::unscaled(), {rowsOfState(host.memoryOf(given)), by}), result, placeOfRows(result, kernel::rowsOf(Axis::Query))}};
    if (failed(host.buildKernel(region)))
      return failure();
  }
  return success();
}

static LogicalResult materializeSumOfStates(Operation *each, HostBuilder &host, const Problem &) {
  auto op = cast<attn::AddOp>(each);
  FailureOr<Value> like = host.batchLike(op);
  if (failed(like))
    return failure();
  Value result = host.stateMemory(op.getResult(), *like);
  KernelRegion region = rowsRegion(host.startProblem(), "state_sum", result);
  region.outputs = {{term(terms::plus(), {rowsOfState(host.memoryOf(op.getLhs())), rowsOfState(host.memoryOf(op.getRhs()))}), result,
                     placeOfRows(result, kernel::rowsOf(Axis::Query))}};
  return host.buildKernel(region);
}

const TermRule *kernel::ruleOfSumOfStates() {
  static const TermRule rule{.sides = {Side::Memory, Side::Memory}, .materialize = materializeSumOfStates};
  return &rule;
}

void kernel::addBlockRules(TermRules &rules) {
  rules.add<attn::TrueStateOp>({.sides = {Side::Memory, Side::Memory, Side::Memory}, .materialize = materializeTrueState});
}
