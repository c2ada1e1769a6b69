//===- InflateTest.cpp - The runtime unpacks what zlib packs ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Inflate.h"

#include "llvm/Support/Compression.h"

#include <gtest/gtest.h>
#include <random>

using namespace llvm;
namespace zlib = compression::zlib;

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

Bytes pack(ArrayRef<uint8_t> bytes, int level) {
  Bytes packed;
  zlib::compress(bytes, packed, level);
  return packed;
}

/// Whether the stream unpacks to `size` bytes; a byte that was written past them fails the test.
bool unpacks(const Bytes &packed, size_t size, Bytes &result) {
  result.assign(size + 1, 0xee);
  bool done = attune::rt::inflate(result.data(), size, packed.data(), packed.size());
  EXPECT_EQ(result.pop_back_val(), 0xee);
  return done;
}

class Inflate : public testing::Test {
protected:
  void SetUp() override {
    if (!zlib::isAvailable())
      GTEST_SKIP() << "this LLVM was built without zlib: nothing is packed";
  }
};

TEST_F(Inflate, GivesBackWhatWasPacked) {
  for (const Bytes &sample : samples())
    for (int level : {zlib::NoCompression, zlib::BestSpeedCompression, zlib::BestSizeCompression}) {
      Bytes result;
      ASSERT_TRUE(unpacks(pack(sample, level), sample.size(), result)) << sample.size() << " at level " << level;
      EXPECT_EQ(result, sample);
    }
}

TEST_F(Inflate, RefusesAnotherSize) {
  Bytes sample = samples()[3], packed = pack(sample, zlib::BestSizeCompression), result;
  EXPECT_FALSE(unpacks(packed, sample.size() - 1, result));
  EXPECT_FALSE(unpacks(packed, sample.size() + 1, result));
}

TEST_F(Inflate, RefusesDamage) {
  Bytes sample = samples()[2], packed = pack(sample, zlib::BestSizeCompression), result;
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    Bytes damaged = packed;
    damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1 << random() % 8);
    if (round % 4 == 0)
      damaged.truncate(random() % packed.size());
    EXPECT_FALSE(unpacks(damaged, sample.size(), result)) << "round " << round;
  }
}

} // namespace
