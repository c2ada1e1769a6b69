//===- Unpack.cpp - Unpacks what the compiler has packed ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LZMA: literals, and copies of what was written before, every choice a bit that an adaptive binary arithmetic coder has
// coded. Unrolled code repeats itself over far longer distances than the 32 kB of zlib: half the bytes.
//
//     bit of isMatch[state][position]        0: a literal
//       isRepeat[state]                      0: a copy with a new length and distance
//         isRepeat0[state]                   the last distance; 0: with a length, or one byte (isLong[state][position])
//           isRepeat1, isRepeat2             the one before it; else the third or the fourth
//
// `state` tells what the last few were: literals (0 to 6), or a copy that came last (7 to 11). `position` is the place in
// a word of four bytes.
//
//===----------------------------------------------------------------------===//

#include "Unpack.h"

using namespace attune::rt;

namespace {

/// How likely a bit is 0, of 2048.
using Chance = uint16_t;

constexpr int states = 12, positions = 4, literalContexts = 8;
constexpr size_t headerBytes = 13, sumBytes = 4;
constexpr uint8_t properties = 0x5d; // 3 bits of literal context, none of position for literals, 2 else

struct Lengths {
  Chance isLonger, isLongest, low[positions][8], middle[positions][8], high[256];
};

/// Everything that adapts; all of it chances.
struct Model {
  Chance isMatch[states][positions], isRepeat[states], isRepeat0[states], isRepeat1[states], isRepeat2[states];
  Chance isLong[states][positions];
  Chance literal[literalContexts][3][256];
  Lengths copy, repeat;
  Chance slot[4][64], distance[128], align[16];
};

/// The two streams; `failed` is set by a read or write past an end.
class Unpacker {
public:
  Unpacker(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes)
      : start(to), to(to), end(to + bytes), from(from), fromEnd(from + packedBytes) {}

  bool run();

private:
  uint8_t next();
  void normalize();
  unsigned bit(Chance &chance);
  unsigned direct(int count);
  unsigned tree(Chance *chances, int count);
  unsigned reversed(Chance *chances, int count);
  unsigned length(Lengths &lengths);
  uint32_t readDistance(unsigned length);
  void put(uint8_t byte);
  void copy(unsigned length);
  void readLiteral();
  unsigned readMatch();
  unsigned readRepeat();
  bool begin();
  int position() const { return static_cast<int>((to - start) % positions); }

  uint8_t *start, *to, *end;
  const uint8_t *from, *fromEnd;
  uint32_t range = 0xffffffff, code = 0;
  uint32_t distances[4] = {}; // minus 1, the last first
  int state = 0;
  bool failed = false;
  Model model;
};

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

uint8_t Unpacker::next() {
  if (from < fromEnd)
    return *from++;
  failed = true;
  return 0;
}

void Unpacker::normalize() {
  if (range >= 1u << 24)
    return;
  range <<= 8;
  code = code << 8 | next();
}

unsigned Unpacker::bit(Chance &chance) {
  uint32_t bound = (range >> 11) * chance;
  bool one = code >= bound;
  if (one) {
    range -= bound;
    code -= bound;
    chance = static_cast<Chance>(chance - (chance >> 5));
  } else {
    range = bound;
    chance = static_cast<Chance>(chance + ((2048 - chance) >> 5));
  }
  normalize();
  return one;
}

/// Bits as likely as not, highest first.
unsigned Unpacker::direct(int count) {
  unsigned result = 0;
  for (; count > 0; --count) {
    range >>= 1;
    bool one = code >= range;
    if (one)
      code -= range;
    normalize();
    result = result << 1 | one;
  }
  return result;
}

/// A number whose bits have a chance for each beginning, highest first.
unsigned Unpacker::tree(Chance *chances, int count) {
  unsigned node = 1;
  for (int i = 0; i < count; ++i)
    node = node << 1 | bit(chances[node]);
  return node - (1u << count);
}

/// The same, lowest first.
unsigned Unpacker::reversed(Chance *chances, int count) {
  unsigned node = 1, result = 0;
  for (int i = 0; i < count; ++i) {
    unsigned one = bit(chances[node]);
    node = node << 1 | one;
    result |= one << i;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Lengths and distances
//===----------------------------------------------------------------------===//

unsigned Unpacker::length(Lengths &lengths) {
  int place = position();
  if (!bit(lengths.isLonger))
    return 2 + tree(lengths.low[place], 3);
  if (!bit(lengths.isLongest))
    return 10 + tree(lengths.middle[place], 3);
  return 18 + tree(lengths.high, 8);
}

/// A slot gives the two highest bits and how many follow: as they are but the last four, which have chances.
uint32_t Unpacker::readDistance(unsigned length) {
  unsigned slot = tree(model.slot[length < 5 ? length - 2 : 3], 6);
  if (slot < 4)
    return slot;
  int more = static_cast<int>(slot / 2) - 1;
  uint32_t high = (2 | (slot & 1)) << more;
  if (slot < 14)
    return high + reversed(model.distance + high - slot, more);
  return high + (direct(more - 4) << 4) + reversed(model.align, 4);
}

//===----------------------------------------------------------------------===//
// Literals and copies
//===----------------------------------------------------------------------===//

void Unpacker::put(uint8_t byte) {
  if (to < end)
    *to++ = byte;
  else
    failed = true;
}

void Unpacker::copy(unsigned length) {
  if (distances[0] >= static_cast<size_t>(to - start))
    failed = true;
  for (; length > 0 && !failed; --length)
    put(*(to - distances[0] - 1));
}

/// After a copy, the byte that would have come next is what the literal is compared with, up to the first other bit.
void Unpacker::readLiteral() {
  Chance(*chances)[256] = model.literal[to > start ? to[-1] >> (8 - 3) : 0];
  unsigned symbol = 1;
  if (state >= 7) {
    if (distances[0] >= static_cast<size_t>(to - start)) {
      failed = true;
      return;
    }
    unsigned other = *(to - distances[0] - 1);
    bool same = true;
    for (; symbol < 256 && same; other <<= 1) {
      unsigned expected = other >> 7 & 1, got = bit(chances[1 + expected][symbol]);
      symbol = symbol << 1 | got;
      same = got == expected;
    }
  }
  while (symbol < 256)
    symbol = symbol << 1 | bit(chances[0][symbol]);
  put(static_cast<uint8_t>(symbol));
  state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
}

/// The length of a copy from a new distance.
unsigned Unpacker::readMatch() {
  for (int i = 3; i > 0; --i)
    distances[i] = distances[i - 1];
  unsigned count = length(model.copy);
  distances[0] = readDistance(count);
  state = state < 7 ? 7 : 10;
  return count;
}

/// The length of a copy from one of the last distances, which becomes the last.
unsigned Unpacker::readRepeat() {
  int before = state, which = 0;
  if (bit(model.isRepeat0[before]))
    which = !bit(model.isRepeat1[before]) ? 1 : !bit(model.isRepeat2[before]) ? 2 : 3;
  else if (!bit(model.isLong[before][position()])) {
    state = before < 7 ? 9 : 11;
    return 1;
  }
  uint32_t distance = distances[which];
  for (; which > 0; --which)
    distances[which] = distances[which - 1];
  distances[0] = distance;
  state = before < 7 ? 8 : 11;
  return length(model.repeat);
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

/// The header: what the chances depend on, the size of the window and that of the contents, both of which the caller knows.
bool Unpacker::begin() {
  if (fromEnd - from < static_cast<ptrdiff_t>(headerBytes + 5) || *from != properties)
    return false;
  from += headerBytes;
  bool zero = next() == 0;
  for (int i = 0; i < 4; ++i)
    code = code << 8 | next();
  auto *chances = reinterpret_cast<Chance *>(&model);
  for (size_t i = 0; i < sizeof(model) / sizeof(Chance); ++i)
    chances[i] = 1024;
  return zero;
}

/// The end is a copy from the largest distance there is.
bool Unpacker::run() {
  if (!begin())
    return false;
  while (!failed) {
    if (!bit(model.isMatch[state][position()])) {
      readLiteral();
      continue;
    }
    bool isRepeat = bit(model.isRepeat[state]);
    unsigned count = isRepeat ? readRepeat() : readMatch();
    if (!isRepeat && distances[0] == 0xffffffff)
      return !failed && to == end && from == fromEnd;
    copy(count);
  }
  return false;
}

uint32_t adler(const uint8_t *bytes, size_t count) {
  uint32_t low = 1, high = 0;
  for (size_t i = 0; i < count; ++i) {
    low = (low + bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

} // namespace

bool attune::rt::unpack(uint8_t *to, size_t bytes, const uint8_t *from, size_t packedBytes) {
  if (packedBytes < sumBytes)
    return false;
  const uint8_t *sum = from + packedBytes - sumBytes;
  if (!Unpacker(to, bytes, from, packedBytes - sumBytes).run())
    return false;
  uint32_t expected = 0;
  for (int i = 3; i >= 0; --i)
    expected = expected << 8 | sum[i];
  return adler(to, bytes) == expected;
}
