//===- UnpackTest.cpp - The runtime unpacks what the compiler packs ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Unpack.h"
#include "PackImage.h"

#include "llvm/ADT/ArrayRef.h"

#include <gtest/gtest.h>
#include <random>

using namespace llvm;

namespace {

using Bytes = SmallVector<uint8_t, 0>;

/// From noise (which is stored) to text that repeats itself near and far.
std::vector<Bytes> samples() {
  std::mt19937 random(1);
  std::vector<Bytes> result(4);
  for (int i = 0; i < 70000; ++i) {
    result[1].push_back(static_cast<uint8_t>(random()));
    result[2].push_back(static_cast<uint8_t>('a' + (random() % 100 < 97 ? i % 7 : random() % 26)));
  }
  for (int i = 0; i < 4000; ++i)
    for (char c : "add.f32 %f" + std::to_string(random() % 300) + ", %f1;\n")
      result[3].push_back(static_cast<uint8_t>(c));
  return result;
}

Bytes pack(ArrayRef<uint8_t> bytes) {
  return attune::target::packImage(StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

/// Whether the stream unpacks to `size` bytes; a byte that was written past them fails the test.
bool unpacks(const Bytes &packed, size_t size, Bytes &result) {
  result.assign(size + 1, 0xee);
  bool done = attune::rt::unpack(result.data(), size, packed.data(), packed.size());
  EXPECT_EQ(result.pop_back_val(), 0xee);
  return done;
}

TEST(Unpack, GivesBackWhatWasPacked) {
  for (const Bytes &sample : samples()) {
    Bytes result;
    ASSERT_TRUE(unpacks(pack(sample), sample.size(), result)) << sample.size();
    EXPECT_EQ(result, sample);
  }
}

TEST(Unpack, RefusesAnotherSize) {
  Bytes sample = samples()[3], packed = pack(sample), result;
  EXPECT_FALSE(unpacks(packed, sample.size() - 1, result));
  EXPECT_FALSE(unpacks(packed, sample.size() + 1, result));
}

/// The header's sizes of the window and of the contents are not read.
TEST(Unpack, RefusesDamage) {
  Bytes sample = samples()[2], packed = pack(sample), result;
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    Bytes damaged = packed;
    damaged[13 + random() % (damaged.size() - 13)] ^= static_cast<uint8_t>(1 << random() % 8);
    if (round % 4 == 0)
      damaged.truncate(random() % packed.size());
    EXPECT_FALSE(unpacks(damaged, sample.size(), result)) << "round " << round;
  }
}

TEST(Unpack, RefusesOtherStreams) {
  Bytes result;
  for (size_t size : {0, 1, 4, 17, 18, 22, 100}) {
    EXPECT_FALSE(unpacks(Bytes(size, 0), 10, result)) << size;
    EXPECT_FALSE(unpacks(Bytes(size, 0x5d), 10, result)) << size;
  }
}

} // namespace
