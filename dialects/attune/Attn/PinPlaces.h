//===- PinPlaces.h - Where a spec pins a form -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The location of a function whose spec has pins is fused with a dictionary of the pins' own places by their laws. Text and
// attributes of the function stay as they are.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_PINPLACES_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_PINPLACES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace attune::attn {

/// A function's place with those of its pins, each a LocationAttr by the name of its law.
inline mlir::Location withPinPlaces(mlir::Location function, mlir::DictionaryAttr places) {
  return places.empty() ? function : mlir::FusedLoc::get({function}, places, function.getContext());
}

/// Where the law is pinned; the function's place if that is not known.
inline mlir::Location placeOfPin(mlir::Location function, llvm::StringRef law) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(function);
  auto places = fused ? llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata()) : mlir::DictionaryAttr();
  auto place = places ? places.getAs<mlir::LocationAttr>(law) : mlir::LocationAttr();
  return place ? mlir::Location(place) : function;
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_PINPLACES_H
