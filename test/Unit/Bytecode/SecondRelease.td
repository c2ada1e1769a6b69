//===- SecondRelease.td - The same dialect, changed: version 2 -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "mlir/IR/OpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::second";
}

def Toy_TokensOp : Op<Toy_Dialect, "tokens"> {
  let summary = "So many tokens, no longer pairs, from the one that is `start` on";
  let arguments = (ins I64Attr:$count, I64Attr:$start);
  let useCustomPropertiesEncoding = 1;
}
