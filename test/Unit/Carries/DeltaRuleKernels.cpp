//===- DeltaRuleKernels.cpp - The gated delta rule in chunks --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a chunk of C tokens, with G_i = Σ_{t ≤ i} g_t in the chunk and S the state before it:
//
//     L_ij = β_i ⟨k_i, k_j⟩ e^{G_i − G_j} (j < i),    P_ij = s ⟨q_i, k_j⟩ e^{G_i − G_j} (j ≤ i),    T = (I + L)⁻¹
//     U = T β ⊙ (V − (e^G ⊙ K) S),    O = s (e^G ⊙ Q) S + P U,    S' = e^{G_C} S + (e^{G_C − G} ⊙ K)ᵀ U
//
// and backwards, with Λ the gradient of the state behind it:
//
//     Ū = Pᵀ R + (e^{G_C − G} ⊙ K) Λ,    V̄ = β ⊙ (Tᵀ Ū),    Λ' = e^{G_C} Λ + s (e^G ⊙ Q)ᵀ R − (e^G ⊙ K)ᵀ V̄
//
// Differences G_i − G_j are sums of g over j < t ≤ i, never differences of sums. T is built from blocks of 1, 2, 4, …
// rows: with T the inverses of the diagonal blocks and L' the block below each pair of them, T − T L' T are those of
// twice the size. The product of (I + (−L)^(2^k)) would need as many dots, but passes through binomials of C where
// keys are parallel.
//
//===----------------------------------------------------------------------===//
#include "DeltaRule.h"

#include "attune/Tile/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::test;
using tile::TileBuilder;

namespace {
/// The arguments of the kernel at one head.
struct Memories {
  Value q, k, rows, g, beta, initial, results, state;
  Value head, tokens; ///< indices
};

/// What is known of a chunk without a state.
struct Chunk {
  Value q, k, rows;   ///< [C, m], [C, m], [C, dv]; q times s
  Value beta;         ///< [C]
  Value start, end;   ///< e^{G_i}, e^{G_C − G_i} [C]
  Value whole;        ///< e^{G_C} [m]
  Value pairs;        ///< P [C, C]
  Value inverse;      ///< T [C, C]
};
} // namespace

/// Each row times a number: `factors` [R].
static Value scaleRows(TileBuilder &tiles, Value tile, Value factors) {
  return tiles.times(tile, tiles.expand(factors, 1, tiles.shape(tile)));
}

static Value zeros(TileBuilder &tiles, int64_t rows, int64_t columns) { return tiles.constant({rows, columns}, 0); }

/// Elements (i, j) with j ≤ i + diagonal.
static Value lower(TileBuilder &tiles, Value square, double fill, int64_t diagonal) {
  return tiles.mask(square, fill, {}, {}, tiles.index(diagonal));
}

/// 1 where j is in an even and i in the next block of `size`, of pairs of blocks [C, C].
static Value pairsOfBlocks(TileBuilder &tiles, int64_t chunk, int64_t size) {
  std::vector<float> elements;
  for (int64_t i = 0; i < chunk; ++i)
    for (int64_t j = 0; j < chunk; ++j)
      elements.push_back(i / size % 2 == 1 && j / size == i / size - 1);
  auto type = RankedTensorType::get({chunk, chunk}, tiles.builder.getF32Type());
  return arith::ConstantOp::create(tiles.builder, tiles.loc, DenseElementsAttr::get(type, ArrayRef<float>(elements)));
}

/// (I + L)⁻¹ of a strictly lower L [C, C].
static Value unitInverse(TileBuilder &tiles, Value below) {
  int64_t chunk = tiles.shape(below)[0];
  Value ones = tiles.constant({chunk, chunk}, 1), zero = zeros(tiles, chunk, chunk);
  Value inverse = tiles.minus(lower(tiles, ones, 0, 0), lower(tiles, ones, 0, -1)); // I
  for (int64_t size = 1; size < chunk; size *= 2) {
    Value blocks = tiles.times(below, pairsOfBlocks(tiles, chunk, size));
    Value product = tiles.exactDot(tiles.exactDot(inverse, blocks, zero), inverse, zero);
    inverse = tiles.minus(inverse, product);
  }
  return inverse;
}

static Chunk loadChunk(TileBuilder &tiles, const DeltaSizes &sizes, const Memories &memories, Value first) {
  int64_t size = sizes.chunk;
  SmallVector<int64_t> square{size, size};
  Value zero = tiles.index(0);
  auto load = [&](Value memory, int64_t width) {
    return tiles.load(memory, {memories.head, first, zero}, {size, width}, memories.tokens);
  };
  auto loadNumbers = [&](Value memory) { return tiles.load(memory, {memories.head, first}, {size}, memories.tokens); };
  Chunk chunk;
  chunk.q = tiles.times(load(memories.q, sizes.features),
                        tiles.constant({size, sizes.features}, 1 / std::sqrt(double(sizes.features))));
  chunk.k = load(memories.k, sizes.features);
  chunk.rows = load(memories.rows, sizes.values);
  chunk.beta = loadNumbers(memories.beta);
  Value g = loadNumbers(memories.g);
  Value later = lower(tiles, tiles.expand(g, 1, square), 0, -1); // (t, j): g_t for j < t
  Value upTo = lower(tiles, tiles.expand(g, 0, square), 0, 0);   // (i, t): g_t for t ≤ i
  Value differences = tiles.exactDot(lower(tiles, tiles.constant(square, 1), 0, 0), later, zeros(tiles, size, size));
  Value decays = tiles.exp(lower(tiles, differences, -INFINITY, 0)); // e^{G_i − G_j} for j ≤ i, else 0
  chunk.start = tiles.exp(tiles.reduceAdd(upTo, 1));
  chunk.end = tiles.exp(tiles.reduceAdd(later, 0));
  chunk.whole = tiles.exp(tiles.reduceAdd(tiles.expand(g, 0, {sizes.features, size}), 1));
  auto products = [&](Value left) { return tiles.exactDot(left, chunk.k, zeros(tiles, size, size), false, true); };
  chunk.pairs = tiles.times(products(chunk.q), decays);
  Value erased = tiles.times(products(scaleRows(tiles, chunk.k, chunk.beta)), decays);
  chunk.inverse = unitInverse(tiles, lower(tiles, erased, 0, -1));
  return chunk;
}

/// O [C, dv] and S'.
static std::pair<Value, Value> forwardStep(TileBuilder &tiles, const Chunk &chunk, Value state) {
  SmallVector<int64_t> rows(tiles.shape(chunk.rows));
  Value zero = tiles.constant(rows, 0);
  Value held = tiles.exactDot(scaleRows(tiles, chunk.k, chunk.start), state, zero);
  Value wanted = scaleRows(tiles, tiles.minus(chunk.rows, held), chunk.beta);
  Value written = tiles.exactDot(chunk.inverse, wanted, zero); // U
  Value read = tiles.exactDot(scaleRows(tiles, chunk.q, chunk.start), state, zero);
  Value output = tiles.exactDot(chunk.pairs, written, read);
  Value kept = scaleRows(tiles, state, chunk.whole);
  return {output, tiles.exactDot(scaleRows(tiles, chunk.k, chunk.end), written, kept, /*transposeA=*/true)};
}

/// V̄ [C, dv] and Λ'.
static std::pair<Value, Value> reverseStep(TileBuilder &tiles, const Chunk &chunk, Value state) {
  SmallVector<int64_t> rows(tiles.shape(chunk.rows));
  Value zero = tiles.constant(rows, 0);
  Value own = tiles.exactDot(chunk.pairs, chunk.rows, zero, /*transposeA=*/true);
  Value written = tiles.exactDot(scaleRows(tiles, chunk.k, chunk.end), state, own); // Ū
  Value output = scaleRows(tiles, tiles.exactDot(chunk.inverse, written, zero, /*transposeA=*/true), chunk.beta);
  Value kept = scaleRows(tiles, state, chunk.whole);
  Value read = tiles.exactDot(scaleRows(tiles, chunk.q, chunk.start), chunk.rows, kept, /*transposeA=*/true);
  Value early = scaleRows(tiles, chunk.k, chunk.start);
  return {output, tiles.exactDot(early, tiles.negate(output), read, /*transposeA=*/true)};
}

static tile::KernelOp frame(OpBuilder &builder, const DeltaSizes &sizes, ModuleOp module) {
  auto memory = [&](ArrayRef<int64_t> shape) { return Type(MemRefType::get(shape, builder.getF32Type())); };
  int64_t any = ShapedType::kDynamic;
  Type features = memory({any, any, sizes.features}), values = memory({any, any, sizes.values});
  Type numbers = memory({any, any});
  Type state = memory({any, sizes.features, sizes.values});
  builder.setInsertionPointToEnd(module.getBody());
  return tile::KernelOp::create(builder, module.getLoc(), "delta",
                                TypeRange{features, features, values, numbers, numbers, state, values, state},
                                ArrayRef{tile::Axis::Head}, tile::ScheduleAttr());
}

OwningOpRef<ModuleOp> test::deltaKernel(MLIRContext &context, const DeltaSizes &sizes, Direction direction,
                                        tile::CarryAttrInterface carry, bool stores) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  tile::KernelOp kernel = frame(builder, sizes, *module);
  auto arguments = kernel.getBody().getArguments();
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  TileBuilder tiles(builder, builder.getUnknownLoc());
  Memories memories{arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[6],
                    arguments[7], tiles.programId(tile::Axis::Head), tiles.dim(arguments[0], 1)};
  SmallVector<Value> origin{memories.head, tiles.index(0), tiles.index(0)};
  Value initial = tiles.load(memories.initial, origin, {sizes.features, sizes.values});
  auto body = [&](OpBuilder &inner, Location loc, Value first, ValueRange carried) {
    TileBuilder step(inner, loc);
    Chunk chunk = loadChunk(step, sizes, memories, first);
    auto [output, next] = direction == Direction::Forward ? forwardStep(step, chunk, carried[0])
                                                          : reverseStep(step, chunk, carried[0]);
    if (stores)
      step.store(output, memories.results, {memories.head, first, step.index(0)}, memories.tokens);
    tile::YieldOp::create(inner, loc, next);
  };
  auto loop = tile::LoopOp::create(builder, tiles.loc, carry, tiles.index(0), memories.tokens, sizes.chunk, initial,
                                   body, direction == Direction::Reverse);
  tiles.store(loop.getResult(0), memories.state, origin);
  tile::ReturnOp::create(builder, tiles.loc);
  return module;
}
