//===- FlurkaEquationsTest.cpp - FLuRKA's counts, worked by hand -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/FlurkaEquations.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;

namespace {
struct Row {
  FlurkaSizes sizes; // N, k, H, d
  double lowRank, kernel, fused;
};
} // namespace

// The sums are the terms of (6); (7); (8) in the order in which the equations have them.
static const Row rows[] = {
    // 240 + 160 + 96 + 120 + 60 + 120; 480 + 80 + 160; 240 + 160 + 96 + 40 + 12 + 24 + 80
    {{10, 3, 2, 2}, 796., 720., 652.},
    // 2 + 1 + 2 + 1 + 1 + 1; 3 + 2 + 2; 2 + 1 + 2 + 1 + 1 + 1 + 1
    {{1, 1, 1, 1}, 8., 7., 9.},
    // 108 + 54 + 54 + 54 + 54 + 54; 162 + 36 + 36; 108 + 54 + 54 + 18 + 9 + 9 + 18
    {{6, 3, 3, 1}, 378., 234., 270.},
    // 10000 + 2500 + 500 + 5000 + 1000 + 5000; 7500 + 1000 + 5000; 10000 + 2500 + 500 + 500 + 50 + 250 + 2500
    {{100, 10, 1, 5}, 24000., 13500., 16300.},
    // 24320 + 20480 + 38912 + 12160 + 760 + 12160; 61440 + 1280 + 20480
    // 24320 + 20480 + 38912 + 640 + 608 + 9728 + 10240
    {{20, 19, 2, 16}, 108792., 83200., 104928.},
    // 65536 + 65536 + 32768 + 32768 + 4096 + 32768; 196608 + 4096 + 32768
    // 65536 + 65536 + 32768 + 2048 + 512 + 4096 + 16384
    {{64, 16, 4, 8}, 233472., 233472., 186880.},
    // In millions: 20 + 10 + 2 + 10 + 1 + 10; 30 + .2 + 2; 20 + 10 + 2 + .1 + .01 + .1 + 1
    {{1000, 100, 10, 10}, 53000000., 32200000., 33210000.},
    {{512, 128, 12, 64}, 655097856., 957087744., 585596928.},
    {{300, 64, 8, 64}, 151672832., 255897600., 143972352.},
    {{4096, 64, 8, 64}, 1646264320., 3493855232., 1514176512.},
    {{5111, 511, 8, 64}, 6977427528., 4359642112., 4469231616.},
    {{7050, 1500, 8, 325}, 178002600000., 154925160000., 130174980000.},
    {{55500, 1500, 8, 325}, 1261926000000., 1219623600000., 876673200000.},
};

TEST(FlurkaEquations, TermByTerm) {
  for (const Row &row : rows) {
    EXPECT_EQ(flurkaEquation(FlurkaLayer::LowRank, row.sizes), row.lowRank) << row.sizes.tokens;
    EXPECT_EQ(flurkaEquation(FlurkaLayer::Kernel, row.sizes), row.kernel) << row.sizes.tokens;
    EXPECT_EQ(flurkaEquation(FlurkaLayer::Fused, row.sizes), row.fused) << row.sizes.tokens;
  }
}

static bool beats(FlurkaLayer other, const FlurkaSizes &sizes) {
  return flurkaEquation(FlurkaLayer::Fused, sizes) < flurkaEquation(other, sizes);
}

TEST(FlurkaEquations, PrintedClaims1And3AreFalse) {
  FlurkaSizes sizes{5111, 511, 8, 64}; // 5111 > 511 · 10 = 5110 > 512 > 511 > 64
  EXPECT_TRUE(inPrintedClaim1(sizes));
  EXPECT_TRUE(inPrintedClaim3(sizes));
  EXPECT_FALSE(beats(FlurkaLayer::Kernel, sizes));
  EXPECT_TRUE(beats(FlurkaLayer::LowRank, sizes)); // Claim 2 holds there too
  EXPECT_FALSE(inClaim3(sizes));                   // 5111 < 511 · 17, and 512 - 511 < 32
  EXPECT_FALSE(inClaim1(sizes));
}

TEST(FlurkaEquations, CorrectedRegionsAreNotTight) {
  FlurkaSizes sizes{300, 64, 8, 64}; // 300 < 64 · 10, and k = d
  EXPECT_FALSE(inClaim2(sizes));
  EXPECT_FALSE(inClaim3(sizes));
  EXPECT_TRUE(beats(FlurkaLayer::Kernel, sizes));
  EXPECT_TRUE(beats(FlurkaLayer::LowRank, sizes));
}

TEST(FlurkaEquations, BordersOfTheRegions) {
  // H = 2, d = 2, k = 3: N > 3 · 5 = 15 and D = 4 > 3; by the other repair N > 12 and 2 (4 - 3) >= 2.
  EXPECT_FALSE(inClaim3({12, 3, 2, 2}));
  EXPECT_TRUE(inClaim3({13, 3, 2, 2}));
  EXPECT_TRUE(inPrintedClaim3({13, 3, 2, 2}));
  // H = 2, d = 10, k = 19: 2 (20 - 19) < 10, so that N > 19 · 5 = 95 decides.
  EXPECT_FALSE(inClaim3({95, 19, 2, 10}));
  EXPECT_TRUE(inClaim3({96, 19, 2, 10}));
  EXPECT_FALSE(inClaim3({1000, 20, 2, 10})); // D = k
  EXPECT_TRUE(inClaim2({12, 11, 1, 10}));
  EXPECT_FALSE(inClaim2({11, 11, 1, 10}));
  EXPECT_FALSE(inClaim2({12, 10, 1, 10}));
  // The first point of the paper's own length sweep lies outside its claim, the last inside.
  EXPECT_FALSE(inPrintedClaim3({7050, 1500, 8, 325}));
  EXPECT_TRUE(inClaim1({55500, 1500, 8, 325}));
}

// Every size up to a bound, not a sample: what is proved of the regions and of the difference (7) - (8).
TEST(FlurkaEquations, ClaimsHoldInTheirRegions) {
  int64_t printedFail = 0, inside = 0;
  for (int64_t H = 1; H <= 6; ++H)
    for (int64_t d = 1; d <= 12; d += 1 + d / 4)
      for (int64_t k = 1; k <= H * d + 2; ++k)
        for (int64_t N = 1; N <= 14 * k + 20; N += 1 + N / 16) {
          FlurkaSizes sizes{N, k, H, d};
          int64_t D = sizes.model();
          bool exact = N * (2 * (D - k) + 1 + d) > k * (2 * D + 1 + d);
          ASSERT_EQ(beats(FlurkaLayer::Kernel, sizes), exact) << N << " " << k << " " << H << " " << d;
          if (inClaim2(sizes)) {
            ASSERT_TRUE(beats(FlurkaLayer::LowRank, sizes)) << N << " " << k << " " << H << " " << d;
          }
          if (inClaim3(sizes)) {
            ASSERT_TRUE(exact) << N << " " << k << " " << H << " " << d;
          }
          printedFail += inPrintedClaim3(sizes) && !exact;
          inside += inClaim1(sizes);
        }
  EXPECT_GT(printedFail, 0);
  EXPECT_GT(inside, 100);
}
