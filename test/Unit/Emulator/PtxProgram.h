//===- PtxProgram.h - Runs a kernel written as PTX in a test ----*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_EMULATOR_PTXPROGRAM_H
#define ATTUNE_TEST_EMULATOR_PTXPROGRAM_H

#include "attune/Emulator/DeviceEmulator.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace attune::test {

/// A text for sm_90a; line 4 is the first of `entries`.
inline std::string ptxText(const std::string &entries, const std::string &target = "sm_90a") {
  return ".version 8.6\n.target " + target + "\n.address_size 64\n" + entries;
}

/// The entry "k" of 64-bit parameters p0, p1 … whose body may use %p, %h, %r and %d (1, 16, 32 and 64 bits). %r0 is the
/// thread, %d0 its number times 8.
inline std::string ptxKernel(unsigned parameters, const std::string &body, const std::string &bounds = "") {
  std::string text = ".visible .entry k(";
  for (unsigned i = 0; i < parameters; ++i)
    text += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  return text + ")\n" + bounds + "{\n.reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<100>;\n.reg .b64 %d<40>;\n" +
         "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 8;\n" + body + "\nret;\n}\n";
}

/// A text with its buffers, which become its parameters in the order in which they are added.
class PtxProgram {
public:
  explicit PtxProgram(const std::string &text, EmulatorOptions options = {}) {
    auto created = DeviceEmulator::createFromPtx(text, options);
    if (!created)
      error = llvm::toString(created.takeError());
    else
      emulator = std::move(*created);
  }

  template <typename T> PtxProgram &buffer(std::vector<T> &values, llvm::StringRef name = "buffer") {
    if (emulator)
      emulator->addGlobal(values.data(), values.size() * sizeof(T), name);
    parameters.push_back(uint64_t(uintptr_t(values.data())));
    return *this;
  }
  PtxProgram &value(uint64_t value) {
    parameters.push_back(value);
    return *this;
  }
  /// The error's text, empty on success.
  std::string run(Dim3 block, Dim3 grid = {}, size_t dynamicShared = 0, llvm::StringRef entry = "k") {
    return emulator ? llvm::toString(emulator->launch(entry, grid, block, dynamicShared, parameters)) : error;
  }
  uint64_t total(FindingKind kind) const { return emulator->report().total(kind); }
  std::string findings() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    emulator->report().printFindings(os);
    return text;
  }

  std::unique_ptr<DeviceEmulator> emulator;
  std::string error;
  std::vector<uint64_t> parameters;
};

} // namespace attune::test

#endif // ATTUNE_TEST_EMULATOR_PTXPROGRAM_H
