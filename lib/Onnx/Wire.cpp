//===- Wire.cpp - The fields of a protobuf message ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Wire.h"

using namespace attune::onnx;
using llvm::StringRef;

void WireFault::add(const char *at, const llvm::Twine &got) {
  if (!found())
    text = ("expected an ONNX model, but got " + got + " at byte " + llvm::Twine(at - file.data()) + " of " +
            llvm::Twine(file.size()))
               .str();
}

bool WireReader::takeVarint(uint64_t &value) {
  value = 0;
  for (size_t i = 0; i < 10; ++i) {
    if (i == rest.size())
      return fail("a number that breaks off");
    uint64_t byte = static_cast<unsigned char>(rest[i]);
    value |= (byte & 0x7f) << (7 * i); // of the tenth byte one bit is left
    if (byte < 0x80)
      return rest = rest.drop_front(i + 1), true;
  }
  return fail("a number of more than ten bytes");
}

bool WireReader::takeFixed(unsigned size, uint64_t &value) {
  if (rest.size() < size)
    return fail("a number that breaks off");
  value = 0;
  for (unsigned i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  return rest = rest.drop_front(size), true;
}

bool WireReader::takeBytes(StringRef &bytes) {
  uint64_t size;
  if (!takeVarint(size))
    return false;
  if (size > rest.size())
    return fail("a field of " + llvm::Twine(size) + " bytes, of which " + llvm::Twine(rest.size()) + " are there");
  bytes = rest.take_front(size);
  return rest = rest.drop_front(size), true;
}

bool WireReader::next(WireField &field) {
  uint64_t tag;
  if (fault.found() || rest.empty() || !takeVarint(tag))
    return false;
  field = {tag >> 3, static_cast<WireField::Kind>(tag & 7), 0, {}};
  if (field.number == 0)
    return fail("a field without a number");
  switch (field.kind) {
  case WireField::Varint:
    return takeVarint(field.value);
  case WireField::Fixed64:
    return takeFixed(8, field.value);
  case WireField::Bytes:
    return takeBytes(field.bytes);
  case WireField::Fixed32:
    return takeFixed(4, field.value);
  }
  return fail("a field of an unknown kind");
}

void attune::onnx::appendVarints(const WireField &field, WireFault &fault, llvm::SmallVectorImpl<int64_t> &numbers) {
  if (field.kind == WireField::Varint)
    return numbers.push_back(static_cast<int64_t>(field.value));
  WireReader packed(field.bytes, fault);
  for (uint64_t value; !packed.isAtEnd() && packed.takeVarint(value);)
    numbers.push_back(static_cast<int64_t>(value));
}
