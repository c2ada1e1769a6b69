//===- AttnTransformOps.h - Laws and schedules by script -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_H
#define ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "attune/Transform/AttnTransformOps.h.inc"

namespace attune {

/// Adds `transform.attn.*` to MLIR's transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_H
