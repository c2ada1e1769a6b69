//===- Packed.h - Functions of sequences that lie end to end -*- C++ -*---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function with an argument of offsets, tensor<?xi32> {attn.offsets = "qk"}, stands for itself applied to each sequence alone: of
// every tensor of tokens [1, …, ?, …], whose number it leaves open, to tokens offsets[s] … offsets[s + 1] − 1, with the results end to
// end. "q" and "k" say whose tokens the offsets cut. Other tensors than parameters, states [1, …] and positions [1], have an entry for
// each sequence in place of the 1.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_PACKED_H
#define ATTUNE_ATTN_PACKED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::attn {

inline constexpr llvm::StringLiteral offsetsAttr = "attn.offsets";

/// The argument that cuts the tokens of that letter, q or k; null if there is none.
inline mlir::BlockArgument offsetsOf(mlir::func::FuncOp function, char letter) {
  for (mlir::BlockArgument argument : function.getArguments())
    if (auto cuts = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), offsetsAttr))
      if (cuts.getValue().contains(letter))
        return argument;
  return {};
}
inline bool isPacked(mlir::func::FuncOp function) { return static_cast<bool>(offsetsOf(function, 'q')); }

/// The dimension that counts tokens; none of a tensor with an entry for each sequence, or of a parameter.
inline std::optional<unsigned> tokenDimension(mlir::Type tensor) {
  auto shape = llvm::cast<mlir::RankedTensorType>(tensor).getShape();
  const int64_t *found = llvm::find(shape.drop_front(), mlir::ShapedType::kDynamic);
  return found == shape.end() ? std::nullopt : std::optional(static_cast<unsigned>(found - shape.begin()));
}

} // namespace attune::attn

#endif // ATTUNE_ATTN_PACKED_H
