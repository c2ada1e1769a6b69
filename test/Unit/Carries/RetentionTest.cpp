//===- RetentionTest.cpp - Decays and erasing token by token --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decay for each feature and token, with and without erasing, in loops whose step is one token and whose vectors are
// tiles of rank 1:
//
//     S ← diag(d_t) S,    S ← S + k_t (v_t − b Sᵀ k_t)ᵀ,    z ← diag(d_t) z + k_t            b = 0 or 1/2
//
//===----------------------------------------------------------------------===//
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"
#include "attune/Reference/Tolerance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace attune;
using reference::Array;

static constexpr int64_t tokens = 29, features = 4, values = 3;

/// @state(d, k [N, m], v [N, dv], S [m, dv], z [m]).
static std::string kernelText(const std::string &carry, bool erases) {
  std::string erase = R"(
        %kS = arith.mulf %kept, %K : tensor<4x3xf32>
        %held = tile.reduce add %kS axis 0 : tensor<4x3xf32> -> tensor<3xf32>
        %half = arith.constant dense<0.5> : tensor<3xf32>
        %part = arith.mulf %half, %held : tensor<3xf32>
        %u = arith.subf %v, %part : tensor<3xf32>)";
  return R"(
    tile.kernel @state(%D: memref<?x4xf32>, %Ks: memref<?x4xf32>, %V: memref<?x3xf32>, %O: memref<4x3xf32>, %Z: memref<4xf32>) grid(batch) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %D, %c0 : memref<?x4xf32>
      %zero = arith.constant dense<0.0> : tensor<4x3xf32>
      %zeros = arith.constant dense<0.0> : tensor<4xf32>
      %r:2 = tile.loop )" + carry + R"( %t = %c0 to %n step 1 carries(%S = %zero, %z = %zeros) : (tensor<4x3xf32>, tensor<4xf32>) {
        %d = tile.load %D[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
        %k = tile.load %Ks[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
        %v = tile.load %V[%t, %c0] : memref<?x3xf32> -> tensor<3xf32>
        %E = tile.expand %d axis 1 : tensor<4xf32> -> tensor<4x3xf32>
        %K = tile.expand %k axis 1 : tensor<4xf32> -> tensor<4x3xf32>
        %kept = arith.mulf %S, %E : tensor<4x3xf32>)" + (erases ? erase : "") + R"(
        %W = tile.expand )" + (erases ? "%u" : "%v") + R"( axis 0 : tensor<3xf32> -> tensor<4x3xf32>
        %new = arith.mulf %K, %W : tensor<4x3xf32>
        %next = arith.addf %kept, %new : tensor<4x3xf32>
        %left = arith.mulf %z, %d : tensor<4xf32>
        %weights = arith.addf %left, %k : tensor<4xf32>
        tile.yield %next, %weights : tensor<4x3xf32>, tensor<4xf32>
      }
      tile.store %r#0, %O[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
      tile.store %r#1, %Z[%c0] : tensor<4xf32>, memref<4xf32>
      tile.return
    })";
}

namespace {
struct Result {
  Array s{{features, values}}, z{{features}};
};

class Retention : public ::testing::Test {
protected:
  Retention() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect>();
    context.disableMultithreading();
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> share(0, 1);
    for (const Array &array : {d, k, v})
      for (int64_t i = 0; i < array.bufferCount(); ++i)
        array.element(i) = array.identity() == d.identity() ? share(random) : 2 * share(random) - 1;
    d({12, 1}) = 0; // all is forgotten
  }

  Result expected(bool erases) {
    Result result;
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t c = 0; c < values; ++c) {
        double held = 0;
        for (int64_t f = 0; f < features; ++f)
          held += (result.s({f, c}) *= d({t, f})) * k({t, f});
        for (int64_t f = 0; f < features; ++f)
          result.s({f, c}) += k({t, f}) * (v({t, c}) - (erases ? held / 2 : 0));
      }
      for (int64_t f = 0; f < features; ++f)
        result.z({f}) = result.z({f}) * d({t, f}) + k({t, f});
    }
    return result;
  }

  /// Cuts the loop as often as there are seeds; empty if the pass fails.
  OwningOpRef<ModuleOp> pieces(const std::string &text, ArrayRef<uint64_t> seeds) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager manager(&context);
    for (uint64_t seed : seeds)
      manager.addNestedPass<tile::KernelOp>(kernel::createTileCutLoops({seed}));
    return succeeded(manager.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
  }

  double errorOf(const std::string &text, bool erases, ArrayRef<uint64_t> seeds) {
    OwningOpRef<ModuleOp> module = pieces(text, seeds);
    Result got, want = expected(erases);
    if (!module)
      return INFINITY;
    tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
    if (failed(reference::evalKernel(kernel, {1}, {d, k, v, got.s, got.z})))
      return INFINITY;
    return std::max(reference::relativeError(got.s.elements(), want.s.elements()),
                    reference::relativeError(got.z.elements(), want.z.elements()));
  }
  double worst(const std::string &carry, bool erases) {
    double error = 0;
    for (uint64_t seed = 0; seed < 8; ++seed)
      error = std::max(error, errorOf(kernelText(carry, erases), erases, {seed, seed + 50}));
    return error;
  }

  MLIRContext context;
  Array d{{tokens, features}}, k{{tokens, features}}, v{{tokens, values}};
};
} // namespace

static const std::string diagonal = "#tile.affine<transition = vector>", matrix = "#tile.affine<transition = matrix>";

TEST_F(Retention, AnyCutIsOnePass) {
  EXPECT_LE(errorOf(kernelText(diagonal, false), false, {}), 1e-13);
  EXPECT_LE(worst(diagonal, false), 1e-13);
  EXPECT_LE(worst(matrix, false), 1e-13); // a diagonal is a matrix
}

/// Erasing turns z no more than decay does: its transition is another one than that of S.
TEST_F(Retention, WrongCarriesAreFound) {
  EXPECT_GT(worst("#tile.sum", false), 1e-3);
  EXPECT_GT(worst(diagonal, true), 1e-3);
  EXPECT_GT(worst(matrix, true), 1e-3);
}
