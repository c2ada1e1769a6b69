//===- InReader.h - Projections that the kernels which read them compute -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection may say that x W is not to be stored: whoever reads a tile of its tokens multiplies that tile of x by W in the
// load. What the op means stays the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_INREADER_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_INREADER_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// The attribute of `attn.project` that says so, and its value.
inline constexpr llvm::StringLiteral projectPlaceAttr = "attn.place", fusedForm = "fused";

inline bool isInReader(ProjectOp op) {
  auto place = op->getAttrOfType<mlir::StringAttr>(projectPlaceAttr);
  return place && place.getValue() == fusedForm;
}

/// The projection in the load of whoever reads these tokens; null if they are in memory.
inline ProjectOp projectionInLoad(mlir::Value tokens) {
  auto project = tokens ? tokens.getDefiningOp<ProjectOp>() : ProjectOp();
  return project && isInReader(project) ? project : ProjectOp();
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_INREADER_H
