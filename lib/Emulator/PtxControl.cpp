//===- PtxControl.cpp - Control flow and barriers of a block, 9.7.12, 9.7.13.1 and 9.7.19 ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// With .uni all threads that are there go the same way. Whether those behind a guard do is not modelled.
static void takeUniform(Emitter &e) {
  if (e.modifier("uni") && e.current->guard)
    e.fail("expected no guard with .uni");
}

/// 9.7.12.3: bra{.uni} label
static void branch(Emitter &e) {
  takeUniform(e);
  e.end(1);
  BasicBlock *target = e.labelOf(e.operand(0));
  e.builder.CreateBr(target);
}

/// 9.7.12.6, 9.7.12.7: ret, exit
static void finish(Emitter &e) {
  takeUniform(e);
  e.end(0);
  e.builder.CreateRetVoid();
}

/// 9.7.19.4: trap
static void trap(Emitter &e) {
  e.end(0);
  e.device("llvm.trap", e.builder.getVoidTy(), {});
}

/// 9.7.19.2: nanosleep.u32 t takes no time here.
static void sleep(Emitter &e) {
  e.require("u32");
  e.end(1);
  e.read(0, u32);
}

/// 9.7.19.5: setmaxnreg.{inc,dec}.sync.aligned.u32 count: a multiple of 8 from 24 to 256.
static void setRegisters(Emitter &e) {
  StringRef way = e.modifierOf({"inc", "dec"});
  e.require("sync.aligned.u32");
  e.end(1);
  e.needs(80, 90, true);
  uint64_t count = e.immediate(0, 256);
  if (count < 24 || count % 8)
    e.fail("expected a multiple of 8 in 24 … 256, but got " + Twine(count));
  e.device(("llvm.nvvm.setmaxnreg." + way + ".sync.aligned.u32").str(), e.builder.getVoidTy(), e.number(32, count));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {
/// Operands a{, b}, from operand `first` on: the barrier, and how many threads it has; else all of the block.
struct Participants {
  SmallVector<Value *> arguments;
  StringRef suffix;
};
} // namespace

static Participants participants(Emitter &e, unsigned first, bool counted) {
  Participants result{{e.read(first, u32)}, counted ? ".count" : ".all"};
  if (const Operand &barrier = e.operand(first); barrier.kind == Operand::Integer && barrier.bits > 15)
    e.fail("expected a barrier of 0 … 15, but got " + Twine(barrier.bits));
  if (const Operand &count = e.operand(first + 1);
      counted && count.kind == Operand::Integer && (count.bits == 0 || count.bits % 32))
    e.fail("expected a number of threads that is a multiple of 32, but got " + Twine(count.bits));
  if (counted)
    result.arguments.push_back(e.read(first + 1, u32));
  return result;
}

/// bar.red.{and,or}.pred p, a{, b}, {!}c and bar.red.popc.u32 d, a{, b}, {!}c
static void reducingBarrier(Emitter &e, StringRef aligned) {
  StringRef operation = e.modifierOf({"and", "or", "popc"});
  DataType type = operation == "popc" ? u32 : predicate;
  e.require(operation == "popc" ? "u32" : "pred");
  e.end(3, 4);
  bool counted = e.operandCount() == 4;
  Participants threads = participants(e, 1, counted);
  threads.arguments.push_back(e.read(counted ? 3 : 2, predicate));
  std::string name = ("llvm.nvvm.barrier.cta.red." + operation + aligned + threads.suffix).str();
  e.write(0, type, e.device(name, e.bits(type.bits), threads.arguments));
}

/// 9.7.13.1: bar is barrier.aligned. sync a{, b} and arrive a, b.
static void barrier(Emitter &e) {
  bool old = e.current->opcode == "bar";
  if (old && e.modifier("warp")) { // 9.7.13.2: bar.warp.sync membermask
    e.require("sync");
    e.end(1);
    e.device("llvm.nvvm.bar.warp.sync", e.builder.getVoidTy(), e.read(0, b32));
    return;
  }
  e.modifier("cta");
  StringRef kind = e.modifierOf({"sync", "arrive", "red"});
  StringRef aligned = old || e.modifier("aligned") ? ".aligned" : "";
  if (kind == "red")
    return reducingBarrier(e, aligned);
  bool arrives = kind == "arrive";
  e.end(arrives ? 2 : 1, 2);
  Participants threads = participants(e, 0, e.operandCount() == 2);
  e.device(("llvm.nvvm.barrier.cta." + kind + aligned + threads.suffix).str(), e.builder.getVoidTy(),
           threads.arguments);
}

void attune::ptx::addControlHandlers(HandlerTable &table) {
  table["bra"] = branch;
  table["ret"] = finish;
  table["exit"] = finish;
  table["trap"] = trap;
  table["nanosleep"] = sleep;
  table["setmaxnreg"] = setRegisters;
  table["bar"] = barrier;
  table["barrier"] = barrier;
}
