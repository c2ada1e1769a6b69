//===- AttnBuilder.h - Building a spec's function ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FRONTEND_ATTNBUILDER_H
#define ATTUNE_LIB_FRONTEND_ATTNBUILDER_H

#include "attune/Frontend/Spec.h"
#include "attune/Frontend/SpecTensors.h"

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// What a part attends with: heads of queries, keys and values.
struct Heads {
  mlir::Value query, key, value;
};

/// What the builders of a spec's pieces share: types, places, and the function's arguments by name.
class AttnBuilder {
public:
  AttnBuilder(const Spec &spec, llvm::StringRef fileName, mlir::MLIRContext &context);

  mlir::Location at(Position place) const;
  /// The place of a field's key.
  mlir::Location at(llvm::StringRef path) const { return at(spec.placeOf(path).key); }
  /// The place of a part's field.
  mlir::Location at(const Part &part, llvm::StringRef field) const;

  mlir::Type elementOf(ElementType type);
  mlir::Type storage() { return elementOf(spec.dtype); }
  static int64_t extent(Size size) { return size.value_or(mlir::ShapedType::kDynamic); }
  mlir::RankedTensorType typeOf(const SpecTensor &tensor);
  /// [batch, heads, length, width].
  mlir::RankedTensorType tokens(int64_t heads, Size length, int64_t width, mlir::Type element);
  /// The shape of `value` with another number of heads, of tokens or another element type.
  static mlir::RankedTensorType withElement(mlir::Value value, mlir::Type element);
  static mlir::RankedTensorType withDim(mlir::RankedTensorType type, unsigned dim, int64_t size);
  static int64_t headsOf(mlir::Value value);

  mlir::Value argument(llvm::StringRef name) const { return arguments.lookup(name); }
  /// A parameter of a part; null if it has none of that name.
  mlir::Value parameter(const Part &part, llvm::StringRef name) const { return argument(part.prefix + name.str()); }
  /// The key lengths; null if every key exists.
  mlir::Value lengths() const { return argument("key_lengths"); }
  mlir::UnitAttr unitIf(bool condition) { return condition ? builder.getUnitAttr() : mlir::UnitAttr(); }
  mlir::FloatAttr number(double value) { return builder.getF64FloatAttr(value); }
  mlir::IntegerAttr integer(int64_t value) { return builder.getI64IntegerAttr(value); }

  const Spec &spec;
  llvm::StringRef fileName;
  mlir::OpBuilder builder;
  llvm::StringMap<mlir::Value> arguments;
  mlir::Value lse; ///< of the mechanism, if the spec asks for it
  llvm::SmallVector<mlir::Value> finalStates; ///< of the parts, as `stateTensors` lists them
};

/// q, k and v of all heads: the inputs, projected, turned and normalised as the spec says.
Heads buildHeads(AttnBuilder &b);

/// The mechanism of one part over its heads, with what modifies it; the output has element type `element`.
mlir::Value buildPart(AttnBuilder &b, const Part &part, const Heads &heads, mlir::Type element);

/// What the op of a part's mechanism is made of.
struct PartBuilder {
  mlir::Value parameter(llvm::StringRef name) const { return b.parameter(part, name); }
  mlir::FloatAttr scale() const { return b.number(b.spec.logitScale(part)); }
  mlir::UnitAttr causal() const { return b.unitIf(b.spec.causal); }
  /// Of blocks of tokens; null without any.
  attn::WindowAttr window() const;
  /// The last keys of each query; null if all.
  mlir::IntegerAttr last() const { return m.window && m.window->last ? b.integer(*m.window->last) : mlir::IntegerAttr(); }
  attn::DenominatorAttr guard() const;
  attn::FeatureMapAttr featureMap() const;

  AttnBuilder &b;
  const Part &part;
  const Mechanism &m;
  mlir::Value q, k, v, lengths; ///< no lengths where every key exists
  mlir::Type output;
  mlir::Location place;
};

} // namespace attune

#endif // ATTUNE_LIB_FRONTEND_ATTNBUILDER_H
