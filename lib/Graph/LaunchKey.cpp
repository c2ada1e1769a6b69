//===- LaunchKey.cpp - The ops that become the kernels of one attention ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LaunchKey.h"

#include "attune/Attn/CompressFirst.h"
#include "attune/Attn/Folded.h"
#include "attune/Attn/HeadRange.h"
#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// What the kernel that makes the output of an op writes: with the convolution and the projection of its epilogue.
static Value writtenBy(Operation *root) {
  Value output = root->getResult(0);
  while (true) {
    Value next;
    for (Operation *user : output.getUsers()) {
      auto lepe = dyn_cast<attn::LepeOp>(user);
      auto project = dyn_cast<attn::ProjectOutputOp>(user);
      if (lepe && lepe.getSource() == output)
        next = lepe.getResult();
      else if (project && attn::isInEpilogue(project))
        next = project.getResult();
    }
    if (!next)
      return output;
    output = next;
  }
}

namespace {
class PieceWalk {
public:
  PieceWalk(LaunchPiece &piece, Operation *root, const llvm::SmallPtrSetImpl<Operation *> &roots)
      : piece(piece), root(root), roots(roots) {
    if (auto compress = dyn_cast<attn::CompressOp>(root))
      behind = attn::projectionAfter(compress);
  }

  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isInMemory(value, op))
      return void(piece.inputs.insert(value));
    if (!seen.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      visit(operand);
    piece.ops.push_back(op);
    if (attn::isFolded(value))
      piece.folded.push_back(op);
  }

private:
  bool isInMemory(Value value, Operation *op) const {
    if (op == root || op == behind)
      return false;
    // An output projection that is a kernel reads heads that kernels have stored.
    auto project = dyn_cast<attn::ProjectOutputOp>(root);
    if (project && value == project.getSource())
      return true;
    return roots.contains(op) && !attn::isFolded(value);
  }

  LaunchPiece &piece;
  Operation *root, *behind = nullptr;
  const llvm::SmallPtrSetImpl<Operation *> &roots;
  llvm::SmallPtrSet<Operation *, 16> seen;
};
} // namespace

LaunchPiece graph::pieceOf(func::FuncOp plan, Operation *root, const llvm::SmallPtrSetImpl<Operation *> &roots) {
  LaunchPiece piece;
  piece.output = writtenBy(root);
  PieceWalk(piece, root, roots).visit(piece.output);
  llvm::SmallPtrSet<Operation *, 16> ops(piece.ops.begin(), piece.ops.end());
  for (Value returned : plan.getBody().front().getTerminator()->getOperands())
    if (returned != piece.output && returned.getDefiningOp() && ops.contains(returned.getDefiningOp()))
      piece.optionalResults.push_back(returned);
  return piece;
}

LaunchKey graph::keyOf(func::FuncOp plan, const LaunchPiece &piece) {
  LaunchKey key;
  llvm::SmallDenseMap<Value, uintptr_t, 32> numbers;
  auto number = [](uintptr_t place) { return reinterpret_cast<const void *>(place); };
  for (Value input : piece.inputs) {
    uintptr_t place = numbers.size();
    numbers[input] = place;
    auto argument = dyn_cast<BlockArgument>(input);
    key.push_back(input.getType().getAsOpaquePointer());
    key.push_back(argument ? plan.getArgAttrDict(argument.getArgNumber()).getAsOpaquePointer() : number(attn::areSums(input)));
  }
  for (Operation *op : piece.ops) {
    key.push_back(op->getName().getAsOpaquePointer());
    key.push_back(op->getAttrDictionary().getAsOpaquePointer());
    for (Value operand : op->getOperands())
      key.push_back(number(numbers.lookup(operand)));
    for (Value result : op->getResults()) {
      uintptr_t place = numbers.size();
      numbers[result] = place;
      key.push_back(result.getType().getAsOpaquePointer());
    }
  }
  for (Value result : piece.optionalResults)
    key.push_back(number(numbers.lookup(result)));
  return key;
}
