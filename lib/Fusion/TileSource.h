//===- TileSource.h - What a term reads -*- C++ -*- ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are pulled: a term asks a source for the tile at a site, and may move the site first, to rows beside its own
// or to a range of columns. A source is a memory, a term over sources, or a stage.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_TILESOURCE_H
#define ATTUNE_LIB_FUSION_TILESOURCE_H

#include "TileSite.h"

#include <memory>

namespace attune::fusion {

class RegionPrinter;

class TileSource {
public:
  TileSource(AxisSet axes, Representation representation) : dependsOn(axes), representation(representation) {}
  virtual ~TileSource() = default;

  /// The tiles at a site. What has been read there before is not built again.
  SiteValue read(const TileSite &site) const;
  /// The one tile at a site, with elements of this type; null: as they are.
  mlir::Value tile(const TileSite &site, mlir::Type element = mlir::Type()) const;

  /// The same of every tile.
  llvm::SmallVector<mlir::Value, 3> tiles(const TileSite &site, mlir::Type element = mlir::Type()) const;

  AxisSet axes() const { return dependsOn; }
  Representation gives() const { return representation; }

  /// Whether it is loaded as it lies in memory: rows past the last one are 0.
  virtual bool isLoaded() const { return false; }
  /// For messages.
  virtual llvm::StringRef name() const { return "a load"; }
  virtual llvm::ArrayRef<std::shared_ptr<const TileSource>> operands() const { return {}; }
  /// The representation that it takes of an operand; none: any.
  virtual std::optional<Representation> takes(unsigned operand) const { return std::nullopt; }
  /// Values of the host that reading takes, those of operands left out.
  virtual void appendArguments(llvm::SmallVectorImpl<mlir::Value> &values) const {}
  /// The line, or the lines, that stand for it in a printed region.
  virtual void print(RegionPrinter &printer) const = 0;

private:
  virtual SiteValue build(const TileSite &site) const = 0;

  AxisSet dependsOn;
  Representation representation;
};

using Source = std::shared_ptr<const TileSource>;

/// What a stage carries when a step begins, or something else that the stage's builder says for each step.
class BoundSource : public TileSource {
public:
  BoundSource(llvm::StringRef name, Axis axis, Representation representation)
      : TileSource(setOf(axis), representation), label(name) {}

  llvm::StringRef name() const override { return label; }

  void bind(const TileSite &site, llvm::ArrayRef<mlir::Value> tiles) const {
    site.bind(this, axes(), {llvm::SmallVector<mlir::Value, 3>(tiles)});
  }
  void print(RegionPrinter &printer) const override;

private:
  SiteValue build(const TileSite &site) const override;

  std::string label;
};

/// Tiles of a memory of the host. `writtenIn`: axes in whose steps it is written; what one step reads is not what another does. Of
/// two sources that read a memory each reads it as it is where it is read first.
Source memory(mlir::Value hostMemory, llvm::ArrayRef<Dimension> dimensions, AxisSet writtenIn = {});

/// What a formula gives, as [1] in f32.
Source number(Index index);

/// The values of the host that a tree of sources takes, in the order in which they are met, each once.
void appendArguments(const TileSource &root, llvm::SmallVectorImpl<mlir::Value> &values);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_TILESOURCE_H
