//===- Tolerance.cpp - How far a computed output may be from the function ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Tolerance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace attune;
using namespace attune::reference;

double attune::reference::tolerance(ElementType storage, double largestLogit, int64_t degree) {
  double base = storage == ElementType::F16 ? 4e-3 : storage == ElementType::BF16 ? 2e-2 : 2e-5;
  return largestLogit > 32 || degree >= 8 ? 2 * base : base;
}

static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double attune::reference::relativeError(llvm::ArrayRef<double> got, llvm::ArrayRef<double> expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (got.size() != expected.size())
    return infinity;
  // Scaled by the largest entry: squares of large or small entries would leave the range of f64.
  double top = 0;
  for (double e : expected)
    top = std::isfinite(e) ? std::max(top, std::fabs(e)) : top;
  double difference = 0, norm = 0;
  for (auto [g, e] : llvm::zip_equal(got, expected)) {
    if (same(g, e) && !std::isfinite(e))
      continue;
    if (!std::isfinite(g) || !std::isfinite(e) || (top == 0 && g != 0))
      return infinity;
    if (top == 0)
      continue;
    difference += (g - e) / top * ((g - e) / top);
    norm += e / top * (e / top);
  }
  return norm == 0 ? 0 : std::sqrt(difference / norm);
}

/// `[0, 3, 17]`: the place of an element in row-major order.
static std::string showIndex(int64_t place, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> indices(shape.size());
  for (size_t i = shape.size(); i > 0; --i) {
    indices[i - 1] = place % shape[i - 1];
    place /= shape[i - 1];
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(indices, os);
  os << ']';
  return text;
}

std::string attune::reference::mismatch(const Array &got, const Array &expected, double tolerance) {
  if (got.shape() != expected.shape())
    return "expected an array of the same shape";
  std::vector<double> g = got.elements(), e = expected.elements();
  int64_t worst = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(g.size()); ++i) {
    if (!std::isfinite(g[i]))
      return "expected a finite element at " + showIndex(i, got.shape()) + ", but got " + std::to_string(g[i]);
    if (std::fabs(g[i] - e[i]) > std::fabs(g[worst] - e[worst]))
      worst = i;
  }
  double error = relativeError(g, e);
  if (error <= tolerance)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "expected a relative error of at most " << tolerance << ", but got " << error << "; worst at "
     << showIndex(worst, got.shape()) << ": expected " << e[worst] << ", but got " << g[worst];
  return text;
}
