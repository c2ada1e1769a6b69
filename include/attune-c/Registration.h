//===- Registration.h - Attune in an MlirContext, for C ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_C_REGISTRATION_H
#define ATTUNE_C_REGISTRATION_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The handles of the two dialects: `mlirDialectHandleRegisterDialect`, `mlirDialectHandleLoadDialect`.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Attn, attn);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Tile, tile);

/// Both dialects at once.
MLIR_CAPI_EXPORTED void attuneRegisterAllDialects(MlirDialectRegistry registry);

/// The passes and pipelines of every stage, for `mlirParsePassPipeline` and `mlirOpPassManagerAddPipeline`. Once a process:
/// a second call does nothing.
MLIR_CAPI_EXPORTED void attuneRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_REGISTRATION_H
