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

#endif // ATTUNE_ATTN_SAVED_TD
