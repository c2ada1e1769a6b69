//===- ScheduleLawList.cpp - Choices of what is computed where -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/LawList.h"

using namespace attune;

static constexpr ListedLaw laws[] = {
    {"S1", "project", "x W of all tokens, stored = x W of a tile, wherever the tile is read",
     "softmax, powers, kernel attention, EFFATT or E read the tokens; no LePE of them; on a CPU",
     "FlashAttention (arXiv 2205.14135), of what is cheaper to compute than to fetch", LawPlace::Choice,
     "alone: n D d a head, a launch and n d numbers stored; in_reader: none of the two, and T D d for every tile that is "
     "read, which wins for queries and for keys that are read once, and loses where blocks of queries visit the keys "
     "many times or grid points of the reader are fewer than cores"},
};

llvm::ArrayRef<ListedLaw> attune::scheduleLawList() { return laws; }
