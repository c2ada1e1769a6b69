//===- BlockNeed.cpp - What a thread block of each kernel holds at once ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a kernel of lib/Kernel, as in the Work files: the tiles that are held together at its fullest. Elementwise
// chains without a reduction hold nothing of their own, for they go from one register to the next.
//
//===----------------------------------------------------------------------===//
#include "AttentionTiles.h"
#include "BlockNeed.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;
using namespace attune::cost;

static BlockNeed most(std::initializer_list<BlockNeed> kernels) {
  BlockNeed need;
  for (BlockNeed kernel : kernels)
    need = {std::max(need.registers, kernel.registers), std::max(need.bytes, kernel.bytes)};
  return need;
}

//===----------------------------------------------------------------------===//
// Rows of weights: softmax, polynomials, EVA
//===----------------------------------------------------------------------===//

/// Queries that are operands of `bytes`, and weights beside the output. In f32 keys are split for their product while they
/// are still being read, and rotated keys are still being rotated.
static BlockNeed weightsNeed(const Tiles &t, int64_t width, int64_t bytes) {
  int64_t weights = t.held(t.Tq, t.Tk), keys = t.keySteps();
  int64_t both = t.isF32 || t.shape.keyRope ? weights + keys : std::max(weights, keys);
  return {t.output() + t.operand(t.Tq, width, bytes) + both + t.apart(t.output()),
          t.queryBytes() + t.keyAndValueBytes() + t.operandBytes(t.Tq, t.Tk, bytes)};
}

/// Where keys are split the last piece has the state and a span beside each other.
static BlockNeed softmaxNeed(const Tiles &t) {
  BlockNeed pairs = weightsNeed(t, t.d, t.stored);
  return t.shape.split ? most({pairs, BlockNeed{2 * t.output(), 0}}) : pairs;
}

//===----------------------------------------------------------------------===//
// Kernel attention
//===----------------------------------------------------------------------===//

/// Registers for the features of T tokens on their way: sums of a product whose operands are split, or rows that are
/// reduced before they go on.
static int64_t featuresOnTheWay(const Tiles &t, int64_t rows) {
  if (hasProjection(t))
    return 2 * t.held(rows, t.m) + 8 * llvm::divideCeil(rows, fragmentRows * t.warps.rows);
  bool reduces = t.shape.map && t.shape.map.getKind() == attn::FeatureKind::Focused;
  return std::max(reduces ? 2 * t.held(rows, t.d) : 0, t.keySteps());
}

/// Of what stays, and of omega and what comes after it: with no stages omega is read again for each tile.
static int64_t bytesWithOmega(const Tiles &t, int64_t stays, int64_t after) {
  int64_t omega = omegaBytes(t), tokens = t.keyAndValueBytes();
  if (t.stages > 0)
    return stays + omega + tokens + after;
  return stays + tokens + std::max(omega, after);
}

static BlockNeed quadraticNeed(const Tiles &t) {
  // Weights of f16 kernels are f32 operands beside their accumulators: unnormalised, they pass the range of f16.
  int64_t weights = t.held(t.Tq, t.Tk) * (t.isF16 ? 2 : 1), a = t.operand(t.Tq, t.m, t.mapped);
  int64_t keys = std::max(weights, featuresOnTheWay(t, t.Tk));
  int64_t stays = t.operandBytes(t.Tq, t.m, t.mapped);
  int64_t after = t.Tk * padded(t.m) * t.mapped + t.operandBytes(t.Tq, t.Tk, t.mapped);
  int64_t registers = std::max(t.output() + a + keys + t.apart(t.output()), featuresOnTheWay(t, t.Tq));
  return {registers, bytesWithOmega(t, std::max(stays, t.queryBytes()), after)};
}

/// Registers for S: that of the pair of cosFormer is two, of m / 2 rows each.
static int64_t heldState(const Tiles &t) {
  bool isPair = t.shape.map && t.shape.map.getKind() == attn::FeatureKind::Cosformer;
  return isPair ? 2 * t.held(t.m / 2, t.dv) : t.held(t.m, t.dv);
}

/// The state stays in registers, and where products read it; omega serves both sides.
static BlockNeed fusedNeed(const Tiles &t, int64_t features, int64_t rows) {
  int64_t state = heldState(t);
  int64_t keys = t.keyAndValueBytes() + t.Tk * padded(t.m) * t.mapped;
  int64_t queries = 4 * padded(t.m) * padded(t.dv) + std::max<int64_t>(1, t.stages) * t.queryBytes() +
                    t.operandBytes(t.Tq, t.m, 4);
  // Parts of f32 operands of the map and of the readout, which the loop over queries has at once.
  int64_t parts = t.isF32 && hasProjection(t) ? t.held(t.Tq, t.m) : 0;
  return {state + std::max({features, rows, t.apart(state)}) + parts, omegaBytes(t) + std::max(keys, queries)};
}

static BlockNeed stateNeed(const Tiles &t) {
  if (t.shape.fused)
    return fusedNeed(t, std::max(t.held(t.Tk, t.m), featuresOnTheWay(t, std::max(t.Tq, t.Tk))),
                     t.held(t.Tq, t.m) + t.output() + t.apart(t.output()));
  int64_t state = heldState(t);
  // Of f32 the projection's first operand is in parts beside its sums.
  int64_t features = t.isF32 ? std::max(t.held(t.Tk, t.m), featuresOnTheWay(t, t.Tk)) : t.held(t.Tk, t.m);
  BlockNeed pieces{state + std::max(features, t.apart(state)),
                   bytesWithOmega(t, 0, t.Tk * padded(t.m) * t.mapped)};
  BlockNeed merge{2 * state, 0};
  // Features of queries are f32 operands, since the state is.
  BlockNeed readout{std::max(t.held(t.Tq, t.m) + t.output() + t.apart(t.output()), featuresOnTheWay(t, t.Tq)),
                    std::max(omegaBytes(t), 4 * padded(t.m) * padded(t.dv)) + t.queryBytes() +
                        t.operandBytes(t.Tq, t.m, 4)};
  return most({pieces, merge, readout});
}

/// Weights and state have the same second operand V. Of f32 the assembler keeps what it has read of it for the first product,
/// if that is the whole of it.
static int64_t valuesBetween(const Tiles &t) {
  return t.isF32 && t.warps.columns == 1 ? t.Tk * padded(t.dv) / threadsPerWarp : 0;
}

/// Query heads that one grid point serves.
static int64_t membersOf(const Tiles &t) { return t.shape.grouped ? t.shape.heads / t.shape.sharedHeads : 1; }

/// Their queries: with one stage one head's after another's, else all of them at once.
static int64_t groupBytes(const Tiles &t) { return (t.stages > 1 ? membersOf(t) : 1) * t.queryBytes(); }

/// Registers of the addresses of one head's queries and outputs, which stay throughout the loop (measured: 35 at a width of 64
/// with four warps).
static int64_t groupAddresses(const Tiles &t) {
  return (membersOf(t) - 1) * (8 + t.held(t.Tq, t.d + t.dv) / 2);
}

static BlockNeed chunkedNeed(const Tiles &t) {
  int64_t state = heldState(t), b = featuresOnTheWay(t, t.Tk);
  // Two products read the features of queries: of f32 both parts stay from the first to the second.
  int64_t a = t.operand(t.Tq, t.m, 4) * (t.isF32 ? 2 : 1), v = valuesBetween(t);
  int64_t weights = t.held(t.Tq, t.Tk) * (t.isF16 ? 2 : 1);
  int64_t rows = t.output() + a + std::max(weights + t.apart(t.output()), b) + groupAddresses(t);
  int64_t update = t.apart(state);
  int64_t features = (t.warps.columns > 1 ? t.Tq + t.Tk : t.Tk) * padded(t.m) * 4;
  return {state + std::max(rows, update) + v, bytesWithOmega(t, groupBytes(t) + 4 * padded(t.m) * padded(t.dv),
                                                         features + t.operandBytes(t.Tq, t.Tk, t.mapped))};
}

//===----------------------------------------------------------------------===//
// FAVOR by logarithms: two sides of exponents, and what becomes of them
//===----------------------------------------------------------------------===//

static int64_t logSidesBytes(const Tiles &t) {
  return t.Tk * padded(t.m) * 4 + t.operandBytes(t.Tq, t.m, 4) + t.operandBytes(t.Tq, t.Tk, 4);
}

static BlockNeed logQuadraticNeed(const Tiles &t) {
  // L(q), and of queries and keys the exponents of a band and their powers; parts of operands.
  return {6 * t.held(t.Tq, t.m) + t.held(t.Tq, t.Tk) + t.output(), bytesWithOmega(t, 0, logSidesBytes(t))};
}

static BlockNeed logStateNeed(const Tiles &t) {
  if (t.shape.fused)
    return fusedNeed(t, 2 * t.held(t.Tk, t.m), 2 * t.held(t.Tq, t.m) + t.output());
  int64_t state = t.held(t.m, t.dv);
  BlockNeed pieces{state + std::max(2 * t.held(t.Tk, t.m), t.apart(state)), bytesWithOmega(t, 0, t.Tk * padded(t.m) * 4)};
  BlockNeed merge{2 * state, 0};
  BlockNeed readout{2 * t.held(t.Tq, t.m) + t.output(),
                    std::max(omegaBytes(t), 4 * padded(t.m) * padded(t.dv)) + t.queryBytes() +
                        t.operandBytes(t.Tq, t.m, 4)};
  return most({pieces, merge, readout});
}

static BlockNeed logChunkedNeed(const Tiles &t) {
  int64_t state = t.held(t.m, t.dv), weights = 2 * t.held(t.Tq, t.Tk);
  int64_t rows = 4 * t.held(t.Tq, t.m) + weights + t.output() + groupAddresses(t);
  return {state + std::max(rows, t.apart(state)),
          bytesWithOmega(t, 4 * padded(t.m) * padded(t.dv), logSidesBytes(t))};
}

static BlockNeed kernelNeed(const Tiles &t) {
  bool logarithms = t.shape.runningMaximum;
  switch (t.shape.form) {
  case attn::Form::State:
    return logarithms ? logStateNeed(t) : stateNeed(t);
  case attn::Form::Chunked:
    if (t.shape.split) // states of pieces first, with the same tiles
      return logarithms ? most({logStateNeed(t), logChunkedNeed(t)}) : most({stateNeed(t), chunkedNeed(t)});
    return logarithms ? logChunkedNeed(t) : chunkedNeed(t);
  case attn::Form::Online:
  case attn::Form::Quadratic:
    return logarithms ? logQuadraticNeed(t) : quadraticNeed(t);
  }
  llvm_unreachable("every form is above");
}

//===----------------------------------------------------------------------===//
// Sketches
//===----------------------------------------------------------------------===//

static BlockNeed polysketchNeed(const Tiles &t) {
  int64_t r = bounded(t.shape.sketch), leaves = std::max<int64_t>(1, t.shape.degree / 2);
  BlockNeed sketch{t.operand(t.Tq, t.d, 4) + (leaves + 1) * t.held(t.Tq, r), 0};
  BlockNeed pairs = weightsNeed(t, std::max(t.d, r), 4);
  int64_t state = t.held(r, t.dv); // one of its r slices; its products are of f32 whatever the storage
  BlockNeed slice{2 * state + std::max(2 * t.held(t.Tk, r), state), 0};
  if (t.shape.form == attn::Form::Chunked)
    pairs.registers += state + t.held(t.Tq, r); // sketched queries stay from the state's loop to this one
  return most({sketch, pairs, slice});
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

BlockNeed cost::blockNeed(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  Tiles tiles(shape, schedule);
  switch (shape.family) {
  case Family::Softmax:
    return softmaxNeed(tiles);
  case Family::Agent:
  case Family::Eva: // weights of f32: values and keys are computed in part
  case Family::Polynomial:
    return weightsNeed(tiles, tiles.d, 4);
  case Family::Polysketch:
    return polysketchNeed(tiles);
  case Family::Effatt:
    return logStateNeed(tiles);
  case Family::Kernel:
    return kernelNeed(tiles);
  case Family::Project:
  case Family::ProjectOutput:
  case Family::Compress:
  case Family::ProjectSlots:
  case Family::SlotSums:
    break; // smaller than the attention that they belong to
  }
  return {};
}

bool cost::hasSquareTiles(const AttentionShape &shape) {
  bool pairs = shape.form == attn::Form::Quadratic && shape.runningMaximum;
  return shape.form == attn::Form::Chunked || shape.family == Family::Polysketch ||
         (shape.family == Family::Kernel && pairs);
}
