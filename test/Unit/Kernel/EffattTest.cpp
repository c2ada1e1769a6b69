//===- EffattTest.cpp - Efficient attention against its definition -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace attune;

// o_i = Σ_f softmax_f(q_i) Σ_j softmax_j(k_jf) v_j, of batch entries with 0, some and all keys.
static std::vector<double> rowOf(const reference::Array &q, const reference::Array &k, const reference::Array &v,
                                 int64_t b, int64_t h, int64_t g, int64_t i, int64_t length) {
  int64_t width = q.size(3), valueWidth = v.size(3);
  std::vector<double> row(valueWidth, 0);
  double sum = 0;
  for (int64_t f = 0; f < width; ++f)
    sum += std::exp(q({b, h, i, f}));
  for (int64_t f = 0; f < width && length > 0; ++f) {
    double keys = 0;
    for (int64_t j = 0; j < length; ++j)
      keys += std::exp(k({b, g, j, f}));
    for (int64_t j = 0; j < length; ++j)
      for (int64_t c = 0; c < valueWidth; ++c)
        row[c] += std::exp(q({b, h, i, f})) / sum * std::exp(k({b, g, j, f})) / keys * v({b, g, j, c});
  }
  return row;
}

static void check(int64_t n, int64_t N, int64_t width, int64_t valueWidth) {
  SCOPED_TRACE("n=" + std::to_string(n) + " N=" + std::to_string(N) + " d=" + std::to_string(width));
  constexpr int64_t batch = 3, heads = 4, shared = 2;
  MLIRContext context;
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
  auto type = [](int64_t heads, int64_t width) {
    return "tensor<?x" + std::to_string(heads) + "x?x" + std::to_string(width) + "xf32>";
  };
  std::string q = type(heads, width), k = type(shared, width), v = type(shared, valueWidth), o = type(heads, valueWidth);
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %l: tensor<?xi32>) -> " + o +
                     " attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 8, key_tile = 8, piece = "
                     "16, operand = f32, warps = 1, stages = 1>} {\n%o = attn.effatt %q, %k, %v lengths(%l : "
                     "tensor<?xi32>) : " + q + ", " + k + ", " + v + " -> " + o + "\nreturn %o : " + o + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  ASSERT_TRUE(succeeded(manager.run(*module)));

  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 3);
  auto draw = [&](std::vector<int64_t> shape) {
    reference::Array array(shape);
    for (int64_t i = 0; i < array.bufferCount(); ++i)
      array.element(i) = normal(random);
    return array;
  };
  reference::Array query = draw({batch, heads, n, width}), key = draw({batch, shared, N, width});
  reference::Array value = draw({batch, shared, N, valueWidth}), lengths({batch});
  int64_t counts[] = {0, (N + 1) / 2, N};
  for (int64_t b = 0; b < batch; ++b) {
    lengths({b}) = double(counts[b]);
    for (int64_t g = 0; g < shared; ++g)
      for (int64_t j = counts[b]; j < N; ++j) {
        for (int64_t c = 0; c < width; ++c)
          key({b, g, j, c}) = NAN;
        for (int64_t c = 0; c < valueWidth; ++c)
          value({b, g, j, c}) = NAN;
      }
  }
  reference::Array output({batch, heads, n, valueWidth}, NAN);
  std::vector<reference::Argument> arguments{query, key, value, lengths, output};
  ASSERT_TRUE(succeeded(reference::evalTile(module->lookupSymbol<func::FuncOp>("f"), arguments)));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < n; ++i) {
        std::vector<double> row = rowOf(query, key, value, b, h, h * shared / heads, i, counts[b]);
        for (int64_t c = 0; c < valueWidth; ++c)
          ASSERT_NEAR(output({b, h, i, c}), row[c], 1e-11 * (1 + std::abs(row[c]))) << b << " " << h << " " << i;
      }
}

TEST(Effatt, AllLengths) {
  for (int64_t n : {1, 7, 8, 9, 35})
    for (int64_t N : {1, 8, 16, 17, 35})
      check(n, N, 5, 3);
}

TEST(Effatt, AllWidths) {
  for (int64_t width : {1, 3, 8, 17})
    check(9, 20, width, width == 3 ? 1 : width);
}
