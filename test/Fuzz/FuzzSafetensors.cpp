//===- FuzzSafetensors.cpp - Any bytes as a .safetensors file -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TemporaryFile.h"
#include "TextMutator.h"

#include "attune/Support/TensorFiles.h"

using namespace attune;

static constexpr fuzz::Frame frame{0, 8, 8};

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = {"dtype", "shape", "data_offsets", "__metadata__", "BOOL", "F32", "BF16", "U8"};
  return fuzz::mutateFramed(frame, data, size, mostBytes, seed, words);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::TemporaryFile given;
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(given.holding(data, size));
  if (!file)
    return llvm::consumeError(file.takeError()), 0;
  for (const std::string &name : file->names()) {
    llvm::Expected<HostTensor> tensor = file->read(name);
    if (tensor)
      toDoubles(*tensor);
    else
      llvm::consumeError(tensor.takeError());
  }
  return 0;
}
