//===- InitAll.h - Registers everything of Attune -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_INITALL_H
#define ATTUNE_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attune {

/// The dialects of Attune, `attn` and `tile`. What they lower to is registered by the passes that need it.
void registerAllDialects(mlir::DialectRegistry &registry);

/// The passes of every stage, under the names of their documentation.
void registerAllPasses();

} // namespace attune

#endif // ATTUNE_INITALL_H
