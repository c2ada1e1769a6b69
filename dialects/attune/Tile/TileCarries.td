//===- TileCarries.td - What loops carry along the sequence -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_CARRIES_TD
#define ATTUNE_TILE_CARRIES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "attune/Tile/TileDialect.td"

def Tile_CarryInterface : AttrInterface<"CarryAttrInterface"> {
  let cppNamespace = "::attune::tile";
  let description = [{
    A loop carries a *state*, tiles of f32. A piece of its steps is a *span*, which acts on states, and spans compose.
    With S(p) the span of the piece p, and p q the piece q after p, in the order of the loop:

        state after p      = buildApply(S(p), state before p)
        S(p q)             = buildCompose(S(p), S(q))
        S(no steps)        = buildIdentitySpan()
        state after none   = buildIdentityState()

    Composition is associative, so that a sequence can be cut anywhere. How tokens enter is the body's business, and
    what becomes of the result that of its reader.

    Most carries are *self-acting*: a span is what the piece makes of the state before any token, and

        buildApply(span, state) = buildCompose(state, span)

    which is what the methods do where a carry does not say otherwise.
  }];
  let methods = [
    InterfaceMethod<"Whether tiles of these types can be carried.", "::llvm::LogicalResult", "verifyState",
      (ins "::mlir::TypeRange":$types, "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"The state before any token.", "::llvm::SmallVector<::mlir::Value>", "buildIdentityState",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::TypeRange":$types)>,
    InterfaceMethod<"The span of two consecutive pieces from theirs.", "::llvm::SmallVector<::mlir::Value>",
      "buildCompose", (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$earlier,
           "::mlir::ValueRange":$later)>,
    InterfaceMethod<"The types of a span that acts on states of these types.", "::llvm::SmallVector<::mlir::Type>",
      "getSpanTypes", (ins "::mlir::TypeRange":$types), "", [{ return ::llvm::to_vector(types); }]>,
    InterfaceMethod<"The span of no tokens, which leaves a state of these types alone.",
      "::llvm::SmallVector<::mlir::Value>", "buildIdentitySpan",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::TypeRange":$types), "",
      [{ return $_attr.buildIdentityState(builder, loc, types); }]>,
    InterfaceMethod<"The state that a span makes of one.", "::llvm::SmallVector<::mlir::Value>", "buildApply",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$span,
           "::mlir::ValueRange":$state), "",
      [{ return $_attr.buildCompose(builder, loc, state, span); }]>,
    InterfaceMethod<[{
      The state with its sums in a unit in which entries that need `unit` can be added. A carry without units takes
      entries as they are; then `unit` is not read. `maybeNone`: of a row with a state of nothing there may be no entry.
    }], "::attune::tile::OpenState", "buildJoin",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$state, "::mlir::Value":$unit,
           "bool":$maybeNone), "",
      [{ return ::attune::tile::OpenState{{}, {}, ::llvm::SmallVector<::mlir::Value>(state)}; }]>,
    InterfaceMethod<[{
      The span of the steps of a `tile.loop` from `lower` to `upper`, computed by another loop with the same carry,
      before the point of `builder`. Fails with a diagnostic if the body is none that the carry knows how to make a
      span of.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildSpan",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Operation *":$loop, "::mlir::Value":$lower, "::mlir::Value":$upper),
      "", [{
        auto state = $_attr.buildIdentityState(builder, loop->getLoc(), loop->getResultTypes());
        return ::llvm::SmallVector<::mlir::Value>(::attune::tile::cloneSteps(builder, loop, lower, upper, state));
      }]>];
}

class Tile_Carry<string name, string carryMnemonic, list<string> methods = []>
    : AttrDef<Tile_Dialect, name, [DeclareAttrInterfaceMethods<Tile_CarryInterface, methods>]> {
  let mnemonic = carryMnemonic;
}

def Tile_SumAttr : Tile_Carry<"Sum", "sum"> {
  let summary = "A loop carries sums";
  let description = [{
    Any number of tiles, composed by addition; an empty piece leaves 0.
  }];
}

def Tile_MaximumAttr : Tile_Carry<"Maximum", "maximum"> {
  let summary = "A loop carries maxima";
  let description = [{
    Any number of tiles, composed by the maximum; an empty piece leaves −∞.
  }];
}

def Tile_SequentialAttr : Tile_Carry<"Sequential", "sequential", ["buildSpan"]> {
  let summary = "A loop carries what all of its steps make, in their order";
  let description = [{
    Any number of tiles. No span stands for some of the steps, so that the loop is never cut.
  }];
}

def Tile_Unit : I32EnumAttr<"Unit", "what has a unit", [
    I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Scalar", 1, "scalar">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}

def Tile_RescaledSumAttr : Tile_Carry<"RescaledSum", "rescaled_sum", ["buildJoin"]> {
  let summary = "A loop carries sums in a unit that grows";
  let description = [{
    (u, x₁, x₂, …): a unit, and tiles that stand for x · act(u), since what they stand for may be beyond the range of f32.
    The action of a unit is 2^u (`exp2`: online softmax, logarithms of features) or u^p (`power p`, p ≥ 1: powers, sketches).
    `row`: u is [R], and the first axis of each tile is R. `scalar`: u is [1].

        compose: u = max(u₁, u₂), x = x₁ act(u₁) / act(u) + x₂ act(u₂) / act(u)

    Exactly x₁ where u = u₁. The state before any token is sums of 0 in the least unit: −10³⁰, which a body may subtract
    from itself, as it may not −∞, or 2⁻¹²⁶ of powers. Units of what is not 0 are never less.

    ```mlir
    #tile.rescaled_sum<exp2, row>
    #tile.rescaled_sum<power 2, scalar>
    ```
  }];
  let parameters = (ins "int64_t":$power, EnumParameter<Tile_Unit>:$unit);
  let builders = [AttrBuilder<(ins "int64_t":$power), [{ return $_get($_ctxt, power, Unit::Row); }]>];
  let assemblyFormat = "`<` custom<Action>($power) `,` $unit `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// `power` of the action 2^u.
    static constexpr int64_t exp2 = 0;
  }];
}

def Tile_Transition : I32EnumAttr<"Transition", "what a span does to the rows of a state", [
    I32EnumAttrCase<"Vector", 0, "vector">, I32EnumAttrCase<"Matrix", 1, "matrix">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}

def Tile_AffineAttr : Tile_Carry<"Affine", "affine", ["getSpanTypes", "buildIdentitySpan", "buildApply", "buildSpan"]> {
  let summary = "A loop carries what decays or is erased";
  let description = [{
    The state (S, z, …): tiles of m rows, the first of rank 2. The span (A, B, b, …): a transition, and what the piece
    leaves of a state of 0.

        apply:    S' = A S + B,     z' = A z + b
        compose:  A = A₂ A₁,        B = A₂ B₁ + B₂,     b = A₂ b₁ + b₂

    `matrix`: A is [m, m] (erasing: the delta rule). `vector`: A is diagonal (decay: retention, gated linear
    attention, state space models), held as its action on a column of ones, [m, 1]. The identity span is I, or ones,
    and sums of 0. No transition is ever divided by, so that one of 0 is as good as any.

    A piece's span comes from the loop's body: run on [S | X] with what it adds left out of the columns X, it leaves
    [B | A] if it began with S = 0 and X = I, or X = ones. The loop that does this carries a state of this carry, too:
    (X, S, z, …). For it, what the body yields for the first tile must be made of that tile by ops that are linear in
    it and take its columns one by one: `tile.dot`, `tile.reduce add` and `tile.expand` on the other axis, `tile.mask`
    by rows, sums, differences, changes of sign, casts, and products and quotients with tiles that have the same
    columns everywhere. It may not depend on other carried tiles.

    ```mlir
    #tile.affine<transition = vector>
    #tile.affine<transition = matrix>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_Transition>:$transition);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_FirstCarryAttr : AttrDef<Tile_Dialect, "FirstCarry"> {
  let summary = "The carry of a loop in bytecode of version 1";
  let description = [{
    Read as what it meant: `sum` as `#tile.sum`, `maximum` as `#tile.maximum` and `softmax` as `#tile.rescaled_sum<exp2, row>`.
    There is no such attribute in memory.
  }];
  let mnemonic = "carry";
  let hasCustomAssemblyFormat = 1;
}

#endif // ATTUNE_TILE_CARRIES_TD
