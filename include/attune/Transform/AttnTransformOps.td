//===- AttnTransformOps.td - Laws and schedules by script -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_TD
#define ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def AttnApplyLawOp : Op<Transform_Dialect, "attn.apply_law",
    [FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface, TransformOpInterface, TransformEachOpTrait,
     ReportTrackingListenerFailuresOpTrait]> {
  let summary = "Brings an op into a form that an algebraic law offers";
  let description = [{
    Rewrites each op of the handle into the form `form` of the exact law `law`: a value equal to the op's own, computed in
    another way. `attn-opt --attn-list-laws` lists laws, forms and conditions. A law that says how an op is computed, and
    not by what ops, marks it. The result has the op that makes the first value of the new form; the operand is consumed.

    An op of which the law does not speak, or that cannot take the form, is left as it is: a silenceable failure with the
    law's reason. An unknown law or form is a definite failure, with the names that are known.

    ```mlir
    %readout = transform.attn.apply_law "linearize" as "state" to %attention
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$law, StrAttr:$form);
  let results = (outs TransformHandleTypeInterface:$transformed);
  let assemblyFormat = "$law `as` $form `to` $target attr-dict `:` functional-type($target, results)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
}

def AttnSelectOp : Op<Transform_Dialect, "attn.select",
    [DeclareOpInterfaceMethods<TransformOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Brings every mechanism of a module into its cheapest form";
  let description = [{
    What the pass `attn-select-rewrites` does to a module, for the device of that name (of a description, of a target for its
    default one, or a path that ends in .yaml) and so many cores of a CPU (0: those of the device). `pins` maps laws to forms that
    are taken whatever they cost; `allow` names approximate laws that may change the function.

    The result has the functions that selection made, several for one of unknown lengths; none if the module has no attention
    to select for. The operand is consumed. What the pass refuses is a silenceable failure beside the pass's own error.

    ```mlir
    %functions = transform.attn.select %module {device = "a100-40gb", pins = {linearize = "chunked"}}
        : (!transform.op<"builtin.module">) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       DefaultValuedAttr<StrAttr, "\"x86-64-avx512\"">:$device,
                       DefaultValuedAttr<I64Attr, "0">:$threads,
                       OptionalAttr<DictionaryAttr>:$pins,
                       OptionalAttr<StrArrayAttr>:$allow);
  let results = (outs TransformHandleTypeInterface:$functions);
  let assemblyFormat = "$target attr-dict `:` functional-type($target, results)";
  let hasVerifier = 1;
}

def AttnSetScheduleOp : Op<Transform_Dialect, "attn.set_schedule",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TransformOpInterface, TransformEachOpTrait]> {
  let summary = "Gives a function the schedule that its kernels will have";
  let description = [{
    Sets `tile.schedule` of each `func.func` of the handle, in the place of the one that selection chose. The pass
    `attn-to-tile` makes kernels by it, and refuses a schedule that it cannot use.

    ```mlir
    transform.attn.set_schedule #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1> on %functions
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, AnyAttr:$schedule);
  let assemblyFormat = "$schedule `on` $target attr-dict `:` type($target)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
}

#endif // ATTUNE_TRANSFORM_ATTNTRANSFORMOPS_TD
