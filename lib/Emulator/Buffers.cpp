//===- Buffers.cpp - Buffers of global memory from the command line -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Emulator/Buffers.h"

#include "Numbers.h"

#include "attune/Support/MachineMemory.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <optional>

using namespace attune;
using namespace attune::emulator;
using namespace llvm;

static Error fail(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

Expected<ElementType> emulator::parseElementType(StringRef name) {
  auto type = StringSwitch<std::optional<ElementType>>(name)
                  .Case("f32", ElementType::F32)
                  .Case("f16", ElementType::F16)
                  .Case("bf16", ElementType::Bf16)
                  .Case("i32", ElementType::I32)
                  .Case("i64", ElementType::I64)
                  .Default(std::nullopt);
  if (!type)
    return fail("expected an element type (f32, f16, bf16, i32, i64), but got '" + name + "'");
  return *type;
}

size_t emulator::bytesOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::Bf16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::I64:
    return 8;
  }
  llvm_unreachable("every type is above");
}

/// Device allocations are aligned to 256 bytes.
static constexpr size_t alignment = 256;

char *CommandBuffer::data() const {
  uintptr_t address = (uintptr_t(storage.data()) + alignment - 1) / alignment * alignment;
  return reinterpret_cast<char *>(address);
}

template <typename T> static T readAt(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}
template <typename T> static void writeAt(char *place, T value) { std::memcpy(place, &value, sizeof(T)); }

double CommandBuffer::get(size_t index) const {
  const char *place = data() + index * bytesOf(type);
  switch (type) {
  case ElementType::F32:
    return readAt<float>(place);
  case ElementType::F16:
    return halfToFloat(readAt<uint16_t>(place));
  case ElementType::Bf16:
    return bfloatToFloat(readAt<uint16_t>(place));
  case ElementType::I32:
    return readAt<int32_t>(place);
  case ElementType::I64:
    return double(readAt<int64_t>(place));
  }
  llvm_unreachable("every type is above");
}

void CommandBuffer::set(size_t index, double value) {
  char *place = data() + index * bytesOf(type);
  switch (type) {
  case ElementType::F32:
    return writeAt(place, float(value));
  case ElementType::F16:
    return writeAt(place, floatToHalf(float(value)));
  case ElementType::Bf16:
    return writeAt(place, floatToBfloat(float(value)));
  case ElementType::I32:
    return writeAt(place, int32_t(value));
  case ElementType::I64:
    return writeAt(place, int64_t(value));
  }
}

/// A number in [-1, 1) from a counter, so that element i does not depend on how many there are.
static double drawn(uint64_t seed, uint64_t index) {
  uint64_t x = seed * 0x9e3779b97f4a7c15ull + index; // splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return double(int64_t(x ^ (x >> 31))) * 0x1p-63;
}

/// Known before the buffer is made: a file may say that it is larger than any memory.
static Error checkSize(StringRef path, uint64_t bytes) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return fail("cannot read '" + path + "': " + code.message());
  if (!sys::fs::is_regular_file(status))
    return fail("expected a file of raw bytes, but '" + path + "' is a folder or a device");
  if (status.getSize() != bytes)
    return fail("expected " + Twine(bytes) + " bytes in '" + path + "', but got " + Twine(status.getSize()));
  return Error::success();
}

static Error fillFromFile(CommandBuffer &buffer, StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fail("cannot read '" + path + "': " + file.getError().message());
  if (Error error = checkSize(path, buffer.bytes()))
    return error;
  std::memcpy(buffer.data(), (*file)->getBufferStart(), std::min((*file)->getBufferSize(), buffer.bytes()));
  return Error::success();
}

static Error fill(CommandBuffer &buffer, StringRef initial, uint64_t seed) {
  if (initial.consume_front("@"))
    return fillFromFile(buffer, initial);
  double value = initial == "one" ? 1 : 0;
  bool named = initial == "zero" || initial == "one" || initial == "iota" || initial == "random";
  if (!named && initial.getAsDouble(value))
    return fail("expected zero, one, iota, random, a number or @FILE, but got '" + initial + "'");
  for (size_t i = 0; i < buffer.count; ++i)
    buffer.set(i, initial == "iota" ? double(i) : initial == "random" ? drawn(seed, i) : value);
  return Error::success();
}

Expected<CommandBuffer> emulator::parseBuffer(StringRef text, uint64_t seed) {
  SmallVector<StringRef> parts;
  text.split(parts, ':', 3);
  size_t count = 0;
  if (parts.size() != 4 || parts[2].getAsInteger(10, count))
    return fail("expected NAME:TYPE:COUNT:INITIAL, but got '" + text + "'");
  Expected<ElementType> type = parseElementType(parts[1]);
  if (!type)
    return type.takeError();
  uint64_t memory = machineMemory();
  if (count > memory / bytesOf(*type))
    return fail("expected a buffer that fits this machine's memory of " + Twine(memory) + " bytes, but got " +
                Twine(count) + " elements of " + parts[1] + " for " + parts[0]);
  if (StringRef path = parts[3]; path.consume_front("@"))
    if (Error error = checkSize(path, count * bytesOf(*type)))
      return std::move(error);
  CommandBuffer buffer{parts[0].str(), *type, count, std::vector<char>(count * bytesOf(*type) + 2 * alignment)};
  if (Error error = fill(buffer, parts[3], seed))
    return std::move(error);
  return std::move(buffer);
}

Expected<uint64_t> emulator::parseScalar(StringRef text) {
  auto [typeName, valueText] = text.split(':');
  Expected<ElementType> type = parseElementType(typeName);
  if (!type)
    return type.takeError();
  double number = 0;
  int64_t integer = 0;
  bool isInteger = *type == ElementType::I32 || *type == ElementType::I64;
  if (isInteger ? valueText.getAsInteger(10, integer) : valueText.getAsDouble(number))
    return fail("expected TYPE:VALUE, but got '" + text + "'");
  if (isInteger)
    return uint64_t(integer);
  if (*type == ElementType::F32)
    return floatToBits(float(number));
  return *type == ElementType::F16 ? floatToHalf(float(number)) : floatToBfloat(float(number));
}
