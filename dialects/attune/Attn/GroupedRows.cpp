//===- GroupedRows.cpp - Heads that go through their keys together ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/GroupedRows.h"

#include "attune/Attn/Packed.h"

using namespace mlir;
using namespace attune;

bool attn::areHeadsRows(SoftmaxOp op) {
  constexpr int64_t few = 16; // of more each head has rows enough for itself
  auto query = cast<RankedTensorType>(op.getQuery().getType()), key = cast<RankedTensorType>(op.getKey().getType());
  int64_t queries = query.getDimSize(2);
  if (queries < 1 || queries > few || query.getDimSize(1) == key.getDimSize(1) || op.getLse() || op.getSlopes() || op.getWindow())
    return false;
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  bool isResult = op.getOutput().hasOneUse() && isa<func::ReturnOp>(*op.getOutput().user_begin());
  return function && !isPacked(function) && isa<BlockArgument>(op.getQuery()) && op.getQuery().hasOneUse() && isResult;
}
