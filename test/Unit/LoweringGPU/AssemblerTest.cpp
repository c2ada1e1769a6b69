//===- AssemblerTest.cpp - What ptxas must know, and what PTX must not hold ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attune;
using namespace attune::test;
using ::testing::HasSubstr;

TEST(Ptxas, SaysItsRelease) {
  EXPECT_EQ(parseRelease("Built on Wed_Aug_20\nCuda compilation tools, release 13.0, V13.0.88\n"), 1300u);
  EXPECT_EQ(parseRelease("Cuda compilation tools, release 11.8, V11.8.89"), 1108u);
  EXPECT_EQ(parseRelease("no such thing"), 0u);
  EXPECT_EQ(parseRelease("release of something"), 0u);
}

/// A program that prints `text` and ends.
class Program {
public:
  explicit Program(llvm::StringRef text) {
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", path));
    remover.setFile(path);
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    stream << "#!/bin/sh\necho '" << text << "'\n";
    stream.close();
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::owner_all));
  }
  llvm::SmallString<128> path;

private:
  llvm::FileRemover remover;
};

TEST(Ptxas, MustKnowThePtx) {
  Program old("Cuda compilation tools, release 11.4, V11.4.0"), middle("Cuda compilation tools, release 11.8, V11.8.0"),
      silent("hello");
  EXPECT_THAT(whyPtxasCannot(old.path, "sm_80"),
              HasSubstr("expected ptxas of CUDA 11.8 or later for sm_80, but got 11.4 at "));
  EXPECT_EQ(whyPtxasCannot(middle.path, "sm_80"), "");
  EXPECT_EQ(whyPtxasCannot(middle.path, "sm_89"), "");
  EXPECT_THAT(whyPtxasCannot(middle.path, "sm_90a"), HasSubstr("expected ptxas of CUDA 12.0 or later for sm_90a"));
  EXPECT_THAT(whyPtxasCannot(silent.path, "sm_80"), HasSubstr("one that does not say its release"));
}

TEST(Ptx, HoldsNoCallOfALibrary) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    gpu.module @attune_kernels {
      llvm.func @__nv_tanf(f32) -> f32
      llvm.func @kernel(%memory: !llvm.ptr<1>) attributes {nvvm.kernel} {
        %x = llvm.load %memory : !llvm.ptr<1> -> f32
        %y = llvm.call @__nv_tanf(%x) : (f32) -> f32
        llvm.store %y, %memory : f32, !llvm.ptr<1>
        llvm.return
      }
    })",
                                                        context.get());
  ASSERT_TRUE(module);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(said) << diagnostic;
    return mlir::success();
  });
  EXPECT_TRUE(mlir::failed(emitPtx(*module, "sm_80")));
  EXPECT_THAT(said, HasSubstr("expected device code that is complete, but got a call of __nv_tanf"));
}

TEST(Ptx, IsForEveryTarget) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    gpu.module @attune_kernels {
      llvm.func @kernel(%memory: !llvm.ptr<1>) attributes {nvvm.kernel} {
        llvm.return
      }
    })",
                                                        context.get());
  ASSERT_TRUE(module);
  for (auto [chip, version] : {std::pair("sm_80", "7.8"), std::pair("sm_86", "7.8"), std::pair("sm_87", "7.8"),
                               std::pair("sm_89", "7.8"), std::pair("sm_90a", "8.0")}) {
    auto ptx = emitPtx(*module, chip);
    ASSERT_TRUE(mlir::succeeded(ptx)) << chip;
    EXPECT_THAT(*ptx, HasSubstr(std::string(".version ") + version));
    EXPECT_THAT(*ptx, HasSubstr(std::string(".target ") + chip));
  }
}

/// Three kernels with loops, so with labels, and a table that two of them read.
static constexpr llvm::StringLiteral loops = R"(
  gpu.module @attune_kernels {
    llvm.mlir.global internal constant @table(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) {addr_space = 1 : i32} : !llvm.array<4 x f32>
    llvm.func @first(%memory: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      llvm.br ^step(%zero : i32)
    ^step(%i: i32):
      %place = llvm.getelementptr %memory[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store volatile %i, %place : i32, !llvm.ptr<1>
      %next = llvm.add %i, %one : i32
      %more = llvm.icmp "slt" %next, %n : i32
      llvm.cond_br %more, ^step(%next : i32), ^end
    ^end:
      llvm.return
    }
    llvm.func @second(%memory: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
      %table = llvm.mlir.addressof @table : !llvm.ptr<1>
      %place = llvm.getelementptr %table[%n] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %x = llvm.load %place : !llvm.ptr<1> -> f32
      llvm.store %x, %memory : f32, !llvm.ptr<1>
      llvm.return
    }
    llvm.func @third(%memory: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
      %table = llvm.mlir.addressof @table : !llvm.ptr<1>
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      llvm.br ^step(%zero : i32)
    ^step(%i: i32):
      %from = llvm.getelementptr %table[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %x = llvm.load %from : !llvm.ptr<1> -> f32
      %to = llvm.getelementptr %memory[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store volatile %x, %to : f32, !llvm.ptr<1>
      %next = llvm.add %i, %one : i32
      %more = llvm.icmp "slt" %next, %n : i32
      llvm.cond_br %more, ^step(%next : i32), ^end
    ^end:
      llvm.return
    }
  })";

/// What the compiler makes does not depend on how many processors it runs on.
TEST(Ptx, IsTheSameWhoeverMakesIt) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(loops, context.get());
  ASSERT_TRUE(module);
  auto one = emitPtx(*module, "sm_80", /*threads=*/1);
  ASSERT_TRUE(mlir::succeeded(one));
  for (unsigned threads : {2, 3, 8}) {
    auto several = emitPtx(*module, "sm_80", threads);
    ASSERT_TRUE(mlir::succeeded(several)) << threads;
    EXPECT_EQ(*several, *one) << threads;
  }
  llvm::StringRef text(*one);
  EXPECT_EQ(text.count(".b8 table["), 1u);
  size_t second = text.find(".visible .entry second("), third = text.find(".visible .entry third(");
  ASSERT_TRUE(text.find(".visible .entry first(") < second && second < third && third != llvm::StringRef::npos);
  EXPECT_NE(text.take_front(second).find("$L__BB0_1:"), llvm::StringRef::npos);
  EXPECT_NE(text.drop_front(third).find("$L__BB2_1:"), llvm::StringRef::npos);
  EXPECT_EQ(text.drop_front(third).find("$L__BB0_"), llvm::StringRef::npos);
}
