//===- Passes.td - Passes between attn and linalg -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RAISE_PASSES_TD
#define ATTUNE_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnRaise : Pass<"attn-raise", "::mlir::func::FuncOp"> {
  let summary = "Find attention in linalg on tensors and rewrite it to attn";
  let description = [{
    Reads what an entry of a tensor is, through `linalg` ops of any name, reshapes, transposes, broadcasts and
    casts, as a formula over named indices, and rewrites every tensor whose entries are

        o[…, i, v] = Σ_j w_ij V[…, j, v] / Σ_j w_ij,      w_ij = exp(scale · Σ_d Q[…, i, d] K[…, j, d] + mask_ij − m_i)

    to `attn.softmax`. m may be anything that does not depend on j; it cancels. The mask may be a constant, a
    comparison of indices or a selection, if it says causal order, blocks of tokens that attend among themselves, or
    the number of keys; a number of −10⁴ or less hides a key. Heads of keys that are broadcast over groups of
    queries become grouped queries.

    ```mlir
    %s = linalg.batch_matmul ins(%q, %kt : tensor<8x16x64xf32>, tensor<8x64x16xf32>)
        outs(%zero : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %w = linalg.softmax dimension(2) ins(%s : tensor<8x16x16xf32>) outs(%e : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %o = linalg.batch_matmul ins(%w, %v : tensor<8x16x16xf32>, tensor<8x16x64xf32>) outs(%zero2 : tensor<8x16x64xf32>)
        -> tensor<8x16x64xf32>
    ```

    becomes, between reshapes,

    ```mlir
    %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
        : tensor<8x1x16x64xf32>, tensor<8x1x16x64xf32>, tensor<8x1x16x64xf32> -> tensor<8x1x16x64xf32>
    ```

    Σ_jd φ(q)_id φ(k)_jd v_jv over its sum of weights becomes `attn.kernel`, with φ = elu + 1 or relu, in whichever order
    its products are taken; without the division its terms.

    What looks like attention and is not raised is a remark of category `attn-raise` with the reason
    (`--remarks-filter=attn-raise`).
  }];
  let statistics = [
    Statistic<"numRaised", "raised", "Number of mechanisms found">,
    Statistic<"numRefused", "refused", "Number of places that look like attention and are something else">
  ];
  let dependentDialects = ["::attune::attn::AttnDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def AttnToLinalg : Pass<"attn-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Write attn as plain linalg on tensors";
  let description = [{
    Mechanisms are decomposed into their terms, and every term becomes `linalg.generic` ops that upstream passes tile,
    fuse and bufferize, for a pipeline that has its own code generation. Between the operands and the output all is
    f32.

    A mechanism is written by its definition: with tables of queries × keys. Terms that selection has chosen are
    written as they are, so that the state form of kernel attention stays one; run the laws before this pass. The causal
    readout is a table again.

    ```mlir
    %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xf16>, tensor<2x2x80x64xf16>, tensor<2x2x80x64xf16> -> tensor<2x8x48x64xf16>
    ```

    begins with

    ```mlir
    %q5 = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [2, 2, 4, 48, 64]
        : tensor<2x8x48x64xf16> into tensor<2x2x4x48x64xf16>
    ```
  }];
  let statistics = [Statistic<"numLowered", "lowered", "Number of ops that were written as linalg">];
  let dependentDialects = ["::attune::attn::AttnDialect", "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ATTUNE_RAISE_PASSES_TD
