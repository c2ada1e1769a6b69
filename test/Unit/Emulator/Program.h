//===- Program.h - Runs a kernel written as LLVM IR in a test ---*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_PROGRAM_H
#define ATTUNE_TEST_EMULATOR_PROGRAM_H

#include "attune/Emulator/DeviceEmulator.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace attune::test {

/// A module with the kernel "k". The body may use %tid (i32) and %t (i64), the thread's index in x.
inline std::string kernel(llvm::StringRef parameters, llvm::StringRef body, llvm::StringRef globals = "") {
  return ("target triple = \"nvptx64-nvidia-cuda\"\n" + globals + "\ndefine ptx_kernel void @k(" + parameters +
          ") {\n" + "  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %t = zext i32 %tid to i64\n" + body +
          "\n  ret void\n}\n")
      .str();
}

/// A program with its buffers, which become its parameters in the order in which they are added.
class Program {
public:
  explicit Program(const std::string &text, EmulatorOptions options = {}) {
    auto context = std::make_unique<llvm::LLVMContext>();
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(text, diagnostic, *context);
    if (!module) {
      llvm::raw_string_ostream os(error);
      diagnostic.print("test", os);
      ADD_FAILURE() << error;
      return;
    }
    auto created = DeviceEmulator::create(std::move(module), std::move(context), options);
    if (!created)
      error = llvm::toString(created.takeError());
    else
      emulator = std::move(*created);
  }

  template <typename T> Program &buffer(std::vector<T> &values, llvm::StringRef name = "buffer") {
    if (emulator)
      emulator->addGlobal(values.data(), values.size() * sizeof(T), name);
    parameters.push_back(uint64_t(uintptr_t(values.data())));
    return *this;
  }
  Program &value(uint64_t value) {
    parameters.push_back(value);
    return *this;
  }
  /// Runs "k"; the error's text, empty on success.
  std::string run(Dim3 block, Dim3 grid = {}, size_t dynamicShared = 0) {
    if (!emulator)
      return error;
    return llvm::toString(emulator->launch("k", grid, block, dynamicShared, parameters));
  }
  const EmulatorReport &report() const { return emulator->report(); }
  uint64_t total(FindingKind kind) const { return report().total(kind); }
  std::string findings() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    report().printFindings(os);
    return text;
  }

  std::unique_ptr<DeviceEmulator> emulator;
  std::string error;
  std::vector<uint64_t> parameters;
};

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_PROGRAM_H
