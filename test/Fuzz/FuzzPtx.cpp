//===- FuzzPtx.cpp - Any text as PTX for the emulator ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is refused with its line, or becomes LLVM IR that is valid. It is not run: the emulator watches what programs
// do, and a program may loop for ever.
//
//===----------------------------------------------------------------------===//
#include "TextMutator.h"

#include "PtxTranslate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = {".u16", ".u32",  ".u64",     ".s32",    ".b16",   ".b32",  ".b64",
                                    ".f16", ".bf16", ".f32",     ".f64",    ".pred",  ".x2",   ".f16x2",
                                    ".v2",  ".v4",   ".shared",  ".global", ".lo",    ".wide", ".sat",
                                    ".ftz", ".rn",   ".aligned", ".sync",   ".trans", ".to"};
  return fuzz::mutateText(data, size, mostBytes, seed, words);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize,
                                            uint8_t *out, size_t mostBytes, unsigned seed) {
  return fuzz::crossTexts(one, oneSize, other, otherSize, out, mostBytes, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::LLVMContext context;
  llvm::Expected<ptx::Translation> translated = ptx::translate(text, /*sharedBase=*/uint64_t(1) << 40, context);
  if (!translated)
    return llvm::consumeError(translated.takeError()), 0;
  if (llvm::verifyModule(*translated->module, &llvm::errs()))
    std::abort();
  return 0;
}
