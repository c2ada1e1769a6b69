//===- PrintNumbers.cpp - Times, counts, sizes and ratios for people ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/PrintNumbers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

/// Three significant digits without an exponent, for 1 ≤ value < 1000 (or 0).
static std::string threeDigits(double value) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", decimals, value);
  return text;
}

/// With the first of the units that the number has at least one of; below all of them it is whole.
static std::string withUnit(double number, const char *gap) {
  constexpr std::pair<double, const char *> units[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"},
                                                       {1e9, "G"},  {1e6, "M"},  {1e3, "k"}};
  for (auto [unit, name] : units)
    if (number >= 0.9995 * unit)
      return threeDigits(number / unit) + gap + name;
  return std::to_string(static_cast<int64_t>(number)) + gap;
}

std::string graph::printSeconds(double seconds) {
  constexpr std::pair<double, const char *> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (auto [unit, name] : units)
    if (seconds >= 0.9995 * unit)
      return threeDigits(seconds / unit) + " " + name;
  return threeDigits(seconds / 1e-9) + " ns";
}

std::string graph::printCount(double count) { return withUnit(count, ""); }

std::string graph::printBytes(double bytes) { return withUnit(bytes, " ") + "B"; }

std::string graph::printRatio(double ratio) { return ratio < 1000 ? threeDigits(ratio) : printCount(ratio); }

std::string graph::comparePrice(double seconds, double other) {
  if (seconds >= 1.1 * other)
    return printRatio(seconds / other) + " times as long";
  if (other >= 1.1 * seconds)
    return printRatio(other / seconds) + " times as fast";
  double percent = 100 * (seconds / other - 1);
  if (std::abs(percent) < 0.05)
    return "just as long";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f %% %s", std::abs(percent), percent > 0 ? "longer" : "less");
  return text;
}
