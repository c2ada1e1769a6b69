//===- GroupHeads.h - Heads that share keys as rows of one -*- C++ -* ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_GROUPHEADS_H
#define ATTUNE_LIB_KERNEL_GROUPHEADS_H

#include "Families.h"

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace attune::kernel {

/// Exact attention of a few queries with the query heads of a key-value head as rows of it (attn::areHeadsRows).
class GroupedHeads {
public:
  /// `memories`: of arguments and results of `source`. `regions`: where kernels are printed; null: nowhere.
  GroupedHeads(BuildSite &site, mlir::func::FuncOp source, mlir::IRMapping &memories, tile::ScheduleAttr schedule, llvm::raw_ostream *regions)
      : site(site), source(source), memories(memories), schedule(schedule), regions(regions) {}

  /// Gives such ops as many queries as all heads of a key-value head have, with views of the memories of their queries and outputs that are made on the
  /// host. Heads of several queries need not be adjacent in memory, and are copied.
  mlir::LogicalResult begin();
  /// Has outputs where the function has them, behind all else.
  mlir::LogicalResult end();

private:
  mlir::LogicalResult group(attn::SoftmaxOp op);
  mlir::Value viewOf(mlir::Value memory, int64_t heads) const;
  mlir::Value rowsLike(mlir::Value memory, mlir::Value sizes);
  mlir::LogicalResult copy(mlir::Value from, mlir::Value to, llvm::StringRef suffix);

  BuildSite &site;
  mlir::func::FuncOp source;
  mlir::IRMapping &memories;
  tile::ScheduleAttr schedule;
  llvm::raw_ostream *regions;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>, 1> outputs; ///< what kernels write, and where it belongs
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_GROUPHEADS_H
