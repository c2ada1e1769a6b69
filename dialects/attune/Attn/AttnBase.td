//===- AttnBase.td - Types and classes that the families of ops share -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_BASE_TD
#define ATTUNE_ATTN_BASE_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "attune/Attn/AttnAttrs.td"
include "attune/Attn/AttnInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// An op with decisions of laws, as `execution` prints them; it has that attribute.
class Attn_ExecutableOp<string mnemonic, list<string> decisions, list<Trait> traits = [], string declarations = "">
    : Attn_Op<mnemonic, !listconcat([Attn_ExecutableInterface], traits)> {
  let extraClassDeclaration = "static ::llvm::ArrayRef<::llvm::StringLiteral> decisions() {\n"
      "static constexpr ::llvm::StringLiteral all[] = {\"" # !interleave(decisions, "\", \"") # "\"};\nreturn all;\n}\n" # declarations;
}

/// q, k, v, o: [batch, heads, tokens, width].
def Attn_Tokens : Type<CPred<"::attune::attn::isTokens($_self)">,
    "tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width",
    "::mlir::RankedTensorType">;
def Attn_Lengths : 1DTensorOf<[I32]>;
/// The logarithm of what a token leaves of the state of a head: [heads], [batch, heads, tokens] or, of each feature,
/// [batch, heads, tokens, features].
def Attn_Decay : TensorOf<[F32]>;
/// A number of each token [batch, heads, tokens], or of each of its entries [batch, heads, tokens, entries].
def Attn_Gate : TensorOf<[F32]>;
/// What each head's logits lose for a token of distance: [heads].
def Attn_Slopes : 1DTensorOf<[F32]>;
/// Terms are f32; interpreters compute them in f64.
def Attn_F32x4 : 4DTensorOf<[F32]>;
def Attn_F32x3 : 3DTensorOf<[F32]>;
def Attn_F32x2 : 2DTensorOf<[F32]>;
/// What is taken off exponents: of a head, or of each of its features.
def Attn_Shift : AnyTypeOf<[Attn_F32x2, Attn_F32x3]>;
/// A parameter: f32, f16 or bf16, static sizes but for the sequence.
def Attn_Parameter : RankedTensorOf<[F32, F16, BF16]>;
def Attn_Indices : RankedTensorOf<[I32]>;
/// x, context, y: [batch, tokens, D].
def Attn_Model : 3DTensorOf<[F32, F16, BF16]>;

#endif // ATTUNE_ATTN_BASE_TD
