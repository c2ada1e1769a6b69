//===- AttnInterfaces.td - What mechanisms have in common -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_INTERFACES_TD
#define ATTUNE_ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_MechanismInterface : OpInterface<"MechanismOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    A mechanism: one op that is a paper's formula, with a decomposition into terms that means the same.
  }];
  let methods = [
    InterfaceMethod<"Builds the terms before the op and returns the values of its results.",
                    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // ATTUNE_ATTN_INTERFACES_TD
