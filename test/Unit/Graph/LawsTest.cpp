//===- LawsTest.cpp - The laws are those that a spec can name -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/RewriteLaw.h"
#include "attune/Laws/ApproximateLaw.h"
#include "attune/Laws/LawList.h"
#include "attune/Laws/LawTests.h"

#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace attune;

TEST(Laws, EveryChoiceIsListedWithItsForms) {
  for (const auto &law : graph::createLaws()) {
    std::string remarks;
    for (const ListedLaw &listed : law->row.identities) {
      EXPECT_EQ(listed.name, law->name());
      EXPECT_EQ(listed.place, LawPlace::Choice) << listed.id.str();
      remarks += listed.remark.str();
    }
    for (llvm::StringRef form : law->formNames())
      EXPECT_NE(remarks.find(form), std::string::npos) << law->name().str() << ": " << form.str();
  }
}

TEST(Laws, NamesFindThem) {
  for (llvm::StringRef name : graph::lawNames())
    EXPECT_EQ(graph::findLaw(name)->name(), name);
  EXPECT_EQ(graph::findLaw("none"), nullptr);
  EXPECT_TRUE(graph::findLaw("fold")->hasForm("folded"));
  EXPECT_FALSE(graph::findLaw("fold")->hasForm("state"));
}

TEST(Laws, TheListIsNumberedAndComplete) {
  ASSERT_EQ(listedLaws().size(), 23u);
  for (auto [index, law] : llvm::enumerate(listedLaws())) {
    EXPECT_EQ(law.id.str(), "I" + std::to_string(index + 1));
    for (llvm::StringRef field : {law.name, law.formula, law.condition, law.source, law.remark})
      EXPECT_FALSE(field.empty()) << law.id.str();
  }
}

TEST(Laws, ApproximateOnesAreThoseThatSpecsMayAllow) {
  std::vector<std::unique_ptr<graph::ApproximateLaw>> made = graph::createApproximateLaws();
  ASSERT_EQ(made.size(), approximateLawList().size());
  for (auto [index, law] : llvm::enumerate(approximateLawList())) {
    EXPECT_EQ(law.id.str(), "A" + std::to_string(index + 1));
    EXPECT_EQ(law.name, graph::approximateLawNames()[index]);
    EXPECT_EQ(law.name, made[index]->name());
    EXPECT_FALSE(law.exact);
    EXPECT_EQ(law.place, LawPlace::Consent);
    EXPECT_FALSE(graph::findLaw(law.name)) << "a name is exact or approximate, not both";
  }
}

/// The files of a list of paths.
static std::vector<std::string> filesOf(llvm::StringRef paths) {
  llvm::SmallVector<llvm::StringRef> parts;
  paths.split(parts, ' ', -1, false);
  std::vector<std::string> files;
  for (llvm::StringRef path : parts)
    files.push_back(ATTUNE_SOURCE_DIR "/test/" + path.str());
  return files;
}

TEST(Laws, EveryLawIsTested) {
  ASSERT_EQ(lawTests().size(), listedLaws().size());
  for (auto [law, tests] : llvm::zip_equal(listedLaws(), lawTests())) {
    EXPECT_EQ(law.id, tests.id);
    bool rewrites = law.place == LawPlace::Choice || law.place == LawPlace::Canonical;
    bool rare = tests.wins.contains("rare"), built = !tests.wins.starts_with("not built");
    EXPECT_FALSE(tests.wins.empty()) << law.id.str();
    EXPECT_TRUE(built || law.place == LawPlace::NotYet) << law.id.str();
    EXPECT_EQ(tests.sides.empty(), law.id == "I20") << law.id.str();
    EXPECT_EQ(!tests.graph.empty(), rewrites || rare || law.id == "I4") << law.id.str();
    EXPECT_EQ(!tests.compiled.empty(), law.place != LawPlace::NotYet) << law.id.str();
    for (llvm::StringRef paths : {tests.sides, tests.graph, tests.compiled})
      for (const std::string &file : filesOf(paths))
        EXPECT_TRUE(llvm::MemoryBuffer::getFile(file)) << file;
    for (const std::string &file : filesOf(tests.sides)) {
      auto text = llvm::MemoryBuffer::getFile(file);
      ASSERT_TRUE(text) << file;
      EXPECT_TRUE((*text)->getBuffer().starts_with(("// " + law.id + ": ").str())) << file;
      EXPECT_TRUE((*text)->getBuffer().contains("RUN: attune-equal %s")) << file;
    }
  }
}
