//===- FuzzModule.cpp - Any bytes as a .mlir file, through the compiler ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text, and bytecode that a process of its own has read, from the parser to LLVM IR, for the target that the bytes' hash
// says. Nothing here is from our own front end: verifiers and passes must refuse what they cannot take.
//
//===----------------------------------------------------------------------===//
#include "TextMutator.h"

#include "attune/InitAll.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/DeviceCode.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>

using namespace attune;

static std::unique_ptr<Compilation> open(llvm::StringRef text, llvm::StringRef target) {
  int status = 0;
  return Compilation::fromModule({text, "fuzz.mlir"}, target, status, llvm::nulls());
}

/// Our ops and what their attributes are called.
static fuzz::Words wordsOfModules() {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  fuzz::Words words = {"f32", "f16", "bf16", "index", "i1", "i32", "tensor", "memref"};
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    words.push_back(op.getStringRef().str());
    for (mlir::StringAttr attribute : op.getAttributeNames())
      words.push_back(attribute.str());
  }
  return words;
}

static bool isBytecode(const uint8_t *data, size_t size) {
  return mlir::isBytecode(llvm::MemoryBufferRef(llvm::StringRef(reinterpret_cast<const char *>(data), size), "fuzz"));
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  ::setenv("ATTUNE_TOOL_SECONDS", "4", /*overwrite=*/1); // less than an input may take
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = wordsOfModules();
  return isBytecode(data, size) ? LLVMFuzzerMutate(data, size, mostBytes)
                                : fuzz::mutateText(data, size, mostBytes, seed, words);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize,
                                            uint8_t *out, size_t mostBytes, unsigned seed) {
  return fuzz::crossTexts(one, oneSize, other, otherSize, out, mostBytes, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  static constexpr llvm::StringLiteral targets[] = {"cpu", "sm_80", "cpu", "sm_90a"};
  uint64_t choice = llvm::xxh3_64bits(text) % 4;
  auto compilation = open(text, targets[choice]);
  if (!compilation)
    return 0;
  if (compilation->isGpu()) {
    compilation->multiplyBy(choice == 3 ? "wgmma" : "mma.sync");
    compileForGpu(*compilation);
  } else {
    compilation->limitTo(choice == 0 ? "avx2" : "avx512");
    compileForCpu(*compilation);
  }
  return 0;
}
