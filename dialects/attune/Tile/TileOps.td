//===- TileOps.td - Operations of the tile dialect -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_OPS_TD
#define ATTUNE_TILE_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "attune/Tile/TileAttrs.td"
include "attune/Tile/TileCarries.td"
include "attune/Tile/TileCost.td"

def Tile_Tile : Type<CPred<"::attune::tile::isTile($_self)">,
    "tile: a tensor of rank 1 or 2, static shape, f32, f16, bf16, i32 or i1", "::mlir::RankedTensorType">;
def Tile_F32Tile : Type<And<[Tile_Tile.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getElementType().isF32()">]>,
    "tile of f32", "::mlir::RankedTensorType">;
def Tile_Memory : Type<CPred<"::attune::tile::isMemory($_self)">,
    "memory: a memref of f32, f16, bf16 or i32 with innermost stride 1 and no offset", "::mlir::MemRefType">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;
/// Those that compute, and those that read or write tiles.
def Tile_Counts : DeclareOpInterfaceMethods<Tile_CostInterface, ["getCount"]>;
def Tile_Accesses : DeclareOpInterfaceMethods<Tile_CostInterface, ["getAccess"]>;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments, Tile_Accesses]> {
  let summary = "Read a tile from memory; what lies outside is zero";
  let description = [{
    With r = rank(source) and t = rank(result), element (i, j) of a rank-2 result is

        result[i, j] = source[indices[0..r-3], indices[r-2] + i, indices[r-1] + j]   if inside, else 0

    and of a rank-1 result `source[indices[0..r-2], indices[r-1] + i]`. *Inside* is: below the size of the source in each
    tiled dimension and, with `rows(%limit)`, `indices[r-t] + i < limit`. Memory outside is never read, so a NaN in a
    row that does not exist does not reach the result. The leading indices must be in bounds.

    With `from(%lower)`, inside is also `indices[r-t] + i ≥ max(lower, 0)`, and `indices[r-t]` may be negative: the rows
    before a token that a convolution reads.

    With `fold(%first) columns C stride S` the tile's rows are tokens of a window of C columns in an image of S columns
    that lies row-major in the token dimension. Token w = first + i of the window, w ≥ 0, is the row

        indices[r-2] + (w div C)·S + w mod C

    of the source: `indices[r-2]` is the row of the window's token 0. Both bounds are then on w: with `from(%lower)`,
    w ≥ max(lower, 0), and `first` may be negative; with `rows(%limit)`, w < limit. A row of the source from its size on
    is outside too.

    Constraints: one index a dimension of the source; t ≤ r; the element types agree; a fold has t = 2 and 1 ≤ C ≤ S.

    ```mlir
    %k = tile.load %keys[%b, %g, %j, %c0] rows(%length) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<64x64xf32>
    ```
    ```mlir
    %w = tile.load %keys[%b, %g, %origin, %c0] from(%lower) rows(%length) fold(%first) columns 7 stride 56
        : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<49x64xf32>
    ```
  }];
  let arguments = (ins Tile_Memory:$source, Variadic<Index>:$indices, Optional<Index>:$lower, Optional<Index>:$rows,
                       Optional<Index>:$fold, OptionalAttr<I64Attr>:$columns, OptionalAttr<I64Attr>:$stride);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`from` `(` $lower^ `)`)? (`rows` `(` $rows^ `)`)?
    (`fold` `(` $fold^ `)` `columns` $columns `stride` $stride)? attr-dict `:` type($source) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source, "::mlir::ValueRange":$indices,
                                 CArg<"::mlir::Value", "{}">:$rows), [{
    build($_builder, $_state, result, source, indices, /*lower=*/{}, rows, /*fold=*/{}, /*columns=*/{}, /*stride=*/{});
  }]>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments, Tile_Accesses]> {
  let summary = "Write a tile to memory; what lies outside is not written";
  let description = [{
    The inverse of `tile.load`, with the same meaning of *inside* and of a fold; elements outside are dropped.

    Constraints: as for `tile.load`.

    ```mlir
    tile.store %o, %out[%b, %h, %i, %c0] : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, Tile_Memory:$target, Variadic<Index>:$indices, Optional<Index>:$lower,
                       Optional<Index>:$rows, Optional<Index>:$fold, OptionalAttr<I64Attr>:$columns,
                       OptionalAttr<I64Attr>:$stride);
  let assemblyFormat = [{
    $value `,` $target `[` $indices `]` (`from` `(` $lower^ `)`)? (`rows` `(` $rows^ `)`)?
    (`fold` `(` $fold^ `)` `columns` $columns `stride` $stride)? attr-dict `:` type($value) `,` type($target)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$target, "::mlir::ValueRange":$indices,
                                 CArg<"::mlir::Value", "{}">:$rows), [{
    build($_builder, $_state, value, target, indices, /*lower=*/{}, rows, /*fold=*/{}, /*columns=*/{}, /*stride=*/{});
  }]>];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic that arith and math do not have
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>, Tile_Counts]> {
  let summary = "acc + A·B with an f32 accumulator";
  let description = [{
        result[i, j] = acc[i, j] + Σ_k A[i, k] · B[k, j]

    where A is `a`, or its transpose with `transpose_a`, and B likewise. Products and sums are f32. `precision tf32` lets a
    target round f32 operands to tf32 numbers; without it nothing of them is dropped. A CPU, and the interpreter, drop
    nothing either way.

    Constraints: rank-2 operands of one element type f32, f16 or bf16; inner sizes agree; acc is the outer sizes in f32;
    `precision` only with f32 operands.

    ```mlir
    %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x80xf32>, tensor<32x80xf32> -> tensor<64x32xf32>
    ```
    ```mlir
    %n = tile.dot %s, %k, %q precision tf32 : tensor<64x32xf32>, tensor<32x80xf32> -> tensor<64x80xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_F32Tile:$acc, UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       OptionalAttr<Tile_PrecisionAttr>:$precision);
  let results = (outs Tile_F32Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
                                 CArg<"bool", "false">:$transposeA, CArg<"bool", "false">:$transposeB), [{
    build($_builder, $_state, result, a, b, acc, transposeA, transposeB, /*precision=*/{});
  }]>];
  let assemblyFormat = "$a `,` $b `,` $acc (`precision` $precision^)? attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows of the result, columns of the result, and the size that is summed over.
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, Tile_Counts]> {
  let summary = "Drop an axis by sum or maximum";
  let description = [{
        axis 1: result[i] = ⊕_j source[i, j]        axis 0: result[j] = ⊕_i source[i, j]

    with ⊕ `add` or `max` (the maximum of IEEE numbers; a NaN may or may not reach it).

    Constraints: a rank-2 f32 source; the result is the other dimension.

    ```mlir
    %m = tile.reduce max %s axis 1 : tensor<64x32xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_F32Tile:$source, I64Attr:$axis);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = "$kind $source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExpandOp : Tile_Op<"expand", [Pure, DeclareOpInterfaceMethods<Tile_CostInterface>]> {
  let summary = "Repeat a rank-1 tile along a new axis";
  let description = [{
        axis 1: result[i, j] = source[i]        axis 0: result[i, j] = source[j]

    Constraints: a rank-1 source of the result's element type, as long as the axis that is kept.

    ```mlir
    %r = tile.expand %m axis 1 : tensor<64xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$source, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure, Tile_Counts]> {
  let summary = "Numbers from a base on";
  let description = [{
        result[i] = base + i

    as an integer of 32 bits that wraps around, or as an f32, which is exact up to 2²⁴: the places of a tile's tokens.

    Constraints: a rank-1 result of f32 or i32.

    ```mlir
    %places = tile.iota %i : tensor<64xf32>
    ```
  }];
  let arguments = (ins Index:$base);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$base attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_PermuteColumnsOp : Tile_Op<"permute_columns", [Pure, AllTypesMatch<["source", "result"]>, Tile_Counts]> {
  let summary = "The columns of a tile in another order";
  let description = [{
        result[i, c] = source[i, permutation[c]]        on a rank-1 tile: result[c] = source[permutation[c]]

    Rotary embeddings pair feature 2f with 2f + 1, or f with f + d/2, by one.

    Constraints: f32; the permutation has each column's number once.

    ```mlir
    %pairs = tile.permute_columns %x [1, 0, 3, 2] : tensor<64x4xf32>
    ```
  }];
  let arguments = (ins Tile_F32Tile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_MaskOp : Tile_Op<"mask", [Pure, AllTypesMatch<["source", "result"]>, AttrSizedOperandSegments, Tile_Counts]> {
  let summary = "Keep the visible part of a tile, fill the rest";
  let description = [{
        result[i, j] = source[i, j]   if i < rows and j < cols and j ≤ i + diagonal,   else fill

    Each condition is there if its operand is; the operands are relative to the tile and may be negative or past its
    end. On a rank-1 tile only `rows` is allowed. Key lengths are `cols` (scores) or `rows` (keys); the causal mask of
    queries i₀ + i and keys j₀ + j is `diagonal` = i₀ + N − n − j₀.

    Constraints: at least one condition; rank 1 only with `rows`.

    ```mlir
    %v = tile.mask %s fill 0xFF800000 cols(%left) diagonal(%d) : tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_F32Tile:$source, F32Attr:$fill, Optional<Index>:$rows, Optional<Index>:$cols,
                       Optional<Index>:$diagonal);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = [{
    $source `fill` $fill (`rows` `(` $rows^ `)`)? (`cols` `(` $cols^ `)`)? (`diagonal` `(` $diagonal^ `)`)?
    attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// The loop over the sequence
//===----------------------------------------------------------------------===//

def Tile_LoopOp : Tile_Op<"loop", [SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable",
                                                    "getLoopResults"]>]> {
  let summary = "The loop over the sequence, with what it carries";
  let description = [{
    Runs its body for iv = lower, lower + step, … below upper, in this order; with `reverse` for the same steps from
    the last one down to lower, as gradients do. The carried tiles enter as `inits`, are the body's arguments after
    the induction variable, and leave as the results. If lower ≥ upper the results are the inits. `carry` says how
    pieces of the loop act on the carried tiles: where the body reads no memory that it writes, the loop may be cut
    anywhere into spans, which compose in the order of the steps (`tile-cut-loops`).

    Constraints: step ≥ 1; the types of inits, arguments, yielded values and results agree; the carried tiles have the
    types that `carry` demands. CPU and GPU lowerings do not take `reverse` yet.

    ```mlir
    %sum = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero) : (tensor<64x64xf32>) {
      %k = tile.load %keys[%b, %j, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
      %next = tile.dot %k, %k, %acc {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.yield %next : tensor<64x64xf32>
    }
    ```
    ```mlir
    %later = tile.loop #tile.sum %j = %c0 to %n step 64 reverse carries(%acc = %zero) : (tensor<64x64xf32>) {
      tile.store %acc, %sums[%j, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      %k = tile.load %keys[%b, %j, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
      %next = tile.dot %k, %k, %acc {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.yield %next : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_CarryInterface:$carry, Index:$lower, Index:$upper, I64Attr:$step, UnitAttr:$reverse,
                       Variadic<Tile_Tile>:$init_args);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
  let useCustomPropertiesEncoding = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::attune::tile::CarryAttrInterface":$carry, "::mlir::Value":$lower, "::mlir::Value":$upper,
      "int64_t":$step, "::mlir::ValueRange":$inits,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::Value, ::mlir::ValueRange)>":$body,
      CArg<"bool", "false">:$reverse)>];
  let extraClassDeclaration = [{
    ::mlir::Value getInductionVar() { return getBody().front().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarried() { return getBody().front().getArguments().drop_front(); }
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
    /// Whether a `tile.any` decides if the loop runs at all.
    bool isBranch();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"LoopOp">]> {
  let summary = "What the next step of a loop carries";
  let description = [{
    ```mlir
    tile.yield %m, %l : tensor<64xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernels and the host
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, SingleBlock]> {
  let summary = "A kernel: the work of one point of a grid";
  let description = [{
    Its arguments are memories and indices. `grid` names the axes that `tile.program_id` can ask for; every point of
    the grid is run once, in any order and at the same time as others. `schedule` records how the kernel was cut.

    Constraints: no results; one to three distinct grid axes; memory, index, i64 or f32 arguments.

    ```mlir
    tile.kernel @copy(%in: memref<?x64xf32>, %out: memref<?x64xf32>) grid(query_block) {
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %i = arith.muli %p, %c64 : index
      %t = tile.load %in[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      tile.store %t, %out[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs, Tile_AxisArrayAttr:$grid,
                       OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::TypeRange":$arguments,
                                 "::llvm::ArrayRef<::attune::tile::Axis>":$grid, "::attune::tile::ScheduleAttr":$schedule)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The place of an axis in the grid, if the kernel has it.
    std::optional<unsigned> getGridPosition(::attune::tile::Axis axis);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "The end of a kernel";
  let description = [{
    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "This grid point's place along an axis";
  let description = [{
    From 0 to the size of the axis at launch, less one.

    Constraints: inside a kernel whose grid has the axis.

    ```mlir
    %b = tile.program_id batch
    ```
  }];
  let arguments = (ins Tile_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

def Tile_LaunchOp : Tile_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, AttrSizedOperandSegments]> {
  let summary = "Run a kernel over a grid";
  let description = [{
    Runs every point of the grid; the kernels of a host function run one after another. A grid with a zero size runs
    nothing.

    Constraints: the callee is a `tile.kernel` of the same module; as many sizes as it has grid axes; its argument types.

    ```mlir
    tile.launch @copy grid(%blocks) (%in, %out) : memref<?x64xf32>, memref<?x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Index>:$grid, Variadic<AnyType>:$arguments);
  let assemblyFormat = [{
    $callee `grid` `(` $grid `)` `(` $arguments `)` attr-dict (`:` type($arguments)^)?
  }];
}

def Tile_WorkspaceOp : Tile_Op<"workspace", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A row-major part of the caller's workspace";
  let description = [{
    Not initialised. Every `tile.workspace` of a host function has its own memory, aligned to 64 bytes. What the caller
    must provide is the sum over the function; its sizes may depend only on sizes of the arguments.

    Constraints: a size operand for each dynamic dimension; an identity layout.

    ```mlir
    %w = tile.workspace(%batch, %pieces) : memref<?x4x?x64x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Tile_Memory:$result);
  let assemblyFormat = "`(` $sizes `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_EitherOp : Tile_Op<"either", [Pure, AllTypesMatch<["given", "result"]>]> {
  let summary = "A tensor of the run if it is there, else other memory";
  let description = [{
    `given` if its first size is not 0, else `other`: an optional tensor that a run leaves out has no entries. Where it is there, launches that
    fill `other` have a grid of size 0.

    Constraints: both have the same shape and type of elements.

    ```mlir
    %sums = tile.either %given, %own : memref<?x4x?xf32, strided<[?, ?, 1]>>, memref<?x4x?xf32>
    ```
  }];
  let arguments = (ins Tile_Memory:$given, Tile_Memory:$other);
  let results = (outs Tile_Memory:$result);
  let assemblyFormat = "$given `,` $other attr-dict `:` type($given) `,` type($other)";
  let hasVerifier = 1;
}

include "attune/Tile/TileAny.td"
include "attune/Tile/TileArrive.td"
include "attune/Tile/TileGroupHeads.td"
include "attune/Tile/TileScan.td"
include "attune/Tile/TileElementwise.td"
include "attune/Tile/TileLayouts.td"

#endif // ATTUNE_TILE_OPS_TD
