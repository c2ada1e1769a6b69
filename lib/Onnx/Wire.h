//===- Wire.h - The fields of a protobuf message -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What protobuf's encoding says of a message: fields, each with a number and a value of one of four kinds. Which fields
// there are, and of what kind they must be, is the reader's.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ONNX_WIRE_H
#define ATTUNE_ONNX_WIRE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <string>

namespace attune::onnx {

/// The first mistake of a file, with its place; no reader of that file goes on after it.
class WireFault {
public:
  explicit WireFault(llvm::StringRef file) : file(file) {}
  void add(const char *at, const llvm::Twine &got);
  bool found() const { return !text.empty(); }
  const std::string &message() const { return text; }

private:
  llvm::StringRef file;
  std::string text;
};

struct WireField {
  enum Kind : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  uint64_t number = 0;
  Kind kind = Varint;
  uint64_t value = 0;    // of all kinds but bytes
  llvm::StringRef bytes; // text, or another message

  bool isBytes(uint64_t wanted) const { return number == wanted && kind == Bytes; }
  bool isVarint(uint64_t wanted) const { return number == wanted && kind == Varint; }
};

/// The fields of one message, one after another, where they lie.
class WireReader {
public:
  WireReader(llvm::StringRef message, WireFault &fault) : rest(message), fault(fault) {}
  /// False at the end of the message and after a mistake.
  bool next(WireField &field);
  bool isAtEnd() const { return rest.empty(); }
  bool takeVarint(uint64_t &value);

private:
  bool takeFixed(unsigned size, uint64_t &value);
  bool takeBytes(llvm::StringRef &bytes);
  bool fail(const llvm::Twine &got) { return fault.add(rest.data(), got), false; }

  llvm::StringRef rest;
  WireFault &fault;
};

/// Adds the numbers of a field that repeats: it has one, or many packed into bytes.
void appendVarints(const WireField &field, WireFault &fault, llvm::SmallVectorImpl<int64_t> &numbers);

} // namespace attune::onnx

#endif // ATTUNE_ONNX_WIRE_H
