//===- WriteText.cpp - Files of text that commands write ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Commands.h"

#include "llvm/Support/FileSystem.h"

llvm::Error attune::attnc::writeText(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (code)
    return llvm::createStringError("expected to write " + path + ", but got: " + code.message());
  write(file);
  file.close();
  if (!file.has_error())
    return llvm::Error::success();
  code = file.error();
  file.clear_error();
  return llvm::createStringError("expected to write " + path + ", but got: " + code.message());
}
