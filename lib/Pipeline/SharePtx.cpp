//===- SharePtx.cpp - PTX that is the same for several architectures ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels differ by architecture only where a schedule does, for want of shared memory. Then all that tells two texts apart
// is their head:
//
//     .version 7.8
//     .target sm_80
//
//===----------------------------------------------------------------------===//
#include "SharePtx.h"

using namespace attune;
using namespace attune::target;
using llvm::StringRef;

/// The code below the lines that name the PTX and the architecture; empty if there is none.
static StringRef bodyOf(const VariantDescription &variant) {
  return StringRef(variant.ptx).split("\n.target ").second.split('\n').second;
}

/// What is special to one architecture runs on no other.
static bool isOlder(const VariantDescription &one, const VariantDescription &other) {
  return !one.archSpecific && one.arch < other.arch;
}

void attune::sharePtx(llvm::MutableArrayRef<VariantDescription> variants) {
  for (VariantDescription &variant : variants)
    for (const VariantDescription &other : variants)
      if (isOlder(other, variant) && !bodyOf(variant).empty() && bodyOf(variant) == bodyOf(other))
        variant.ptx = other.ptx;
}
