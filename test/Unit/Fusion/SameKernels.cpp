//===- SameKernels.cpp - Whether two modules have the same kernels ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is matched from its writes and its terminator, in their order, down to what they read. An operation can be
// matched once, in the block that is matched with its own; what is left over in a block is a difference.
//
//===----------------------------------------------------------------------===//
#include "SameKernels.h"

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace attune;

namespace {
class Matcher {
public:
  Matcher(ModuleOp expected, ModuleOp found) : expected(expected), found(found) {}

  bool sameFunctions(func::FuncOp a, func::FuncOp b);
  std::string difference;

private:
  bool sameValues(Value a, Value b);
  bool sameOperations(Operation *a, Operation *b);
  bool sameBlocks(Block &a, Block &b);
  bool sameLaunches(tile::LaunchOp a, tile::LaunchOp b);
  bool pairArguments(tile::LaunchOp a, tile::LaunchOp b, tile::KernelOp kernelA, tile::KernelOp kernelB);
  bool differ(const llvm::Twine &what, Operation *a, Operation *b);

  ModuleOp expected, found;
  DenseMap<Value, Value> values;
  DenseMap<Operation *, Operation *> operations, backwards;
  DenseMap<Block *, Block *> blocks;
};
} // namespace

static bool writes(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return op->walk([&](Operation *inner) {
               return inner != op && writes(inner) ? WalkResult::interrupt() : WalkResult::advance();
             }).wasInterrupted();
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return !effects || effects.hasEffect<MemoryEffects::Write>();
}

static bool isAnchor(Operation *op) { return op->hasTrait<OpTrait::IsTerminator>() || writes(op); }

/// How many writes stand before an operation that reads; of one that allocates, how many allocations.
static int64_t orderOf(Operation *op) {
  if (isMemoryEffectFree(op))
    return 0;
  bool allocates = isa<tile::WorkspaceOp>(op);
  return llvm::count_if(llvm::make_range(op->getBlock()->begin(), op->getIterator()), [&](Operation &before) {
    return allocates ? isa<tile::WorkspaceOp>(before) : writes(&before);
  });
}

static DictionaryAttr attributesOf(Operation *op, ArrayRef<StringRef> ignored) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : ignored)
    attributes.erase(name);
  return attributes.getDictionary(op->getContext());
}

static std::string textOf(Operation *op) {
  std::string text = op ? debugString(*op) : "nothing";
  return text.size() > 400 ? text.substr(0, 400) + " …" : text;
}

bool Matcher::differ(const llvm::Twine &what, Operation *a, Operation *b) {
  if (difference.empty())
    difference = (what + ": expected\n  " + textOf(a) + "\nbut got\n  " + textOf(b)).str();
  return false;
}

bool Matcher::sameValues(Value a, Value b) {
  if (auto known = values.find(a); known != values.end())
    return known->second == b || differ("another value", a.getDefiningOp(), b.getDefiningOp());
  auto resultA = dyn_cast<OpResult>(a), resultB = dyn_cast<OpResult>(b);
  if (!resultA || !resultB || resultA.getResultNumber() != resultB.getResultNumber())
    return differ("another value", a.getDefiningOp(), b.getDefiningOp());
  return sameOperations(a.getDefiningOp(), b.getDefiningOp());
}

bool Matcher::sameOperations(Operation *a, Operation *b) {
  if (operations.contains(a) || backwards.contains(b))
    return operations.lookup(a) == b || differ("an operation in two places", a, b);
  if (auto launchA = dyn_cast<tile::LaunchOp>(a), launchB = dyn_cast<tile::LaunchOp>(b); launchA && launchB) {
    if (!sameLaunches(launchA, launchB))
      return false;
  } else {
    if (a->getName() != b->getName() || a->getResultTypes() != b->getResultTypes() ||
        a->getNumOperands() != b->getNumOperands() || a->getNumRegions() != b->getNumRegions() ||
        attributesOf(a, {}) != attributesOf(b, {}))
      return differ("another operation", a, b);
    for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
      if (!sameValues(x, y))
        return differ("another operand", a, b);
  }
  if (blocks.lookup(a->getBlock()) != b->getBlock())
    return differ("an operation in another block", a, b);
  if (orderOf(a) != orderOf(b))
    return differ("another order of reads and writes", a, b);
  for (auto [x, y] : llvm::zip_equal(a->getRegions(), b->getRegions()))
    if (!x.hasOneBlock() || !y.hasOneBlock() || !sameBlocks(x.front(), y.front()))
      return differ("another body", a, b);
  for (auto [x, y] : llvm::zip_equal(a->getResults(), b->getResults()))
    values[x] = y;
  operations[a] = b, backwards[b] = a;
  return true;
}

/// The arguments are values already, or those of a loop.
bool Matcher::sameBlocks(Block &a, Block &b) {
  blocks[&a] = &b;
  if (a.getArgumentTypes() != b.getArgumentTypes() && !isa<tile::KernelOp>(a.getParentOp()))
    return differ("other arguments", a.getParentOp(), b.getParentOp());
  if (!isa<tile::KernelOp>(a.getParentOp()))
    for (auto [x, y] : llvm::zip_equal(a.getArguments(), b.getArguments()))
      values[x] = y;
  auto anchorsOf = [](Block &block) {
    return llvm::to_vector(llvm::make_filter_range(llvm::make_pointer_range(block), isAnchor));
  };
  SmallVector<Operation *> anchorsA = anchorsOf(a), anchorsB = anchorsOf(b);
  for (auto [x, y] : llvm::zip(anchorsA, anchorsB))
    if (!sameOperations(x, y))
      return false;
  if (anchorsA.size() != anchorsB.size())
    return differ("another number of writes", a.getParentOp(), b.getParentOp());
  for (Operation &op : a)
    if (!operations.contains(&op))
      return differ("an operation that nothing reads", &op, nullptr);
  for (Operation &op : b)
    if (!backwards.contains(&op))
      return differ("an operation that nothing reads", nullptr, &op);
  return true;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

bool Matcher::pairArguments(tile::LaunchOp a, tile::LaunchOp b, tile::KernelOp kernelA, tile::KernelOp kernelB) {
  llvm::SmallDenseSet<unsigned> taken;
  for (auto [position, value] : llvm::enumerate(a.getArguments())) {
    std::optional<unsigned> partner;
    for (auto [other, candidate] : llvm::enumerate(b.getArguments())) {
      std::string before = difference;
      if (!partner && !taken.contains(other) && sameValues(value, candidate))
        partner = other;
      difference = before;
    }
    if (!partner)
      return differ("an argument of a kernel that the other does not take, number " + llvm::Twine(position), a, b);
    taken.insert(*partner);
    values[kernelA.getBody().getArgument(position)] = kernelB.getBody().getArgument(*partner);
  }
  return true;
}

bool Matcher::sameLaunches(tile::LaunchOp a, tile::LaunchOp b) {
  auto kernelA = expected.lookupSymbol<tile::KernelOp>(a.getCallee());
  auto kernelB = found.lookupSymbol<tile::KernelOp>(b.getCallee());
  StringRef callee = a.getCalleeAttrName();
  if (a.getGrid().size() != b.getGrid().size() || a.getArguments().size() != b.getArguments().size() ||
      attributesOf(a, {callee}) != attributesOf(b, {callee}))
    return differ("another launch", a, b);
  for (auto [x, y] : llvm::zip_equal(a.getGrid(), b.getGrid()))
    if (!sameValues(x, y))
      return differ("another grid", a, b);
  StringRef ignored[] = {kernelA.getSymNameAttrName(), kernelA.getFunctionTypeAttrName()};
  if (attributesOf(kernelA, ignored) != attributesOf(kernelB, ignored))
    return differ("another kernel", kernelA, kernelB);
  return pairArguments(a, b, kernelA, kernelB) && sameBlocks(kernelA.getBody().front(), kernelB.getBody().front());
}

bool Matcher::sameFunctions(func::FuncOp a, func::FuncOp b) {
  if (a.getFunctionType() != b.getFunctionType())
    return differ("another signature", a, b);
  return sameBlocks(a.getBody().front(), b.getBody().front());
}

std::string fusion::whereDifferent(ModuleOp expected, ModuleOp found) {
  Matcher matcher(expected, found);
  for (auto function : expected.getOps<func::FuncOp>()) {
    auto other = found.lookupSymbol<func::FuncOp>(function.getName());
    if (!other)
      return "expected a function @" + function.getName().str() + ", but got none";
    if (!matcher.sameFunctions(function, other))
      return "@" + function.getName().str() + ": " + matcher.difference;
  }
  return "";
}
