//===- PreparedWeights.cpp - Weights packed or folded once ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pack:        parallel over (head, block of D)     W [64, d of the head]
//   pack:        parallel over (head, blocks of N, k) E [64 slots, 64 tokens]; past N it is 0
//   pack:        parallel over (head)                 w [taps, dv] of a convolution
//   fold:        parallel over (head, block of D)     P [64, m] = W [64, d of the head] ωᵀ
//   fold_bias:   parallel over (head)                 c [m] = ω b
//
//===----------------------------------------------------------------------===//
#include "PreparedWeights.h"

#include "KernelFrame.h"
#include "Planner/TermRules.h"
#include "Taps.h"
#include "attune/Tile/KernelSizes.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using tile::modelTile;
using tile::slotTokens;

//===----------------------------------------------------------------------===//
// What to prepare
//===----------------------------------------------------------------------===//

std::optional<unsigned> kernel::parameterNumber(Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  bool parameter = function && function.getArgAttr(argument.getArgNumber(), "attn.parameter");
  return parameter ? std::optional(argument.getArgNumber()) : std::nullopt;
}

FailureOr<PreparedWeight> kernel::foldedWeight(attn::ProjectOp op) {
  auto map = op.getResult().hasOneUse() ? dyn_cast<attn::MapOp>(*op.getResult().getUsers().begin()) : attn::MapOp();
  auto type = cast<RankedTensorType>(op.getWeight().getType());
  std::optional<unsigned> weight = parameterNumber(op.getWeight()), bias = parameterNumber(op.getBias());
  std::optional<unsigned> omega = map ? parameterNumber(map.getParameter()) : std::nullopt;
  if (!weight || !omega || (op.getBias() && !bias) || !type.hasStaticShape())
    return op.emitOpError() << "expected a folded projection of parameters, read by one feature map with omega, but got "
                               "another";
  auto features = cast<RankedTensorType>(map.getResult().getType());
  int64_t heads = features.getDimSize(1), m = features.getDimSize(3);
  Type f32 = Float32Type::get(op.getContext());
  return PreparedWeight{*weight, omega, bias, cast<RankedTensorType>(op.getResult().getType()).getDimSize(3),
                        MemRefType::get({heads, type.getDimSize(0), m}, f32),
                        bias ? MemRefType::get({heads * m}, f32) : MemRefType()};
}

/// Nothing for one head, whose rows follow one another as they are, and for small types: those are widened on the way
/// into a product, which hides how they lie.
std::optional<PreparedWeight> kernel::packedWeight(attn::ProjectOp op) {
  auto type = cast<RankedTensorType>(op.getWeight().getType()), result = cast<RankedTensorType>(op.getResult().getType());
  std::optional<unsigned> weight = parameterNumber(op.getWeight());
  if (!weight || !type.hasStaticShape() || !type.getElementType().isF32() || result.getDimSize(1) == 1)
    return std::nullopt;
  int64_t heads = result.getDimSize(1), d = result.getDimSize(3);
  return PreparedWeight{*weight, std::nullopt, std::nullopt, d,
                        MemRefType::get({heads, type.getDimSize(0), d}, type.getElementType()), MemRefType()};
}

/// A tile of E as it is has each row on a page of its own, and rows a power of two apart fall into few sets of the cache.
static std::optional<PreparedWeight> packedSlots(Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  std::optional<unsigned> weight = parameterNumber(source);
  if (!weight || !type.hasStaticShape() || type.getDimSize(2) <= slotTokens)
    return std::nullopt;
  int64_t blocks = llvm::divideCeil(type.getDimSize(2), slotTokens);
  return PreparedWeight{
      *weight, std::nullopt, std::nullopt, slotTokens,
      MemRefType::get({type.getDimSize(0), blocks, type.getDimSize(1), slotTokens}, type.getElementType()),
      MemRefType()};
}

std::optional<PreparedWeight> kernel::packedWeight(attn::CompressOp op) { return packedSlots(op.getWeight()); }
std::optional<PreparedWeight> kernel::packedWeight(attn::ContractOp op) {
  return transposesCompression(op) ? packedSlots(op.getRhs()) : std::nullopt;
}

/// Tiles of W [H·dv, D] as it is have rows D numbers apart, which are copied before every product.
std::optional<PreparedWeight> kernel::packedWeight(attn::ProjectOutputOp op) {
  auto type = cast<RankedTensorType>(op.getWeight().getType());
  std::optional<unsigned> weight = parameterNumber(op.getWeight());
  if (!weight || attn::isInEpilogue(op) || !type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getDimSize(1) <= modelTile)
    return std::nullopt;
  int64_t blocks = llvm::divideCeil(type.getDimSize(1), modelTile);
  return PreparedWeight{*weight, std::nullopt, std::nullopt, modelTile,
                        MemRefType::get({blocks, type.getDimSize(0), modelTile}, type.getElementType()), MemRefType()};
}

/// The weights of a tap as they are lie a number for each channel, and every tile of tokens would gather them.
static std::optional<PreparedWeight> packedTaps(Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  std::optional<unsigned> weight = parameterNumber(source);
  if (!weight || !type.hasStaticShape())
    return std::nullopt;
  int64_t heads = type.getDimSize(0), dv = type.getDimSize(1), taps = type.getNumElements() / (heads * dv);
  PreparedWeight packed{*weight, std::nullopt, std::nullopt, dv,
                        MemRefType::get({heads, taps, dv}, Float32Type::get(type.getContext())), MemRefType()};
  packed.ofTaps = true;
  return packed;
}

std::optional<PreparedWeight> kernel::packedWeight(attn::LepeOp op) { return packedTaps(op.getWeight()); }
std::optional<PreparedWeight> kernel::packedWeight(attn::LepeGradientOp op) { return packedTaps(op.getWeight()); }

FailureOr<SmallVector<PreparedWeight>> kernel::preparedWeights(ArrayRef<func::FuncOp> plans, tile::TargetKind target) {
  SmallVector<PreparedWeight> all;
  auto place = [](const PreparedWeight &one) { return std::pair(one.weight, one.folded()); };
  auto add = [&](PreparedWeight next) {
    if (llvm::any_of(all, [&](const PreparedWeight &other) { return other.sameAs(next); }))
      return;
    next.copy = llvm::count_if(all, [&](const PreparedWeight &other) { return place(other) == place(next); });
    all.push_back(next);
  };
  auto addPacked = [&](auto op) {
    if (std::optional<PreparedWeight> packed = packedWeight(op); packed && target == tile::TargetKind::CPU)
      add(*packed);
  };
  for (func::FuncOp plan : plans) {
    for (auto op : plan.getOps<attn::ProjectOp>()) {
      if (attn::isFolded(op)) {
        FailureOr<PreparedWeight> folded = foldedWeight(op);
        if (failed(folded))
          return failure();
        add(*folded);
      } else {
        addPacked(op);
      }
    }
    llvm::for_each(plan.getOps<attn::ProjectOutputOp>(), addPacked);
    llvm::for_each(plan.getOps<attn::CompressOp>(), addPacked);
    llvm::for_each(plan.getOps<attn::ContractOp>(), addPacked);
    llvm::for_each(plan.getOps<attn::LepeOp>(), addPacked);
    llvm::for_each(plan.getOps<attn::LepeGradientOp>(), addPacked);
  }
  llvm::stable_sort(all, [&](const PreparedWeight &a, const PreparedWeight &b) { return place(a) < place(b); });
  return all;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// ω of a head [m, d].
static Value omegaOf(TileBuilder &tiles, Value memory, Value head) {
  auto type = cast<MemRefType>(memory.getType());
  Value c0 = tiles.index(0), which = type.getDimSize(0) > 1 ? head : c0;
  return tiles.cast(tiles.load(memory, {which, c0, c0}, {type.getDimSize(1), type.getDimSize(2)}),
                    tiles.builder.getF32Type());
}

/// The first column of W, or entry of b, that belongs to a head of P. Several heads of P may share a head of W.
static Value firstColumn(TileBuilder &tiles, const PreparedWeight &prepared, Value source, Value head) {
  int64_t heads = cast<MemRefType>(source.getType()).getShape().back() / prepared.width;
  return tiles.mul(tiles.div(head, prepared.matrix.getDimSize(0) / heads), prepared.width);
}

/// {heads, blocks of D}.
static SmallVector<Value> gridOf(TileBuilder &host, const PreparedWeight &prepared) {
  return {host.index(prepared.matrix.getDimSize(0)),
          host.index(llvm::divideCeil(prepared.matrix.getDimSize(1), modelTile))};
}

static void buildMatrix(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value weight, Value omega,
                        Value result) {
  KernelFrame frame(site, problem, "fold", {tile::Axis::Head, tile::Axis::QueryBlock}, {weight, omega, result});
  TileBuilder &tiles = frame.tiles;
  int64_t d = prepared.width, m = prepared.matrix.getDimSize(2);
  Value head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), modelTile);
  Value column = firstColumn(tiles, prepared, frame[weight], head);
  Value w = tiles.cast(tiles.load(frame[weight], {first, column}, {modelTile, d}), tiles.builder.getF32Type()); // [64, d]
  Value o = omegaOf(tiles, frame[omega], head);                                                               // [m, d]
  Value p = tiles.dot(w, o, tiles.constant({modelTile, m}, 0), false, true);                                  // [64, m]
  tiles.store(p, frame[result], {head, first, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, gridOf(host, prepared));
}

static void buildShift(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value bias, Value omega,
                       Value result) {
  KernelFrame frame(site, problem, "fold_bias", {tile::Axis::Head}, {bias, omega, result});
  TileBuilder &tiles = frame.tiles;
  int64_t d = prepared.width, m = prepared.matrix.getDimSize(2);
  Value head = tiles.programId(tile::Axis::Head), column = firstColumn(tiles, prepared, frame[bias], head);
  Value b = tiles.cast(tiles.load(frame[bias], column, d), tiles.builder.getF32Type());     // [d]
  Value products = tiles.times(omegaOf(tiles, frame[omega], head), tiles.expand(b, 0, {m, d})); // [m, d]
  tiles.store(tiles.reduceAdd(products, 1), frame[result], tiles.mul(head, m));             // [m]
  TileBuilder host(site.host, site.loc);
  frame.finish(site, host.index(prepared.matrix.getDimSize(0)));
}

static void buildPacked(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value weight,
                        Value result) {
  KernelFrame frame(site, problem, "pack", {tile::Axis::Head, tile::Axis::QueryBlock}, {weight, result});
  TileBuilder &tiles = frame.tiles;
  Value head = tiles.programId(tile::Axis::Head), column = tiles.mul(head, prepared.width);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), modelTile);
  Value w = tiles.load(frame[weight], {first, column}, {modelTile, prepared.width}); // [64, d]
  tiles.store(w, frame[result], {head, first, tiles.index(0)});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, gridOf(host, prepared));
}

static void buildPackedSlots(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value weight,
                             Value result) {
  KernelFrame frame(site, problem, "pack", {tile::Axis::Head, tile::Axis::QueryBlock}, {weight, result});
  TileBuilder &tiles = frame.tiles;
  ArrayRef<int64_t> shape = prepared.matrix.getShape(); // [W, blocks, k, 64]
  int64_t rows = std::min(shape[2], slotTokens), slotBlocks = llvm::divideCeil(shape[2], rows);
  Value head = tiles.programId(tile::Axis::Head), number = tiles.programId(tile::Axis::QueryBlock);
  Value block = tiles.div(number, slotBlocks), slot = tiles.mul(tiles.sub(number, tiles.mul(block, slotBlocks)), rows);
  Value e = tiles.load(frame[weight], {head, slot, tiles.mul(block, slotTokens)}, {rows, slotTokens}); // [64, 64]
  tiles.store(e, frame[result], {head, block, slot, tiles.index(0)});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.index(shape[0]), host.index(shape[1] * slotBlocks)});
}

static void buildPackedTaps(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value weight,
                            Value result) {
  KernelFrame frame(site, problem, "pack", {tile::Axis::Head}, {weight, result});
  TileBuilder &tiles = frame.tiles;
  Value head = tiles.programId(tile::Axis::Head), taps = flatTaps(tiles, frame[weight]);
  for (int64_t tap = 0; tap < prepared.matrix.getDimSize(1); ++tap)
    tiles.store(weightsOfTap(tiles, taps, head, tap), frame[result], {head, tiles.index(tap), tiles.index(0)}); // [dv]
  TileBuilder host(site.host, site.loc);
  frame.finish(site, host.index(prepared.matrix.getDimSize(0)));
}

void kernel::buildPreparedWeight(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, Value weight,
                                 Value bias, Value omega, const WeightMemory &result) {
  if (prepared.ofTaps)
    return buildPackedTaps(site, problem, prepared, weight, result.matrix);
  if (prepared.ofSlots())
    return buildPackedSlots(site, problem, prepared, weight, result.matrix);
  if (!prepared.folded())
    return buildPacked(site, problem, prepared, weight, result.matrix);
  buildMatrix(site, problem, prepared, weight, omega, result.matrix);
  if (result.shift)
    buildShift(site, problem, prepared, bias, omega, result.shift);
}
