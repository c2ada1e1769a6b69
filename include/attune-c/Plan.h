//===- Plan.h - Which forms a module would take, and why, for C --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_C_PLAN_H
#define ATTUNE_C_PLAN_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What selection decides about a module.
typedef struct AttunePlan {
  void *ptr;
} AttunePlan;

/// Selects for a device (a name such as "cpu" or "sm_80", or a path that ends in .yaml; empty: "cpu") and a number of
/// threads of a CPU (0: the cores of the device). The module is not changed; the pass attn-select-rewrites does that. The
/// plan is null, and `attuneGetMessage` says why, if there is none.
MLIR_CAPI_EXPORTED AttunePlan attunePlanCreate(MlirModule module, MlirStringRef device, int64_t threads);
MLIR_CAPI_EXPORTED void attunePlanDestroy(AttunePlan plan);
static inline bool attunePlanIsNull(AttunePlan plan) { return !plan.ptr; }

/// The page of `attnc explain` as text and as JSON. The strings of a plan live as long as it does.
MLIR_CAPI_EXPORTED MlirStringRef attunePlanGetExplanation(AttunePlan plan);
MLIR_CAPI_EXPORTED MlirStringRef attunePlanGetJson(AttunePlan plan);

/// The functions of the module that hold attention, in their order; a position is below their number.
MLIR_CAPI_EXPORTED intptr_t attunePlanGetNumFunctions(AttunePlan plan);
MLIR_CAPI_EXPORTED MlirStringRef attunePlanGetFunctionName(AttunePlan plan, intptr_t position);
/// Predicted seconds of one run, and the length L = 2nN / (n + N) that they are for.
MLIR_CAPI_EXPORTED double attunePlanGetSeconds(AttunePlan plan, intptr_t position);
MLIR_CAPI_EXPORTED int64_t attunePlanGetLength(AttunePlan plan, intptr_t position);
/// What is taken at that length, "linearize: state, fold wq: apart"; empty where there is no choice.
MLIR_CAPI_EXPORTED MlirStringRef attunePlanGetForms(AttunePlan plan, intptr_t position);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_PLAN_H
