//===- Sketch.cpp - The tree of TensorSRHTs ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sketch.h"

#include "Shapes.h"

#include "attune/Reference/Attention.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace attune;
using namespace attune::reference;

/// A tree of p' leaves has p' − 1 nodes of two sides.
static size_t leavesOf(size_t transforms) { return (transforms + 2) / 3; }

std::string attune::reference::sketchProblem(llvm::ArrayRef<Array> signs, llvm::ArrayRef<Array> indices, int64_t heads,
                                             int64_t width, int64_t size) {
  size_t leaves = leavesOf(signs.size());
  if (signs.size() != indices.size() || signs.empty() || 3 * leaves - 2 != signs.size() || !llvm::isPowerOf2_64(leaves))
    return "expected signs and indices of a tree (1, 4, 10, 22, …), but got " + std::to_string(signs.size()) +
           " and " + std::to_string(indices.size());
  if (!llvm::isPowerOf2_64(size))
    return "expected a size that is a power of two, but got " + std::to_string(size);
  auto padded = static_cast<int64_t>(llvm::PowerOf2Ceil(width));
  for (size_t i = 0; i < signs.size(); ++i) {
    int64_t entries = i < leaves ? padded : size;
    std::string text = differs("signs " + std::to_string(i), signs[i], {heads, entries});
    if (text.empty())
      text = differs("indices " + std::to_string(i), indices[i], {heads, size});
    if (!text.empty())
      return text;
    for (double index : indices[i].elements())
      if (!(index >= 0 && index < static_cast<double>(entries)))
        return "expected indices from 0 and below " + std::to_string(entries) + ", but got others";
  }
  return "";
}

Sketch::Sketch(llvm::ArrayRef<Array> signs, llvm::ArrayRef<Array> indices, int64_t head, int64_t size) : size(size) {
  for (auto [sign, index] : llvm::zip_equal(signs, indices)) {
    Transform &transform = transforms.emplace_back();
    for (int64_t c = 0; c < sign.size(1); ++c)
      transform.signs.push_back(sign({head, c}));
    for (int64_t c = 0; c < size; ++c)
      transform.indices.push_back(static_cast<int64_t>(index({head, c})));
  }
}

/// x H with the unnormalised Hadamard matrix, by butterflies.
static void transformHadamard(std::vector<double> &x) {
  for (size_t step = 1; step < x.size(); step *= 2)
    for (size_t base = 0; base < x.size(); base += 2 * step)
      for (size_t i = base; i < base + step; ++i) {
        double a = x[i], b = x[i + step];
        x[i] = a + b, x[i + step] = a - b;
      }
}

std::vector<double> Sketch::Transform::operator()(llvm::ArrayRef<double> x) const {
  std::vector<double> padded(signs.size(), 0.0), chosen;
  for (auto [i, entry] : llvm::enumerate(x))
    padded[i] = entry * signs[i];
  transformHadamard(padded);
  chosen.reserve(indices.size());
  for (int64_t index : indices)
    chosen.push_back(padded[index]);
  return chosen;
}

std::vector<double> Sketch::Transform::transposed(llvm::ArrayRef<double> y, int64_t width) const {
  std::vector<double> padded(signs.size(), 0.0);
  for (auto [index, entry] : llvm::zip_equal(indices, y))
    padded[index] += entry;
  transformHadamard(padded);
  padded.resize(width);
  for (auto [i, entry] : llvm::enumerate(padded))
    entry *= signs[i];
  return padded;
}

std::vector<Sketch::Level> Sketch::levelsOf(const double *x, int64_t width, std::vector<std::vector<double>> *sides) const {
  double root = std::sqrt(static_cast<double>(size));
  size_t leaves = leavesOf(transforms.size()), next = leaves;
  std::vector<Level> levels(1);
  for (size_t i = 0; i < leaves; ++i) {
    levels.back().push_back(transforms[i]({x, static_cast<size_t>(width)}));
    for (double &entry : levels.back().back())
      entry /= root;
  }
  while (levels.back().size() > 1) {
    Level above;
    for (size_t i = 0; i < levels.back().size(); i += 2, next += 2) {
      std::vector<double> a = transforms[next](levels.back()[i]), b = transforms[next + 1](levels.back()[i + 1]), node;
      for (auto [left, right] : llvm::zip_equal(a, b))
        node.push_back(left * right / root);
      above.push_back(std::move(node));
      if (sides)
        sides->push_back(std::move(a)), sides->push_back(std::move(b));
    }
    levels.push_back(std::move(above));
  }
  return levels;
}

std::vector<double> Sketch::operator()(const double *x, int64_t width, double scale) const {
  std::vector<double> result = std::move(levelsOf(x, width, nullptr).back().front());
  // Not the token is scaled: of rounded entries a sum that is 0 would be noise, and a sketch of noise weighs as any.
  for (double &entry : result)
    entry *= std::pow(scale, static_cast<double>(leavesOf(transforms.size())));
  return result;
}

/// ȳ ⊙ x / root; 0 where ȳ is.
static std::vector<double> throughNode(llvm::ArrayRef<double> cotangent, llvm::ArrayRef<double> other, double root) {
  std::vector<double> result;
  for (auto [entry, factor] : llvm::zip_equal(cotangent, other))
    result.push_back(entry == 0 ? 0 : entry * factor / root);
  return result;
}

std::vector<double> Sketch::pullBack(const double *x, int64_t width, double scale, llvm::ArrayRef<double> cotangent) const {
  double root = std::sqrt(static_cast<double>(size));
  size_t leaves = leavesOf(transforms.size());
  std::vector<std::vector<double>> sides;
  std::vector<Level> levels = levelsOf(x, width, &sides);
  Level reaching{cotangent.vec()};
  for (double &entry : reaching.front())
    entry *= std::pow(scale, static_cast<double>(leaves));
  // Nodes count level by level from the leaves: the last ones are the root's.
  for (size_t end = sides.size(); reaching.size() < leaves;) {
    size_t first = end - 2 * reaching.size();
    Level below;
    for (size_t node = 0; node < reaching.size(); ++node) {
      size_t a = first + 2 * node, b = a + 1;
      below.push_back(transforms[leaves + a].transposed(throughNode(reaching[node], sides[b], root), size));
      below.push_back(transforms[leaves + b].transposed(throughNode(reaching[node], sides[a], root), size));
    }
    reaching = std::move(below), end = first;
  }
  std::vector<double> result(width);
  for (size_t leaf = 0; leaf < leaves; ++leaf)
    addScaled(1 / root, transforms[leaf].transposed(reaching[leaf], width).data(), width, result.data());
  return result;
}
