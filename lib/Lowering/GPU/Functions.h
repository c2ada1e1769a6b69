//===- Functions.h - Functions of one f32 -*- C++ -*---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What device code computes without a library: instructions where there are exact or good enough ones, else polynomials.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_FUNCTIONS_H
#define ATTUNE_LIB_LOWERING_GPU_FUNCTIONS_H

#include "DeviceBuilder.h"

namespace attune::device {

/// Is this one of the functions of math or tile that device code has?
bool isFunction(mlir::Operation *op);
/// Such a function of single elements; null if it is none.
mlir::Value emitFunction(DeviceBuilder &code, mlir::Operation *op, mlir::ValueRange operands);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_FUNCTIONS_H
