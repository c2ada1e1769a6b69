//===- MbarrierTest.cpp - mbarrier, bulk copies, proxy fences ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is right as it stands; each fault is one replaced line.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gmock/gmock.h"

#include <numeric>

using namespace attune;
using namespace attune::test;
using testing::HasSubstr;

/// `text` with one place replaced; the place must be there.
static std::string with(std::string text, llvm::StringRef from, llvm::StringRef to) {
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return at == std::string::npos ? text : text.replace(at, from.size(), to.str());
}

static const char *waitLoop = "call void asm sideeffect \"{\\0A\\09.reg .pred       P1; \\0A\\09LAB_WAIT: \\0A\\09"
                              "mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \\0A\\09@P1 bra.uni DONE; \\0A\\09"
                              "bra.uni     LAB_WAIT; \\0A\\09DONE: \\0A\\09}\", \"r,r,r\"";

//===----------------------------------------------------------------------===//
// One copy, one phase
//===----------------------------------------------------------------------===//

static const char *globals = R"(@bar = internal addrspace(3) global i64 undef, align 8
@tile = internal addrspace(3) global [256 x i32] undef, align 128
)";

/// 256 numbers come by a bulk copy; each thread reads two of them.
static std::string loadProgram() {
  return kernel("ptr addrspace(1) %in, ptr %out", std::string(R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %load, label %wait
load:
  %state = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 1024)
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) @tile, ptr addrspace(3) @bar, ptr addrspace(1) %in, i32 1024, i64 0, i1 false)
  br label %wait
wait:
  )") + waitLoop + R"((ptr addrspace(3) @bar, i32 0, i32 1000)
  br label %read
read:
  %p = getelementptr <2 x i32>, ptr addrspace(3) @tile, i64 %t
  %v = load <2 x i32>, ptr addrspace(3) %p
  %o = getelementptr <2 x i32>, ptr %out, i64 %t
  store <2 x i32> %v, ptr %o)",
                globals);
}

static const char *arriveExpect =
    "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 1024)";

struct Loaded {
  Program program;
  std::string error;
  bool right;
};
static Loaded runLoad(const std::string &text) {
  std::vector<uint32_t> in(256), out(256);
  std::iota(in.begin(), in.end(), 5);
  Loaded loaded{Program(text), "", false};
  loaded.error = loaded.program.buffer(in).buffer(out).run({128});
  loaded.right = in == out;
  return loaded;
}

TEST(Mbarrier, FollowsABulkCopy) {
  Loaded loaded = runLoad(loadProgram());
  EXPECT_EQ(loaded.error, "");
  EXPECT_TRUE(loaded.right);
  EXPECT_TRUE(loaded.program.report().clean()) << loaded.program.findings();
  EXPECT_EQ(loaded.program.report().counters.asyncCopyBytes, 1024u);
}

TEST(Mbarrier, WaitsByIntrinsicsToo) {
  std::string begin = loadProgram(),
              asmWait = std::string(waitLoop) + "(ptr addrspace(3) @bar, i32 0, i32 1000)\n  br label %read";
  for (const char *name : {"test.wait.parity", "try.wait.parity"}) {
    std::string loop = std::string("%d = call i1 @llvm.nvvm.mbarrier.") + name +
                       ".scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)\n  br i1 %d, label %read, label %wait";
    Loaded loaded = runLoad(with(begin, asmWait, loop));
    EXPECT_EQ(loaded.error, "");
    EXPECT_TRUE(loaded.right && loaded.program.report().clean()) << name << loaded.program.findings();
  }
}

TEST(Mbarrier, CopyNotExpected) {
  Loaded loaded =
      runLoad(with(loadProgram(), arriveExpect, "@llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)"));
  EXPECT_GT(loaded.program.total(FindingKind::CopyInFlight), 0u) << loaded.program.findings();
}

TEST(Mbarrier, WrongParity) {
  Loaded loaded = runLoad(with(loadProgram(), "@bar, i32 0, i32 1000", "@bar, i32 1, i32 1000"));
  EXPECT_GT(loaded.program.total(FindingKind::CopyInFlight) + loaded.program.total(FindingKind::UninitialisedRead), 0u);
  EXPECT_EQ(loaded.program.total(FindingKind::CopyNotWaited), 1u) << loaded.program.findings();
}

TEST(Mbarrier, MoreBytesExpectedThanCopied) {
  Loaded loaded = runLoad(with(loadProgram(), "@bar, i32 1024)", "@bar, i32 2048)"));
  EXPECT_THAT(loaded.error, HasSubstr("lacks 0 of 1 arrivals and 1024 bytes"));
  EXPECT_EQ(loaded.program.total(FindingKind::Deadlock), 1u);
}

TEST(Mbarrier, FewerBytesExpectedThanCopied) {
  Loaded loaded = runLoad(with(loadProgram(), "@bar, i32 1024)", "@bar, i32 512)"));
  EXPECT_GT(loaded.program.total(FindingKind::BarrierMisuse), 0u);
  EXPECT_THAT(loaded.program.findings(), HasSubstr("512 bytes more"));
}

TEST(Mbarrier, MoreArrivalsExpectedThanCome) {
  Loaded loaded = runLoad(with(loadProgram(), "@bar, i32 1)", "@bar, i32 2)"));
  EXPECT_THAT(loaded.error, HasSubstr("lacks 1 of 2 arrivals"));
}

TEST(Mbarrier, NotInitialised) {
  Loaded loaded =
      runLoad(with(loadProgram(), "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)\n", ""));
  EXPECT_GT(loaded.program.total(FindingKind::BarrierMisuse), 0u) << loaded.program.findings();
}

TEST(Mbarrier, InitialisedTwice) {
  const char *init = "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)\n";
  EXPECT_EQ(runLoad(with(loadProgram(), init, std::string(init) + init)).program.total(FindingKind::BarrierMisuse), 1u);
  const char *end = "  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) @bar)\n";
  EXPECT_TRUE(runLoad(with(loadProgram(), init, std::string(init) + end + init)).program.report().clean());
}

TEST(Mbarrier, InitialisationNotOrdered) {
  Loaded loaded = runLoad(with(loadProgram(), "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n", ""));
  EXPECT_GT(loaded.program.total(FindingKind::Race), 0u) << loaded.program.findings();
}

TEST(Mbarrier, IsNoOrdinaryMemory) {
  Loaded loaded = runLoad(with(loadProgram(), "load:\n", "load:\n  store i64 0, ptr addrspace(3) @bar\n"));
  EXPECT_EQ(loaded.program.total(FindingKind::BarrierMisuse), 1u) << loaded.program.findings();
}

TEST(BulkCopy, BytesAndAddresses) {
  EXPECT_GT(runLoad(with(loadProgram(), "%in, i32 1024", "%in, i32 1000")).program.total(FindingKind::Misaligned), 0u);
  std::string beyond = with(loadProgram(), "%in, i32 1024", "%in, i32 1040");
  EXPECT_GT(runLoad(beyond).program.total(FindingKind::OutOfBounds), 0u);
}

TEST(BulkCopy, WithoutWait) {
  std::string text = loadProgram();
  Loaded loaded = runLoad(with(text, std::string(waitLoop) + "(ptr addrspace(3) @bar, i32 0, i32 1000)\n", ""));
  EXPECT_GT(loaded.program.total(FindingKind::CopyInFlight), 0u) << loaded.program.findings();
  EXPECT_EQ(loaded.program.total(FindingKind::CopyNotWaited), 1u);
}

TEST(BulkCopy, OnlyThoseWhoWaitSeeIt) {
  // The second warp goes by another barrier, which says nothing of the copy.
  std::string text =
      with(loadProgram(), "br label %wait\nwait:",
           "br label %choose\nchoose:\n  %w = icmp ult i32 %tid, 32\n  br i1 %w, label %wait, label %read\nwait:");
  Loaded loaded = runLoad(with(text, "label %load, label %wait", "label %load, label %choose"));
  EXPECT_GT(loaded.program.total(FindingKind::CopyInFlight) + loaded.program.total(FindingKind::Race), 0u)
      << loaded.program.findings();
}

//===----------------------------------------------------------------------===//
// A ring of one stage: a producer and a warp of consumers
//===----------------------------------------------------------------------===//

static std::string ringProgram() {
  return kernel("ptr addrspace(1) %in, ptr %out", std::string(R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @empty, i32 32)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %consumes = icmp uge i32 %tid, 32
  br i1 %consumes, label %consumer, label %other
other:
  br i1 %first, label %producer, label %end
producer:
  %i = phi i32 [ 0, %other ], [ %i1, %producer ]
  %odd = and i32 %i, 1
  %free = xor i32 %odd, 1
  )") + waitLoop + R"((ptr addrspace(3) @empty, i32 %free, i32 1000)
  %state = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @full, i32 128)
  %offset = mul i32 %i, 128
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %offset
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) @stage, ptr addrspace(3) @full, ptr addrspace(1) %from, i32 128, i64 0, i1 false)
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, 5
  br i1 %more, label %producer, label %end
consumer:
  %j = phi i32 [ 0, %ready ], [ %j1, %consumer ]
  %sum = phi i32 [ 0, %ready ], [ %sum1, %consumer ]
  %parity = and i32 %j, 1
  )" + waitLoop + R"((ptr addrspace(3) @full, i32 %parity, i32 1000)
  %lane = sub i64 63, %t
  %p = getelementptr i32, ptr addrspace(3) @stage, i64 %lane
  %v = load i32, ptr addrspace(3) %p
  %sum1 = add i32 %sum, %v
  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @empty)
  %j1 = add i32 %j, 1
  %again = icmp ult i32 %j1, 5
  br i1 %again, label %consumer, label %store
store:
  %o = getelementptr i32, ptr %out, i64 %lane
  store i32 %sum1, ptr %o
  br label %end
end:)",
                R"(@full = internal addrspace(3) global i64 undef, align 8
@empty = internal addrspace(3) global i64 undef, align 8
@stage = internal addrspace(3) global [32 x i32] undef, align 128
)");
}

static Loaded runRing(const std::string &text, EmulatorOptions options = {}) {
  std::vector<uint32_t> in(160), out(32), want(32);
  std::iota(in.begin(), in.end(), 1);
  for (unsigned i = 0; i < 160; ++i)
    want[i % 32] += in[i];
  Loaded loaded{Program(text, options), "", false};
  loaded.error = loaded.program.buffer(in).buffer(out).run({64});
  loaded.right = out == want;
  return loaded;
}

TEST(Ring, HandsOverAndBack) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    EmulatorOptions options;
    options.shuffleSchedule = seed != 0;
    options.seed = seed;
    Loaded loaded = runRing(ringProgram(), options);
    EXPECT_EQ(loaded.error, "");
    EXPECT_TRUE(loaded.right);
    EXPECT_TRUE(loaded.program.report().clean()) << loaded.program.findings();
  }
}

TEST(Ring, ProducerDoesNotWait) {
  Loaded loaded =
      runRing(with(ringProgram(), std::string(waitLoop) + "(ptr addrspace(3) @empty, i32 %free, i32 1000)\n", ""));
  EXPECT_GT(loaded.program.total(FindingKind::Race) + loaded.program.total(FindingKind::CopyInFlight), 0u)
      << loaded.program.findings();
}

TEST(Ring, ProducerBeginsWithTheWrongParity) {
  Loaded loaded = runRing(with(ringProgram(), "%free = xor i32 %odd, 1", "%free = xor i32 %odd, 0"));
  EXPECT_THAT(loaded.error, HasSubstr("arrivals"));
  EXPECT_EQ(loaded.program.total(FindingKind::Deadlock), 1u);
}

TEST(Ring, ConsumersDoNotArrive) {
  Loaded loaded = runRing(
      with(ringProgram(), "  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @empty)\n", ""));
  EXPECT_THAT(loaded.error, HasSubstr("lacks 32 of 32 arrivals"));
}

TEST(Ring, ConsumersArriveBeforeTheyRead) {
  std::string text = ringProgram();
  const char *arrive = "  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @empty)\n";
  const char *read = "  %v = load i32, ptr addrspace(3) %p\n";
  text = with(with(text, arrive, ""), read, std::string(arrive) + read);
  EmulatorOptions options;
  Loaded loaded = runRing(text, options);
  EXPECT_GT(loaded.program.total(FindingKind::Race) + loaded.program.total(FindingKind::CopyInFlight), 0u)
      << loaded.program.findings();
}

//===----------------------------------------------------------------------===//
// cp.async followed by an mbarrier
//===----------------------------------------------------------------------===//

static std::string threadCopies() {
  return kernel("ptr addrspace(1) %in, ptr %out", std::string(R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 128)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %t
  %own = getelementptr i32, ptr addrspace(3) @tile, i64 %t
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %own, ptr addrspace(1) %from)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @bar)
  )") + waitLoop + R"((ptr addrspace(3) @bar, i32 0, i32 1000)
  %mirror = sub i64 127, %t
  %p = getelementptr i32, ptr addrspace(3) @tile, i64 %mirror
  %v = load i32, ptr addrspace(3) %p
  %o = getelementptr i32, ptr %out, i64 %mirror
  store i32 %v, ptr %o)",
                globals);
}

TEST(Mbarrier, FollowsCopiesOfThreads) {
  std::vector<uint32_t> in(128), out(128);
  std::iota(in.begin(), in.end(), 3);
  Program program(threadCopies());
  EXPECT_EQ(program.buffer(in).buffer(out).run({128}), "");
  EXPECT_EQ(in, out);
  EXPECT_TRUE(program.report().clean()) << program.findings();
}

TEST(Mbarrier, ArrivalBeforeTheCopiesOfAThread) {
  std::vector<uint32_t> in(128), out(128);
  Program program(with(threadCopies(), "@llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @bar)",
                       "@llvm.nvvm.prefetch.global.L1(ptr addrspace(1) %in)\n  %s = call i64 "
                       "@llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)"));
  program.buffer(in).buffer(out).run({128});
  EXPECT_GT(program.total(FindingKind::CopyInFlight), 0u) << program.error << program.findings();
}

//===----------------------------------------------------------------------===//
// Out of shared memory
//===----------------------------------------------------------------------===//

static const char *fence = "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";
static const char *syncBlock = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
static const char *waitStore = "  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)\n";

static std::string storeProgram() {
  return kernel("ptr addrspace(1) %out", std::string(R"(  %own = getelementptr i32, ptr addrspace(3) @tile, i64 %t
  store i32 %tid, ptr addrspace(3) %own
)") + fence + syncBlock + R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %copy, label %end
copy:
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %out, ptr addrspace(3) @tile, i32 512, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
)" + waitStore + "  br label %end\nend:",
                globals);
}

static Program runStore(const std::string &text, std::vector<uint32_t> &out) {
  out.assign(128, 7);
  Program program(text);
  EXPECT_EQ(program.buffer(out).run({128}), "");
  return program;
}

TEST(BulkStore, Stores) {
  std::vector<uint32_t> out, want(128);
  std::iota(want.begin(), want.end(), 0);
  Program program = runStore(storeProgram(), out);
  EXPECT_EQ(out, want);
  EXPECT_TRUE(program.report().clean()) << program.findings();
}

TEST(BulkStore, WithoutProxyFence) {
  std::vector<uint32_t> out;
  Program program = runStore(with(storeProgram(), fence, ""), out);
  EXPECT_GT(program.total(FindingKind::ProxyOrder), 0u) << program.findings();
  EXPECT_THAT(program.findings(), HasSubstr("without fence.proxy.async"));
}

TEST(BulkStore, FenceOfWhoHasSeenTheWrites) {
  std::vector<uint32_t> out;
  std::string text = with(with(storeProgram(), fence, ""), "copy:\n", std::string("copy:\n") + fence);
  EXPECT_TRUE(runStore(text, out).report().clean());
  // A fence before the write says nothing of it.
  text = with(storeProgram(), fence, "");
  text = with(text, "  store i32 %tid, ptr addrspace(3) %own\n",
              std::string(fence) + "  store i32 %tid, ptr addrspace(3) %own\n");
  EXPECT_GT(runStore(text, out).total(FindingKind::ProxyOrder), 0u);
}

TEST(BulkStore, WithoutBarrier) {
  std::vector<uint32_t> out;
  EXPECT_GT(runStore(with(storeProgram(), syncBlock, ""), out).total(FindingKind::UninitialisedRead), 0u);
}

TEST(BulkStore, WithoutWait) {
  std::vector<uint32_t> out;
  EXPECT_EQ(runStore(with(storeProgram(), waitStore, ""), out).total(FindingKind::CopyNotWaited), 1u);
}

TEST(BulkStore, OverwrittenWhileItReads) {
  std::vector<uint32_t> out;
  std::string write = "  store i32 99, ptr addrspace(3) %own\n";
  EXPECT_GT(runStore(with(storeProgram(), waitStore, write + waitStore), out).total(FindingKind::CopyInFlight), 0u);
  EXPECT_TRUE(runStore(with(storeProgram(), waitStore, waitStore + write), out).report().clean());
}
