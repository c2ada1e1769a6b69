//===- GroupedRows.h - Heads that go through their keys together -*- C++ -* ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decoder that attends to a cache has one query, and several heads read the same keys. As rows of one head they read them once; every row sees all
// keys then, whatever its place.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_GROUPEDROWS_H
#define ATTUNE_ATTN_GROUPEDROWS_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// Whether kernels take the query heads of a key-value head as rows of it: exact attention of a few queries, an argument of the function, whose output
/// is a result. Not where rows differ by more than their numbers, with slopes; nor with lse, whose rows need not be adjacent.
bool areHeadsRows(SoftmaxOp op);

/// Of exact attention whose rows are those of several heads, one head's after another's: how many heads, an integer.
inline constexpr llvm::StringLiteral headsAsRowsAttr = "attn.heads_as_rows";

} // namespace attune::attn

#endif // ATTUNE_ATTN_GROUPEDROWS_H
