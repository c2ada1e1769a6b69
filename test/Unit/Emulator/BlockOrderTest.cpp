//===- BlockOrderTest.cpp - What fences and atomics order between blocks -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 64 threads of each block write a word each; then thread 0 counts the block; then all threads of the last block add up
// what thread t of each block has written. Correct orders give no finding, each fault gives a race.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gtest/gtest.h"

#include <map>

using namespace attune;
using namespace attune::test;

/// The pieces that a test can change; each as it should be.
using Pieces = std::map<std::string, std::string>;
static const Pieces correct = {
    {"BEFORE", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"},
    {"RELEASE", "fence syncscope(\"device\") release"},
    {"COUNT", "%old = atomicrmw add ptr addrspace(1) %counter, i32 1 syncscope(\"device\") monotonic"},
    {"ACQUIRE", "fence syncscope(\"device\") acquire"},
    {"AFTER", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"},
    {"LATE", ""},
};

static std::string sumOfBlocks(const Pieces &changed) {
  std::string text = kernel("ptr addrspace(1) %parts, ptr addrspace(1) %sums, ptr addrspace(1) %counter", R"(
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %row = mul i32 %b, 64
  %place = add i32 %row, %tid
  %own = getelementptr i32, ptr addrspace(1) %parts, i32 %place
  %value = add i32 %place, 1
  store i32 %value, ptr addrspace(1) %own
  BEFORE
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %count, label %counted
count:
  RELEASE
  COUNT
  ACQUIRE
  %wanted = sub i32 %n, 1
  %isLast = icmp eq i32 %old, %wanted
  store i1 %isLast, ptr addrspace(3) @last
  br label %counted
counted:
  LATE
  AFTER
  %last = load i1, ptr addrspace(3) @last
  br i1 %last, label %add, label %end
add:
  %i = phi i32 [0, %counted], [%next, %add]
  %sum = phi i32 [0, %counted], [%more, %add]
  %at = mul i32 %i, 64
  %there = add i32 %at, %tid
  %p = getelementptr i32, ptr addrspace(1) %parts, i32 %there
  %part = load i32, ptr addrspace(1) %p
  %more = add i32 %sum, %part
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %add, label %done
done:
  %result = getelementptr i32, ptr addrspace(1) %sums, i64 %t
  store i32 %more, ptr addrspace(1) %result
  br label %end
end:
)",
                            "@last = internal addrspace(3) global i1 undef, align 4\n");
  for (const auto &[name, piece] : correct) {
    auto other = changed.find(name);
    text.replace(text.find("  " + name + "\n") + 2, name.size(), other == changed.end() ? piece : other->second);
  }
  return text;
}

/// The races of a program over 7 blocks; the sums must be right, as blocks run one after another here.
static uint64_t races(const Pieces &changed, uint64_t seed = 0) {
  EmulatorOptions options;
  options.shuffleSchedule = seed != 0, options.seed = seed;
  std::vector<uint32_t> parts(7 * 64, 77), sums(64), counter(1);
  Program program(sumOfBlocks(changed), options);
  program.buffer(parts, "parts").buffer(sums, "sums").buffer(counter, "counter");
  EXPECT_EQ(program.run({64}, {7}), "");
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(sums[t], 64u * 21 + 7 * (t + 1));
  EXPECT_EQ(program.report().clean(), program.total(FindingKind::Race) == 0) << program.findings();
  return program.total(FindingKind::Race);
}

TEST(BlockOrder, FencesAndAnExchange) {
  EXPECT_EQ(races({}), 0u);
  for (uint64_t seed : {1, 2, 3})
    EXPECT_EQ(races({}, seed), 0u);
}

TEST(BlockOrder, OtherWaysToSayIt) {
  // The exchange orders by itself, wholly or in part; fences of both kinds, and those of CUDA.
  auto count = [](const std::string &order) {
    return "%old = atomicrmw add ptr addrspace(1) %counter, i32 1 syncscope(\"device\") " + order;
  };
  EXPECT_EQ(races({{"RELEASE", ""}, {"COUNT", count("acq_rel")}, {"ACQUIRE", ""}}), 0u);
  EXPECT_EQ(races({{"RELEASE", ""}, {"COUNT", count("release")}}), 0u);
  EXPECT_EQ(races({{"COUNT", count("acquire")}, {"ACQUIRE", ""}}), 0u);
  EXPECT_EQ(races({{"RELEASE", "fence syncscope(\"device\") acq_rel"}, {"ACQUIRE", "fence seq_cst"}}), 0u);
  EXPECT_EQ(races({{"RELEASE", "call void @llvm.nvvm.membar.gl()"}, {"ACQUIRE", "call void @llvm.nvvm.membar.gl()"}}), 0u);
  EXPECT_EQ(races({{"COUNT", R"(%guess = load atomic i32, ptr addrspace(1) %counter syncscope("device") monotonic, align 4
  %new = add i32 %guess, 1
  %pair = cmpxchg ptr addrspace(1) %counter, i32 %guess, i32 %new syncscope("device") monotonic monotonic
  %old = extractvalue {i32, i1} %pair, 0)"}}),
            0u);
}

TEST(BlockOrderFault, MissingFence) {
  EXPECT_NE(races({{"RELEASE", ""}}), 0u);
  EXPECT_NE(races({{"ACQUIRE", ""}}), 0u);
  EXPECT_NE(races({{"RELEASE", ""}, {"ACQUIRE", ""}}), 0u);
}

TEST(BlockOrderFault, FenceTheOtherWayRound) {
  EXPECT_NE(races({{"RELEASE", "fence syncscope(\"device\") acquire"}}), 0u);
  EXPECT_NE(races({{"ACQUIRE", "fence syncscope(\"device\") release"}}), 0u);
}

TEST(BlockOrderFault, ScopeOfTheBlock) {
  EXPECT_NE(races({{"RELEASE", "fence syncscope(\"block\") release"}}), 0u);
  EXPECT_NE(races({{"ACQUIRE", "fence syncscope(\"block\") acquire"}}), 0u);
  EXPECT_NE(
      races({{"COUNT", "%old = atomicrmw add ptr addrspace(1) %counter, i32 1 syncscope(\"block\") monotonic"}}), 0u);
}

TEST(BlockOrderFault, NoAtomic) {
  EXPECT_NE(races({{"COUNT", R"(%old = load i32, ptr addrspace(1) %counter
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(1) %counter)"}}),
            0u);
}

// The other threads of the block have not been waited for.
TEST(BlockOrderFault, NoBarrierBefore) { EXPECT_NE(races({{"BEFORE", ""}}), 0u); }

// A part that is stored after the block was counted: the exchange before it releases nothing of it.
TEST(BlockOrderFault, StoreAfterTheRelease) { EXPECT_NE(races({{"LATE", "store i32 %value, ptr addrspace(1) %own"}}), 0u); }

// An exchange that finds another word than it expects stores nothing, and so releases nothing.
TEST(BlockOrderFault, ExchangeThatFails) {
  EXPECT_NE(races({{"COUNT", R"(%pair = cmpxchg ptr addrspace(1) %counter, i32 -1, i32 -2 syncscope("device") monotonic monotonic
  %old = add i32 %b, 0)"}}),
            0u);
}
