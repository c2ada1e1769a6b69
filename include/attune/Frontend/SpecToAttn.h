//===- SpecToAttn.h - From a spec to the attn dialect --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_FRONTEND_SPECTOATTN_H
#define ATTUNE_FRONTEND_SPECTOATTN_H

#include "attune/Frontend/Spec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

/// A module with one function `@name` that holds the spec: its arguments are `inputTensors`, then `parameterTensors`,
/// its results are `outputTensors`. Each carries its name as `attn.name`, parameters `attn.parameter` too. '?' sizes are
/// dynamic; locations are places of `fileName`. `pin` and `allow` become the function's attributes `attn.pin` (a
/// dictionary of strings) and `attn.allow` (an array of strings), `gradientNames` its attribute `attn.gradients`.
mlir::OwningOpRef<mlir::ModuleOp> specToAttn(const Spec &spec, llvm::StringRef fileName, mlir::MLIRContext &context);

} // namespace attune

#endif // ATTUNE_FRONTEND_SPECTOATTN_H
