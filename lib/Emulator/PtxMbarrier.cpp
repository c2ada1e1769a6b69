//===- PtxMbarrier.cpp - Barriers in shared memory, 9.7.13.15 -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

using namespace attune::ptx;
using namespace llvm;

static void takeShared(Emitter &e) {
  e.modifierOf({"shared", "shared::cta"});
  e.require("b64");
}

/// A relaxed operation orders nothing, which the machine has no such arrivals and waits for.
static void takeSemantics(Emitter &e, StringRef strong) {
  if (e.nextModifier() == "relaxed")
    e.fail("expected ." + strong + ", but got '.relaxed', which is not modelled");
  if (e.modifier(strong)) {
    e.require("cta");
    e.needs(80, 90);
  }
}

/// 9.7.13.15.9: mbarrier.init.shared.b64 [addr], count
static void initialise(Emitter &e) {
  takeShared(e);
  e.end(2);
  Value *place = e.address(0, Space::Shared);
  e.device("llvm.nvvm.mbarrier.init.shared", e.builder.getVoidTy(), {place, e.read(1, u32)});
}

/// 9.7.13.15.10: mbarrier.inval.shared.b64 [addr]
static void invalidate(Emitter &e) {
  takeShared(e);
  e.end(1);
  e.device("llvm.nvvm.mbarrier.inval.shared", e.builder.getVoidTy(), e.address(0, Space::Shared));
}

/// 9.7.13.15.11, 9.7.13.15.12: mbarrier.{expect_tx,complete_tx}{.relaxed.cta}.shared.b64 [addr], txCount
static void addTransactions(Emitter &e, StringRef name) {
  if (e.modifier("relaxed"))
    e.require("cta");
  takeShared(e);
  e.end(2);
  e.needs(80, 90);
  Value *place = e.address(0, Space::Shared);
  e.device(("llvm.nvvm.mbarrier." + name).str(), e.builder.getVoidTy(), {place, e.read(1, u32)});
}

/// 9.7.13.15.13: mbarrier.arrive{.release.cta}.shared.b64 state, [addr]{, count},
/// mbarrier.arrive.expect_tx….b64 state, [addr], txCount and mbarrier.arrive.noComplete….b64 state, [addr], count
static void arrive(Emitter &e) {
  bool expects = e.modifier("expect_tx"), partial = !expects && e.modifier("noComplete");
  takeSemantics(e, "release");
  takeShared(e);
  e.end(expects || partial ? 3 : 2, 3);
  bool counted = e.operandCount() == 3;
  if (expects)
    e.needs(80, 90);
  else if (counted && !partial)
    e.needs(78, 90);
  Emitter::Values arguments = {e.address(1, Space::Shared)};
  if (counted)
    arguments.push_back(e.read(2, u32));
  StringRef name = expects ? "arrive.expect.tx"
                   : partial ? "arrive.noComplete"
                   : counted ? "arrive.scope.cta.space.cta"
                             : "arrive";
  e.write(0, b64, e.device(("llvm.nvvm.mbarrier." + name).str(), e.bits(64), arguments));
}

/// 9.7.13.15.16: mbarrier.{test,try}_wait{.acquire.cta}.shared.b64 waitComplete, [addr], state{, hint} and with .parity
/// waitComplete, [addr], phaseParity{, hint}
static void wait(Emitter &e, bool tries) {
  bool parity = e.modifier("parity");
  takeSemantics(e, "acquire");
  takeShared(e);
  e.end(3, tries ? 4 : 3);
  e.needs(tries ? 78 : 70, tries ? 90 : 80);
  Value *place = e.address(1, Space::Shared), *wanted = e.read(2, parity ? u32 : b64);
  if (e.operandCount() == 4)
    e.read(3, u32); // a time that nobody may rely on
  std::string name =
      std::string("llvm.nvvm.mbarrier.") + (tries ? "try.wait" : "test.wait") + (parity ? ".parity" : "");
  e.write(0, predicate, e.device(name, e.bits(1), {place, wanted}));
}

static void mbarrier(Emitter &e) {
  StringRef kind = e.modifierOf({"init", "inval", "expect_tx", "complete_tx", "arrive", "test_wait", "try_wait"});
  e.needs(70, 80);
  if (kind == "init")
    initialise(e);
  else if (kind == "inval")
    invalidate(e);
  else if (kind == "arrive")
    arrive(e);
  else if (kind == "test_wait" || kind == "try_wait")
    wait(e, kind == "try_wait");
  else
    addTransactions(e, kind == "expect_tx" ? "expect.tx" : "complete.tx");
}

void attune::ptx::addMbarrierHandlers(HandlerTable &table) { table["mbarrier"] = mbarrier; }
