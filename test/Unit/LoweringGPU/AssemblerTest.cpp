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
