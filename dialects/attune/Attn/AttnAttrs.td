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

def Attn_FeatureKind : Attn_Enum<"FeatureKind", "a per-token feature map", [I32EnumAttrCase<"Elu1", 0, "elu1">]>;

def Attn_FeatureMapAttr : AttrDef<Attn_Dialect, "FeatureMap"> {
  let mnemonic = "feature_map";
  let summary = "A per-token feature map φ";
  let description = [{
    * `elu1`: φ(x) = elu(x) + 1 entrywise, that is x + 1 for x > 0 and eˣ for x ≤ 0; as many features as x has entries
      ("Transformers are RNNs", eq. 7). No logit scale.

    ```mlir
    #attn.feature_map<elu1>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_FeatureKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
  let extraClassDeclaration = [{
    /// The number of features m of rows of `width` entries.
    int64_t getFeatures(int64_t width) const { return width; }
  }];
}

//===----------------------------------------------------------------------===//
// Denominators
//===----------------------------------------------------------------------===//

def Attn_DenominatorAttr : AttrDef<Attn_Dialect, "Denominator"> {
  let mnemonic = "denominator";
  let summary = "The guard of a normaliser";
  let description = [{
    A row is divided by max(denominator + bias, floor); a row for which that is exactly 0 is 0.

    ```mlir
    #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$bias_attr, "::mlir::FloatAttr":$floor_attr);
  let builders = [AttrBuilder<(ins "double":$bias, "double":$floor), [{
    auto attribute = [&](double value) { return ::mlir::FloatAttr::get(::mlir::Float64Type::get($_ctxt), value); };
    return $_get($_ctxt, attribute(bias), attribute(floor));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    double getBias() const { return getBiasAttr().getValueAsDouble(); }
    double getFloor() const { return getFloorAttr().getValueAsDouble(); }
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

def Attn_PlanAttr : AttrDef<Attn_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "The form of a function and the lengths for which it is the cheapest";
  let description = [{
    A library holds up to three functions that mean the same; the one with the largest `from` that is at most
    L = 2nN / (n + N) runs (L = n for self-attention).

    ```mlir
    #attn.plan<form = state, from = 128>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_Form>:$form, "int64_t":$from);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // ATTUNE_ATTN_ATTRS_TD
