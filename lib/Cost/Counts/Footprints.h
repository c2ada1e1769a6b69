//===- Footprints.h - Distinct bytes of memories that a launch touches -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access touches a box of its memory: in each dimension from the least index that any program or step has to the
// largest one. What lies between is taken as touched, too. That is so where tiles follow one another; where they do not,
// no more is touched than is accessed. Boxes of one memory are joined, since loops over whole tiles and over the rest
// of a sequence touch one range.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_FOOTPRINTS_H
#define ATTUNE_LIB_COST_COUNTS_FOOTPRINTS_H

#include "CompileIndices.h"

namespace attune::cost {

/// Compiles the box of an access; `extents` are those of the tile's dimensions, which are the memory's last ones.
mlir::LogicalResult compileTouch(CountProgram &program, IndexCompiler &indices, const tile::MemoryAccess &access,
                                 llvm::ArrayRef<Extent> extents);

/// At sizes; `values` holds the registers that depend on sizes alone.
Footprint evaluateFootprint(const CountProgram &program, llvm::ArrayRef<int64_t> values);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_FOOTPRINTS_H
