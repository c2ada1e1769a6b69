//===- DrawTensors.cpp - Random elements of a spec's tensors -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecTensors.h"
#include "attune/Support/Random.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>

namespace attune {

static void drawNormals(const RandomTensor &random, double deviation, HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<float>()[i] = static_cast<float>(deviation * random.normal(i));
}

static void drawSigns(const RandomTensor &random, HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<float>()[i] = random.below(i, 2) ? 1.0f : -1.0f;
}

static void drawIndices(const RandomTensor &random, int64_t bound, HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<int32_t>()[i] = static_cast<int32_t>(random.below(i, bound));
}

/// One matrix after another; each reads 2 · rows · d elements of the sequence.
static void drawOrthogonalMatrices(const RandomTensor &random, HostTensor &out) {
  int64_t rows = out.shape[1], width = out.shape[2];
  for (int64_t matrix = 0; matrix < out.shape[0]; ++matrix) {
    std::vector<double> drawn = drawOrthogonal(random, 2 * matrix * rows * width, rows, width);
    std::copy(drawn.begin(), drawn.end(), out.data<float>() + matrix * rows * width);
  }
}

/// By log1p: in f32 the difference is 1 from head 20 on.
static void drawDecays(HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<float>()[i] = static_cast<float>(std::log1p(-std::exp2(-5 - static_cast<double>(i))));
}

/// Heads of short, longer and long memory in turn.
static void drawLogGates(const RandomTensor &random, HostTensor &out) {
  int64_t heads = out.shape[1], each = out.count() / std::max<int64_t>(out.shape[0] * heads, 1);
  for (int64_t i = 0, e = out.count(); i < e; ++i) {
    double slow = std::pow(8.0, -static_cast<double>((i / each % heads + 1) % 3));
    out.data<float>()[i] = static_cast<float>(-slow * std::log1p(std::exp(-random.normal(i))));
  }
}

static void drawGates(const RandomTensor &random, double deviation, HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<float>()[i] = static_cast<float>(deviation / (1 + std::exp(-random.normal(i))));
}

static void drawSlopes(const SpecTensor &tensor, HostTensor &out) {
  for (int64_t i = 0, e = out.count(); i < e; ++i)
    out.data<float>()[i] =
        static_cast<float>(std::exp2(-8 * static_cast<double>(tensor.first + i + 1) / static_cast<double>(tensor.heads)));
}

/// Places drawn among the tokens, in order: lengths differ, and some may be 0.
static void drawOffsets(const RandomTensor &random, int64_t tokens, HostTensor &out) {
  llvm::MutableArrayRef<int32_t> offsets(out.data<int32_t>(), out.count());
  for (auto [i, offset] : llvm::enumerate(offsets))
    offset = static_cast<int32_t>(random.below(i, tokens + 1));
  offsets.front() = 0, offsets.back() = static_cast<int32_t>(tokens);
  llvm::sort(offsets);
}

HostTensor drawTensor(const SpecTensor &tensor, uint64_t seed) {
  llvm::SmallVector<int64_t, 4> shape = llvm::map_to_vector<4>(tensor.shape, [](Size size) { return *size; });
  bool whole = tensor.elements == Elements::Index || tensor.elements == Elements::Offsets;
  ElementType type = whole ? ElementType::I32 : ElementType::F32;
  HostTensor result = HostTensor::zeros(type, shape);
  RandomTensor random(seed, tensor.name);
  switch (tensor.elements) {
  case Elements::Normal:
    drawNormals(random, tensor.deviation, result);
    break;
  case Elements::Orthogonal:
    drawOrthogonalMatrices(random, result);
    break;
  case Elements::Sign:
    drawSigns(random, result);
    break;
  case Elements::Index:
    drawIndices(random, *tensor.bound, result);
    break;
  case Elements::Retention:
    drawDecays(result);
    break;
  case Elements::LogGate:
    drawLogGates(random, result);
    break;
  case Elements::Gate:
    drawGates(random, tensor.deviation, result);
    break;
  case Elements::Offsets:
    drawOffsets(random, *tensor.bound, result);
    break;
  case Elements::Slope:
    drawSlopes(tensor, result);
    break;
  }
  return result;
}

} // namespace attune
