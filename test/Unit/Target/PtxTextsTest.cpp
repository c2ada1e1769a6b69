//===- PtxTextsTest.cpp - The PTX of all architectures as one text -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxTexts.h"

#include <gtest/gtest.h>

using namespace attune::target;

static std::vector<VariantDescription> variantsOf(std::initializer_list<const char *> texts) {
  std::vector<VariantDescription> variants;
  for (const char *text : texts)
    variants.emplace_back().ptx = text;
  return variants;
}

TEST(PtxTexts, HoldEachOnceBehindTheOther) {
  PtxTexts texts(variantsOf({"first", "", "second", "first", "third"}));
  EXPECT_EQ(texts.joined(), llvm::StringRef("first\0second\0third", 18));
  EXPECT_EQ(texts.beginOf("first"), 0);
  EXPECT_EQ(texts.beginOf("second"), 6);
  EXPECT_EQ(texts.beginOf("third"), 13);
  EXPECT_EQ(texts.beginOf(""), 0);
}

TEST(PtxTexts, AreNoneOfALibraryForCpus) { EXPECT_EQ(PtxTexts(variantsOf({"", ""})).joined(), ""); }
