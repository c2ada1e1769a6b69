//===- FavorPieces.h - States of pieces of the keys, of FAVOR -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FAVORPIECES_H
#define ATTUNE_LIB_KERNEL_FAVORPIECES_H

#include "LogState.h"

namespace attune::kernel {

/// The kernel that sums up the states of a problem's pieces (Pieces.h), from logarithms of features.
LogStates buildFavorPieces(BuildSite &site, const Problem &problem, const FeatureMap &map);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FAVORPIECES_H
