//===- DeltaRule.cpp - The gated delta rule token by token ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeltaRule.h"

#include "attune/Kernel/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Array;

static double normal(std::mt19937_64 &random) { return std::normal_distribution<double>()(random); }

/// Rows of length 1, `spread` away from the first.
static void drawUnitRows(std::mt19937_64 &random, const Array &array, double spread) {
  int64_t width = array.size(2);
  for (int64_t h = 0; h < array.size(0); ++h) {
    std::vector<double> common(width);
    for (double &x : common)
      x = (1 - spread) * normal(random);
    for (int64_t t = 0; t < array.size(1); ++t) {
      double norm = 0;
      for (int64_t f = 0; f < width; ++f) {
        double &x = array({h, t, f});
        x = common[f] + spread * normal(random);
        norm += x * x;
      }
      for (int64_t f = 0; f < width; ++f)
        array({h, t, f}) = static_cast<float>(array({h, t, f}) / std::sqrt(norm));
    }
  }
}

static void drawNormal(std::mt19937_64 &random, const Array &array) {
  for (int64_t i = 0; i < array.bufferCount(); ++i)
    array.element(i) = static_cast<float>(normal(random));
}

DeltaTensors test::drawDelta(const DeltaSizes &sizes, const DeltaDraw &draw, uint64_t seed) {
  auto [tokens, chunk, features, values, heads] = sizes;
  std::mt19937_64 random(seed);
  DeltaTensors tensors{Array({heads, tokens, features}), Array({heads, tokens, features}),
                       Array({heads, tokens, values}),   Array({heads, tokens}),
                       Array({heads, tokens}),           Array({heads, features, values})};
  drawUnitRows(random, tensors.q, 1);
  drawUnitRows(random, tensors.k, draw.parallel);
  drawNormal(random, tensors.rows);
  drawNormal(random, tensors.initial);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t t = 0; t < tokens; ++t) {
      tensors.g({h, t}) = static_cast<float>(draw.g(random, h));
      tensors.beta({h, t}) = static_cast<float>(draw.beta(random, h));
    }
  return tensors;
}

//===----------------------------------------------------------------------===//
// The recurrence
//===----------------------------------------------------------------------===//

namespace {
/// A state [m, dv] of one head.
struct State {
  const Array &s;
  int64_t head;

  void scale(double factor) const {
    each([&](int64_t f, int64_t c) { s({head, f, c}) *= factor; });
  }
  /// S + x yᵀ.
  void add(llvm::function_ref<double(int64_t)> x, llvm::function_ref<double(int64_t)> y) const {
    each([&](int64_t f, int64_t c) { s({head, f, c}) += x(f) * y(c); });
  }
  /// Sᵀ x.
  std::vector<double> times(llvm::function_ref<double(int64_t)> x) const {
    std::vector<double> result(s.size(2));
    each([&](int64_t f, int64_t c) { result[c] += s({head, f, c}) * x(f); });
    return result;
  }
  void each(llvm::function_ref<void(int64_t, int64_t)> visit) const {
    for (int64_t f = 0; f < s.size(1); ++f)
      for (int64_t c = 0; c < s.size(2); ++c)
        visit(f, c);
  }
};
} // namespace

static void forwardToken(const DeltaTensors &in, const State &state, int64_t h, int64_t t, const Array &o, double s) {
  state.scale(std::exp(in.g({h, t})));
  auto k = [&](int64_t f) { return in.k({h, t, f}); };
  std::vector<double> held = state.times(k);
  state.add(k, [&](int64_t c) { return in.beta({h, t}) * (in.rows({h, t, c}) - held[c]); });
  std::vector<double> read = state.times([&](int64_t f) { return s * in.q({h, t, f}); });
  for (size_t c = 0; c < read.size(); ++c)
    o({h, t, int64_t(c)}) = read[c];
}

static void reverseToken(const DeltaTensors &in, const State &state, int64_t h, int64_t t, const Array &v, double s) {
  auto k = [&](int64_t f) { return in.k({h, t, f}); };
  state.add([&](int64_t f) { return s * in.q({h, t, f}); }, [&](int64_t c) { return in.rows({h, t, c}); });
  std::vector<double> written = state.times(k);
  for (size_t c = 0; c < written.size(); ++c)
    v({h, t, int64_t(c)}) = in.beta({h, t}) * written[c];
  state.add(k, [&](int64_t c) { return -in.beta({h, t}) * written[c]; });
  state.scale(std::exp(in.g({h, t})));
}

DeltaResults test::recurrence(const DeltaSizes &sizes, const DeltaTensors &tensors, Direction direction) {
  DeltaResults results{Array(tensors.rows.shape()), Array(tensors.initial.shape())};
  for (int64_t i = 0; i < tensors.initial.bufferCount(); ++i)
    results.state.element(i) = tensors.initial.element(i);
  double scale = 1 / std::sqrt(double(sizes.features));
  for (int64_t h = 0; h < sizes.heads; ++h)
    for (int64_t t = 0; t < sizes.tokens; ++t)
      if (direction == Direction::Forward)
        forwardToken(tensors, {results.state, h}, h, t, results.rows, scale);
      else
        reverseToken(tensors, {results.state, h}, h, sizes.tokens - 1 - t, results.rows, scale);
  return results;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<DeltaResults> test::runDelta(ModuleOp module, const DeltaSizes &sizes, const DeltaTensors &tensors,
                                       reference::Precision precision) {
  DeltaResults results{Array(tensors.rows.shape()), Array(tensors.initial.shape())};
  auto kernel = *module.getOps<tile::KernelOp>().begin();
  reference::EvalTileOptions options;
  options.precision = precision;
  if (failed(reference::evalKernel(kernel, {sizes.heads},
                                   {tensors.q, tensors.k, tensors.rows, tensors.g, tensors.beta, tensors.initial,
                                    results.rows, results.state},
                                   options)))
    return failure();
  return results;
}

LogicalResult test::cutLoops(ModuleOp module, ArrayRef<uint64_t> seeds) {
  PassManager manager(module->getContext());
  for (uint64_t seed : seeds)
    manager.addNestedPass<tile::KernelOp>(kernel::createTileCutLoops({seed}));
  return manager.run(module);
}
