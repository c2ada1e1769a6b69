//===- AttnBlocks.td - Sketched states, and blocks of exact weights that runs share -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_BLOCKS_TD
#define ATTUNE_ATTN_BLOCKS_TD

include "attune/Attn/AttnBase.td"

def Attn_TrueStateOp : Attn_Op<"true_state", [Attn_Differentiable, AllTypesMatch<["given_state", "state"]>, AllTypesMatch<["given_sum", "sum"]>]> {
  let summary = "A state that stands rescaled, as it is";
  let description = [{
        state = e^scale · given_state,   sum = e^scale · given_sum     of each head; of entries that are 0 the scale says nothing

    States count by their true value on both sides of a gradient: what reaches `state` is the cotangent of `given_state`, and none reaches `scale`.

    Constraints: A10; A99: scale is [batch, heads].

    ```mlir
    %s, %z = attn.true_state (%s0, %z0) scale(%c) : tensor<2x4x256x32xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$given_state, Attn_F32x3:$given_sum, Attn_F32x2:$scale);
  let results = (outs Attn_F32x4:$state, Attn_F32x3:$sum);
  let assemblyFormat = [{
    `(` $given_state `,` $given_sum `)` `scale` `(` $scale `)` attr-dict `:` type($given_state) `,` type($given_sum) `,` type($scale)
  }];
  let hasVerifier = 1;
}

def Attn_BlockPart : Attn_Enum<"BlockPart", "some of the tokens that lie in blocks", [
    I32EnumAttrCase<"Run", 0, "run">, I32EnumAttrCase<"Held", 1, "held">, I32EnumAttrCase<"Whole", 2, "whole">, I32EnumAttrCase<"Last", 3, "last">]>;
def Attn_BlockPartAttr : EnumAttr<Attn_Dialect, Attn_BlockPart, "block_part"> {
  let summary = "Some of the tokens that lie in blocks";
  let assemblyFormat = "$value";
}

def Attn_TakeFromBlocksOp : Attn_Op<"take_from_blocks", [Attn_Differentiable, AttrSizedOperandSegments]> {
  let summary = "Some of the tokens that lie in blocks of a sequence that runs continue";
  let description = [{
    With h = position mod b tokens of the block that the run begins in before it (0 without a position), N tokens of the run, e = h + min(lengths, N)
    (h + N without lengths) and f = ⌊e / b⌋ b the whole blocks, row t of the result is

    | part | row of the source | rows of the result |
    |---|---|---|
    | `run` | h + t, if that is < e | N: those of the run |
    | `held` | t, if that is < h | b: those of the begun block before the run |
    | `whole` | t, if that is < f | those of the source: of whole blocks |
    | `last` | f + t, if that is < e | b: those of the block that is not full, in the end |

    and else 0. The source, blocks of tokens from the beginning of the first one on, has N + b rows.

    Constraints: A3 (of position, too); A33; A100: one of source and result, which have equal other sizes, has N + b rows, the other those of the part.

    ```mlir
    %x = attn.take_from_blocks run of 32, %y position(%p : tensor<2xi32>) : tensor<2x4x232x64xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$source, Optional<Attn_Lengths>:$position, Optional<Attn_Lengths>:$lengths, I64Attr:$block,
                       Attn_BlockPartAttr:$part);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = [{
    $part `of` $block `,` $source (`position` `(` $position^ `:` type($position) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_PlaceInBlocksOp : Attn_Op<"place_in_blocks", [Attn_Differentiable, AttrSizedOperandSegments]> {
  let summary = "Tokens where they lie in blocks of a sequence that runs continue, with zeros around them";
  let description = [{
    The transpose of `attn.take_from_blocks`: its row t of the source, which has the rows of the part, is at the row of the result, of N + b, that is
    taken there; the other rows are 0. `like`: what has the N + b rows, where the part, `held` or `last`, does not say them; only its sizes count.

    Constraints: as of `attn.take_from_blocks`; A101: `like` with `held` and `last` alone.

    ```mlir
    %y = attn.place_in_blocks held of 32, %x position(%p : tensor<2xi32>) like(%all : tensor<2x4x232x16xf32>)
        : tensor<2x4x32x64xf32> -> tensor<2x4x232x64xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$source, Optional<Attn_Lengths>:$position, Optional<Attn_Lengths>:$lengths, Optional<Attn_Tokens>:$like,
                       I64Attr:$block, Attn_BlockPartAttr:$part);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = [{
    $part `of` $block `,` $source (`position` `(` $position^ `:` type($position) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`like` `(` $like^ `:` type($like) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // ATTUNE_ATTN_BLOCKS_TD
