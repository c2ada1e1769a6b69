//===- CarriedPlaces.h - Carried tiles where they are stored -*- C++ -*--===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_CARRIEDPLACES_H
#define ATTUNE_LOWERING_CPU_CARRIEDPLACES_H

#include "KernelState.h"

namespace attune::cpu {

/// Whether the carried tile of a store lies where it goes for as long as its loop runs: what the loop leaves is whole rows of vectors of
/// f32 that nothing but the store uses, in memory that the kernel does not touch elsewhere.
bool isCarriedInMemory(tile::StoreOp store, int64_t lanes);

/// Gives the carried tiles of a loop such places, before anything of its block is emitted: an initial value is loaded to there.
void placeCarries(KernelState &state, tile::LoopOp loop);
/// Whether a load to such a place has anything to do, i1: not where the tile is in that memory already. Null: always.
Value needsLoad(KernelState &state, const Stage &stage);
/// Stores what a loop has left elsewhere, as its place does not exist.
void storeCarries(KernelState &state, tile::LoopOp loop);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_CARRIEDPLACES_H
