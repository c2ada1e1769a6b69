//===- HandedState.h - The state of sketches from run to run -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors of a run have the sums of all r² products of two entries: row f r + g of S and of z is that of s_f s_g, e^scale times what they
// hold. Inside a run they lie as SketchedState says. A kernel before and one behind take them from one to the other: then no program
// writes what another has yet to read, so that the tensors may lie in place.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_HANDEDSTATE_H
#define ATTUNE_LIB_KERNEL_REGIONS_HANDEDSTATE_H

#include "SketchedState.h"

namespace attune::kernel {

/// Behind the last of `count` entries of a tensor, or before the first where a run leaves it out.
fusion::Index limitOfGiven(mlir::Value memory, int64_t count);

/// The unit M of the keys before the first of these, of which `given` is the state: [1]. It lies behind the units of these.
fusion::Source unitBefore(const HandedState &given, int64_t degree);

/// Brings a state that a run is given to where kernels update it.
fusion::KernelRegion givenStateRegion(const SketchedProblem &at, const HandedState &given, const SketchedState &state);
/// Brings it back when `tokens` tokens have entered it.
fusion::KernelRegion leftStateRegion(const SketchedProblem &at, const SketchedState &state, const HandedState &left, fusion::Index tokens);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_HANDEDSTATE_H
