//===- PtxWarp.cpp - What the lanes of a warp do together, 9.7.9.6 and 9.7.13.9 to 9.7.13.14 ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

using namespace attune::ptx;
using namespace llvm;

/// 9.7.9.6: shfl.sync.mode.b32 d{|p}, a, b, c, membermask. b is the lane, or its distance; c holds clamp and segment
/// mask.
static void shuffle(Emitter &e) {
  e.require("sync");
  StringRef mode = e.modifierOf({"up", "down", "bfly", "idx"});
  e.require("b32");
  e.end(5);
  Value *a = e.read(1, b32), *b = e.read(2, b32), *c = e.read(3, b32), *mask = e.read(4, b32);
  std::string name = ("llvm.nvvm.shfl.sync." + mode + ".i32").str();
  const Operand &target = e.operand(0);
  if (target.kind != Operand::Pair)
    return e.write(0, b32, e.device(name, e.bits(32), {mask, a, b, c}));
  auto *both = StructType::get(e.bits(32), e.bits(1));
  Value *result = e.device(name + "p", both, {mask, a, b, c});
  e.write(target.parts[0], b32, e.builder.CreateExtractValue(result, 0));
  e.write(target.parts[1], predicate, e.builder.CreateExtractValue(result, 1));
}

/// 9.7.13.9: vote.sync.{all,any,uni}.pred d, {!}a, membermask and vote.sync.ballot.b32 d, {!}a, membermask
static void vote(Emitter &e) {
  e.require("sync");
  StringRef mode = e.modifierOf({"all", "any", "uni", "ballot"});
  DataType type = mode == "ballot" ? b32 : predicate;
  e.require(mode == "ballot" ? "b32" : "pred");
  e.end(3);
  Value *a = e.read(1, predicate), *mask = e.read(2, b32);
  e.write(0, type, e.device(("llvm.nvvm.vote." + mode + ".sync").str(), e.bits(type.bits), {mask, a}));
}

/// 9.7.13.10: match.any.sync.b32 d, a, membermask
static void match(Emitter &e) {
  e.require("any.sync.b32");
  e.end(3);
  Value *a = e.read(1, b32), *mask = e.read(2, b32);
  e.write(0, b32, e.device("llvm.nvvm.match.any.sync.i32", e.bits(32), {mask, a}));
}

/// 9.7.13.12: redux.sync.op.type dst, src, membermask
static void reduce(Emitter &e) {
  e.require("sync");
  StringRef operation = e.modifierOf({"add", "min", "max", "and", "or", "xor"});
  bool logic = operation == "and" || operation == "or" || operation == "xor";
  DataType type = logic ? e.typeOf({"b32"}) : e.typeOf({"u32", "s32"});
  e.end(3);
  e.needs(70, 80);
  bool isUnsigned = type == u32 && (operation == "min" || operation == "max");
  Value *value = e.read(1, type), *mask = e.read(2, b32);
  e.write(
      0, type,
      e.device(("llvm.nvvm.redux.sync." + Twine(isUnsigned ? "u" : "") + operation).str(), e.bits(32), {value, mask}));
}

/// 9.7.13.14: elect.sync d|p, membermask
static void elect(Emitter &e) {
  e.require("sync");
  e.end(2);
  e.needs(80, 90);
  const Operand &target = e.operand(0);
  if (target.kind != Operand::Pair)
    return e.fail("expected a register and a predicate, d|p");
  auto *both = StructType::get(e.bits(32), e.bits(1));
  Value *result = e.device("llvm.nvvm.elect.sync", both, e.read(1, b32));
  e.write(target.parts[0], b32, e.builder.CreateExtractValue(result, 0));
  e.write(target.parts[1], predicate, e.builder.CreateExtractValue(result, 1));
}

void attune::ptx::addWarpHandlers(HandlerTable &table) {
  table["shfl"] = shuffle;
  table["vote"] = vote;
  table["match"] = match;
  table["redux"] = reduce;
  table["elect"] = elect;
}
