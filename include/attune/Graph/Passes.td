//===- Passes.td - Passes from attn to attn -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_PASSES_TD
#define ATTUNE_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def SelectRewrites : Pass<"attn-select-rewrites", "::mlir::ModuleOp"> {
  let summary = "Bring every mechanism into its cheapest form";
  let description = [{
    Offers the forms that the laws know of every mechanism, prices whole plans on a device description and commits the
    cheapest. With A = φ(Q), B = φ(K), law `linearize` offers for `attn.kernel`

    | form | formula | multiply-adds a head | condition |
    |---|---|---|---|
    | `quadratic` | (A Bᵀ) V, row by row over (A Bᵀ) 1 | nN(m + dv) | no initial or final state |
    | `state` | A (Bᵀ V) over A (Bᵀ 1) | (n + N) m dv | not causal |
    | `chunked` | the causal sums, a chunk at a time | 2 n m dv + n T (m + dv), chunks of T | causal |

    Law `fold` offers for an `attn.project` whose tokens meet random features at once: `apart`, D d + d m multiply-adds a
    token, or `folded`, D m, with W ωᵀ made by `prepare`. The op is then marked `folded`.

    `attn.softmax` has one form and stays. A function of unknown lengths becomes up to three, `@name` and `@name__form`,
    each with the length L = 2nN / (n + N) from which it runs:

    ```mlir
    func.func @elu1__state(%q: tensor<?x8x?x128xf32>, %k: tensor<?x8x?x128xf32>, %v: tensor<?x8x?x128xf32>)
        -> tensor<?x8x?x128xf32> attributes {attn.plan = #attn.plan<form = state, from = 129>} {
      %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<?x8x?x128xf32> -> tensor<?x8x?x128xf32>
      %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : tensor<?x8x?x128xf32> -> tensor<?x8x?x128xf32>
      %s, %z = attn.state %b, %v : tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x128x128xf32>, tensor<?x8x128xf32>
      %num, %den = attn.readout %a, %s, %z : tensor<?x8x?x128xf32>, tensor<?x8x128x128xf32>, tensor<?x8x128xf32>
          -> tensor<?x8x?x128xf32>, tensor<?x8x?xf32>
      %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
          : tensor<?x8x?x128xf32>, tensor<?x8x?xf32> -> tensor<?x8x?x128xf32>
      return %o : tensor<?x8x?x128xf32>
    }
    ```

    Approximate laws (`efficient`, `local`, `agents`, `drop_guards`: docs/Laws.md) change the function. One that is allowed, by
    the option or the function's attribute `attn.allow`, is taken if it is cheaper at the length at which prices are told;
    `attn.pin`, a dictionary, adds pins of the function's own.

    Decisions are remarks of category `attn-select-rewrites` (`--remarks-filter=attn-select-rewrites`).
  }];
  let options = [
    Option<"device", "device", "std::string", "\"x86-64-avx512\"",
           "the device to price for: the name of a description, a target for its default one, or a path that ends in .yaml">,
    ListOption<"pins", "pin", "std::string", "law:form, a form to take whatever it costs">,
    ListOption<"allowed", "allow", "std::string", "an approximate law that may change the function">,
    Option<"offers", "offers", "bool", "false", "price approximate laws that are not allowed too, and say so in remarks">,
    Option<"save", "save", "bool", "false", "have functions with `attn.gradients` return what is left for these (attn-differentiate=save)">,
    ListOption<"saved", "saved", "std::string", "with save: what of that is left whatever it costs">,
    Option<"threads", "threads", "int64_t", "0", "cores of a CPU to price for; 0: those of the device">,
    Option<"place", "place", "int64_t", "0", "which plan to take in the order of prices; 0: the cheapest">
  ];
  let statistics = [
    Statistic<"numTaken", "forms-taken", "Number of forms that were taken">,
    Statistic<"numMissed", "forms-missed", "Number of forms that were dearer or could not be built">
  ];
  let dependentDialects = ["::attune::attn::AttnDialect", "::attune::tile::TileDialect", "::mlir::func::FuncDialect"];
}

def Differentiate : Pass<"attn-differentiate", "::mlir::ModuleOp"> {
  let summary = "Build the gradients of functions that ask for them";
  let description = [{
    For each function with the attribute `attn.gradients`, a list of names of its arguments, builds @name_backward: its arguments are those of
    the function and then a cotangent `grad_<output>` of each floating output in its type; its results are the gradients `grad_<name>` of the
    named arguments, in the order of that list: of inputs in their type, of parameters in f32. What the forward pass computes is computed
    again, as its terms; a term gives its vector-Jacobian product by `DifferentiableOpInterface` (attn.softmax as a whole, from the logarithms
    of its sums). Nothing of the result knows that it is a gradient: laws, prices and kernels take it as any other function.

    ```mlir
    func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
        -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
      %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
          : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
      return %o : tensor<1x2x8x16xf32>
    }
    ```

    becomes, beside @f,

    ```mlir
    func.func @f_backward(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"},
                          %v: tensor<1x2x8x16xf32> {attn.name = "v"}, %c: tensor<1x2x8x16xf32> {attn.name = "grad_o"})
        -> (tensor<1x2x8x16xf32> {attn.name = "grad_v"}) {
      %o, %lse = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
          : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>, lse tensor<1x2x8xf32>
      %p = attn.softmax_weights %q, %k lse(%lse : tensor<1x2x8xf32>) {scale = 1.000000e+00 : f64}
          : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x8xf32>
      %g = attn.contract %p[batch, head, query, key], %c[batch, head, query, value] -> [batch, head, key, value]
          : tensor<1x2x8x8xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
      return %g : tensor<1x2x8x16xf32>
    }
    ```
  }];
  let options = [
    Option<"linear", "linear", "bool", "false", "differentiate attention of features as what goes through states, in time O(n), where it can be">,
    Option<"save", "save", "bool", "false",
           "take what the forward pass leaves as arguments behind the others: what `attn.saved` lists, else `saved.o` and `saved.lse` of exact attention">
  ];
  let statistics = [Statistic<"numFunctions", "functions-differentiated", "Number of functions whose gradients were built">];
  let dependentDialects = ["::attune::attn::AttnDialect", "::mlir::func::FuncDialect"];
}

def SplitGradients : Pass<"attn-split-gradients", "::mlir::func::FuncOp"> {
  let summary = "Cut sequences where their gradients would leave cores without work";
  let description = [{
    The gradients of a causal readout are made by one program for each batch entry and head. Where a device has P cores for each of these, at least
    two, its `execution` says `split`, and the schedule of the function P parts: both passes run over the parts of the sequence side by side, after the
    states that each part begins with, (1 − 1/P) m dv multiply-adds a token and head more for either. A batch that is not known counts as 1; a part has
    at least 256 tokens where the length is known. Keys that erase, and packed sequences, are not split, nor is
    what then has no room in the shared memory of a GPU.

    On 8 cores and more sums over all tokens have the pieces whose price is least, of 256 to 2,048 tokens: more run side by side, and take longer to
    merge. On a GPU two warps share the rows of functions with more than 64 columns, which one would spill.

    ```mlir
    func.func @f(%a: tensor<1x1x4096x16xf32>, %b: tensor<1x1x4096x16xf32>, %v: tensor<1x1x4096x16xf32>, %c: tensor<1x1x4096x16xf32>) -> tensor<1x1x4096x16xf32> {
      %x, %y, %z = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : tensor<1x1x4096x16xf32>)
          : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
          -> tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
      return %y : tensor<1x1x4096x16xf32>
    }
    ```

    becomes with `threads=4`

    ```mlir
    func.func @f(%a: tensor<1x1x4096x16xf32>, %b: tensor<1x1x4096x16xf32>, %v: tensor<1x1x4096x16xf32>, %c: tensor<1x1x4096x16xf32>) -> tensor<1x1x4096x16xf32>
        attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1,
                                                    parts = 4>} {
      %x, %y, %z = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : tensor<1x1x4096x16xf32>) {execution = #attn.execution<split = true>}
          : tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
          -> tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>, tensor<1x1x4096x16xf32>
      return %y : tensor<1x1x4096x16xf32>
    }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"x86-64-avx512\"",
           "the device whose cores count: the name of a description, a target for its default one, or a path that ends in .yaml">,
    Option<"threads", "threads", "int64_t", "0", "cores of a CPU; 0: those of the device">
  ];
  let statistics = [Statistic<"numSplit", "functions-split", "Number of functions with gradients in parts">];
  let dependentDialects = ["::attune::attn::AttnDialect", "::attune::tile::TileDialect"];
}

def CanonicalLaws : Pass<"attn-canonical-laws", "::mlir::func::FuncOp"> {
  let summary = "Drop what cancels and compute what is equal once";
  let description = [{
    The laws that no price decides; `attn-select-rewrites` begins with them. Where the normaliser has no guard, the scale of
    powers, of sketches and of positive features cancels; so does the bias of keys that a softmax compares. Equal ops of equal
    operands become one:

    ```mlir
    %k = attn.project %x, %wk bias(%bk : tensor<16xf32>) : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x2x8x8xf32>
    %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
        : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32> -> tensor<1x2x8x8xf32>
    ```

    reads no %bk afterwards. What a condition keeps is a remark of category `attn-select-rewrites` with the reason.
  }];
  let statistics = [
    Statistic<"numCancelled", "cancelled", "Number of factors and shifts that were dropped">,
    Statistic<"numKept", "kept", "Number of factors and shifts that a condition keeps">,
    Statistic<"numShared", "shared", "Number of ops that were there twice">
  ];
  let dependentDialects = ["::attune::attn::AttnDialect"];
}

def Decompose : Pass<"attn-decompose", "::mlir::ModuleOp"> {
  let summary = "Replace every mechanism by the terms that define it";
  let description = [{
    What a mechanism means, not how it is best computed: kernel attention by its pair weights (through a state where it
    has or makes one), softmax by one online piece.

    ```mlir
    %m, %l, %acc = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16>
        -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    %o, %lse = attn.softmax_finish %m, %l, %acc : tensor<2x8x48xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xbf16>
    ```
  }];
  let statistics = [Statistic<"numMechanisms", "mechanisms", "Number of mechanisms replaced">];
  let dependentDialects = ["::attune::attn::AttnDialect"];
}

#endif // ATTUNE_GRAPH_PASSES_TD
