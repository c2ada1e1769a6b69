//===- InvalidSpecsTest.cpp - Every wrong spec is reported at its place --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wrong spec begins with one line `# expect: LINE:COL part of the message` for each of its mistakes, in order.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attune;

namespace {

struct Expectation {
  Position at;
  std::string text;
};

std::vector<Expectation> expectationsOf(const SourceFile &file) {
  std::vector<Expectation> result;
  for (int64_t number = 1;; ++number) {
    llvm::StringRef line = file.line(number);
    if (!line.consume_front("# expect: "))
      return result;
    Expectation expectation;
    auto [place, text] = line.split(' ');
    auto [row, column] = place.split(':');
    EXPECT_FALSE(row.getAsInteger(10, expectation.at.line) || column.getAsInteger(10, expectation.at.column));
    expectation.text = text.str();
    result.push_back(std::move(expectation));
  }
}

std::vector<std::string> yamlFilesIn(const std::string &folder) {
  std::vector<std::string> result;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".yaml"))
      result.push_back(it->path());
  std::sort(result.begin(), result.end());
  return result;
}

/// Checks the file; `exactly`: that nothing else is reported.
void checkWrongSpec(const std::string &path, bool exactly) {
  SCOPED_TRACE(path);
  llvm::Expected<SourceFile> file = SourceFile::read(path, largestSpec);
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  std::vector<Expectation> expected = expectationsOf(*file);
  ASSERT_FALSE(expected.empty());
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(*file, spec, diagnostics), SpecStatus::Invalid);
  std::vector<Diagnostic> found = diagnostics.sorted();
  ASSERT_GE(found.size(), expected.size());
  for (size_t i = 0; i < found.size() && (exactly || i < expected.size()); ++i) {
    ASSERT_LT(i, expected.size()) << "also: " << found[i].message();
    EXPECT_EQ(found[i].at.line, expected[i].at.line) << found[i].message();
    EXPECT_EQ(found[i].at.column, expected[i].at.column) << found[i].message();
    EXPECT_THAT(found[i].message(), testing::HasSubstr(expected[i].text));
    EXPECT_FALSE(found[i].note.empty()) << found[i].message();
  }
}

} // namespace

TEST(InvalidSpecs, OurOwn) {
  std::vector<std::string> files = yamlFilesIn(ATTUNE_SOURCE_DIR "/test/Frontend/invalid");
  EXPECT_GE(files.size(), 100u);
  for (const std::string &path : files)
    checkWrongSpec(path, /*exactly=*/true);
}

TEST(InvalidSpecs, TheContract) {
  std::vector<std::string> files = yamlFilesIn(ATTUNE_SHARED_DIR "/spec/invalid");
  if (files.empty())
    GTEST_SKIP() << "no spec/invalid in " ATTUNE_SHARED_DIR;
  for (const std::string &path : files)
    checkWrongSpec(path, /*exactly=*/false);
}

/// Those of version 2 of the contract whose fields this version has.
TEST(InvalidSpecs, TheSecondContract) {
  for (const char *name : {"decay_not_causal", "decay_on_cosformer", "decay_per_row", "decay_splits_omega", "decay_with_window",
                           "erase_on_focused", "erase_per_head", "erase_with_denominator", "erase_without_denominator",
                           "write_channel_with_denominator", "qk_heads_and_kv_heads", "qk_heads_do_not_divide", "qk_norm_kind",
                           "alibi_slope", "last_not_causal", "last_on_kernel", "lse_of_parts", "softcap_on_polynomial", "softcap_zero",
                           "packed_agent", "packed_key_lengths", "packed_low_rank", "packed_with_batch", "packed_without_sequences",
                           "sequences_without_packed", "state_key", "state_not_causal", "state_on_softmax",
                           "gradients_of_offsets", "gradients_unknown"}) {
    std::string path = std::string(ATTUNE_SHARED_DIR "/spec/invalid2/") + name + ".yaml";
    if (!llvm::sys::fs::exists(path))
      GTEST_SKIP() << "no " << path;
    checkWrongSpec(path, /*exactly=*/true);
  }
}

TEST(ValidSpecs, OurOwn) {
  std::vector<std::string> files = yamlFilesIn(ATTUNE_SOURCE_DIR "/examples");
  EXPECT_GE(files.size(), 8u);
  for (const std::string &path : files) {
    Spec spec;
    EXPECT_EQ(loadSpec(path, spec, llvm::errs()), SpecStatus::Good) << path;
  }
}

TEST(ValidSpecs, TheContract) {
  std::vector<std::string> files = yamlFilesIn(ATTUNE_SHARED_DIR "/spec/examples");
  if (files.empty())
    GTEST_SKIP() << "no spec/examples in " ATTUNE_SHARED_DIR;
  for (const std::string &path : files) {
    Spec spec;
    EXPECT_EQ(loadSpec(path, spec, llvm::errs()), SpecStatus::Good) << path;
  }
}

/// Examples of version 2 are good.
TEST(ValidSpecs, TheSecondContract) {
  std::vector<std::string> files = yamlFilesIn(ATTUNE_SHARED_DIR "/spec/examples2");
  if (files.empty())
    GTEST_SKIP() << "no spec/examples2 in " ATTUNE_SHARED_DIR;
  for (const char *name : {"retnet", "lightning", "identity_causal", "gla", "mamba2_ssd", "rnn_decay", "performer_relu_decay", "deltanet",
                           "gated_deltanet", "gdn2", "kimi_delta_attention", "softcap", "alibi", "window_last", "lse", "state_rnn_rope",
                           "state_cosformer", "state_performer", "state_decode", "state_polysketch", "state_polysketch_local",
                           "packed_kernel_causal", "packed_softmax_causal",
                           "packed_softmax_cross", "packed_state_gated_delta", "gradients_softmax", "gradients_elfatt", "gradients_flurka_layer",
                           "gradients_gated_deltanet", "gradients_polysketch"}) {
    Spec spec;
    EXPECT_EQ(loadSpec(std::string(ATTUNE_SHARED_DIR "/spec/examples2/") + name + ".yaml", spec, llvm::errs()), SpecStatus::Good);
  }
}
