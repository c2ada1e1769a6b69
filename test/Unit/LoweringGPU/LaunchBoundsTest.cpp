//===- LaunchBoundsTest.cpp - Kernels that do not spill for a second block ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace attune;
using namespace attune::test;
using ::testing::HasSubstr;

static std::string entry(const std::string &name, const std::string &bounds) {
  return ".visible .entry " + name + "(\n\t.param .u64 p\n)\n" + bounds + "{\n\tret;\n}\n";
}

static const std::string threads = ".reqntid 256, 1, 1\n", alone = threads + ".minnctapersm 1\n";

TEST(LaunchBounds, AreTurnedForTheKernelsThatAreNamed) {
  std::vector<KernelResources> kernels(3);
  kernels[0].name = "one", kernels[1].name = "bounded", kernels[2].name = "free";
  std::string ptx = entry("one_more", threads) + entry("one", threads) + entry("bounded", alone) + entry("free", "") +
                    entry("also", alone);
  std::string turned = entry("one_more", threads) + entry("one", alone) + entry("bounded", threads) + entry("free", "") +
                       entry("also", alone);
  EXPECT_EQ(withOtherBounds(ptx, kernels), turned);
}

namespace {
/// In place of ptxas a program by which a kernel without bound spills `free` bytes, and `bounded` bytes with one. What it
/// makes says nothing of loops.
class Assembler {
public:
  Assembler(int free, int bounded, int registers) {
    before = llvm::sys::Process::GetEnv("CUDA_HOME");
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("attune-ptxas", root));
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "bin");
    EXPECT_FALSE(llvm::sys::fs::create_directory(path));
    llvm::sys::path::append(path, "ptxas");
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    stream << "#!/bin/sh\n"
              "for word in \"$@\"; do case $word in *.ptx) ptx=$word;; *.cubin) cubin=$word;; esac; done\n"
              "cp \"$ptx\" \"$cubin\"\n"
              "sed -n 's/.*entry \\(.*\\)(/\\1/p' \"$ptx\" | while read name; do\n"
              "echo \"ptxas info : Compiling entry function '$name' for 'sm_80'\"\n"
              "spilled=" << free << "\n"
              "grep -A4 \"$name(\" \"$ptx\" | grep -q minnctapersm && spilled=" << bounded << "\n"
              "[ $name = fits ] && spilled=0\n"
              "echo \"    8 bytes stack frame, 0 bytes spill stores, $spilled bytes spill loads\"\n"
              "echo \"ptxas info : Used " << registers << " registers\"\n"
              "done\n";
    stream.close();
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::owner_all));
    setenv("CUDA_HOME", root.c_str(), 1);
  }
  ~Assembler() {
    before ? setenv("CUDA_HOME", before->c_str(), 1) : unsetenv("CUDA_HOME");
    llvm::sys::fs::remove_directories(root);
  }

private:
  llvm::SmallString<128> root;
  std::optional<std::string> before;
};
} // namespace

TEST(LaunchBounds, AreThoseWithWhichLessIsSpilled) {
  auto context = makeContext();
  auto assembled = [&](int free, int bounded, const std::string &before, int registers = 128) {
    Assembler assembler(free, bounded, registers);
    std::string ptx = before;
    auto cubin = emitCubinInRegisters(mlir::UnknownLoc::get(context.get()), ptx, "sm_80");
    EXPECT_TRUE(mlir::succeeded(cubin));
    EXPECT_EQ(mlir::succeeded(cubin) ? cubin->bytes : "", ptx) << "the image is of the PTX that is returned";
    return ptx;
  };
  const std::string free = entry("k", threads), bounded = entry("k", alone), fits = entry("fits", threads);
  EXPECT_EQ(assembled(8, 0, free), bounded);
  EXPECT_EQ(assembled(8, 4, free), bounded);
  EXPECT_EQ(assembled(8, 8, free), free);
  EXPECT_EQ(assembled(0, 4, free), free);
  EXPECT_EQ(assembled(0, 4, bounded), free);
  EXPECT_EQ(assembled(8, 0, fits + free), fits + bounded);
  // Both ways it has all registers there are; the bound changes how boldly it is scheduled.
  EXPECT_EQ(assembled(8, 0, free, 255), bounded);
  EXPECT_EQ(assembled(0, 4, bounded, 255), free);
  // One spills less when it is turned, the other more.
  EXPECT_EQ(assembled(8, 4, free + entry("other", alone)), bounded + entry("other", alone));
}
