//===- DebugOutputTest.cpp - Which types a list names ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/DebugOutput.h"

#include <gtest/gtest.h>

using namespace attune;

TEST(DebugOutput, AListNamesWholeTypes) {
  EXPECT_TRUE(namesDebugType("a-pass", "a-pass"));
  EXPECT_TRUE(namesDebugType("other, a-pass", "a-pass"));
  EXPECT_FALSE(namesDebugType("a-pass-more,pass", "a-pass"));
  EXPECT_FALSE(namesDebugType("", "a-pass"));
}

TEST(DebugOutput, AllNamesEveryType) { EXPECT_TRUE(namesDebugType("x,all", "a-pass")); }
