//===- Schedule.cpp - Tile sizes when no cost model has chosen them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Kernel/Schedule.h"

using namespace mlir;
using namespace attune;

Type kernel::storageOf(func::FuncOp function) {
  Type storage;
  for (Type result : function.getResultTypes()) {
    auto element = dyn_cast<FloatType>(cast<RankedTensorType>(result).getElementType());
    if (!element)
      continue;
    if (!storage || element.getWidth() < storage.getIntOrFloatBitWidth())
      storage = element;
  }
  return storage;
}

tile::ScheduleAttr kernel::defaultSchedule(tile::TargetKind target, Type storage) {
  MLIRContext *context = storage.getContext();
  bool gpu = target == tile::TargetKind::GPU;
  Type operand = gpu || storage.isBF16() ? storage : Float32Type::get(context);
  return tile::ScheduleAttr::get(context, target, /*query_tile=*/64, /*key_tile=*/64, /*piece=*/2048, operand,
                                 /*warps=*/gpu ? 4 : 1, /*stages=*/gpu ? 2 : 1);
}
