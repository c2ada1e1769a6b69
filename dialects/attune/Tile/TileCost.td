//===- TileCost.td - What one execution of an op does -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_COST_TD
#define ATTUNE_TILE_COST_TD

include "mlir/IR/EnumAttr.td"
include "attune/Tile/TileDialect.td"

def Tile_Counted : I32EnumAttr<"Counted", "what is counted of a kernel", [
    I32EnumAttrCase<"MacsF32", 0, "macs_f32">, I32EnumAttrCase<"MacsTF32", 1, "macs_tf32">,
    I32EnumAttrCase<"MacsF16", 2, "macs_f16">, I32EnumAttrCase<"MacsBF16", 3, "macs_bf16">,
    I32EnumAttrCase<"Exponentials", 4, "exponentials">, I32EnumAttrCase<"Logarithms", 5, "logarithms">,
    I32EnumAttrCase<"Sines", 6, "sines">, I32EnumAttrCase<"Elementwise", 7, "elementwise">,
    I32EnumAttrCase<"BytesLoaded", 8, "bytes_loaded">, I32EnumAttrCase<"BytesStored", 9, "bytes_stored">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}

def Tile_CostInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::attune::tile";
  let description = [{
    What one execution of an op does, whatever it is executed on:

    * multiply-adds, by the type of the operands: `macs_f32` (of which nothing may be dropped), `macs_tf32` (f32 that may
      be rounded to tf32), `macs_f16`, `macs_bf16` (on a CPU, pairs of products);
    * `exponentials` and `logarithms`, `sines` (and cosines), each of one element;
    * `elementwise`: every other operation on an element, a comparison and a conversion included. A reduction has one an
      element of its source.

    Moving is not counted as computing: constants, `tile.expand`, and what enters or leaves memory. Bytes depend on where
    a tile lies in its memory, which the op describes by its access.

    Of `arith` and `math` the ops that kernels use have external models (`registerCostModels` of
    `attune/Cost/KernelCounts.h`).
  }];
  let methods = [
    InterfaceMethod<"What is computed once.", "::attune::tile::OpCount", "getCount", (ins), "", "return {};">,
    InterfaceMethod<"The tile in memory that is read or written, if there is one.",
                    "std::optional<::attune::tile::MemoryAccess>", "getAccess", (ins), "", "return std::nullopt;">];
}

#endif // ATTUNE_TILE_COST_TD
