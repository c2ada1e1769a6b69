//===- InEpilogue.h - Output projections in the kernels of attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection may say that the heads o are not to be stored: the kernel that computes a block of queries does so for one head
// after another and adds o_h W_O[h] to the block's rows of the result. What the op means stays the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_INEPILOGUE_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_INEPILOGUE_H

#include "attune/Attn/InReader.h"

namespace attune::attn {

/// The value of `attn.place` of `attn.project_output` that says so.
inline constexpr llvm::StringLiteral inEpilogueForm = "epilogue";

inline bool isInEpilogue(ProjectOutputOp op) {
  auto place = op->getAttrOfType<mlir::StringAttr>(projectPlaceAttr);
  return place && place.getValue() == inEpilogueForm;
}

/// The projection in the kernel that computes these heads, whose LePE may stand between; null if they are stored.
inline ProjectOutputOp projectionInEpilogue(mlir::Value heads) {
  for (mlir::Operation *user : heads.getUsers()) {
    if (auto lepe = llvm::dyn_cast<LepeOp>(user); lepe && lepe.getSource() == heads)
      return projectionInEpilogue(lepe.getResult());
    if (auto project = llvm::dyn_cast<ProjectOutputOp>(user); project && isInEpilogue(project))
      return project;
  }
  return ProjectOutputOp();
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_INEPILOGUE_H
