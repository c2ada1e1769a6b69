//===- SpecsPower.cpp - Polynomial attention, exact and sketched ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

static const std::string heads = "heads: 2, head_dim: 3, value_dim: 5, ";

TEST_F(Specs, Polynomial) {
  for (int degree : {2, 4, 6, 16}) {
    std::string mechanism = "mechanism: {kind: polynomial, degree: " + std::to_string(degree);
    check({heads + mechanism + "}", {{1, 1}, {2, 63}, {65, 64}, {130, 2}}});
    check({"heads: 4, kv_heads: 2, head_dim: 40, scale: 0.2, causal: true, " + mechanism +
               ", denominator: {bias: 0.5, floor: 3}}",
           {{63, 65}, {64, 64}, {1, 130}}});
    check({heads + "key_lengths: true, " + mechanism + ", denominator: {floor: 1e-6}}", {{65, 65}, {2, 1}}});
    check({heads + mechanism + ", denominator: {bias: 1}}", {{9, 65}}, {""}, 1e-12, 60});
    check({heads + mechanism + ", denominator: {bias: 1, floor: 0.1}}", {{9, 65}}, {""}, 1e-12, 0.3});
  }
  // Every denominator is 0, and powers are beyond the range of f64.
  check({heads + "mechanism: {kind: polynomial, degree: 4}", {{9, 10}}, {""}, 0, 0});
  check({heads + "mechanism: {kind: polynomial, degree: 16}", {{9, 10}}, {""}, 1e-12, 1e-12});
  check({heads + "mechanism: {kind: polynomial, degree: 32}", {{9, 10}}, {""}, 1e-12, 1000});
  check({heads + "key_lengths: true, mechanism: {kind: polynomial, degree: 4, lepe: {}}", {{65, 65}}});
}

static std::string sketch(int degree, int size, const std::string &more = "") {
  return "mechanism: {kind: polysketch, degree: " + std::to_string(degree) + ", size: " + std::to_string(size) + more +
         "}";
}

TEST_F(Specs, PolysketchUnordered) {
  for (const char *form : {"quadratic", "state"}) {
    for (int size : {1, 2, 16, 32})
      check({heads + sketch(4, size), {{1, 1}, {65, 10}}, {form}});
    check({heads + sketch(8, 4), {{2, 63}, {63, 9}}, {form}});
    check({heads + sketch(16, 8, ", denominator: {bias: 0.5, floor: 2}"), {{10, 65}}, {form}});
    check({"heads: 4, kv_heads: 2, head_dim: 40, key_lengths: true, " + sketch(4, 16), {{2, 1}, {10, 65}}, {form}});
    check({"heads: 2, head_dim: 1, scale: 0.5, " + sketch(4, 2, ", lepe: {}"), {{9, 9}}, {form}});
  }
}

// Trees that compute with sums of two numbers: of sixteen leaves, and of sketches of at most four.
TEST_F(Specs, PolysketchInPairs) {
  for (const char *form : {"quadratic", "state"}) {
    for (int size : {1, 2, 4, 16})
      check({"heads: 2, head_dim: 9, key_lengths: true, " + sketch(32, size), {{9, 20}}, {form}});
    check({"heads: 2, head_dim: 40, " + sketch(64, 16, ", denominator: {bias: 0.5, floor: 2}"), {{10, 33}}, {form}});
    check({"heads: 4, kv_heads: 2, head_dim: 2, " + sketch(16, 4), {{9, 20}}, {form}});
  }
  for (const char *form : {"quadratic", "chunked"})
    for (const char *more : {"", ", local_exact: 11, denominator: {bias: 0.5}"})
      check({"heads: 2, head_dim: 5, causal: true, " + sketch(32, 16, more), square({33}), {form}});
}

TEST_F(Specs, PolysketchCausal) {
  for (const char *form : {"quadratic", "chunked"}) {
    for (int size : {1, 2, 16, 32})
      check({heads + "causal: true, " + sketch(4, size), square({1, 9, 65}), {form}});
    check({heads + "causal: true, " + sketch(8, 4, ", denominator: {bias: 0.5}"), square({2, 64}), {form}});
    check({"heads: 4, kv_heads: 1, head_dim: 5, causal: true, key_lengths: true, " + sketch(4, 8),
           square({2, 66}),
           {form}});
  }
}

TEST_F(Specs, PolysketchExactInsideBlocks) {
  for (const char *form : {"quadratic", "chunked"})
    for (int block : {1, 7, 32, 96}) {
      std::string exact = ", local_exact: " + std::to_string(block);
      check({heads + "causal: true, " + sketch(4, 2, exact), square({block, 2 * block}), {form}});
      check({heads + "causal: true, key_lengths: true, " + sketch(8, 4, exact + ", denominator: {bias: 1, floor: 2}"),
             square({3 * block}),
             {form}});
    }
}

TEST_F(Specs, PolysketchOfLargeInputs) {
  check({"heads: 2, head_dim: 40, causal: true, " + sketch(16, 16, ", local_exact: 7"),
         square({21}),
         {"quadratic", "chunked"},
         1e-12,
         1000});
  // Powers of 16 beyond the range of f32, and below it.
  const std::string causal = "heads: 2, head_dim: 9, causal: true, key_lengths: true, ";
  for (double magnitude : {0.0, 1e-3, 1000.0})
    check({causal + sketch(32, 4, ", local_exact: 4"), square({4, 68}), {"quadratic", "chunked"}, 1e-12, magnitude});
  check({causal + sketch(32, 4, ", denominator: {bias: 1e-6}"), square({20}), {"quadratic", "chunked"}, 1e-12, 1000});
  // Guards of long rows and of a high degree. Random rows are never so nearly orthogonal that the guard still matters where |q|^8 |k|^8
  // is beyond the range: seed 5011552 (test/Integration/CPU/random.test) is.
  for (int width : {1, 9}) {
    std::string rows = "heads: 2, head_dim: " + std::to_string(width) + ", causal: true, ";
    for (const char *form : {"quadratic", "chunked"}) {
      check({rows + sketch(16, 4, ", local_exact: 4, denominator: {bias: 1}"), square({20}), {form}, 1e-12, 300});
      check({rows + sketch(128, 4, ", denominator: {bias: 1}"), square({20}), {form}});
    }
  }
  // Of one channel all sums of signs that are 0 must be exactly 0.
  check({"heads: 12, head_dim: 1, " + sketch(4, 8), {{3, 5}}, {"quadratic", "state"}});
  check({heads + sketch(4, 4), {{9, 20}}, {"quadratic", "state"}, 0, 0});
  check({heads + sketch(8, 4), {{9, 20}}, {"quadratic", "state"}, 1e-12, 1e-9});
  check({heads + sketch(8, 4), {{9, 20}}, {"quadratic", "state"}, 1e-12, 100});
  for (double magnitude : {30., 1000.})
    for (int degree : {8, 16, 32}) {
      std::vector<std::string> forms = {"quadratic", "state"};
      check({heads + sketch(degree, 16), {{9, 20}}, forms, 1e-12, magnitude});
      check({heads + sketch(degree, 16, ", denominator: {bias: 1, floor: 2}"), {{9, 20}}, forms, 1e-12, magnitude});
      check({heads + "causal: true, " + sketch(degree, 16, ", local_exact: 4"),
             square({20}),
             {"quadratic", "chunked"},
             1e-12,
             magnitude});
    }
  check({heads + "causal: true, " + sketch(8, 4, ", local_exact: 10, denominator: {bias: 1}"),
         square({20}),
         {"quadratic", "chunked"},
         1e-12,
         100});
}
