//===- FragmentFaults.cpp - Matrix operands and shuffles that are wrong --===//
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

static NVVM::MmaOp firstProduct(DeviceCode &code) {
  auto products = all<NVVM::MmaOp>(code);
  return products.empty() ? NVVM::MmaOp() : products.front();
}

/// Operands of mma.sync: A, B, C.
static Result swapOperands(NVVM::MmaOp product, unsigned first, unsigned second) {
  Value one = product->getOperand(first), other = product->getOperand(second);
  if (one == other)
    return {};
  product->setOperand(first, other);
  product->setOperand(second, one);
  return Change{0, 0, 1};
}

static Result swappedRowsOfA(DeviceCode &code) {
  auto product = firstProduct(code);
  return product ? swapOperands(product, 0, 1) : Result();
}

static Result swappedDepthOfB(DeviceCode &code) {
  auto product = firstProduct(code);
  return product ? swapOperands(product, product.getOperandA().size(), product.getOperandA().size() + 1) : Result();
}

static Result notTransposed(DeviceCode &code) {
  for (auto load : all<NVVM::LdMatrixOp>(code))
    if (load.getLayout() == NVVM::MMALayout::col) {
      load.setLayout(NVVM::MMALayout::row);
      return Change{0, 0, 1};
    }
  return {};
}

/// A second load that reads where the first did: the rows in between are lost.
static Result sameRowsTwice(DeviceCode &code) {
  for (auto load : all<NVVM::LdMatrixOp>(code)) {
    auto address = load.getPtr().getDefiningOp<LLVM::GEPOp>();
    if (!address || !inLoop(load) || !address.getDynamicIndices().empty())
      continue;
    address.setRawConstantIndices({0});
    return Change{0, 0, 1};
  }
  return {};
}

/// A product that is to start from zero goes on from its neighbour.
static Result notZeroed(DeviceCode &code) {
  NVVM::MmaOp last;
  for (auto product : all<NVVM::MmaOp>(code)) {
    auto sums = product.getOperandC();
    bool zero = llvm::all_of(sums, [](Value sum) { return sum.getDefiningOp<LLVM::ConstantOp>() != nullptr; });
    if (zero && last && last->getBlock() == product->getBlock()) {
      OpBuilder builder(product);
      for (OpOperand &operand : product.getOperandCMutable()) {
        auto part =
            static_cast<int64_t>(operand.getOperandNumber() - product.getOperandCMutable().begin()->getOperandNumber());
        operand.set(LLVM::ExtractValueOp::create(builder, product.getLoc(), last, part));
      }
      return Change{0, 4, 1};
    }
    last = product;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

static Result wrongLane(DeviceCode &code) {
  auto shuffles = all<NVVM::ShflOp>(code);
  return shuffles.empty() ? Result() : Result(setConstant(shuffles.front().getOffsetMutable(), 4));
}

static Result lanesMissing(DeviceCode &code) {
  auto shuffles = all<NVVM::ShflOp>(code);
  return shuffles.empty() ? Result() : Result(setConstant(shuffles.front().getThreadMaskMutable(), 0xffff));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Fault> test::fragmentFaults() {
  static const Fault faults[] = {
      {"causal", "swapped-rows-of-a", "registers of rows g and g + 8 of A swapped", wrongValues, nullptr,
       swappedRowsOfA},
      {"causal", "swapped-depth-of-b", "registers of the halves of k of B swapped", wrongValues, nullptr,
       swappedDepthOfB},
      {"favor", "swapped-rows-of-a-tf32", "the same for operands in TF32", wrongValues, nullptr, swappedRowsOfA},
      {"causal", "not-transposed", "ldmatrix of the values without .trans", wrongValues, nullptr, notTransposed},
      {"causal", "same-rows-twice", "two loads of one block of rows", wrongValues, nullptr, sameRowsTwice},
      {"causal", "not-zeroed", "a sum that starts from the neighbour's", wrongValues, nullptr, notZeroed},
      {"causal", "wrong-lane", "a row's maximum with a lane of another row", wrongValues, nullptr, wrongLane},
      {"causal", "lanes-missing", "a shuffle that names half of the lanes", reported(FindingKind::InactiveLane),
       nullptr, lanesMissing},
  };
  return faults;
}
