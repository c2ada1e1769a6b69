//===- MapAlone.h - Features that a kernel of their own writes -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection may say that the features of the keys are to be stored once, for all who read them, and not to be made in the
// load of each. What the op means stays the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_MAPALONE_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_MAPALONE_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// The attribute of `attn.map` that says so, and its value.
inline constexpr llvm::StringLiteral mapPlaceAttr = "attn.place", materializedForm = "materialized";

inline bool isMappedAlone(MapOp op) {
  auto place = op->getAttrOfType<mlir::StringAttr>(mapPlaceAttr);
  return place && place.getValue() == materializedForm;
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_MAPALONE_H
