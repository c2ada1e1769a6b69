//===- PtxMatrix.cpp - Matrix instructions of a warp, 9.7.14.5 ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

namespace {
/// A shape with the types of D, A, B and C, how many registers each has (figures of 9.7.14.5.7, 9.7.14.5.8), and the
/// machine's name.
struct Shape {
  StringRef modifiers, name;
  unsigned a, b, c;
};
} // namespace

static constexpr Shape shapes[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.f32", 4, 2, 4},
    {"m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.row.col.f16.f16", 4, 2, 2},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k16.row.col.bf16", 4, 2, 4},
    {"m16n8k8.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.f32", 2, 1, 4},
    {"m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f16.f16", 2, 1, 2},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", "m16n8k8.row.col.bf16", 2, 1, 4},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k8.row.col.tf32", 4, 2, 4},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", "m16n8k4.row.col.tf32", 2, 1, 4},
};

/// 9.7.14.5.14: mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype d, a, b, c
static void multiplyAdd(Emitter &e) {
  e.require("sync.aligned");
  if (e.failed())
    return;
  const Shape *shape = find_if(
      shapes, [&](const Shape &known) { return join(drop_begin(e.current->modifiers, 2), ".") == known.modifiers; });
  if (shape == std::end(shapes))
    return e.fail("product that is not modelled");
  e.require(shape->modifiers);
  e.end(4);
  e.needs(70, 80);
  Emitter::Values arguments;
  for (auto [operand, count] : {std::pair(1u, shape->a), {2u, shape->b}, {3u, shape->c}})
    arguments.append(e.readVector(operand, count));
  e.writeVector(0, shape->c, e.device(("llvm.nvvm.mma." + shape->name).str(), e.words(shape->c), arguments));
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

static unsigned takeCount(Emitter &e) {
  StringRef number = e.modifierOf({"x1", "x2", "x4"});
  return unsigned(number[1] - '0');
}

static std::string moveName(StringRef stem, unsigned count, bool transposed) {
  return (stem + ".sync.aligned.m8n8.x" + Twine(count) + (transposed ? ".trans" : "") + ".b16").str();
}

/// 9.7.14.5.15: ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 r, [p]
static void loadMatrices(Emitter &e) {
  e.require("sync.aligned.m8n8");
  unsigned count = takeCount(e);
  bool transposed = e.modifier("trans");
  e.modifierOf({"shared", "shared::cta"});
  e.require("b16");
  e.end(2);
  Value *row = e.address(1, Space::Shared);
  e.writeVector(0, count, e.device(moveName("llvm.nvvm.ldmatrix", count, transposed), e.words(count), row));
}

/// 9.7.14.5.16: stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [p], r
static void storeMatrices(Emitter &e) {
  e.require("sync.aligned.m8n8");
  unsigned count = takeCount(e);
  bool transposed = e.modifier("trans");
  e.modifierOf({"shared", "shared::cta"});
  e.require("b16");
  e.end(2);
  e.needs(78, 90);
  Emitter::Values arguments = {e.address(0, Space::Shared)};
  arguments.append(e.readVector(1, count));
  e.device(moveName("llvm.nvvm.stmatrix", count, transposed), e.builder.getVoidTy(), arguments);
}

/// 9.7.14.5.17: movmatrix.sync.aligned.m8n8.trans.b16 d, a
static void transposeMatrix(Emitter &e) {
  e.require("sync.aligned.m8n8.trans.b16");
  e.end(2);
  e.needs(78, 75);
  e.write(0, b32, e.device("attune.movmatrix", e.bits(32), e.read(1, b32)));
}

void attune::ptx::addMatrixHandlers(HandlerTable &table) {
  table["mma"] = multiplyAdd;
  table["ldmatrix"] = loadMatrices;
  table["stmatrix"] = storeMatrices;
  table["movmatrix"] = transposeMatrix;
}
