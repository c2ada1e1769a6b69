//===- TileAttrs.td - Schedules, grid axes -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_ATTRS_TD
#define ATTUNE_TILE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "attune/Tile/TileDialect.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Tile_Axis : I32EnumAttr<"Axis", "what an axis of a kernel's grid counts", [
    I32EnumAttrCase<"Batch", 0, "batch">,
    I32EnumAttrCase<"Head", 1, "head">,
    I32EnumAttrCase<"QueryBlock", 2, "query_block">,
    I32EnumAttrCase<"KeyPiece", 3, "key_piece">,
    I32EnumAttrCase<"ValueBlock", 4, "value_block">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}
def Tile_AxisAttr : EnumAttr<Tile_Dialect, Tile_Axis, "axis"> {
  let summary = "What an axis of a kernel's grid counts";
}
def Tile_AxisArrayAttr : TypedArrayAttrBase<Tile_AxisAttr, "grid axes">;

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how elements are reduced", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce_kind"> {
  let summary = "How elements are reduced";
}

def Tile_Precision : I32EnumAttr<"Precision", "what a product may drop of its f32 operands", [
    I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"TF32", 1, "tf32">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}
def Tile_PrecisionAttr : EnumAttr<Tile_Dialect, Tile_Precision, "precision"> {
  let summary = "What a product may drop of its f32 operands";
  let description = [{
    * `f32`: nothing; the result is what products and sums in f32 give. Matrix units take three products of tf32 numbers
      for one: with a = a₁ + a₂, where a₁ is a rounded to tf32 and a₂ the rest, a₂·b₁ + a₁·b₂ + a₁·b₁;
    * `tf32`: operands may be rounded to 10 bits of mantissa, as many as f16 has.
  }];
}

def Tile_TargetKind : I32EnumAttr<"TargetKind", "the kind of machine a schedule is for", [
    I32EnumAttrCase<"CPU", 0, "cpu">, I32EnumAttrCase<"GPU", 1, "gpu">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

def Tile_ExactAttr : AttrDef<Tile_Dialect, "Exact", [ElementsAttrInterface]> {
  let mnemonic = "exact";
  let summary = "The elements of a constant tile of one number that f32 does not hold";
  let description = [{
    The value of an `arith.constant`: every element is `value` rounded to f32. That is what a target computes with, and the
    interpreter in its faithful mode. In its ideal mode, where nothing is rounded, the interpreter takes `value` itself,
    so that a kernel whose constants are scale · log2 e or ln 2 differs from the definition by the rounding of float64
    alone.

    Two numbers that round to one f32 are different constants; no fold computes with either.

    Constraints: a type that is a tile of f32; a finite value that f32 does not hold (`dense<1.0>` stands for one that
    it does).

    ```mlir
    #tile.exact<1.4426950408889634>
    ```
  }];
  let parameters = (ins AttributeSelfTypeParameter<"", "::mlir::RankedTensorType">:$type,
                        "::mlir::FloatAttr":$value_attr);
  let builders = [AttrBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$type, "double":$value), [{
    auto number = ::mlir::FloatAttr::get(::mlir::Float64Type::get(type.getContext()), value);
    return $_get(type.getContext(), type, number);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    double getValue() const { return getValueAttr().getValueAsDouble(); }
    bool isSplat() const { return true; }
  }];
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a kernel is cut into tiles, chosen by the cost model and obeyed by later passes";
  let description = [{
    * `target`: the kind of machine the tile sizes were chosen for;
    * `query_tile`, `key_tile`: rows of queries and of keys in a tile;
    * `piece`: the keys of one piece of the sequence; pieces are summed in a fixed order that depends on N alone;
    * `operand`: the element type of the operands of `tile.dot` (f32 on a CPU; the storage type on matrix units);
    * `warps`, `stages`: warps of a thread block and stages of the copies into shared memory (1, 1 on a CPU);
    * `warp_columns`: over how many warps the columns of a tile are spread (1 unless given); its rows are spread over the
      other factor of `warps`;
    * `parts`: in how many parts of equal length a causal sequence is cut where the parts of a head run side by side (2 unless
      given);
    * `feature_tile`, `value_tile`: how many channels or features of a token, and how many columns of its values, a tile has
      (0, which is the default: all of them). Products sum over slices of features; a slice of values is a program of its own.

    ```mlir
    #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>
    ```
  }];
  let parameters = (ins
    EnumParameter<Tile_TargetKind>:$target,
    "int64_t":$query_tile,
    "int64_t":$key_tile,
    "int64_t":$piece,
    "::mlir::Type":$operand,
    "int64_t":$warps,
    "int64_t":$stages,
    DefaultValuedParameter<"int64_t", "1">:$warp_columns,
    DefaultValuedParameter<"int64_t", "2">:$parts,
    DefaultValuedParameter<"int64_t", "0">:$feature_tile,
    DefaultValuedParameter<"int64_t", "0">:$value_tile);
  let builders = [AttrBuilder<(ins "::attune::tile::TargetKind":$target, "int64_t":$query_tile, "int64_t":$key_tile,
      "int64_t":$piece, "::mlir::Type":$operand, "int64_t":$warps, "int64_t":$stages, CArg<"int64_t", "1">:$warp_columns,
      CArg<"int64_t", "2">:$parts), [{
    return $_get($_ctxt, target, query_tile, key_tile, piece, operand, warps, stages, warp_columns, parts,
                 /*feature_tile=*/0, /*value_tile=*/0);
  }]>];
  let extraClassDeclaration = [{
    ::attune::tile::WarpGrid getWarpGrid() const { return {getWarps() / getWarpColumns(), getWarpColumns()}; }
    /// Whether tiles have slices of features and of values.
    bool isSliced() const { return getFeatureTile() != 0; }
    /// The same with tiles of so many queries and keys; with so many parts; with slices of that many features and columns of values.
    ::attune::tile::ScheduleAttr withTiles(int64_t queries, int64_t keys) const;
    ::attune::tile::ScheduleAttr withParts(int64_t parts) const;
    /// The same with so many warps, of which so many share the columns of a row.
    ::attune::tile::ScheduleAttr withWarps(int64_t warps, int64_t columns) const;
    /// The same with so many tokens in a piece.
    ::attune::tile::ScheduleAttr withPiece(int64_t piece) const;
    ::attune::tile::ScheduleAttr withSlices(int64_t features, int64_t values) const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // ATTUNE_TILE_ATTRS_TD
