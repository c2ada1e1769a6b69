//===- FirstRelease.td - A dialect of version 1 -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
include "mlir/IR/OpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::first";
}

def Toy_TokensOp : Op<Toy_Dialect, "tokens"> {
  let summary = "So many pairs of tokens";
  let arguments = (ins I64Attr:$count);
}
