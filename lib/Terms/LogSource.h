//===- LogSource.h - Features that a source gives as exponents -*- C++ -*- -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_TERMS_LOGSOURCE_H
#define ATTUNE_LIB_TERMS_LOGSOURCE_H

#include "LogPairs.h"
#include "TileSource.h"

namespace attune::fusion {

/// Exponents, with mantissas where the source has a second tile.
inline kernel::LogFeatures logFeatures(const Source &source, const TileSite &site) {
  SiteValue value = source->read(site);
  return {value.tiles[0], value.tiles.size() > 1 ? value.tiles[1] : mlir::Value()};
}

} // namespace attune::fusion

#endif // ATTUNE_LIB_TERMS_LOGSOURCE_H
