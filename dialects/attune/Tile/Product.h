//===- Product.h - Kernels that are plain products of tokens -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_PRODUCT_H
#define ATTUNE_TILE_PRODUCT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace attune::tile {

/// A kernel with arguments x [batch, tokens, depth], w [depth, heads·width] and out [batch, heads, tokens, width] that does
/// no more than out[b, h, i, c] = Σ_k x[b, i, k] w[k, h·width + c], in f32; x and w are of `type`. The runtime of a GPU may
/// leave it to a vendor's library.
struct Product {
  mlir::Type type;
  int64_t heads = 0, width = 0, depth = 0;

  static constexpr llvm::StringLiteral attributeName = "attune.product";

  void mark(mlir::Operation *kernel) const {
    mlir::Builder builder(kernel->getContext());
    mlir::NamedAttribute fields[] = {builder.getNamedAttr("depth", builder.getI64IntegerAttr(depth)),
                                     builder.getNamedAttr("heads", builder.getI64IntegerAttr(heads)),
                                     builder.getNamedAttr("type", mlir::TypeAttr::get(type)),
                                     builder.getNamedAttr("width", builder.getI64IntegerAttr(width))};
    kernel->setAttr(attributeName, builder.getDictionaryAttr(fields));
  }

  /// None if the kernel is no product, or what stands there says nothing.
  static std::optional<Product> of(mlir::Operation *kernel) {
    auto marked = kernel->getAttrOfType<mlir::DictionaryAttr>(attributeName);
    if (!marked)
      return std::nullopt;
    auto type = marked.getAs<mlir::TypeAttr>("type");
    auto number = [&](llvm::StringRef name) {
      auto value = marked.getAs<mlir::IntegerAttr>(name);
      return value ? value.getInt() : 0;
    };
    Product product{type ? type.getValue() : mlir::Type(), number("heads"), number("width"), number("depth")};
    bool known = product.type && (product.type.isF32() || product.type.isF16() || product.type.isBF16());
    bool sound = known && product.heads > 0 && product.width > 0 && product.depth > 0;
    return sound ? std::optional(product) : std::nullopt;
  }
};

} // namespace attune::tile

#endif // ATTUNE_TILE_PRODUCT_H
