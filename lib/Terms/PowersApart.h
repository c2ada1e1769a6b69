//===- PowersApart.h - Powers of units beyond the range -*- C++ -*- ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_POWERSAPART_H
#define ATTUNE_LIB_TERMS_POWERSAPART_H

#include "Terms.h"

namespace attune::terms {

/// A number 2^exponent · rest for each row [Tq].
struct Apart {
  mlir::Value exponent, rest;

  /// What takes sums in this unit to the unit 2^top: [Tq].
  mlir::Value factorTo(tile::TileBuilder &tiles, mlir::Value top) const;
};

/// unit^(2·power) as 2^exponent · rest, for |power| a power of two. Negative ones too.
Apart powerApart(tile::TileBuilder &tiles, mlir::Value unit, int64_t power);

inline bool isGuarded(attn::DenominatorAttr guard) { return guard.getBias() != 0 || guard.getFloor() != 0; }

} // namespace attune::terms

#endif // ATTUNE_LIB_TERMS_POWERSAPART_H
