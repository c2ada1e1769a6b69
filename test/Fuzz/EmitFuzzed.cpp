//===- EmitFuzzed.cpp - The library whose arguments are fuzzed, as an object ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attnc compile SPEC --emit obj` without the rest of attnc, which the fuzzers would have to build for it.
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Compilation.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

int main(int, char **arguments) {
  int status = 1;
  auto compilation = Compilation::open(arguments[1], "cpu", status);
  std::optional<LibraryModule> code = compilation ? compileForCpu(*compilation) : std::nullopt;
  if (!code)
    return status;
  llvm::cantFail(target::completeModule(*code->module, code->description));
  auto object = llvm::cantFail(target::emitObject(*code->module));
  std::error_code error;
  llvm::raw_fd_ostream(arguments[2], error).write(object.data(), object.size());
  return error ? 1 : 0;
}
