//===- TinyLibrary.h - A library small enough to write in LLVM IR ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// o = c q for q, o of shape [batch, 2, n, 3] f32, where c is 2 in the avx2 variant and 3 in the avx512 one: what ran is
// seen in the numbers. The second plan, from L = 100, adds 1, through a workspace of 256 bytes that holds the 1.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_TARGET_TINYLIBRARY_H
#define ATTUNE_TEST_UNIT_TARGET_TINYLIBRARY_H

#include "attune/Target/LibraryDescription.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tiny {

std::unique_ptr<llvm::Module> module(llvm::LLVMContext &context);
attune::target::LibraryDescription description();

/// A folder that is removed at the end of the test.
struct Folder {
  std::string path;
  Folder();
  ~Folder();
  std::string operator/(llvm::StringRef file) const { return path + "/" + file.str(); }
};

} // namespace tiny

#endif // ATTUNE_TEST_UNIT_TARGET_TINYLIBRARY_H
