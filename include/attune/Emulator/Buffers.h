//===- Buffers.h - Buffers of global memory from the command line --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_BUFFERS_H
#define ATTUNE_EMULATOR_BUFFERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attune::emulator {

enum class ElementType { F32, F16, Bf16, I32, I64 };
llvm::Expected<ElementType> parseElementType(llvm::StringRef name);
size_t bytesOf(ElementType type);

/// NAME:TYPE:COUNT:INITIAL, where INITIAL is zero, iota, one, random, a number for all elements, or @FILE of raw bytes.
struct CommandBuffer {
  std::string name;
  ElementType type;
  size_t count;
  std::vector<char> storage; ///< with room to align
  char *data() const;
  size_t bytes() const { return count * bytesOf(type); }
  double get(size_t index) const;
  void set(size_t index, double value);
};
llvm::Expected<CommandBuffer> parseBuffer(llvm::StringRef text, uint64_t seed);

/// TYPE:VALUE as the slot of a parameter.
llvm::Expected<uint64_t> parseScalar(llvm::StringRef text);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_BUFFERS_H
