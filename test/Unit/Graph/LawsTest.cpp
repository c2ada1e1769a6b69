//===- LawsTest.cpp - The laws are those that a spec can name -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Laws.h"
#include "attune/Graph/RewriteLaw.h"

#include "gtest/gtest.h"

using namespace attune;

TEST(Laws, NamesAndFormsAreThoseOfSpecs) {
  std::vector<std::unique_ptr<graph::RewriteLaw>> registered = graph::createLaws();
  ASSERT_EQ(registered.size(), lawNames().size());
  for (const auto &law : registered) {
    EXPECT_TRUE(findLaw(law->name())) << law->name().str();
    llvm::SmallVector<llvm::StringRef> forms(law->forms().begin(), law->forms().end());
    EXPECT_EQ(forms, formsOf(law->name())) << law->name().str();
  }
}
