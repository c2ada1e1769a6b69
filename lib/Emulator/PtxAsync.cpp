//===- PtxAsync.cpp - Asynchronous copies, 9.7.9.25 -----------------------===//
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
// cp.async
//===----------------------------------------------------------------------===//

/// 9.7.9.25.3.1: cp.async.{ca,cg}.shared.global{.L2::…} [dst], [src], cp-size{, src-size}. What is beyond src-size is
/// zeros.
static void copy(Emitter &e) {
  StringRef cache = e.modifierOf({"ca", "cg"});
  e.modifierOf({"shared", "shared::cta"});
  e.require("global");
  e.optionalModifier({"L2::64B", "L2::128B", "L2::256B"});
  e.end(3, 4);
  e.needs(70, 80);
  uint64_t bytes = e.immediate(2, 16);
  if (bytes != 16 && (cache == "cg" || (bytes != 4 && bytes != 8)))
    e.fail("expected 16 bytes, or of .ca 4 or 8, but got " + Twine(bytes));
  bool sized = e.operandCount() == 4;
  Emitter::Values arguments = {e.address(0, Space::Shared), e.address(1, Space::Global)};
  if (sized)
    arguments.push_back(e.read(3, u32));
  std::string name = ("llvm.nvvm.cp.async." + cache + ".shared.global." + Twine(bytes) + (sized ? ".s" : "")).str();
  e.device(name, e.builder.getVoidTy(), arguments);
}

/// 9.7.9.25.3.2: commit_group. 9.7.9.25.3.3: wait_group N, wait_all. N groups may be in flight behind it.
static bool groups(Emitter &e, const std::string &stem, bool bulk) {
  bool commits = e.modifier("commit_group"), waits = !commits && e.modifier("wait_group");
  if (commits || waits)
    bulk ? e.needs(80, 90) : e.needs(70, 80);
  if (commits) {
    e.end(0);
    e.device(stem + "commit.group", e.builder.getVoidTy(), {});
    return true;
  }
  if (!waits)
    return false;
  bool reads = bulk && e.modifier("read");
  e.end(1);
  Value *pending = e.number(32, e.immediate(0, ~0u));
  e.device(stem + "wait.group" + (reads ? ".read" : ""), e.builder.getVoidTy(), pending);
  return true;
}

//===----------------------------------------------------------------------===//
// cp.async.bulk
//===----------------------------------------------------------------------===//

static Value *no(Emitter &e) { return e.builder.getFalse(); }

/// Where a bulk copy leads: to this block's shared memory, or from there to global memory.
static bool takeLoad(Emitter &e, bool &cluster) {
  StringRef to = e.modifierOf({"shared::cluster", "shared::cta", "global"});
  cluster = to == "shared::cluster";
  if (to == "global")
    e.require("shared::cta");
  else
    e.require("global");
  return to != "global";
}

/// 9.7.9.25.4.1: cp.async.bulk.shared::….global.mbarrier::complete_tx::bytes [dstMem], [srcMem], size, [mbar] and
/// cp.async.bulk.global.shared::cta.bulk_group [dstMem], [srcMem], size
static void copyBulk(Emitter &e) {
  bool cluster = false, load = takeLoad(e, cluster);
  e.require(load ? "mbarrier::complete_tx::bytes" : "bulk_group");
  e.end(load ? 4 : 3);
  e.needs(load && !cluster ? 86 : 80, 90);
  Value *to = e.address(0, load ? Space::Shared : Space::Global);
  Value *from = e.address(1, load ? Space::Global : Space::Shared), *bytes = e.read(2, u32);
  Value *hint = e.number(64, 0);
  if (!load) {
    e.device("llvm.nvvm.cp.async.bulk.shared.cta.to.global", e.builder.getVoidTy(), {to, from, bytes, hint, no(e)});
    return;
  }
  Emitter::Values arguments = {to, e.address(3, Space::Shared), from, bytes};
  if (cluster)
    arguments.append({e.number(16, 0), hint, no(e), no(e)});
  else
    arguments.append({hint, no(e)});
  e.device(cluster ? "llvm.nvvm.cp.async.bulk.global.to.shared.cluster"
                   : "llvm.nvvm.cp.async.bulk.global.to.shared.cta",
           e.builder.getVoidTy(), arguments);
}

/// 9.7.9.25.5.2: cp.async.bulk.tensor.dim.shared::….global{.tile}.mbarrier::complete_tx::bytes
/// [dstMem], [tensorMap, {coordinates}], [mbar] and cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group
/// [tensorMap, {coordinates}], [srcMem]
static void copyTensor(Emitter &e) {
  StringRef dimensions = e.modifierOf({"1d", "2d", "3d", "4d", "5d"});
  bool cluster = false, load = takeLoad(e, cluster);
  e.modifier("tile");
  e.require(load ? "mbarrier::complete_tx::bytes" : "bulk_group");
  e.end(load ? 3 : 2);
  e.needs(load && !cluster ? 86 : 80, 90);
  const Operand &tensor = e.operand(load ? 1 : 0);
  if (tensor.kind != Operand::Address || tensor.parts.size() != unsigned(dimensions[0] - '0'))
    return e.fail("expected [tensorMap, {…}] with " + dimensions.take_front(1) + " coordinates");
  Emitter::Values arguments = {e.address(load ? 0 : 1, Space::Shared)};
  if (load)
    arguments.push_back(e.address(2, Space::Shared));
  arguments.push_back(e.address(load ? 1 : 0, Space::Generic));
  for (const Operand &coordinate : tensor.parts)
    arguments.push_back(e.read(coordinate, b32));
  if (load && cluster)
    arguments.push_back(e.number(16, 0));
  arguments.push_back(e.number(64, 0));
  arguments.append(load && cluster ? 2 : 1, no(e));
  StringRef stem = !load ? "s2g.tile." : cluster ? "g2s.tile." : "g2s.cta.tile.";
  e.device(("llvm.nvvm.cp.async.bulk.tensor." + stem + dimensions).str(), e.builder.getVoidTy(), arguments);
}

/// 9.7.13.15.15: cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr]
static void arriveAfterCopies(Emitter &e) {
  e.require("arrive");
  bool counted = e.modifier("noinc");
  e.modifierOf({"shared", "shared::cta"});
  e.require("b64");
  e.end(1);
  std::string name = std::string("llvm.nvvm.cp.async.mbarrier.arrive") + (counted ? ".noinc" : "") + ".shared";
  e.device(name, e.builder.getVoidTy(), e.address(0, Space::Shared));
}

static void asynchronous(Emitter &e) {
  e.require("async");
  if (e.modifier("bulk")) {
    if (e.modifier("tensor"))
      return copyTensor(e);
    return groups(e, "llvm.nvvm.cp.async.bulk.", /*bulk=*/true) ? void() : copyBulk(e);
  }
  if (e.modifier("mbarrier"))
    return arriveAfterCopies(e);
  if (groups(e, "llvm.nvvm.cp.async.", /*bulk=*/false))
    return;
  if (!e.modifier("wait_all"))
    return copy(e);
  e.end(0);
  e.device("llvm.nvvm.cp.async.wait.all", e.builder.getVoidTy(), {});
}

void attune::ptx::addAsyncHandlers(HandlerTable &table) { table["cp"] = asynchronous; }
