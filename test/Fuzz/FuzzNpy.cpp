//===- FuzzNpy.cpp - Any bytes as a .npy file -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read is written and read again, and is then the same tensor.
//
//===----------------------------------------------------------------------===//
#include "TemporaryFile.h"
#include "TextMutator.h"

#include "attune/Support/TensorFiles.h"

using namespace attune;

/// The header of version 1.0, which is what nearly all files have.
static constexpr fuzz::Frame frame{8, 2, 10};

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = {"descr", "fortran_order", "shape", "True", "False", "b1", "f2", "f4", "f8", "u8",
                                    "i8"};
  return fuzz::mutateFramed(frame, data, size, mostBytes, seed, words);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::TemporaryFile given, again;
  llvm::Expected<HostTensor> tensor = readNpy(given.holding(data, size));
  if (!tensor)
    return llvm::consumeError(tensor.takeError()), 0;
  toDoubles(*tensor);
  const std::string &path = again.holding(nullptr, 0);
  llvm::cantFail(writeNpy(path, *tensor));
  HostTensor same = llvm::cantFail(readNpy(path));
  if (same.type != tensor->type || same.shape != tensor->shape || same.bytes != tensor->bytes)
    std::abort();
  return 0;
}
