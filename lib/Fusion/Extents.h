//===- Extents.h - Where axes begin and end -*- C++ -*- -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_EXTENTS_H
#define ATTUNE_LIB_FUSION_EXTENTS_H

#include "Region.h"

namespace attune::fusion {

/// How many entries an extent has: those of a window, or all. On the host, or of one without a formula where its memory is `memory`.
mlir::Value countOf(TileBuilder &tiles, const Extent &extent, mlir::Value memory);
mlir::Value countOf(const TileSite &site, const Extent &extent);

/// The first entry that a stage streams, and the end of those that it does, of an extent that is cut into parts.
kernel::TokenRange partAt(const TileSite &site, const Extents &extents);

/// Entries from here on do not exist, of the batch entry and the window at the site.
mlir::Value limitOf(const TileSite &site, const Extent &extent, const WindowView &view);

/// Where the segments of a stage begin and end at a site that are not formulas.
kernel::VisibleKeys bordersOf(const TileSite &site, const Stage &stage);
/// Where a segment begins that begins there; and where one ends that ends there, as far as entries exist.
mlir::Value beginAt(const TileSite &site, const Stage &stage, const kernel::VisibleKeys &borders, const SegmentEnd &place);
mlir::Value endAt(const TileSite &site, const Stage &stage, const kernel::VisibleKeys &borders, const SegmentEnd &place);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_EXTENTS_H
