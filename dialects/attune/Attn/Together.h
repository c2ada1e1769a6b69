//===- Together.h - Parts whose kernels run in one launch -*- C++ -* -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection may say that the parts of a mixture are not computed one after another: the first kernels of all parts run in one
// launch, then the second ones. What the op means stays the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_TOGETHER_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_TOGETHER_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// The attribute of `attn.concat_heads` that says so, and its value.
inline constexpr llvm::StringLiteral partsLaunchAttr = "attn.launch", coLaunchedForm = "co_launched";

inline bool runsTogether(ConcatHeadsOp op) {
  auto launch = op->getAttrOfType<mlir::StringAttr>(partsLaunchAttr);
  return launch && launch.getValue() == coLaunchedForm;
}

/// The op that makes the output of a part, before a convolution is added to it; null if it is an argument.
inline mlir::Operation *attentionOf(mlir::Value part) {
  while (auto lepe = part.getDefiningOp<LepeOp>())
    part = lepe.getSource();
  return part.getDefiningOp();
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_TOGETHER_H
