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
     "materialized: n D d a head, a launch and n d numbers stored; fused: none of the two, and T D d for every tile that "
     "is read, which wins for queries and for keys that are read once, and loses where blocks of queries visit the keys "
     "many times or programs of the reader are fewer than cores"},
    {"S2", "project_out", "y = Σ_h o_h W_O[h] of stored heads = the same sum where a block's heads are computed, one after another",
     "one attention has all heads, and its kernels a block of queries at a time: softmax, powers, effatt, agent, kernel attention "
     "in quadratic form or from a stored state; nobody else reads the heads; on a CPU",
     "FlashAttention (arXiv 2205.14135), of what is cheaper to keep than to store", LawPlace::Choice,
     "materialized: a launch, n H dv numbers stored and read; epilogue: none of the two, and no heads in parallel, which "
     "wins for blocks enough for every core, and loses for one block of queries, or where n D sums leave the core's cache between heads"},
    {"S3", "map", "φ(K) of all keys, stored = φ(k) of a tile, wherever the tile is read",
     "kernel attention whose features are not compressed; on a CPU", "GQA (arXiv 2305.13245), of what is made once for a group",
     LawPlace::Choice,
     "fused: a key is mapped for every block of queries and every query head that reads it; materialized: once, by as "
     "many cores as there are, for a launch and m f32 numbers a key, which wins for dear maps with several readers or idle cores"},
    {"S4", "launch", "the kernels of part after part = the first kernels of all parts, then the second ones",
     "two parts or more, all attention; no part compresses its features; on a CPU",
     "ELFATT (arXiv 2501.06098), whose halves are two calls", LawPlace::Choice,
     "sequential: as many launches as all parts have, each with the programs of one; co_launched: as many as the longest "
     "part has, with those of all, which wins where a part alone leaves cores idle and where launches are most of the time"},
    {"S5", "keys", "the keys of a block of queries one after another = pieces of them, merged by maximum and sum in their order",
     "exact softmax without windows; how many queries there are is in the spec",
     "Flash-Decoding (pytorch.org/blog/flash-decoding), of queries too few to fill a machine", LawPlace::Choice,
     "in_order: a program for each batch entry, head and block of queries; split: as many times as there are pieces, of which the last "
     "merges what all have stored, which wins where few queries see many keys and batch, heads and blocks are fewer than cores"},
};

llvm::ArrayRef<ListedLaw> attune::scheduleLawList() { return laws; }
