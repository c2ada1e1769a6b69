//===- SpillsInLoopsTest.cpp - Which spills machine code pays for at each step ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::test;

namespace {
/// Machine code by hand: 16 bytes an instruction.
struct Code {
  unsigned capability;
  std::string bytes = "";

  Code &add(uint64_t low) {
    char text[16] = {};
    llvm::support::endian::write64le(text, low);
    bytes.append(text, sizeof(text));
    return *this;
  }
  Code &other() { return add(0x223); }
  Code &store() { return add(0x7387); }
  Code &load() { return add(0x7983); }
  /// Jumps over `instructions`, counted from the next one.
  Code &jump(int32_t instructions) {
    if (capability < 90)
      return add(uint64_t(uint32_t(16 * instructions)) << 32 | 0x7947);
    int32_t words = 4 * instructions;
    return add(uint64_t(uint32_t((words >> 8) * 4)) << 32 | uint64_t(words & 0xff) << 16 | 0x7947);
  }
  int64_t spills() const { return countSpillsInLoops(bytes, capability); }
};
} // namespace

TEST(SpillsInLoops, AreThoseBetweenABranchAndItsTarget) {
  for (unsigned capability : {80, 86, 90}) {
    auto code = [&] { return Code{capability}; };
    EXPECT_EQ(code().store().load().spills(), 0);
    EXPECT_EQ(code().store().other().jump(-2).load().spills(), 0) << "before and after";
    EXPECT_EQ(code().store().load().other().jump(-3).load().spills(), 1);
    EXPECT_EQ(code().store().load().other().jump(-4).load().spills(), 2) << "the target is in the loop";
    EXPECT_EQ(code().jump(2).store().load().other().spills(), 0) << "a branch ahead is no loop";
    EXPECT_EQ(code().load().jump(-1).load().spills(), 0) << "what fills the end jumps to itself";
    EXPECT_EQ(code().spills(), 0);
    Code far = code().load().load();
    for (int i = 0; i < 1000; ++i)
      far.other();
    EXPECT_EQ(far.jump(-1002).spills(), 1) << "more than fits into the low bits";
  }
}

// Words of code that ptxas 13.0 made, with what a disassembler says of them.
TEST(SpillsInLoops, AreFoundBehindBranchesOfEachEncoding) {
  auto spills = [](unsigned capability, uint64_t branch, int between) {
    Code code{capability};
    code.load().load();
    for (int i = 0; i < between; ++i)
      code.other();
    return code.add(branch).spills();
  };
  EXPECT_EQ(spills(90, 0xfffffff800789947, 96), 1) << "98 instructions back, of which one is the branch";
  EXPECT_EQ(spills(90, 0xfffffff800789947, 95), 2);
  EXPECT_EQ(spills(90, 0xfffffff800789947, 97), 0);
}

/// A kernel that adds to `count` numbers at each step of a loop, which nothing but registers can hold.
static std::string sums(int count, llvm::StringRef chip) {
  std::string ptx;
  llvm::raw_string_ostream out(ptx);
  out << ".version 8.0\n.target " << chip
      << "\n.address_size 64\n.visible .entry sums(.param .u64 to, .param .u32 steps)\n"
         ".reqntid 32, 1, 1\n{\n.reg .f32 %f<"
      << count + 1
      << ">;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n.reg .pred %p;\n"
         "ld.param.u64 %rd0, [to];\nld.param.u32 %r0, [steps];\n";
  for (int i = 0; i < count; ++i)
    out << "ld.global.f32 %f" << i << ", [%rd0+" << 4 * i << "];\n";
  out << "next:\nld.volatile.global.f32 %f" << count << ", [%rd0];\n";
  for (int i = 0; i < count; ++i)
    out << "fma.rn.f32 %f" << i << ", %f" << i << ", %f" << count << ", %f" << (i + 1) % count << ";\n";
  out << "sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra next;\n";
  for (int i = 0; i < count; ++i)
    out << "st.global.f32 [%rd0+" << 4 * i << "], %f" << i << ";\n";
  out << "ret;\n}\n";
  return ptx;
}

TEST(SpillsInLoops, AreFoundInWhatTheAssemblerMakes) {
  if (!findPtxas())
    GTEST_SKIP() << "no ptxas in CUDA_HOME, CUDA_ROOT or PATH";
  auto context = makeContext();
  auto inLoops = [&](int count, llvm::StringRef chip) -> std::optional<int64_t> {
    auto cubin = emitCubin(mlir::UnknownLoc::get(context.get()), sums(count, chip), chip, /*allowSpills=*/true);
    return mlir::succeeded(cubin) && cubin->kernels.size() == 1 ? cubin->kernels.front().inLoops : std::nullopt;
  };
  for (llvm::StringRef chip : {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90a"}) {
    EXPECT_EQ(inLoops(100, chip), 0) << chip.str();
    EXPECT_GT(inLoops(320, chip).value_or(0), 0) << chip.str();
  }
}

// Of an image that cannot be read nothing is known, and a kernel that spills counts as if it did so in a loop.
TEST(SpillsInLoops, AreFearedWhereNothingIsKnown) {
  Cubin cubin;
  cubin.bytes = "no image";
  cubin.kernels.emplace_back().name = "k";
  findSpillsInLoops(cubin, "sm_80");
  EXPECT_EQ(cubin.kernels.front().inLoops, std::nullopt);
  EXPECT_FALSE(cubin.kernels.front().spillsInLoops());
  cubin.kernels.front().spillLoads = 8;
  EXPECT_TRUE(cubin.kernels.front().spillsInLoops());
  cubin.kernels.front().inLoops = 0;
  EXPECT_FALSE(cubin.kernels.front().spillsInLoops());
}
