//===- Snapshot.cpp - What has changed in a module -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fault.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

/// Operands, attributes and successors by identity.
static llvm::hash_code contentOf(Operation *op) {
  llvm::hash_code hash = llvm::hash_combine(op->getAttrDictionary());
  for (Value operand : op->getOperands())
    hash = llvm::hash_combine(hash, operand);
  for (Block *successor : op->getSuccessors())
    hash = llvm::hash_combine(hash, successor);
  return hash;
}

Snapshot::Snapshot(ModuleOp module) {
  module.walk([&](Operation *op) { operations.try_emplace(op, op->getName(), contentOf(op)); });
}

Change Snapshot::since(ModuleOp module) const {
  Change change;
  unsigned kept = 0;
  module.walk([&](Operation *op) {
    auto before = operations.find(op);
    if (before == operations.end() || before->second.first != op->getName()) {
      ++change.added;
      return;
    }
    ++kept;
    change.changed += before->second.second != contentOf(op);
  });
  change.removed = operations.size() - kept;
  return change;
}
