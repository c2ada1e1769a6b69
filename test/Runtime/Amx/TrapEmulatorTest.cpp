//===- TrapEmulatorTest.cpp - Each AMX instruction against a formula ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions are executed, so that decoding is tested with them. A processor with AMX takes configurations without a
// signal, so there the tests are skipped.
//
//===----------------------------------------------------------------------===//
#include "TrapEmulator.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <immintrin.h>
#include <random>
#include <thread>
#include <vector>

using namespace attune::test::amx;

namespace {
struct alignas(64) Config {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t columnBytes[16] = {};
  uint8_t rows[16] = {};

  Config &tile(int number, int count, int bytes) {
    rows[number] = static_cast<uint8_t>(count), columnBytes[number] = static_cast<uint16_t>(bytes);
    return *this;
  }
};

struct Amx : ::testing::Test {
  void SetUp() override {
    if (processorHasTiles())
      GTEST_SKIP() << "the processor has tiles of its own";
    install();
  }
};
using AmxDeathTest = Amx;

Config allFull() {
  Config config;
  for (int tile = 0; tile < 8; ++tile)
    config.tile(tile, 16, 64);
  return config;
}

uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>(bits >> 16);
}

double fromBf16(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

TEST_F(Amx, ConfigurationIsStoredAsItWasLoaded) {
  Config config, got;
  config.tile(0, 16, 64).tile(3, 7, 20).tile(7, 1, 4);
  _tile_loadconfig(&config);
  _tile_storeconfig(&got);
  EXPECT_EQ(std::memcmp(&config, &got, 64), 0);
  _tile_release();
  _tile_storeconfig(&got);
  Config none;
  none.palette = 0;
  EXPECT_EQ(std::memcmp(&none, &got, 64), 0);
}

TEST_F(Amx, LoadsAndStoresRowsOfAStride) {
  Config config;
  config.tile(2, 5, 12);
  _tile_loadconfig(&config);
  std::vector<uint8_t> from(5 * 20), to(5 * 31, 0xaa);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<uint8_t>(i);
  _tile_loadd(2, from.data(), 20);
  _tile_stored(2, to.data(), 31);
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 31; ++column)
      EXPECT_EQ(to[row * 31 + column], column < 12 ? row * 20 + column : 0xaa) << row << ", " << column;
  _tile_stream_loadd(2, from.data() + 1, 20);
  _tile_stored(2, to.data(), 31);
  EXPECT_EQ(to[0], 1);
  _tile_zero(2);
  _tile_stored(2, to.data(), 31);
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(to[12], 0xaa);
  _tile_release();
}

/// Base, index, scale and displacement in every form, with low and high registers.
TEST_F(Amx, Addresses) {
  Config config = allFull();
  _tile_loadconfig(&config);
  std::vector<uint8_t> memory(1 << 16);
  std::mt19937 random(1);
  for (uint8_t &byte : memory)
    byte = static_cast<uint8_t>(random());
  uint8_t got[16][64];
  auto check = [&](const uint8_t *start, int64_t stride, const char *form) {
    for (int row = 0; row < 16; ++row)
      EXPECT_EQ(std::memcmp(got[row], start + row * stride, 64), 0) << form << " row " << row;
  };
  uint8_t *start = memory.data() + 256;
#define LOAD(form, base, index, first, stride)                                                                         \
  __asm__ volatile("movq %0, %%" base "\n movq %1, %%" index "\n tileloadd " form ", %%tmm3"                           \
                   :                                                                                                   \
                   : "r"(start), "r"(int64_t(100))                                                                     \
                   : base, index, "memory");                                                                           \
  _tile_stored(3, got, 64);                                                                                            \
  check(start + (first), stride, form);
  LOAD("(%%rax,%%rdx)", "rax", "rdx", 0, 100)
  LOAD("64(%%r13,%%r14,2)", "r13", "r14", 64, 200)
  LOAD("1000(%%r12,%%r9,4)", "r12", "r9", 1000, 400)
  LOAD("-128(%%r8,%%rcx,8)", "r8", "rcx", -128, 800)
  LOAD("(%%r13,%%rsi)", "r13", "rsi", 0, 100)
  LOAD("(%%rdi,%%r12)", "rdi", "r12", 0, 100)
#undef LOAD
  __asm__ volatile("tileloadd 5(%0), %%tmm6" : : "r"(start) : "memory"); // no index: each row is the same one
  _tile_stored(6, got, 64);
  check(start + 5, 0, "no index");
  _tile_release();
}

/// Pairs of bf16 numbers, all shapes of a tail; the second product adds to the first.
TEST_F(Amx, ProductsOfPairs) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (auto [rows, columns, pairs] : {std::array{16, 16, 16}, {1, 1, 1}, {5, 16, 3}, {16, 7, 16}, {9, 11, 13}}) {
    std::vector<uint16_t> a(rows * 2 * pairs), b(pairs * 2 * columns);
    for (uint16_t &value : a)
      value = toBf16(normal(random));
    for (uint16_t &value : b)
      value = toBf16(normal(random));
    Config config;
    config.tile(1, rows, 4 * columns).tile(4, rows, 4 * pairs).tile(6, pairs, 4 * columns);
    _tile_loadconfig(&config);
    std::vector<float> c(rows * columns);
    for (float &value : c)
      value = normal(random);
    std::vector<float> got = c;
    _tile_loadd(1, got.data(), 4 * columns);
    _tile_loadd(4, a.data(), 4 * pairs);
    _tile_loadd(6, b.data(), 4 * columns);
    _tile_dpbf16ps(1, 4, 6);
    _tile_dpbf16ps(1, 4, 6);
    _tile_stored(1, got.data(), 4 * columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        double expected = c[i * columns + j], size = 1;
        for (int k = 0; k < 2 * pairs; ++k) {
          double term = 2 * fromBf16(a[i * 2 * pairs + k]) * fromBf16(b[(k / 2) * 2 * columns + 2 * j + k % 2]);
          expected += term, size += std::abs(term);
        }
        EXPECT_NEAR(got[i * columns + j], expected, 1e-6 * size) << rows << "x" << columns << "x" << pairs;
      }
  }
  _tile_release();
}

TEST_F(Amx, DenormalNumbersAreZero) {
  Config config = allFull();
  _tile_loadconfig(&config);
  uint16_t a[32] = {0x0001, toBf16(1.0f), 0x3f80}, b[32] = {toBf16(1e30f), 0x0040, toBf16(0x1p-126f)};
  float c[16] = {};
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  Config one;
  one.tile(0, 1, 4).tile(1, 1, 4).tile(2, 1, 4);
  _tile_loadconfig(&one);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 64);
  EXPECT_EQ(c[0], 0.0f);
  _tile_loadd(1, a + 2, 64); // 1 · 2⁻¹²⁶ is no denormal number
  _tile_loadd(2, b + 2, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 64);
  EXPECT_EQ(c[0], 0x1p-126f);
  _tile_release();
}

TEST_F(Amx, NanAndInfinity) {
  Config config;
  config.tile(0, 1, 16).tile(1, 1, 4).tile(2, 1, 16);
  _tile_loadconfig(&config);
  uint16_t a[2] = {0x3f80, 0}, b[8] = {0x7f80, 0, 0x7fc0, 0, 0x3f80, 0x7f80, 0x4000, 0};
  float c[4];
  _tile_zero(0);
  _tile_loadd(1, a, 4);
  _tile_loadd(2, b, 16);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 16);
  EXPECT_TRUE(std::isinf(c[0]));
  EXPECT_TRUE(std::isnan(c[1]));
  EXPECT_TRUE(std::isnan(c[2])); // 1 · 1 + 0 · ∞
  EXPECT_EQ(c[3], 2.0f);
  _tile_release();
}

TEST_F(Amx, ThreadsHaveTilesOfTheirOwn) {
  Config config = allFull(), got;
  _tile_loadconfig(&config);
  std::thread([&] { _tile_storeconfig(&got); }).join();
  EXPECT_EQ(got.palette, 0);
  _tile_storeconfig(&got);
  EXPECT_EQ(got.palette, 1);
  _tile_release();
}

TEST_F(AmxDeathTest, SaysWhatAProcessorRefuses) {
  uint8_t memory[1024] = {};
  Config good = allFull();
  EXPECT_DEATH((_tile_release(), _tile_zero(0)), "amx: tilezero: expected tiles that are configured");
  auto after = [&](Config config, auto body) {
    _tile_loadconfig(&config);
    body();
  };
  EXPECT_DEATH(after(Config().tile(0, 4, 16), [&] { _tile_loadd(1, memory, 64); }),
               "amx: tileloadd: .*tmm1 has no rows");
  // No assembler takes tdpbf16ps tmm1, tmm1, tmm2.
  EXPECT_DEATH(after(good, [] { __asm__ volatile(".byte 0xc4, 0xe2, 0x6a, 0x5c, 0xc9"); }),
               "amx: tdpbf16ps: expected three tiles");
  EXPECT_DEATH(after(allFull().tile(1, 8, 64), [] { _tile_dpbf16ps(0, 1, 2); }),
               "expected as many rows of tmm1 as of tmm0, 16, but got 8");
  EXPECT_DEATH(after(allFull().tile(2, 16, 32), [] { _tile_dpbf16ps(0, 1, 2); }),
               "expected as many bytes a row of tmm2 as of tmm0, 64, but got 32");
  EXPECT_DEATH(after(allFull().tile(2, 8, 64), [] { _tile_dpbf16ps(0, 1, 2); }),
               "expected as many rows of tmm2 as pairs in a row of tmm1, 16, but got 8");
  Config bad = allFull();
  bad.palette = 3;
  EXPECT_DEATH(_tile_loadconfig(&bad), "amx: ldtilecfg: expected palette 0 or 1, but got 3");
  bad = allFull(), bad.startRow = 2;
  EXPECT_DEATH(_tile_loadconfig(&bad), "expected start_row 0, but got 2");
  bad = allFull().tile(5, 17, 64);
  EXPECT_DEATH(_tile_loadconfig(&bad), "expected at most 16 rows of tmm5, but got 17");
  bad = allFull().tile(5, 0, 64);
  EXPECT_DEATH(_tile_loadconfig(&bad), "both 0 or neither of tmm5");
}

TEST_F(Amx, OtherInstructionsAreNotDecoded) {
  const uint8_t tdpbssd[] = {0xc4, 0xe2, 0x6b, 0x5e, 0xc1, 0}, ud2[] = {0x0f, 0x0b, 0, 0, 0, 0},
                good[] = {0xc4, 0xe2, 0x6a, 0x5c, 0xc1, 0};
  EXPECT_FALSE(decode(tdpbssd));
  EXPECT_FALSE(decode(ud2));
  ASSERT_TRUE(decode(good));
  EXPECT_EQ(decode(good)->tile, 0);
  EXPECT_EQ(decode(good)->first, 1);
  EXPECT_EQ(decode(good)->second, 2);
}
} // namespace
