//===- PlaceFaults.cpp - Addresses, bounds and sizes that are wrong ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceSearch.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

using Result = std::optional<Change>;

static bool isIn(Value pointer, unsigned space) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == space;
}

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

static Result writtenUnswizzled(DeviceCode &code) {
  for (auto copy : all<NVVM::CpAsyncOp>(code))
    if (auto swizzle = behind<LLVM::XOrOp>(copy.getDst()); swizzle && inLoop(copy))
      return setConstant(swizzle->getOpOperand(1), 0);
  return {};
}

/// Rows are counted from 0 where they are written and from 1 where they are read.
static Result readWithAnotherSwizzle(DeviceCode &code) {
  for (auto load : all<NVVM::LdMatrixOp>(code)) {
    auto swizzle = behind<LLVM::XOrOp>(load.getPtr());
    if (!swizzle)
      continue;
    OpBuilder builder(swizzle);
    Value one = LLVM::ConstantOp::create(builder, swizzle.getLoc(), builder.getI32IntegerAttr(1));
    swizzle->setOperand(1, LLVM::XOrOp::create(builder, swizzle.getLoc(), swizzle.getRhs(), one));
    return Change{0, 2, 1};
  }
  return {};
}

static Result noSwizzle(DeviceCode &code) {
  Change change;
  for (auto swizzle : all<LLVM::XOrOp>(code))
    if (swizzle.getType().isInteger(32)) {
      setConstant(swizzle->getOpOperand(1), 0);
      ++change.added, ++change.changed;
    }
  return change.changed ? Result(change) : Result();
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// x < limit to x <= limit.
static Result widen(const llvm::SetVector<Operation *> &tests) {
  for (Operation *test : tests)
    cast<LLVM::ICmpOp>(test).setPredicate(LLVM::ICmpPredicate::sle);
  return tests.empty() ? Result() : Result(Change{0, 0, static_cast<unsigned>(tests.size())});
}

static Result copiedRows(DeviceCode &code) {
  llvm::SetVector<Operation *> tests;
  for (auto copy : all<NVVM::CpAsyncOp>(code))
    if (auto size = copy.getCpSize().getDefiningOp<LLVM::SelectOp>())
      if (auto test = size.getCondition().getDefiningOp<LLVM::ICmpOp>())
        tests.insert(test);
  return widen(tests);
}

/// The branches on the row before stores to memory.
static SmallVector<LLVM::CondBrOp> storeGuards(DeviceCode &code) {
  llvm::SetVector<Operation *> guards;
  for (auto store : all<LLVM::StoreOp>(code))
    if (isIn(store.getAddr(), 1))
      if (auto guard = guardOf(store->getBlock()); guard && guard.getCondition().getDefiningOp<LLVM::ICmpOp>())
        guards.insert(guard);
  return llvm::map_to_vector(guards, [](Operation *guard) { return cast<LLVM::CondBrOp>(guard); });
}

static Result storedRows(DeviceCode &code) {
  llvm::SetVector<Operation *> tests;
  for (LLVM::CondBrOp guard : storeGuards(code))
    tests.insert(guard.getCondition().getDefiningOp());
  return widen(tests);
}

static Result storeWithoutTest(DeviceCode &code) {
  Change change;
  for (LLVM::CondBrOp guard : storeGuards(code)) {
    setConstant(guard.getConditionMutable(), 1);
    ++change.added, ++change.changed;
  }
  return change.changed ? Result(change) : Result();
}

/// Of a piece of 16 bytes only the first 8 are copied.
static Result halfAPiece(DeviceCode &code) {
  for (auto copy : all<NVVM::CpAsyncOp>(code))
    if (auto size = copy.getCpSize().getDefiningOp<LLVM::SelectOp>(); size && inLoop(copy))
      return setConstant(size->getOpOperand(1), 8);
  return {};
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static Result shortBuffer(DeviceCode &code) {
  for (target::DeviceKernelDescription &kernel : code.host.description.variants.front().kernels)
    kernel.sharedBytes -= 128;
  return Change{}; // a number of the launch, not of the code
}

static Result lessAligned(DeviceCode &code) {
  auto globals = all<LLVM::GlobalOp>(code);
  if (globals.empty())
    return {};
  globals.front().setAlignment(8);
  return Change{0, 0, 1};
}

/// The branch to the copies of 16 bytes, whatever the alignment of the rows.
static Result alignmentNotTested(DeviceCode &code) {
  Change change;
  llvm::SetVector<Operation *> guards;
  for (auto copy : all<NVVM::CpAsyncOp>(code))
    if (auto guard = guardOf(copy->getBlock()))
      guards.insert(guard);
  for (Operation *guard : guards) {
    setConstant(cast<LLVM::CondBrOp>(guard).getConditionMutable(), 1);
    ++change.added, ++change.changed;
  }
  return change.changed ? Result(change) : Result();
}

/// Of the lanes that hold an element all write it, not one.
static Result everyLaneWrites(DeviceCode &code) {
  for (auto store : all<LLVM::StoreOp>(code)) {
    auto guard = isIn(store.getAddr(), 3) ? guardOf(store->getBlock()) : LLVM::CondBrOp();
    if (guard && guard.getTrueDest() == store->getBlock() && store.getValue().getType().isF32())
      return setConstant(guard.getConditionMutable(), 1);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Fault> test::placeFaults() {
  static const Fault faults[] = {
      {"causal", "written-unswizzled", "one piece of a tile is copied to where it would be without swizzle",
       wrongValues, nullptr, writtenUnswizzled},
      {"causal", "read-with-another-swizzle", "the swizzle of a read is that of the next row", wrongValues, nullptr,
       readWithAnotherSwizzle},
      {"causal", "no-swizzle", "tiles without swizzle, written and read alike", bankConflict, nullptr, noSwizzle},
      {"causal", "copied-rows", "the row at the end of the keys is copied", reported(FindingKind::OutOfBounds), nullptr,
       copiedRows},
      {"causal", "stored-rows", "the row at the end of the output is stored", reported(FindingKind::OutOfBounds),
       nullptr, storedRows},
      {"causal", "store-without-test", "all rows of a tile are stored", reported(FindingKind::OutOfBounds), nullptr,
       storeWithoutTest},
      {"causal", "half-a-piece", "8 of 16 bytes are copied, zeros follow", wrongValues, nullptr, halfAPiece},
      {"causal", "short-buffer", "128 bytes of shared memory too few", reported(FindingKind::OutOfBounds), nullptr,
       shortBuffer},
      {"causal", "less-aligned", "shared memory at a multiple of 8 bytes", reported(FindingKind::Misaligned), nullptr,
       lessAligned},
      {"lengths", "alignment-not-tested", "copies of 16 bytes from rows of 40", reported(FindingKind::Misaligned),
       nullptr, alignmentNotTested},
      {"favor", "every-lane-writes", "several lanes write one element of an exchanged vector",
       reported(FindingKind::Race), nullptr, everyLaneWrites},
  };
  return faults;
}
