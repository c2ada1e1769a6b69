//===- PtxWarpgroup.cpp - Asynchronous products of warpgroups, 9.7.15 -----===//
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

namespace {
/// .shape.dtype.atype.btype, as m64n128k16.f32.bf16.bf16
struct Product {
  unsigned columns = 0;
  StringRef element;
  bool wide() const { return element != "tf32"; } ///< 16 bits an element: A and B may lie transposed
  unsigned shape() const { return 2 * columns + wide(); } ///< m64, n and k as one number
  unsigned sums() const { return columns / 2; }
};
} // namespace

/// 9.7.15.2: m is 64, n a multiple of 8 up to 256, and k has 32 bytes.
static Product takeProduct(Emitter &e) {
  Product product;
  StringRef shape = e.nextModifier(), rest = shape;
  e.modifier(shape);
  bool good = rest.consume_front("m64n") && !rest.consumeInteger(10, product.columns) && product.columns >= 8 &&
              product.columns <= 256 && product.columns % 8 == 0;
  e.require("f32");
  product.element = e.modifierOf({"f16", "bf16", "tf32"});
  e.require(product.element);
  if (!good || rest != (product.wide() ? "k16" : "k8"))
    e.fail("expected a shape of this type's products, but got '." + shape + "'");
  return product;
}

/// 9.7.15.5.2: wgmma.mma_async.sync.aligned.shape.f32.atype.btype d, a, b-desc, scale-d, imm-scale-a, imm-scale-b
/// and for 16-bit types imm-trans-a (of a descriptor only), imm-trans-b; a is a descriptor or four registers.
static void multiplyAdd(Emitter &e) {
  e.require("sync.aligned");
  Product product = takeProduct(e);
  bool registersOfA = e.operand(1).kind == Operand::Vector;
  e.end(6 + (product.wide() ? 2 - registersOfA : 0));
  e.needs(80, 90, true);
  if (e.failed())
    return;
  e.beginProduct(product.shape());
  Emitter::Values arguments = e.readVector(0, product.sums());
  for (Value *sum : arguments) // without scale-d nobody reads it
    e.allowUnwritten(sum);
  if (registersOfA)
    arguments.append(e.readVector(1, 4));
  else
    arguments.push_back(e.read(1, b64));
  arguments.push_back(e.read(2, b64));
  arguments.push_back(e.builder.CreateZExt(e.read(3, predicate), e.bits(32)));
  for (unsigned sign : {4u, 5u}) {
    const Operand &scale = e.operand(sign);
    if (scale.kind != Operand::Integer || (scale.bits != 1 && scale.bits != ~uint64_t(0)))
      e.fail("expected 1 or -1 as operand " + Twine(sign + 1));
    arguments.push_back(e.number(32, scale.bits & 0xffffffff));
  }
  for (unsigned i = 6; i < e.operandCount(); ++i)
    arguments.push_back(e.number(32, e.immediate(i, 1)));
  std::string name =
      ("attune.wgmma.m64n" + Twine(product.columns) + "." + product.element + (registersOfA ? ".registers" : "")).str();
  e.writeVector(0, product.sums(), e.device(name, e.words(product.sums()), arguments));
  e.endProduct(product.shape(), e.device("attune.wgmma.tag", e.bits(64), {}));
}

/// 9.7.15.7.1: fence. 9.7.15.7.2: commit_group. 9.7.15.7.3: wait_group N.
static void order(Emitter &e, StringRef kind) {
  e.require("sync.aligned");
  e.end(kind == "wait_group" ? 1 : 0);
  e.needs(80, 90, true);
  Emitter::Values arguments;
  if (kind == "wait_group")
    arguments.push_back(e.number(64, e.immediate(0, 7)));
  e.device(("llvm.nvvm.wgmma." + kind + ".sync.aligned").str(), e.builder.getVoidTy(), arguments);
  if (kind == "fence")
    e.fenceRegisters();
}

static void warpgroup(Emitter &e) {
  StringRef kind = e.modifierOf({"mma_async", "fence", "commit_group", "wait_group"});
  kind == "mma_async" ? multiplyAdd(e) : order(e, kind);
}

void attune::ptx::addWarpgroupHandlers(HandlerTable &table) { table["wgmma"] = warpgroup; }
