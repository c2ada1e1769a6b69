//===- Inflate.cpp - Unpacks what the compiler has packed -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Images of device code are a few 100 kB and are unpacked once for a context, so this is written to be small: a code is
// read bit by bit. With the codes of one length numbered in a row, a code of length L is valid if its value is below the
// first code of that length plus their number; its place among all codes sorted by length names its symbol.
//
//===----------------------------------------------------------------------===//

#include "Inflate.h"

#include <string.h>

using namespace attune::rt;

namespace {

constexpr int maxBits = 15, maxSymbols = 288;

struct Code {
  uint16_t count[maxBits + 1]; // of codes of each length
  uint16_t symbol[maxSymbols]; // by length, then by value
};

/// False if the lengths ask for more codes than there are.
bool makeCode(Code &code, const uint8_t *lengths, int symbols) {
  uint16_t next[maxBits + 1];
  memset(code.count, 0, sizeof(code.count));
  for (int i = 0; i < symbols; ++i)
    ++code.count[lengths[i]];
  code.count[0] = 0;
  int left = 1;
  next[1] = 0;
  for (int length = 1; length <= maxBits; ++length) {
    left = 2 * left - code.count[length];
    if (left < 0)
      return false;
    if (length < maxBits)
      next[length + 1] = static_cast<uint16_t>(next[length] + code.count[length]);
  }
  for (int i = 0; i < symbols; ++i)
    if (lengths[i])
      code.symbol[next[lengths[i]]++] = static_cast<uint16_t>(i);
  return true;
}

/// The two streams; `failed` is set by a read or write past an end, which then does nothing.
class Inflater {
public:
  Inflater(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes)
      : start(to), to(to), end(to + bytes), from(from), fromEnd(from + packedBytes) {}

  bool run();

private:
  unsigned bits(int count);
  int decode(const Code &code);
  void put(uint8_t byte);
  void copy(size_t length, size_t distance);
  void stored();
  void fixed();
  void dynamic();
  void compressed();
  void readLengths(uint8_t *lengths, int count);

  uint8_t *start, *to, *end;
  const uint8_t *from, *fromEnd;
  unsigned buffer = 0;
  int buffered = 0; // bits
  bool failed = false;
  Code literals, distances;
};

unsigned Inflater::bits(int count) {
  while (buffered < count) {
    if (from == fromEnd) {
      failed = true;
      return 0;
    }
    buffer |= static_cast<unsigned>(*from++) << buffered;
    buffered += 8;
  }
  unsigned value = buffer & ((1u << count) - 1);
  buffer >>= count;
  buffered -= count;
  return value;
}

int Inflater::decode(const Code &code) {
  int value = 0, first = 0, place = 0;
  for (int length = 1; length <= maxBits && !failed; ++length) {
    value |= static_cast<int>(bits(1));
    int count = code.count[length];
    if (value - first < count)
      return code.symbol[place + value - first];
    place += count;
    first = (first + count) * 2;
    value *= 2;
  }
  failed = true;
  return 0;
}

void Inflater::put(uint8_t byte) {
  if (to == end)
    failed = true;
  else
    *to++ = byte;
}

void Inflater::copy(size_t length, size_t distance) {
  if (distance > static_cast<size_t>(to - start) || length > static_cast<size_t>(end - to)) {
    failed = true;
    return;
  }
  for (; length > 0; --length, ++to) // what is copied may be what has just been written
    *to = *(to - distance);
}

void Inflater::stored() {
  buffer = 0, buffered = 0;
  unsigned length = bits(8) | bits(8) << 8, check = bits(8) | bits(8) << 8;
  failed |= (length ^ check) != 0xffff || length > static_cast<size_t>(fromEnd - from);
  for (; !failed && length > 0; --length)
    put(*from++);
}

void Inflater::compressed() {
  static constexpr uint16_t lengthBase[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                            31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static constexpr uint8_t lengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  while (!failed) {
    int symbol = decode(literals);
    if (symbol == 256)
      return;
    if (symbol < 256) {
      put(static_cast<uint8_t>(symbol));
      continue;
    }
    int kind = symbol - 257;
    if (kind >= 29)
      break;
    size_t length = lengthBase[kind] + bits(lengthBits[kind]);
    int far = decode(distances);
    if (far >= 30)
      break;
    // Distances 1 ... 4 have codes of their own; from there two codes share each power of two.
    int extra = far < 4 ? 0 : far / 2 - 1;
    size_t distance = far < 4 ? static_cast<size_t>(far) + 1 : (static_cast<size_t>(2 + far % 2) << extra) + 1;
    copy(length, distance + bits(extra));
  }
  failed = true;
}

void Inflater::fixed() {
  uint8_t lengths[maxSymbols];
  for (int i = 0; i < maxSymbols; ++i)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  makeCode(literals, lengths, maxSymbols);
  memset(lengths, 5, 30);
  makeCode(distances, lengths, 30);
  compressed();
}

/// Lengths of codes, themselves coded by `literals`.
void Inflater::readLengths(uint8_t *lengths, int count) {
  for (int place = 0; place < count && !failed;) {
    int symbol = decode(literals), times = 1;
    uint8_t length = static_cast<uint8_t>(symbol);
    if (symbol >= 16) {
      length = symbol == 16 && place > 0 ? lengths[place - 1] : 0;
      failed |= symbol > 18 || (symbol == 16 && place == 0);
      times = static_cast<int>(symbol == 16 ? 3 + bits(2) : symbol == 17 ? 3 + bits(3) : 11 + bits(7));
    }
    failed |= times > count - place;
    for (; !failed && times > 0; --times)
      lengths[place++] = length;
  }
}

void Inflater::dynamic() {
  static constexpr uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t lengths[maxSymbols + 32] = {};
  int literalCount = static_cast<int>(bits(5)) + 257, distanceCount = static_cast<int>(bits(5)) + 1;
  int lengthCount = static_cast<int>(bits(4)) + 4;
  for (int i = 0; i < lengthCount; ++i)
    lengths[order[i]] = static_cast<uint8_t>(bits(3));
  if (failed || literalCount > 286 || distanceCount > 30 || !makeCode(literals, lengths, 19)) {
    failed = true;
    return;
  }
  memset(lengths, 0, sizeof(lengths));
  readLengths(lengths, literalCount + distanceCount);
  if (failed || !makeCode(distances, lengths + literalCount, distanceCount) ||
      !makeCode(literals, lengths, literalCount))
    failed = true;
  else
    compressed();
}

uint32_t adler32(const uint8_t *data, size_t bytes) {
  uint32_t sum = 1, sums = 0;
  for (size_t i = 0; i < bytes; ++i) {
    sum = (sum + data[i]) % 65521;
    sums = (sums + sum) % 65521;
  }
  return sums << 16 | sum;
}

bool Inflater::run() {
  unsigned method = bits(8), flags = bits(8);
  // Deflate without a preset dictionary.
  failed |= (method & 15) != 8 || (method * 256 + flags) % 31 != 0 || (flags & 32);
  for (bool last = false; !failed && !last;) {
    last = bits(1);
    switch (bits(2)) {
    case 0:
      stored();
      break;
    case 1:
      fixed();
      break;
    case 2:
      dynamic();
      break;
    default:
      failed = true;
    }
  }
  if (failed || to != end)
    return false;
  buffer = 0, buffered = 0;
  uint32_t check = 0;
  for (int i = 0; i < 4; ++i)
    check = check << 8 | bits(8);
  return !failed && check == adler32(start, static_cast<size_t>(end - start));
}

} // namespace

bool attune::rt::inflate(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes) {
  return Inflater(to, bytes, from, packedBytes).run();
}
