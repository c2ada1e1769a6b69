//===- Term.h - A formula that knows how to compute a tile of itself -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a term needs comes through the site, its sources and its own parameters; it knows neither its reader nor its
// mechanism. As an operation of attn a term has these functions as an interface, with its parameters as attributes.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_TERM_H
#define ATTUNE_LIB_FUSION_TERM_H

#include "TileSource.h"

#include <optional>

namespace attune::fusion {

using Sources = llvm::ArrayRef<Source>;

/// What is true of every term.
class TermBase {
public:
  virtual ~TermBase() = default;
  virtual llvm::StringRef name() const = 0;
  virtual void printParameters(llvm::raw_ostream &os) const {}
  /// The representation that it takes of an operand; none: any.
  virtual std::optional<Representation> takes(unsigned operand) const { return Representation::Plain; }
  /// Values of the host that it reads beside its sources.
  virtual void appendArguments(llvm::SmallVectorImpl<mlir::Value> &values) const {}
  /// Axes that the tile depends on beside those of the operands.
  virtual AxisSet ownAxes() const { return {}; }
  /// Axes of which operands are read at other entries than the site's: the tile does not depend on those.
  virtual AxisSet movedAxes() const { return {}; }
};

/// A term that streams nothing.
class Term : public TermBase {
public:
  virtual Representation gives(Sources operands) const { return Representation::Plain; }
  virtual llvm::SmallVector<mlir::Value, 3> buildTile(const TileSite &site, Sources operands) const = 0;
};

/// A term that reduces the axis that a stage streams. What is carried are sums, in a unit where the carry has one.
class StreamedTerm : public TermBase {
public:
  virtual tile::CarryAttrInterface carry(mlir::MLIRContext *context) const = 0;
  virtual Representation gives() const { return Representation::Plain; }
  /// The unit of no entries, where the carry has one; −∞: rows of which none is seen yet have to be told from others.
  virtual std::optional<double> leastUnit() const { return std::nullopt; }
  /// The shapes of the carried tiles.
  virtual llvm::SmallVector<llvm::SmallVector<int64_t>> stateShapes(const TileSite &site) const = 0;
  /// Whether entries are spans, the tiles of the one operand, which the carry applies to what came before; there is nothing else to
  /// build then.
  virtual bool isOfStates() const { return false; }
  /// The least unit in which the entries at the site are in range; null where the carry has none.
  virtual mlir::Value buildUnit(const TileSite &site, Sources operands) const { return mlir::Value(); }
  /// The sums with the entries at the site added, both in `unit`.
  virtual llvm::SmallVector<mlir::Value> buildContribution(const TileSite &site, Sources operands, mlir::Value unit,
                                                           mlir::ValueRange sums) const {
    return {};
  }
};

/// The tiles of a term at the site where they are read.
Source term(std::unique_ptr<Term> term, llvm::SmallVector<Source> operands);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_TERM_H
