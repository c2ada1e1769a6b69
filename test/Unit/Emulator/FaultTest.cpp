//===- FaultTest.cpp - Planted faults, and correct programs that resemble them --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each fault is found under its kind and nothing else is; each neighbour of a fault that is correct gives no finding.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gmock/gmock.h"

#include <array>

using namespace attune;
using namespace attune::test;
using testing::HasSubstr;

static const char *barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
static const char *sharedTile = "@tile = internal addrspace(3) global [128 x i32] undef, align 16\n";
/// tile[t] and tile[127 - t].
static const char *pointers = R"(  %own = getelementptr i32, ptr addrspace(3) @tile, i64 %t
  %mirror = sub i64 127, %t
  %other = getelementptr i32, ptr addrspace(3) @tile, i64 %mirror
)";

/// Runs a program of 128 threads without parameters.
static Program runTile(const std::string &body, const std::string &globals = sharedTile) {
  Program program(kernel("", pointers + body, globals));
  EXPECT_EQ(program.run({128}), "");
  return program;
}

/// The totals are zero but for one kind.
static void expectOnly(const Program &program, FindingKind kind) {
  for (unsigned k = 0; k < numFindingKinds; ++k)
    EXPECT_EQ(program.report().totals[k] != 0, FindingKind(k) == kind) << program.findings();
}
static void expectClean(const Program &program) { EXPECT_TRUE(program.report().clean()) << program.findings(); }

//===----------------------------------------------------------------------===//
// Races on shared memory
//===----------------------------------------------------------------------===//

static const char *writeOwn = "  store i32 %tid, ptr addrspace(3) %own\n";
static const char *readOther = "  %v = load i32, ptr addrspace(3) %other\n";

TEST(Race, ReadAfterWrite) {
  expectClean(runTile(std::string(writeOwn) + barrier + readOther));
  // The first half of the threads reads what nothing has written yet; their writers and the other readers race.
  Program program = runTile(std::string(writeOwn) + readOther);
  EXPECT_EQ(program.total(FindingKind::Race), 128u) << program.findings();
  EXPECT_EQ(program.total(FindingKind::UninitialisedRead), 64u);
}

TEST(Race, WriteAfterRead) {
  std::string fill = std::string(writeOwn) + barrier;
  expectClean(runTile(fill + readOther + barrier + writeOwn));
  Program program = runTile(fill + readOther + writeOwn);
  expectOnly(program, FindingKind::Race);
  EXPECT_THAT(program.findings(), HasSubstr("which thread "));
}

TEST(Race, WriteAfterWrite) {
  Program program = runTile("  store i32 1, ptr addrspace(3) @tile\n");
  expectOnly(program, FindingKind::Race);
  EXPECT_EQ(program.total(FindingKind::Race), 127u);
}

TEST(Race, WithinOneWarp) {
  const char *body = R"(  %x = xor i64 %t, 1
  %q = getelementptr i32, ptr addrspace(3) @tile, i64 %x
  store i32 %tid, ptr addrspace(3) %own
%SYNC%  %v = load i32, ptr addrspace(3) %q
)";
  std::string with = body, without = body;
  with.replace(with.find("%SYNC%"), 6, "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n");
  // A shuffle meets the lanes, but it orders no memory.
  without.replace(without.find("%SYNC%"), 6,
                  "  %s = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 1, i32 1, i32 31)\n");
  expectClean(runTile(with));
  expectOnly(runTile(without), FindingKind::Race);
}

TEST(Race, WarpSyncDoesNotOrderOtherWarps) {
  Program program = runTile(std::string(writeOwn) + "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n" + readOther);
  EXPECT_GT(program.total(FindingKind::Race), 0u);
}

TEST(Race, HalvesOfOneWordAreNoRace) {
  const char *globals = "@halves = internal addrspace(3) global [128 x half] undef, align 16\n";
  std::string body = R"(  %p = getelementptr half, ptr addrspace(3) @halves, i64 %t
  store half 1.0, ptr addrspace(3) %p
  %w = load half, ptr addrspace(3) %p
)";
  std::string pairs = R"(  %m = and i64 %mirror, 126
  %q = getelementptr half, ptr addrspace(3) @halves, i64 %m
  %v = load <2 x half>, ptr addrspace(3) %q
)";
  Program program(kernel("", std::string("  %mirror = sub i64 127, %t\n") + body + barrier + pairs, globals));
  ASSERT_EQ(program.run({128}), "");
  expectClean(program);
  Program raced(kernel("", std::string("  %mirror = sub i64 127, %t\n") + body + pairs, globals));
  ASSERT_EQ(raced.run({128}), "");
  EXPECT_GT(raced.total(FindingKind::Race), 0u);
}

TEST(Race, Atomics) {
  std::string zero = R"(  %first = icmp eq i32 %tid, 0
  br i1 %first, label %init, label %go
init:
  store i32 0, ptr addrspace(3) @tile
  br label %go
go:
)";
  std::string update = "  %a = atomicrmw add ptr addrspace(3) @tile, i32 1 monotonic\n";
  std::string plain = "  %v = load i32, ptr addrspace(3) @tile\n";
  expectClean(runTile(zero + barrier + update + barrier + plain));
  expectOnly(runTile(zero + barrier + update + plain), FindingKind::Race);
}

TEST(Race, NamedBarriersOfProducersAndConsumers) {
  // Warps 0 and 1 write and arrive at barrier 1; warps 2 and 3 wait there, read, and arrive at barrier 2, where the
  // producers wait before they write again.
  auto body = [](const std::string &empty) {
    return R"(  %producer = icmp ult i32 %tid, 64
  %slot = and i64 %t, 63
  %p = getelementptr i32, ptr addrspace(3) @tile, i64 %slot
  br label %loop
loop:
  %i = phi i32 [0, %0], [%j, %next]
  br i1 %producer, label %write, label %read
write:
  store i32 %i, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 1, i32 128)
  )" + empty +
           R"(
  br label %next
read:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 128)
  %q = load i32, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 2, i32 128)
  br label %next
next:
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, 5
  br i1 %more, label %loop, label %end
end:
)";
  };
  expectClean(runTile(body("call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 2, i32 128)")));
  // Producers that do not wait overwrite what is being read.
  Program program(
      kernel("", pointers + body("call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 2, i32 128)"), sharedTile));
  std::string error = program.run({128});
  EXPECT_GT(program.total(FindingKind::Race), 0u) << error;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Each thread copies 16 bytes; then reads its own or, with a barrier between, those of the mirrored thread.
static Program runCopy(const std::string &between, const std::string &what, const std::string &after = "") {
  Program program(kernel("ptr addrspace(1) %in",
                         R"(  %own = getelementptr <4 x i32>, ptr addrspace(3) @copied, i64 %t
  %mirror = sub i64 127, %t
  %other = getelementptr <4 x i32>, ptr addrspace(3) @copied, i64 %mirror
  %from = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %t
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %own, ptr addrspace(1) %from)
  call void @llvm.nvvm.cp.async.commit.group()
)" + between + "  %v = load <4 x i32>, ptr addrspace(3) " +
                             what + "\n" + after,
                         "@copied = internal addrspace(3) global [512 x i32] undef, align 16"));
  std::vector<uint32_t> in(512);
  EXPECT_EQ(program.buffer(in).run({128}), "");
  return program;
}

static const char *waitAll = "  call void @llvm.nvvm.cp.async.wait.group(i32 0)\n";

TEST(AsyncCopy, WaitsForTheGroup) {
  expectClean(runCopy(waitAll, "%own"));
  expectClean(runCopy(std::string(waitAll) + barrier, "%other"));
  Program removed = runCopy(barrier, "%other", std::string(barrier) + waitAll);
  expectOnly(removed, FindingKind::CopyInFlight);
  Program weak = runCopy("  call void @llvm.nvvm.cp.async.wait.group(i32 1)\n", "%own", waitAll);
  expectOnly(weak, FindingKind::CopyInFlight);
}

TEST(AsyncCopy, OtherThreadsNeedABarrierToo) {
  Program program = runCopy(waitAll, "%other");
  EXPECT_GT(program.total(FindingKind::Race), 0u) << program.findings();
}

TEST(AsyncCopy, MayNotOverwriteWhatIsRead) {
  std::string again =
      R"(  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %own, ptr addrspace(1) %from)
)" + std::string("  call void @llvm.nvvm.cp.async.wait.all()\n");
  std::string ready = std::string(waitAll) + barrier;
  expectClean(runCopy(ready, "%other", barrier + again));
  expectOnly(runCopy(ready, "%other", again), FindingKind::Race);
}

TEST(AsyncCopy, MustBeWaitedForBeforeTheEnd) {
  Program program(kernel("ptr addrspace(1) %in", R"(  %d = getelementptr <4 x i32>, ptr addrspace(3) @copied, i64 %t
  %s = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %t
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %d, ptr addrspace(1) %s))",
                         "@copied = internal addrspace(3) global [128 x i32] undef, align 16"));
  std::vector<uint32_t> in(128);
  ASSERT_EQ(program.buffer(in).run({32}), "");
  expectOnly(program, FindingKind::CopyNotWaited);
}

TEST(AsyncCopy, DoubleBufferIsClean) {
  // Two stages: the copy of step i + 1 is in flight while step i is summed.
  auto text = [](const std::string &closing) {
    return kernel("ptr addrspace(1) %in, ptr %out", R"(  %s0 = getelementptr i32, ptr addrspace(1) %in, i64 %t
  %d0 = getelementptr i32, ptr addrspace(3) @stages, i64 %t
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %d0, ptr addrspace(1) %s0)
  call void @llvm.nvvm.cp.async.commit.group()
  br label %loop
loop:
  %i = phi i64 [0, %0], [%next, %go]
  %sum = phi i32 [0, %0], [%more, %go]
  %next = add i64 %i, 1
  %stage = and i64 %i, 1
  %free = and i64 %next, 1
  %last = icmp eq i64 %next, 8
  br i1 %last, label %wait, label %copy
copy:
  %sn = getelementptr [128 x i32], ptr addrspace(1) %in, i64 %next, i64 %t
  %dn = getelementptr [128 x i32], ptr addrspace(3) @stages, i64 %free, i64 %t
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %dn, ptr addrspace(1) %sn)
  br label %wait
wait:
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %mirror = sub i64 127, %t
  %p = getelementptr [128 x i32], ptr addrspace(3) @stages, i64 %stage, i64 %mirror
  %v = load i32, ptr addrspace(3) %p
  %more = add i32 %sum, %v
)" + closing + R"(  br label %go
go:
  br i1 %last, label %end, label %loop
end:
  %o = getelementptr i32, ptr %out, i64 %t
  store i32 %more, ptr %o)",
                  "@stages = internal addrspace(3) global [2 x [128 x i32]] undef, align 16");
  };
  std::vector<uint32_t> in(1024), out(128);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint32_t(i * i);
  Program program(text(barrier));
  ASSERT_EQ(program.buffer(in).buffer(out).run({128}), "");
  expectClean(program);
  for (size_t t = 0; t < 128; ++t) {
    uint32_t want = 0;
    for (size_t i = 0; i < 8; ++i)
      want += in[i * 128 + 127 - t];
    EXPECT_EQ(out[t], want);
  }
  Program raced(text("")); // nothing keeps the next copy from a buffer that is still read
  ASSERT_EQ(raced.buffer(in).buffer(out).run({128}), "");
  EXPECT_GT(raced.total(FindingKind::Race), 0u) << raced.findings();
  EXPECT_GT(raced.total(FindingKind::CopyInFlight), 0u);
}

//===----------------------------------------------------------------------===//
// Bounds, alignment, initialisation
//===----------------------------------------------------------------------===//

TEST(Bounds, SharedBeyondTheEnd) {
  Program program =
      runTile("  %p = getelementptr i32, ptr addrspace(3) %own, i64 1\n  store i32 0, ptr addrspace(3) %p\n");
  expectOnly(program, FindingKind::OutOfBounds);
  EXPECT_EQ(program.total(FindingKind::OutOfBounds), 1u);
  EXPECT_THAT(program.findings(), HasSubstr("0 bytes beyond the end of 'tile' (512 bytes)"));
}

TEST(Bounds, SharedIntoTheNextBuffer) {
  // On a device this would silently touch the second buffer.
  Program program = runTile(R"(  %p = getelementptr i32, ptr addrspace(3) @tile, i64 160
  store i32 0, ptr addrspace(3) %p
  store i32 0, ptr addrspace(3) @second
)",
                            std::string(sharedTile) + "@second = internal addrspace(3) global [128 x i32] undef, align 16\n");
  EXPECT_EQ(program.total(FindingKind::OutOfBounds), 128u) << program.findings();
}

TEST(Bounds, GlobalAtAnOddEnd) {
  std::string text = kernel("ptr %in", R"(  %p = getelementptr <2 x half>, ptr %in, i64 %t
  %v = load <2 x half>, ptr %p, align 4)");
  std::vector<uint16_t> even(64), odd(63);
  Program fits(text), leaves(text);
  ASSERT_EQ(fits.buffer(even).run({32}), "");
  expectClean(fits);
  ASSERT_EQ(leaves.buffer(odd, "odd").run({32}), "");
  expectOnly(leaves, FindingKind::OutOfBounds);
  const Finding &finding = leaves.report().findings.front();
  EXPECT_EQ(finding.thread, 31u);
  EXPECT_EQ(finding.buffer, "odd");
  EXPECT_EQ(finding.address, 124u);
}

TEST(Bounds, NullPointerAndCopySource) {
  Program null(kernel("ptr %in", "  store i32 1, ptr %in"));
  ASSERT_EQ(null.value(0).run({1}), "");
  expectOnly(null, FindingKind::OutOfBounds);
  std::vector<uint32_t> in(120);
  Program copy(kernel("ptr addrspace(1) %in", R"(  %d = getelementptr <4 x i32>, ptr addrspace(3) @copied, i64 %t
  %s = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %t
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %d, ptr addrspace(1) %s)
  call void @llvm.nvvm.cp.async.wait.all())",
                      "@copied = internal addrspace(3) global [128 x i32] undef, align 16"));
  ASSERT_EQ(copy.buffer(in).run({32}), "");
  expectOnly(copy, FindingKind::OutOfBounds);
  EXPECT_EQ(copy.total(FindingKind::OutOfBounds), 2u);
}

TEST(Alignment, OfAccesses) {
  Program shared = runTile(R"(  %p = getelementptr i8, ptr addrspace(3) @tile, i64 4
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %one, label %end
one:
  store i64 0, ptr addrspace(3) %p, align 8
  br label %end
end:
)");
  expectOnly(shared, FindingKind::Misaligned);
  std::vector<uint32_t> in(8);
  std::string text = kernel("ptr %in", "  %p = getelementptr i8, ptr %in, i64 4\n  %v = load i64, ptr %p, align ALIGN");
  auto withAlignment = [&](const std::string &alignment) {
    std::string copy = text;
    return copy.replace(copy.find("ALIGN"), 5, alignment);
  };
  std::vector<uint64_t> aligned(8);
  Program wrong(withAlignment("8")), right(withAlignment("4"));
  ASSERT_EQ(wrong.buffer(aligned).run({1}), "");
  expectOnly(wrong, FindingKind::Misaligned);
  ASSERT_EQ(right.buffer(aligned).run({1}), "");
  expectClean(right);
}

TEST(Alignment, OfASharedBuffer) {
  auto text = [](const std::string &alignment) {
    return kernel("", R"(  %row = getelementptr [8 x half], ptr addrspace(3) @tile, i64 %t
  %z = insertelement <8 x half> zeroinitializer, half 1.0, i32 0
  store <8 x half> %z, ptr addrspace(3) %row, align 2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %row))",
                  "@tile = internal addrspace(3) global [32 x [8 x half]] undef, align " + alignment);
  };
  Program wrong(text("2")), right(text("16"));
  ASSERT_EQ(wrong.run({32}), "");
  expectOnly(wrong, FindingKind::Misaligned);
  ASSERT_EQ(right.run({32}), "");
  expectClean(right);
}

TEST(Initialisation, OfSharedMemory) {
  expectOnly(runTile("  %v = load i32, ptr addrspace(3) %own\n"), FindingKind::UninitialisedRead);
  // Shared memory does not carry over from the block before.
  Program program(kernel("", R"(  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = icmp eq i32 %b, 0
  br i1 %first, label %write, label %read
write:
  store i32 1, ptr addrspace(3) @word
  br label %end
read:
  %v = load i32, ptr addrspace(3) @word
  br label %end
end:)",
                         "@word = internal addrspace(3) global i32 undef, align 4"));
  ASSERT_EQ(program.run({1}, {2}), "");
  expectOnly(program, FindingKind::UninitialisedRead);
}

//===----------------------------------------------------------------------===//
// Divergence and deadlock
//===----------------------------------------------------------------------===//

TEST(Divergence, LanesMissAShuffle) {
  Program program(kernel("", R"(  %low = icmp ult i32 %tid, 16
  br i1 %low, label %a, label %end
a:
  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 1, i32 31)
  br label %end
end:)"));
  EXPECT_THAT(program.run({32}), HasSubstr("cannot go on"));
  expectOnly(program, FindingKind::Divergence);
  EXPECT_THAT(program.findings(), HasSubstr("thread 16 has ended"));
}

TEST(Divergence, LanesAtDifferentMultiplications) {
  std::string call =
      " = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> zeroinitializer, "
      "<2 x half> zeroinitializer, <2 x half> zeroinitializer, float 0.0, float 0.0, float 0.0, float 0.0)\n";
  Program program(kernel("", R"(  %low = icmp ult i32 %tid, 16
  br i1 %low, label %a, label %b
a:
  %x)" + call + R"(  br label %end
b:
  %y)" + call + R"(  br label %end
end:)"));
  EXPECT_THAT(program.run({32}), HasSubstr("cannot go on"));
  expectOnly(program, FindingKind::Divergence);
}

TEST(Divergence, AlignedBarrierWithinAWarp) {
  auto text = [](const std::string &threads) {
    return kernel("", "  %low = icmp ult i32 %tid, " + threads + R"(
  br i1 %low, label %a, label %b
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
b:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:)");
  };
  Program within(text("16")), between(text("32"));
  EXPECT_THAT(within.run({64}), HasSubstr("not all lanes of the warp reach this instruction"));
  expectOnly(within, FindingKind::Divergence);
  EXPECT_EQ(between.run({64}), "");
  expectClean(between);
}

TEST(Divergence, ShuffleReadsALaneOutsideItsMask) {
  Program program(kernel("", R"(  %low = icmp ult i32 %tid, 16
  br i1 %low, label %a, label %end
a:
  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %tid, i32 16, i32 31)
  br label %end
end:)"));
  EXPECT_EQ(program.run({32}), "");
  expectOnly(program, FindingKind::InactiveLane);
}

TEST(Deadlock, ThreadsEndBeforeTheBarrier) {
  Program program(kernel("", R"(  %low = icmp ult i32 %tid, 96
  br i1 %low, label %a, label %end
a:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:)"));
  EXPECT_THAT(program.run({128}), HasSubstr("96 are there and 32 have ended"));
  expectOnly(program, FindingKind::Deadlock);
}

TEST(Deadlock, WrongCountOfANamedBarrier) {
  Program program(kernel("", "  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 96)\n"));
  EXPECT_THAT(program.run({64}), HasSubstr("barrier 3 waits for 96 threads"));
  expectOnly(program, FindingKind::Deadlock);
}

TEST(Fault, Trap) {
  Program program(kernel("", "  call void @llvm.trap()"));
  EXPECT_EQ(program.run({1}), "");
  expectOnly(program, FindingKind::Trap);
}

//===----------------------------------------------------------------------===//
// Global memory and bounded reports
//===----------------------------------------------------------------------===//

TEST(GlobalRace, BetweenBlocksAndThreads) {
  auto text = [](const std::string &index) {
    return kernel("ptr %out", R"(  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %b0 = mul i32 %b, 32
  %all = add i32 %b0, %tid
  %p = getelementptr half, ptr %out, i32 )" +
                                  index + "\n  store half 1.0, ptr %p");
  };
  std::vector<uint16_t> out(64);
  Program apart(text("%all")), blocks(text("%tid")), threads(text("%b"));
  ASSERT_EQ(apart.buffer(out).run({32}, {2}), "");
  expectClean(apart);
  ASSERT_EQ(blocks.buffer(out).run({32}, {2}), "");
  expectOnly(blocks, FindingKind::Race);
  EXPECT_EQ(blocks.total(FindingKind::Race), 32u);
  ASSERT_EQ(threads.buffer(out).run({32}, {2}), "");
  expectOnly(threads, FindingKind::Race);
}

TEST(GlobalRace, LaunchesAreOrdered) {
  Program program(kernel("ptr %out", R"(  %p = getelementptr i32, ptr %out, i64 %t
  store i32 1, ptr %p)"));
  std::vector<uint32_t> out(32);
  program.buffer(out);
  ASSERT_EQ(program.run({32}), "");
  ASSERT_EQ(program.run({32}), "");
  expectClean(program);
}

TEST(Report, IsBoundedAndCanBeReset) {
  std::string body;
  for (int i = 0; i < 10; ++i)
    body += "  %v" + std::to_string(i) + " = load volatile i32, ptr addrspace(3) %own\n";
  EmulatorOptions options;
  options.maxFindings = 3;
  // The first finding of another kind is kept beyond the bound.
  Program program(kernel("", pointers + body + "  call void @llvm.trap()\n", sharedTile), options);
  ASSERT_EQ(program.run({128}), "");
  EXPECT_EQ(program.report().findings.size(), 4u);
  EXPECT_EQ(program.report().findings[0].count, 128u);
  EXPECT_EQ(program.report().findings[3].kind, FindingKind::Trap);
  EXPECT_EQ(program.total(FindingKind::UninitialisedRead), 1280u);
  program.emulator->resetReport();
  expectClean(program);
  ASSERT_EQ(program.run({128}), "");
  EXPECT_EQ(program.report().findings.size(), 4u);
}

TEST(Report, NamesTheSourceLocation) {
  Program program(R"(@word = internal addrspace(3) global i32 undef, align 4
define ptx_kernel void @k() !dbg !4 {
  %v = load i32, ptr addrspace(3) @word, !dbg !5
  ret void
}
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2)
!2 = !DIFile(filename: "kernel.mlir", directory: "")
!4 = distinct !DISubprogram(name: "k", file: !2, unit: !1, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 12, column: 7, scope: !4)
)");
  ASSERT_EQ(program.run({1}), "");
  EXPECT_THAT(program.findings(), HasSubstr("kernel.mlir:12:7: uninitialised read"));
}

//===----------------------------------------------------------------------===//
// Bank conflicts
//===----------------------------------------------------------------------===//

/// Waves per phase of one store by 32 threads, thread i at byte i * stride.
static double storeWaves(unsigned stride, const std::string &type, unsigned alignment) {
  Program program(kernel("",
                         "  %o = mul i64 %t, " + std::to_string(stride) + R"(
  %p = getelementptr i8, ptr addrspace(3) @bytes, i64 %o
  store )" + type + " zeroinitializer, ptr addrspace(3) %p, align " +
                             std::to_string(alignment),
                         "@bytes = internal addrspace(3) global [8192 x i8] undef, align 128"));
  EXPECT_EQ(program.run({32}), "");
  expectClean(program);
  return program.report().wavesPerPhase();
}

TEST(Banks, WavesOfStridedAccesses) {
  EXPECT_EQ(storeWaves(4, "i32", 4), 1);
  EXPECT_EQ(storeWaves(8, "i32", 4), 2);
  EXPECT_EQ(storeWaves(128, "i32", 4), 32);
  EXPECT_EQ(storeWaves(132, "i32", 4), 1);        // one word of padding a row
  EXPECT_EQ(storeWaves(2, "half", 2), 1);         // two lanes share a word
  EXPECT_EQ(storeWaves(16, "<4 x i32>", 16), 1);  // eight lanes a phase
  EXPECT_EQ(storeWaves(128, "<4 x i32>", 16), 8); // all of them in the same banks
  EXPECT_EQ(storeWaves(16, "<4 x i32>", 4), 4);   // four separate stores of one word
}

TEST(Banks, SwizzleFreesLoadMatrix) {
  // Rows of 128 bytes: without the swizzle the eight rows of a matrix lie in the same four banks.
  auto text =
      [](const std::string &chunk) {
        return kernel("", R"(  %r = and i64 %t, 7
  %m = lshr i64 %t, 3
  %x = xor i64 %m, %r
  %o0 = mul i64 %r, 128
  %o1 = mul i64 )" + chunk + R"(, 16
  %o = add i64 %o0, %o1
  %p = getelementptr i8, ptr addrspace(3) @bytes, i64 %o
  store <4 x i32> zeroinitializer, ptr addrspace(3) %p, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %p))",
                      "@bytes = internal addrspace(3) global [1024 x i8] undef, align 128");
      };
  Program plain(text("%m")), swizzled(text("%x"));
  ASSERT_EQ(plain.run({32}), "");
  ASSERT_EQ(swizzled.run({32}), "");
  expectClean(plain);
  expectClean(swizzled);
  EXPECT_EQ(plain.report().wavesPerPhase(), 8);
  EXPECT_EQ(swizzled.report().wavesPerPhase(), 1);
  EXPECT_EQ(plain.report().bankUse.size(), 2u);
}

//===----------------------------------------------------------------------===//
// Sectors of global memory
//===----------------------------------------------------------------------===//

/// Sectors of one load of 4 bytes by 32 threads, thread i at byte i * stride, from a buffer aligned to 32 bytes.
static uint64_t loadSectors(unsigned stride) {
  Program program(kernel("ptr %in", "  %o = mul i64 %t, " + std::to_string(stride) + R"(
  %p = getelementptr i8, ptr %in, i64 %o
  %v = load i32, ptr %p)"));
  std::vector<std::array<uint32_t, 8>> in(256); // of which a part begins at a multiple of 32 bytes
  auto *begin = reinterpret_cast<char *>((uintptr_t(in.data()) + 31) / 32 * 32);
  program.emulator->addGlobal(begin, 32 * 128, "in");
  EXPECT_EQ(program.value(uint64_t(uintptr_t(begin))).run({32}), "");
  expectClean(program);
  EXPECT_EQ(program.report().sectorUse.size(), 1u);
  EXPECT_EQ(program.report().sectorUse[0].bytes, 128u);
  return program.report().globalSectors();
}

TEST(Sectors, OfStridedAccesses) {
  EXPECT_EQ(loadSectors(0), 1u);
  EXPECT_EQ(loadSectors(4), 4u);
  EXPECT_EQ(loadSectors(8), 8u);
  EXPECT_EQ(loadSectors(32), 32u);
  EXPECT_EQ(loadSectors(128), 32u);
}
