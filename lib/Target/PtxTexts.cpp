//===- PtxTexts.cpp - The PTX of all architectures as one text ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxTexts.h"

using namespace attune::target;

PtxTexts::PtxTexts(llvm::ArrayRef<VariantDescription> variants) {
  for (const VariantDescription &variant : variants) {
    if (variant.ptx.empty() || begins.contains(variant.ptx))
      continue;
    if (!text.empty())
      text.push_back('\0');
    begins[variant.ptx] = static_cast<int64_t>(text.size());
    text += variant.ptx;
  }
}
