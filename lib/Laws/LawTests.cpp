//===- LawTests.cpp - Where each law is tested ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/LawTests.h"

using namespace attune;

static constexpr LawTests tests[] = {
    {"I1", "Graph/Laws/I1-linearize.mlir", "Graph/attn-select-rewrites.mlir Graph/attn-select-rewrites-remarks.mlir",
     "Unit/Kernel/KernelsTest.cpp", "4,096 tokens, 8 heads of 64: state; 49 tokens: quadratic"},
    {"I2", "Graph/Laws/I2-normaliser.mlir", "", "Unit/Kernel/KernelsTest.cpp", "every linear form"},
    {"I3", "Graph/Laws/I3-low_rank.mlir", "Graph/attn-select-rewrites-low-rank.mlir",
     "Unit/Kernel/CompressedKernelTest.cpp", "D = 512, 8 heads, 4,096 tokens compressed to 256"},
    {"I4", "Graph/Laws/I4-one-e-x.mlir", "Unit/Graph/LowRankTest.cpp", "Unit/Kernel/SpecsBlocked.cpp",
     "the same layer: one E x for 8 heads, for keys and for values"},
    {"I5", "Graph/Laws/I5-fold.mlir", "Graph/attn-select-rewrites-fold.mlir", "Unit/Kernel/SpecsFold.cpp",
     "D = 192, 3 heads, 48 features a head"},
    {"I6", "Graph/Laws/I6-scores-of-one-matrix.mlir", "Unit/Counts/RareLawsTest.cpp", "",
     "rare: one head as wide as the model"},
    {"I7", "Graph/Laws/I7-squares.mlir", "", "Unit/Kernel/SpecsPower.cpp",
     "every pair of sketches: r products in place of r²"},
    {"I8", "Graph/Laws/I8-powers.mlir", "Unit/Counts/RareLawsTest.cpp", "Unit/Kernel/SpecsPower.cpp",
     "every pair of tokens; the other side is rare: of degree 4, the least in use, it pays at no length, of degree 2 "
     "at 65,536"},
    {"I9", "Graph/Laws/I9-hadamard.mlir", "Unit/Counts/RareLawsTest.cpp", "Unit/Kernel/SpecsPower.cpp",
     "dense: every sketch; a transform is rare, it would save less than a quarter"},
    {"I10", "Graph/Laws/I10-chunks.mlir", "Graph/attn-select-rewrites.mlir Graph/attn-select-rewrites-mechanisms.mlir",
     "Unit/Kernel/KernelsTest.cpp", "16,384 tokens, 16 heads of 64"},
    {"I11", "Graph/Laws/I11-pieces.mlir", "", "Unit/Kernel/SpecsTest.cpp",
     "more than 2,048 tokens and fewer heads than cores"},
    {"I12", "Graph/Laws/I12-cancel.mlir", "Graph/Laws/I12-cancel.mlir", "Integration/CPU/cancelled.test",
     "every layer of softmax with biases; every FAVOR without epsilon"},
    {"I13", "Graph/Laws/I13-online-softmax.mlir", "", "Unit/Kernel/KernelsTest.cpp", "every softmax"},
    {"I14", "Graph/Laws/I14-windows.mlir", "", "Unit/Kernel/SpecsWindows.cpp",
     "every window: 56×56 tokens in tiles of 7×7"},
    {"I15", "Graph/Laws/I15-groups.mlir", "Graph/attn-select-rewrites-groups.mlir", "Unit/Kernel/SpecsTest.cpp",
     "a batch of 8, 32 heads of 128 on 8 key-value heads"},
    {"I16", "Graph/Laws/I16-order.mlir", "", "Kernel/attn-to-tile-prepare.mlir", "every projection to several heads"},
    {"I17", "Graph/Laws/I17-values-of-one-matrix.mlir", "Unit/Counts/RareLawsTest.cpp", "",
     "rare: one head as wide as the model"},
    {"I18", "Graph/Laws/I18-unseen-blocks.mlir", "", "Unit/Counts/KernelCountsTest.cpp",
     "every causal form: half of the pairs"},
    {"I19", "Graph/Laws/I19-product-of-compressions.mlir", "", "",
     "not built: no spec declares E as a product; the means of agent attention are one and are taken as such"},
    {"I20", "", "", "", "not built: nothing of a forward pass is kept but o and lse"},
    {"I21", "Graph/Laws/I21-lepe.mlir", "", "Unit/Kernel/SpecsWindows.cpp", "every LePE: a pass over the output less"},
    {"I22", "Graph/Laws/I22-stabilizer.mlir", "Graph/Laws/I22-stabilizer.mlir", "Unit/Kernel/FeatureMapsTest.cpp",
     "every FAVOR without epsilon: a pass over the keys less"},
    {"I23", "Graph/Laws/I23-parameters.mlir", "Graph/Laws/I23-parameters.mlir", "Kernel/attn-to-tile-prepare.mlir",
     "every sketch, folded and packed weight, once for all runs"},
};

llvm::ArrayRef<LawTests> attune::lawTests() { return tests; }

/// Links to each path, relative to the folder of the page.
static void printPaths(llvm::StringRef paths, llvm::raw_ostream &out) {
  llvm::SmallVector<llvm::StringRef> parts;
  paths.split(parts, ' ', -1, false);
  for (auto [index, path] : llvm::enumerate(parts))
    out << (index ? ", " : "") << "[" << path.rsplit('/').second << "](../test/" << path << ")";
  if (parts.empty())
    out << "–";
}

void attune::printLawTests(llvm::raw_ostream &out) {
  out << "| | where it wins | both sides | graph | compiled |\n|---|---|---|---|---|\n";
  for (const LawTests &each : tests) {
    out << "| " << each.id << " | " << each.wins << " | ";
    printPaths(each.sides, out);
    out << " | ";
    printPaths(each.graph, out);
    out << " | ";
    printPaths(each.compiled, out);
    out << " |\n";
  }
}
