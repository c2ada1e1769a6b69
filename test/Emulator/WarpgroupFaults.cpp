//===- WarpgroupFaults.cpp - Products by warpgroups that are wrong ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order of the code there are the products of scores (A and B by descriptors) and those of values (A in
// registers), each with a fence, a commit and a wait.
//
//===----------------------------------------------------------------------===//
#include "DeviceSearch.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

using Result = std::optional<Change>;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static SmallVector<LLVM::InlineAsmOp> inlineAsm(DeviceCode &code, StringRef text) {
  SmallVector<LLVM::InlineAsmOp> found = all<LLVM::InlineAsmOp>(code);
  llvm::erase_if(found, [&](LLVM::InlineAsmOp op) { return !op.getAsmString().contains(text) || !inLoop(op); });
  return found;
}

/// The products of scores, or of values, in the first loop.
static SmallVector<LLVM::InlineAsmOp> products(DeviceCode &code, bool registersOfA) {
  SmallVector<LLVM::InlineAsmOp> found = inlineAsm(code, "wgmma.mma_async");
  llvm::erase_if(found, [&](LLVM::InlineAsmOp op) {
    return findWgmmaAsm(op.getAsmString(), op.getConstraints())->registersOfA != registersOfA;
  });
  return found;
}

/// Place of B's descriptor among the operands; the constants add, sign, sign follow, then the transpositions.
static unsigned secondOperand(LLVM::InlineAsmOp product) {
  WgmmaAsm shape = *findWgmmaAsm(product.getAsmString(), product.getConstraints());
  return shape.sums() + (shape.registersOfA ? 4 : 1);
}

/// An order of registers is gone: its results are what went in.
static Change bypass(LLVM::InlineAsmOp order) {
  Change change{1, 0, 0};
  llvm::SmallPtrSet<Operation *, 32> users;
  for (Operation *user : llvm::make_early_inc_range(order->getUsers())) {
    auto part = cast<LLVM::ExtractValueOp>(user);
    users.insert(part->user_begin(), part->user_end());
    part.replaceAllUsesWith(order.getOperands()[part.getPosition().front()]);
    part.erase();
    ++change.removed;
  }
  order.erase();
  change.changed = users.size();
  return change;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static Result noFenceOfRegisters(DeviceCode &code) {
  auto fences = inlineAsm(code, "wgmma.fence");
  return fences.empty() ? Result() : Result(bypass(fences.front()));
}

static Result noWait(DeviceCode &code) {
  auto waits = inlineAsm(code, "wgmma.wait_group");
  return waits.empty() ? Result() : Result(bypass(waits.front()));
}

static Result waitForAnOlderGroup(DeviceCode &code) {
  auto waits = inlineAsm(code, "wgmma.wait_group");
  return waits.empty() ? Result() : Result(setConstant(waits.front()->getOpOperands().back(), 1));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static Result sameKeysTwice(DeviceCode &code) {
  auto scores = products(code, /*registersOfA=*/false);
  if (scores.size() < 2)
    return {};
  unsigned number = secondOperand(scores[1]);
  scores[1]->setOperand(number, scores[0]->getOperand(number));
  return Change{0, 0, 1};
}

/// Values as if they were keys.
static Result lostTransposition(DeviceCode &code) {
  auto values = products(code, /*registersOfA=*/true);
  return values.empty() ? Result() : Result(setConstant(values.front()->getOpOperands().back(), 0));
}

static Result sumsNotAddedTo(DeviceCode &code) {
  auto scores = products(code, /*registersOfA=*/false);
  if (scores.size() < 2)
    return {};
  return setConstant(scores[1]->getOpOperand(secondOperand(scores[1]) + 1), 0);
}

static Result weightsExchanged(DeviceCode &code) {
  auto values = products(code, /*registersOfA=*/true);
  if (values.empty())
    return {};
  unsigned first = secondOperand(values.front()) - 4;
  Value one = values.front()->getOperand(first + 1), two = values.front()->getOperand(first + 2);
  values.front()->setOperand(first + 1, two);
  values.front()->setOperand(first + 2, one);
  return Change{0, 0, 1};
}

/// The constant that the descriptor of a product's B has besides the address.
static OpOperand *fieldsOf(LLVM::InlineAsmOp product) {
  auto fields = behind<LLVM::OrOp>(product->getOperand(secondOperand(product)));
  for (OpOperand &operand : fields ? fields->getOpOperands() : MutableArrayRef<OpOperand>())
    if (operand.get().getDefiningOp<LLVM::ConstantOp>())
      return &operand;
  return nullptr;
}

static Result changeFields(ArrayRef<LLVM::InlineAsmOp> places, uint64_t exchanged) {
  OpOperand *fields = places.empty() ? nullptr : fieldsOf(places.front());
  APInt constant;
  if (!fields || !matchPattern(fields->get(), m_ConstantInt(&constant)))
    return {};
  return setConstant(*fields, static_cast<int64_t>(constant.getZExtValue() ^ exchanged));
}

/// 64 bytes for 128.
static Result otherSwizzle(DeviceCode &code) { return changeFields(products(code, false), uint64_t(3) << 62); }

/// Rows 512 bytes further for 1,024.
static Result otherStride(DeviceCode &code) { return changeFields(products(code, false), uint64_t(0x60) << 32); }

/// The second panel of the values lies elsewhere.
static Result otherPanel(DeviceCode &code) { return changeFields(products(code, true), uint64_t(0x40) << 16); }

static Result lowAlignment(DeviceCode &code) {
  for (auto memory : all<LLVM::GlobalOp>(code))
    if (memory.getAlignment() == 1024) {
      memory.setAlignment(128);
      return Change{0, 0, 1};
    }
  return {};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Fault> test::warpgroupFaults() {
  static const Fault faults[] = {
      {"warpgroups", "no-proxy-fence", "what threads have copied is not made known to the products",
       reported(FindingKind::ProxyOrder), nullptr, noneInLoop<NVVM::FenceProxyOp>},
      {"warpgroups", "no-product-fence", "no wgmma.fence before the products of scores",
       reported(FindingKind::RegisterInFlight), nullptr, noneInLoop<NVVM::WgmmaFenceAlignedOp>},
      {"warpgroups", "no-register-fence", "no wgmma.fence before the products of values",
       reported(FindingKind::RegisterInFlight), nullptr, noFenceOfRegisters},
      {"warpgroups", "no-product-commit", "products of no group", reported(FindingKind::RegisterInFlight), nullptr,
       noneInLoop<NVVM::WgmmaGroupSyncAlignedOp>},
      {"warpgroups", "no-product-wait", "scores are used without a wait", reported(FindingKind::RegisterInFlight),
       nullptr, noWait},
      {"warpgroups", "older-product-group", "a wait that leaves the group of the scores in flight",
       reported(FindingKind::RegisterInFlight), nullptr, waitForAnOlderGroup},
      {"warpgroups", "same-keys-twice", "the first 16 columns of the keys in place of the second", wrongValues, nullptr,
       sameKeysTwice},
      {"warpgroups", "lost-product-transposition", "values that are read as keys lie", wrongValues, nullptr,
       lostTransposition},
      {"warpgroups", "product-sums-cleared", "the second product of scores begins from zero", wrongValues, nullptr,
       sumsNotAddedTo},
      {"warpgroups", "weights-exchanged", "two registers of the weights are exchanged", wrongValues, nullptr,
       weightsExchanged},
      {"warpgroups", "other-swizzle", "a descriptor of 64-byte rows", wrongValues, nullptr, otherSwizzle},
      {"warpgroups", "other-stride", "eight rows that are too far from the next", wrongValues, nullptr, otherStride},
      {"warpgroups", "other-panel", "a second panel that lies elsewhere", wrongValues, nullptr, otherPanel},
      {"warpgroups", "low-alignment", "shared memory aligned for rows, not for eight of them", wrongValues, nullptr,
       lowAlignment},
  };
  return faults;
}
