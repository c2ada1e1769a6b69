//===- SoftmaxRefusals.h - Why softmax stays as it is ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_APPROXIMATE_SOFTMAXREFUSALS_H
#define ATTUNE_LIB_GRAPH_APPROXIMATE_SOFTMAXREFUSALS_H

#include "attune/Attn/Attn.h"

#include <string>

namespace attune::graph {

/// What keeps softmax attention from every cheaper function; empty if nothing does.
std::string softmaxRefusal(attn::SoftmaxOp op);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_APPROXIMATE_SOFTMAXREFUSALS_H
