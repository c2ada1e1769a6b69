//===- Tables.cpp - Constant tiles of different elements ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank-1 constant such as RoPE's frequencies lies in the library as a table; nests read it like any tile in memory.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Vectors of any instruction set divide it, so that the last one can be read whole.
static constexpr int64_t tableLanes = 16;

bool cpu::isTable(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isTile(constant.getResult()) && rankOf(constant.getResult()) == 1 &&
         tileType(constant.getResult()).getElementType().isF32() && !tile::splatValue(constant.getResult());
}

void cpu::emitTable(KernelState &state, Operation *op) {
  Emit &emit = state.emit;
  auto constant = cast<arith::ConstantOp>(op);
  SmallVector<float> elements(cast<DenseElementsAttr>(constant.getValue()).getValues<float>());
  elements.resize(roundUp(elements.size(), tableLanes), 0.0f);
  auto type = LLVM::LLVMArrayType::get(emit.getF32Type(), elements.size());
  auto tensor = RankedTensorType::get(elements.size(), emit.getF32Type());
  std::string name = "attune_table";
  for (unsigned number = 0; state.module.lookupSymbol(name); ++number)
    name = "attune_table_" + std::to_string(number);
  OpBuilder atModule = OpBuilder::atBlockBegin(state.module.getBody());
  auto table = LLVM::GlobalOp::create(atModule, op->getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                      DenseElementsAttr::get(tensor, ArrayRef<float>(elements)), /*alignment=*/64);
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPoint(state.entry);
  Value pointer = LLVM::AddressOfOp::create(emit, op->getLoc(), table);
  state.place(constant.getResult(), Order::Row, {pointer, emit.constant(elements.size())});
}
