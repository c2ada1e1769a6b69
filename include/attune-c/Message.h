//===- Message.h - What is wrong, for C --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_C_MESSAGE_H
#define ATTUNE_C_MESSAGE_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Why the calling thread's last call of an `attune…` function that can fail did fail: one or more lines
/// `PLACE: error: expected X, but got Y`, each with the lines that go with it. Empty if it did not. It lives until that
/// thread's next such call.
MLIR_CAPI_EXPORTED MlirStringRef attuneGetMessage(void);

/// "0.1.0".
MLIR_CAPI_EXPORTED MlirStringRef attuneGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_MESSAGE_H
