//===- WarpTest.cpp - Shuffles, votes, reductions against their definition --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include <bit>

using namespace attune;
using namespace attune::test;

namespace {

struct ShuffleCase {
  const char *kind;
  uint32_t operand, control;
  /// The source lane by the manual's pseudocode; negative: none, the lane keeps its own value.
  int (*source)(int lane);
};

class Shuffle : public testing::TestWithParam<ShuffleCase> {};

} // namespace

TEST_P(Shuffle, ReadsTheSourceLane) {
  const ShuffleCase &test = GetParam();
  std::string call = "  %r = call {i32, i1} @llvm.nvvm.shfl.sync." + std::string(test.kind) +
                     ".i32p(i32 -1, i32 %v, i32 " + std::to_string(test.operand) + ", i32 " +
                     std::to_string(test.control) + ")\n";
  Program program(kernel("ptr %out, ptr %inside", "  %v = add i32 %tid, 100\n" + call + R"(
  %x = extractvalue {i32, i1} %r, 0
  %b = extractvalue {i32, i1} %r, 1
  %p = zext i1 %b to i32
  %o = getelementptr i32, ptr %out, i64 %t
  %i = getelementptr i32, ptr %inside, i64 %t
  store i32 %x, ptr %o
  store i32 %p, ptr %i)"));
  std::vector<int32_t> out(64), inside(64);
  ASSERT_EQ(program.buffer(out).buffer(inside).run({64}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  for (int thread = 0; thread < 64; ++thread) {
    int lane = thread % 32, source = test.source(lane);
    EXPECT_EQ(out[size_t(thread)], 100 + thread - lane + (source < 0 ? lane : source)) << lane;
    EXPECT_EQ(inside[size_t(thread)], source >= 0) << lane;
  }
  EXPECT_EQ(program.report().counters.shuffles, 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Shuffle,
    testing::Values(ShuffleCase{"bfly", 1, 31, [](int lane) { return lane ^ 1; }},
                    ShuffleCase{"bfly", 16, 31, [](int lane) { return lane ^ 16; }},
                    ShuffleCase{"idx", 5, 31, [](int) { return 5; }},
                    // Segments of 8: segment mask 0b11000, clamp 7 within it.
                    ShuffleCase{"idx", 3, 0x1807 | 0x1f, [](int lane) { return lane / 8 * 8 + 3; }},
                    ShuffleCase{"up", 4, 0, [](int lane) { return lane >= 4 ? lane - 4 : -1; }},
                    ShuffleCase{"up", 1, 0x1800, [](int lane) { return lane % 8 ? lane - 1 : -1; }},
                    ShuffleCase{"down", 4, 31, [](int lane) { return lane + 4 < 32 ? lane + 4 : -1; }},
                    ShuffleCase{"down", 1, 0x181f, [](int lane) { return lane % 8 != 7 ? lane + 1 : -1; }}));

TEST(Warp, PartialMasksMeetSeparately) {
  // The halves of the warp shuffle at different places, each with its own mask.
  Program program(kernel("ptr %out", R"(  %low = icmp ult i32 %tid, 16
  br i1 %low, label %a, label %b
a:
  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %tid, i32 1, i32 31)
  br label %end
b:
  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -65536, i32 %tid, i32 2, i32 31)
  br label %end
end:
  %r = phi i32 [%x, %a], [%y, %b]
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %r, ptr %o)"));
  std::vector<int32_t> out(32);
  ASSERT_EQ(program.buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[size_t(lane)], lane < 16 ? lane ^ 1 : lane ^ 2);
}

/// Runs `call`, which gives %r of `type`, for 32 threads and returns the results as integers.
static std::vector<int32_t> results(const std::string &call, const std::string &widen) {
  Program program(kernel("ptr %out", call + widen + R"(
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %w, ptr %o)"));
  std::vector<int32_t> out(32);
  EXPECT_EQ(program.buffer(out).run({32}), "");
  EXPECT_TRUE(program.report().clean()) << program.findings();
  return out;
}

TEST(Warp, Votes) {
  std::string odd = "  %bit = and i32 %tid, 1\n  %p = icmp eq i32 %bit, 1\n";
  std::string same = "\n  %w = add i32 %r, 0", fromBit = "\n  %w = zext i1 %r to i32";
  EXPECT_EQ(results(odd + "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %p)", same)[7], int32_t(0xaaaaaaaa));
  EXPECT_EQ(results(odd + "  %r = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %p)", fromBit)[7], 1);
  EXPECT_EQ(results(odd + "  %r = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %p)", fromBit)[7], 0);
  EXPECT_EQ(results(odd + "  %r = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %p)", fromBit)[7], 0);
  std::string all = "  %p = icmp ult i32 %tid, 32\n";
  EXPECT_EQ(results(all + "  %r = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %p)", fromBit)[31], 1);
  EXPECT_EQ(results(all + "  %r = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %p)", fromBit)[31], 1);
}

TEST(Warp, ReductionsAndMatch) {
  std::string signedValue = "  %v = sub i32 5, %tid\n", same = "\n  %w = add i32 %r, 0"; // 5 ... -26
  auto reduce = [&](const std::string &operation) {
    return results(signedValue + "  %r = call i32 @llvm.nvvm.redux.sync." + operation + "(i32 %v, i32 -1)", same)[9];
  };
  EXPECT_EQ(reduce("add"), 5 * 32 - 31 * 32 / 2);
  EXPECT_EQ(reduce("min"), -26);
  EXPECT_EQ(reduce("max"), 5);
  EXPECT_EQ(reduce("umin"), 0);
  EXPECT_EQ(reduce("umax"), -1);
  EXPECT_EQ(reduce("or"), -1);
  EXPECT_EQ(reduce("and"), 0);
  int32_t parity = 0;
  for (int lane = 0; lane < 32; ++lane)
    parity ^= 5 - lane;
  EXPECT_EQ(reduce("xor"), parity);
  std::vector<int32_t> equal =
      results("  %v = and i32 %tid, 3\n  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %v)", same);
  EXPECT_EQ(equal[6], int32_t(0x44444444));
}
