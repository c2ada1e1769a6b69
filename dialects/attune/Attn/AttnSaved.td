//===- AttnSaved.td - What a backward pass need not compute again -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_SAVED_TD
#define ATTUNE_ATTN_SAVED_TD

include "attune/Attn/AttnGradient.td"

def Attn_SavedOp : Attn_Op<"saved", [AllTypesMatch<["given", "computed", "result"]>]> {
  let summary = "What the forward pass has kept, or else what is computed again";
  let description = [{
        result = given     if the run has it,
                 computed  else

    Both are the same tensor: an argument of a backward function that a run may leave out, which holds what the forward pass has left in its
    output of that name, and the ops that compute it again. Kernels that compute nothing but that are not run where it is given. The
    interpreter computes it.

    Constraints: A98: `given` is an argument of the function.

    ```mlir
    func.func @saved(%given: tensor<2x4x200xf32>, %sums: tensor<2x4x200xf32>) {
      %lse = attn.saved %given else %sums : tensor<2x4x200xf32>
      return
    }
    ```
  }];
  let arguments = (ins Attn_Floats:$given, Attn_Floats:$computed);
  let results = (outs Attn_Floats:$result);
  let assemblyFormat = "$given `else` $computed attr-dict `:` type($given)";
  let hasVerifier = 1;
}

def Attn_KeepOp : Attn_Op<"keep", [AllTypesMatch<["source", "result"]>]> {
  let summary = "What a forward pass leaves for the backward pass, where a run asks for it";
  let description = [{
        result = source

    The result is one of the function, which a run may leave out. Where it is there, the kernels that make `source` write it into that tensor, and
    what reads `source` reads it there; where it is not, it lies in a workspace. Kernels that only such results need are not run where none of them is
    there.

    Constraints: A102: `result` is returned by the function, and read by nothing else.

    ```mlir
    func.func @keep(%x: tensor<2x200x64xf32>, %w: tensor<64x128xf32>) -> tensor<2x4x200x32xf32> {
      %q = attn.project %x, %w : tensor<2x200x64xf32>, tensor<64x128xf32> -> tensor<2x4x200x32xf32>
      %left = attn.keep %q : tensor<2x4x200x32xf32>
      return %left : tensor<2x4x200x32xf32>
    }
    ```
  }];
  let arguments = (ins Attn_Floats:$source);
  let results = (outs Attn_Floats:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

#endif // ATTUNE_ATTN_SAVED_TD
