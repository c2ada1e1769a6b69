//===- AttnAttrs.td - Feature maps, denominators, roles, plans -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTRS_TD
#define ATTUNE_ATTN_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "attune/Attn/AttnDialect.td"

class Attn_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::attn";
}

//===----------------------------------------------------------------------===//
// Feature maps
//===----------------------------------------------------------------------===//

def Attn_FeatureKind : Attn_Enum<"FeatureKind", "a per-token feature map", [
    I32EnumAttrCase<"Elu1", 0, "elu1">, I32EnumAttrCase<"Relu", 1, "relu">, I32EnumAttrCase<"Cosformer", 2, "cosformer">,
    I32EnumAttrCase<"Focused", 3, "focused">, I32EnumAttrCase<"Favor", 4, "favor">,
    I32EnumAttrCase<"FavorRelu", 5, "favor_relu">, I32EnumAttrCase<"Softmax", 6, "softmax">,
    I32EnumAttrCase<"TensorSquare", 7, "tensor_square">, I32EnumAttrCase<"Identity", 8, "identity">,
    I32EnumAttrCase<"SymmetricSquare", 9, "symmetric_square">]>;

def Attn_Stabilizer : Attn_Enum<"Stabilizer", "what is subtracted from FAVOR's exponents", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Projection", 2, "projection">, I32EnumAttrCase<"None", 3, "none">]>;

def Attn_FeatureMapAttr : AttrDef<Attn_Dialect, "FeatureMap"> {
  let mnemonic = "feature_map";
  let summary = "A per-token feature map φ";
  let description = [{
    With x a token of d entries, m the number of features, and, where a map of exponents has `scale` s, x' = √s·x:

    | kind | φ(x) | m | parameter |
    |---|---|---|---|
    | `elu1` | x + 1 for x > 0, eˣ for x ≤ 0, entrywise ("Transformers are RNNs") | d | – |
    | `relu` | max(x, 0) | d | – |
    | `cosformer` | [relu(x) sin(πi / 2M), relu(x) cos(πi / 2M)], i = 1 … the token's place, M = `max_position` | 2d | – |
    | `focused` | y = (relu(x) + ε) / softplus(focus); (|y| / |y^p|) y^p with p = `power` | d | `focus` [heads, d] |
    | `favor` | m^{-1/2} (e^{L − c} + ε), L_f = ⟨ω_f, x'⟩ − |x'|²/2; c by `stabilizer` ("Rethinking Attention with Performers") | `features` | `omega` [heads or 1, m, d] |
    | `favor_relu` | max(⟨ω_f, x'⟩, 0) + ε; x' = x without `scale` | `features` | `omega` [heads or 1, m, d] |
    | `softmax` | eˣ / Σ eˣ over the entries of x ("Efficient Attention", queries) | d | – |
    | `tensor_square` | x ⊗ x | d² | – |
    | `symmetric_square` | w_s x_c x_{(c + s) mod d} of the shifts s = 0 … ⌊d/2⌋, one after another; w_s = 1 for s = 0 and 2s = d, else √2: ⟨φ(x), φ(y)⟩ is that of `tensor_square` | d (⌊d/2⌋ + 1) | – |
    | `identity` | x of keys, s·x of queries (retention, gated linear attention) | d | – |

    `stabilizer`, for queries: c = the row's maximum of L (`constant`, `max`), of ⟨ω, x'⟩ (`projection`), or 0 (`none`); for
    keys: max_f |ω_f|²/2 (`constant`), the maximum of L (`max`) or of ⟨ω, x'⟩ (`projection`) over all features and
    existing keys of one (batch, query head), or 0. Where ε = 0 and the normaliser has no guard, c cancels.

    ```mlir
    #attn.feature_map<elu1>
    #attn.feature_map<favor, features = 256, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>
    #attn.feature_map<cosformer, max_position = 4096>
    #attn.feature_map<focused, epsilon = 1.000000e-06, power = 3.000000e+00>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_FeatureKind>:$kind, "int64_t":$feature_count, "::mlir::FloatAttr":$epsilon_attr,
                        "::mlir::FloatAttr":$scale_attr, "::mlir::FloatAttr":$power_attr, "int64_t":$max_position,
                        EnumParameter<Attn_Stabilizer>:$stabilizer);
  let builders = [
    AttrBuilder<(ins "::attune::attn::FeatureKind":$kind, CArg<"int64_t", "0">:$features, CArg<"double", "0">:$epsilon,
                     CArg<"double", "0">:$scale, CArg<"double", "0">:$power, CArg<"int64_t", "0">:$maxPosition,
                     CArg<"::attune::attn::Stabilizer", "::attune::attn::Stabilizer::Constant">:$stabilizer), [{
      auto attribute = [&](double value) { return ::mlir::FloatAttr::get(::mlir::Float64Type::get($_ctxt), value); };
      return $_get($_ctxt, kind, features, attribute(epsilon), attribute(scale), attribute(power), maxPosition, stabilizer);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    double getEpsilon() const { return getEpsilonAttr().getValueAsDouble(); }
    /// s of x' = √s·x; 0 if x is taken as it is.
    double getScale() const { return getScaleAttr().getValueAsDouble(); }
    double getPower() const { return getPowerAttr().getValueAsDouble(); }
    /// The number of features m of rows of `width` entries.
    int64_t getFeatures(int64_t width) const;
    /// Whether the map reads a parameter (omega or focus).
    bool hasParameter() const;
    /// The same map with another stabilizer.
    FeatureMapAttr withStabilizer(::attune::attn::Stabilizer stabilizer) const;
    /// Whether keys take a maximum over all of them as their stabilizer.
    bool hasMaximumOverKeys() const {
      return isFavor() && (getStabilizer() == ::attune::attn::Stabilizer::Max ||
                           getStabilizer() == ::attune::attn::Stabilizer::Projection);
    }
    bool isFavor() const { return getKind() == ::attune::attn::FeatureKind::Favor; }
    bool isSquare() const {
      return getKind() == ::attune::attn::FeatureKind::TensorSquare || getKind() == ::attune::attn::FeatureKind::SymmetricSquare;
    }
    /// m of a map whose number of features is that of the width.
    static int64_t featuresOf(::attune::attn::FeatureKind kind, int64_t width);
    /// w_s of `symmetric_square`.
    static double weightOfShift(int64_t shift, int64_t width);
    /// Whether c of `favor` cancels between numerator and denominator under that guard.
    bool stabilizerCancels(::attune::attn::DenominatorAttr guard) const;
  }];
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

def Attn_WindowAttr : AttrDef<Attn_Dialect, "Window"> {
  let mnemonic = "window";
  let summary = "Blocks of tokens that attend among themselves";
  let description = [{
    Either blocks of `length` consecutive tokens, or the tiles of `rows`×`columns` tokens of an image of
    `grid_rows`×`grid_columns` tokens in row-major order. Tokens keep their order inside a block.

    ```mlir
    #attn.window<49>
    #attn.window<7x7 of 56x56>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$grid_rows, "int64_t":$grid_columns);
  let builders = [AttrBuilder<(ins "int64_t":$length), [{ return $_get($_ctxt, 1, length, 0, 0); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isGrid() const { return getGridRows() != 0; }
    /// Tokens of a block.
    int64_t getLength() const { return getRows() * getColumns(); }
  }];
}

//===----------------------------------------------------------------------===//
// Denominators
//===----------------------------------------------------------------------===//

def Attn_DenominatorAttr : AttrDef<Attn_Dialect, "Denominator"> {
  let mnemonic = "denominator";
  let summary = "The guard of a normaliser";
  let description = [{
    A row is divided by max(denominator + bias, floor); a row for which that is exactly 0 is 0. `none`: nothing divides it.

    ```mlir
    #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>
    #attn.denominator<none>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$bias_attr, "::mlir::FloatAttr":$floor_attr, "bool":$none);
  let builders = [AttrBuilder<(ins "double":$bias, "double":$floor, CArg<"bool", "false">:$none), [{
    auto attribute = [&](double value) { return ::mlir::FloatAttr::get(::mlir::Float64Type::get($_ctxt), value); };
    return $_get($_ctxt, attribute(bias), attribute(floor), none);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    double getBias() const { return getBiasAttr().getValueAsDouble(); }
    double getFloor() const { return getFloorAttr().getValueAsDouble(); }
    /// Whether a factor of all weights of a row leaves the row as it is.
    bool cancelsFactors() const { return !getNone() && getBias() == 0 && getFloor() == 0; }
  }];
}

//===----------------------------------------------------------------------===//
// Roles and plans
//===----------------------------------------------------------------------===//

def Attn_Role : Attn_Enum<"Role", "what a dimension of a tensor counts", [
    I32EnumAttrCase<"Batch", 0, "batch">, I32EnumAttrCase<"Head", 1, "head">, I32EnumAttrCase<"Query", 2, "query">,
    I32EnumAttrCase<"Key", 3, "key">, I32EnumAttrCase<"Feature", 4, "feature">, I32EnumAttrCase<"Value", 5, "value">]>;
def Attn_RoleAttr : EnumAttr<Attn_Dialect, Attn_Role, "role"> {
  let summary = "What a dimension of a tensor counts";
  let assemblyFormat = "$value";
}
def Attn_RolesAttr : TypedArrayAttrBase<Attn_RoleAttr, "the role of each dimension">;

def Attn_Form : Attn_Enum<"Form", "how a mechanism is computed", [
    I32EnumAttrCase<"Online", 0, "online">, I32EnumAttrCase<"Quadratic", 1, "quadratic">,
    I32EnumAttrCase<"State", 2, "state">, I32EnumAttrCase<"Chunked", 3, "chunked">]>;
def Attn_FormAttr : EnumAttr<Attn_Dialect, Attn_Form, "form"> {
  let summary = "How a mechanism is computed, in bytecode of version 1";
  let assemblyFormat = "`<` $value `>`";
}

def Attn_PlanAttr : AttrDef<Attn_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "The form of a function and the lengths for which it is the cheapest";
  let description = [{
    A library holds up to three functions that mean the same; the one with the largest `from` that is at most
    L = 2nN / (n + N) runs (L = n for self-attention). `from` is at least 0.

    ```mlir
    #attn.plan<form = state, from = 128>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_Form>:$form, "int64_t":$from);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Executions
//===----------------------------------------------------------------------===//

def Attn_TermForm : Attn_Enum<"TermForm", "which of the equal formulas of an op is computed", [
    I32EnumAttrCase<"AsWritten", 0, "as_written">, I32EnumAttrCase<"State", 1, "state">,
    I32EnumAttrCase<"Chunked", 2, "chunked">, I32EnumAttrCase<"Folded", 3, "folded">,
    I32EnumAttrCase<"CompressFirst", 4, "compress_first">]>;

def Attn_Values : Attn_Enum<"Values", "whether values between kernels are stored", [
    I32EnumAttrCase<"AsUsual", 0, "as_usual">, I32EnumAttrCase<"Fused", 1, "fused">,
    I32EnumAttrCase<"Materialized", 2, "materialized">]>;

def Attn_Ending : Attn_Enum<"Ending", "who merges what pieces of a sequence have left", [
    I32EnumAttrCase<"MergeKernel", 0, "merge_kernel">, I32EnumAttrCase<"LastBlock", 1, "last_block">]>;

def Attn_Launch : Attn_Enum<"Launch", "when the parts of a mixture run", [
    I32EnumAttrCase<"Sequential", 0, "sequential">, I32EnumAttrCase<"CoLaunched", 1, "co_launched">]>;

class Attn_EnumOr<EnumInfo info, string value> : EnumParameter<info> { let defaultValue = value; }

def Attn_ExecutionAttr : AttrDef<Attn_Dialect, "Execution"> {
  let mnemonic = "execution";
  let summary = "How selection wants an op computed";
  let description = [{
    Decisions of laws about an op whose meaning stays the same. What is not said is as the op's kernels do it by themselves.

    | op | decision | law, form |
    |---|---|---|
    | `project` | `form = folded`: x (W ωᵀ) instead of x W, with ω of the one map that reads the tokens | fold: folded |
    | | `values = fused`: whoever reads a tile of tokens computes it | project: fused |
    | `project_output` | `values = fused`: the kernel that computes the heads multiplies them, and stores none | project_out: epilogue |
    | `compress` | `form = compress_first`: (E x) W + (E 1) βᵀ, where the source is x W + 1 βᵀ | low_rank: compress_first |
    | `map` | `values = materialized`: a kernel stores the features of keys for all readers | map: materialized |
    | `readout` | `values = fused`: the kernel that makes a state reads it | linearize: fused_state |
    | | `ending = last_block`: the kernel that makes the states of pieces merges them | linearize: merged_state |
    | `causal_readout` | `split`: parts of the sequence run side by side | linearize: split; keys: split, of `grouped` |
    | | `grouped`: the query heads of a key-value head share its state | linearize: grouped |
    | `causal_readout_gradient` | `split`: the same of both passes | attn-split-gradients |
    | `polysketch` | `form = state`, `form = chunked`, and `split` of chunks | linearize: state, chunked, split |
    | `softmax` | `split`: pieces of the keys run side by side | keys: split |
    | `concat_heads` | `launch = co_launched`: the first kernels of all parts in one launch, then the second ones | launch: co_launched |

    ```mlir
    #attn.execution<form = folded, values = fused>
    #attn.execution<split = true>
    ```
  }];
  let parameters = (ins Attn_EnumOr<Attn_TermForm, "::attune::attn::TermForm::AsWritten">:$form,
                        Attn_EnumOr<Attn_Values, "::attune::attn::Values::AsUsual">:$values,
                        DefaultValuedParameter<"bool", "false">:$split, DefaultValuedParameter<"bool", "false">:$grouped,
                        Attn_EnumOr<Attn_Ending, "::attune::attn::Ending::MergeKernel">:$ending,
                        Attn_EnumOr<Attn_Launch, "::attune::attn::Launch::Sequential">:$launch);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // ATTUNE_ATTN_ATTRS_TD
