//===- Passes.h - Passes between attn and linalg -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RAISE_PASSES_H
#define ATTUNE_RAISE_PASSES_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace attune::raise {
#define GEN_PASS_DECL
#include "attune/Raise/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Raise/Passes.h.inc"
} // namespace attune::raise

#endif // ATTUNE_RAISE_PASSES_H
