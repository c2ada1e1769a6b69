//===- KernelsTest.cpp - The kernels against the definition --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention ops are cut into kernels, and the kernels are run by the interpreter of tile in its ideal mode: what is left
// between them and the definition is rounding of float64. Small tiles and pieces, so that short sequences have several.
//
//===----------------------------------------------------------------------===//
#include "Definition.h"
#include "Drawn.h"

#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

namespace {
struct Case {
  Shape shape;
  std::string form; // softmax, quadratic, state, chunked
  bool causal = false, lengths = false, extra = false, initial = false;
  double bias = 0, floor = 0, magnitude = 1;
  int64_t keyPieces = 1; ///< of softmax: pieces of the keys that run side by side
};

class Kernels : public ::testing::Test {
protected:
  Kernels() { context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>(); }

  MLIRContext context;
  std::mt19937_64 random{7};

  Inputs drawInputs(const Case &c);
  OwningOpRef<ModuleOp> kernelsOf(const Case &c);
  void check(const Case &c);
};
} // namespace

Inputs Kernels::drawInputs(const Case &c) {
  const Shape &s = c.shape;
  Inputs in;
  in.shape = s;
  in.query = drawNormal(random, {s.batch, s.heads, s.queries, s.width}, c.magnitude);
  in.key = drawNormal(random, {s.batch, s.sharedHeads, s.keys, s.width}, c.magnitude);
  in.value = drawNormal(random, {s.batch, s.sharedHeads, s.keys, s.valueWidth});
  in.causal = c.causal, in.bias = c.bias, in.floor = c.floor, in.scale = 0.25;
  if (c.initial) {
    in.initialState = drawNormal(random, {s.batch, s.sharedHeads, s.width, s.valueWidth});
    in.initialSum = drawNormal(random, {s.batch, s.sharedHeads, s.width});
    for (int64_t i = 0; i < in.initialSum->bufferCount(); ++i)
      in.initialSum->element(i) = std::abs(in.initialSum->element(i));
  }
  if (c.lengths)
    in.lengths = drawLengths(random, in.key, in.value);
  return in;
}

//===----------------------------------------------------------------------===//
// The function as text
//===----------------------------------------------------------------------===//

/// The op of a form, its results named %o, %x, %y.
static std::string opText(const Case &c, const std::string &q, const std::string &k, const std::string &v,
                          const std::string &o, const std::string &lse, const std::string &S, const std::string &z) {
  std::string lengths = c.lengths ? " lengths(%l : tensor<?xi32>)" : "", causal = c.causal ? "causal, " : "";
  if (c.keyPieces > 1)
    causal += "execution = #attn.execution<split = true>, ";
  if (c.form == "softmax")
    return (c.extra ? "%o, %x" : "%o") + (" = attn.softmax %q, %k, %v" + lengths) + " {" + causal +
           "scale = 0.25 : f64} : " + q + ", " + k + ", " + v + " -> " + o + (c.extra ? ", lse " + lse : "") + "\n";
  std::string q32 = q, k32 = k, map = "{feature_map = #attn.feature_map<elu1>}";
  std::string text = "%a = attn.map %q " + map + " : " + q + " -> " + q32 + "\n" + "%b = attn.map %k" + lengths + " " +
                     map + " : " + k + " -> " + k32 + "\n";
  const Shape &s = c.shape;
  std::string den = tensorType({-1, s.heads, -1}), weights = tensorType({-1, s.heads, -1, -1});
  if (c.form == "state")
    text += "%x, %y = attn.state %b, %v" + lengths + " : " + k32 + ", " + v + " -> " + S + ", " + z + "\n" +
            "%num, %den = attn.readout %a, %x, %y : " + q32 + ", " + S + ", " + z + " -> " + o + ", " + den + "\n";
  if (c.form == "chunked")
    text += "%num, %den, %x, %y = attn.causal_readout %a, %b, %v" + lengths +
            (c.initial ? " initial(%S0, %z0 : " + S + ", " + z + ")" : "") + " : " + q32 + ", " + k32 + ", " + v +
            " -> " + o + ", " + den + ", " + S + ", " + z + "\n";
  if (c.form == "quadratic") {
    text += "%w0 = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, "
            "key] : " + q32 + ", " + k32 + " -> " + weights + "\n";
    bool masked = c.causal || c.lengths;
    if (masked)
      text += "%w = attn.visible %w0" + lengths + (c.causal ? " {causal}" : "") + " : " + weights + "\n";
    std::string w = masked ? "%w" : "%w0";
    text += "%num = attn.contract " + w + "[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, "
            "value] : " + weights + ", " + v + " -> " + o + "\n%den = attn.row_sum " + w + " : " + weights + " -> " + den +
            "\n";
  }
  return text + "%o = attn.normalize %num, %den {guard = #attn.denominator<bias = " + std::to_string(c.bias) +
         ", floor = " + std::to_string(c.floor) + ">} : " + o + ", " + den + " -> " + o + "\n";
}

OwningOpRef<ModuleOp> Kernels::kernelsOf(const Case &c) {
  const Shape &s = c.shape;
  std::string q = tensorType({-1, s.heads, -1, s.width}), k = tensorType({-1, s.sharedHeads, -1, s.width});
  std::string v = tensorType({-1, s.sharedHeads, -1, s.valueWidth}), o = tensorType({-1, s.heads, -1, s.valueWidth});
  std::string lse = tensorType({-1, s.heads, -1}), S = tensorType({-1, s.sharedHeads, s.width, s.valueWidth});
  std::string z = tensorType({-1, s.sharedHeads, s.width});
  std::string extraTypes = !c.extra ? "" : c.form == "softmax" ? ", " + lse : ", " + S + ", " + z;
  std::string extraValues = !c.extra ? "" : c.form == "softmax" ? ", %x" : ", %x, %y";
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v +
                     (c.lengths ? ", %l: tensor<?xi32>" : "") + (c.initial ? ", %S0: " + S + ", %z0: " + z : "") +
                     ") -> (" + o + extraTypes + ") attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 8, "
                     "key_tile = 8, piece = 16, operand = f32, warps = 1, stages = 1" +
                     (c.keyPieces > 1 ? ", parts = " + std::to_string(c.keyPieces) : "") + ">} {\n" +
                     opText(c, q, k, v, o, lse, S, z) + "return %o" + extraValues + " : " + o + extraTypes + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  manager.addPass(kernel::createTileSplitReduction());
  if (!module || failed(manager.run(*module)))
    return nullptr;
  return module;
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

void Kernels::check(const Case &c) {
  SCOPED_TRACE(c.form + (c.causal ? " causal" : "") + (c.lengths ? " lengths" : "") +
               " n=" + std::to_string(c.shape.queries) + " N=" + std::to_string(c.shape.keys));
  const Shape &s = c.shape;
  OwningOpRef<ModuleOp> module = kernelsOf(c);
  ASSERT_TRUE(module);
  Inputs in = drawInputs(c);
  // Outputs begin as NaN: what is not written shows.
  reference::Array output({s.batch, s.heads, s.queries, s.valueWidth}, NAN), lse({s.batch, s.heads, s.queries}, NAN);
  reference::Array state({s.batch, s.sharedHeads, s.width, s.valueWidth}, NAN);
  reference::Array sum({s.batch, s.sharedHeads, s.width}, NAN);
  std::vector<reference::Argument> arguments{in.query, in.key, in.value};
  if (in.lengths)
    arguments.push_back(*in.lengths);
  if (in.initialState)
    arguments.insert(arguments.end(), {*in.initialState, *in.initialSum});
  arguments.push_back(output);
  if (c.extra && c.form == "softmax")
    arguments.push_back(lse);
  else if (c.extra)
    arguments.insert(arguments.end(), {state, sum});
  ASSERT_TRUE(succeeded(reference::evalTile(module->lookupSymbol<func::FuncOp>("f"), arguments)));

  // Nothing is rounded but float64: scales and log2 e are what they are (#tile.exact).
  auto near = [](double actual, double expected) {
    return actual == expected || std::abs(actual - expected) <= 1e-11 * (1 + std::abs(expected));
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < s.queries; ++i) {
        double expectedLse = 0;
        std::vector<double> row = c.form == "softmax" ? softmaxRow(in, b, h, i, &expectedLse) : elu1Row(in, b, h, i);
        for (int64_t w = 0; w < s.valueWidth; ++w)
          ASSERT_PRED2(near, output({b, h, i, w}), row[w]) << "row " << i << " column " << w << " head " << h;
        if (c.extra && c.form == "softmax")
          ASSERT_PRED2(near, lse({b, h, i}), expectedLse) << "lse of row " << i;
      }
  for (int64_t b = 0; c.extra && c.form != "softmax" && b < s.batch; ++b)
    for (int64_t g = 0; g < s.sharedHeads; ++g)
      for (int64_t f = 0; f < s.width; ++f) {
        for (int64_t w = 0; w < s.valueWidth; ++w)
          ASSERT_PRED2(near, state({b, g, f, w}), finalState(in, b, g, f, w));
        ASSERT_PRED2(near, sum({b, g, f}), finalState(in, b, g, f, s.valueWidth));
      }
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

// Around the tile of 8 and the piece of 16, and one well past both.
static const int64_t lengths[] = {1, 7, 8, 9, 16, 17, 35};

TEST_F(Kernels, Softmax) {
  for (int64_t n : lengths)
    for (int64_t N : lengths)
      for (bool causal : {false, true})
        check({{2, 2, 1, n, N, 5, 3}, "softmax", causal, (n + N) % 2 == 0, (n + N) % 3 == 0});
}

TEST_F(Kernels, SoftmaxOfKeysInPieces) {
  for (int64_t n : {1, 9, 17})
    for (int64_t N : {1, 8, 17, 40, 67})
      for (int64_t pieces : {2, 3, 6})
        check({{2, 4, 2, n, N, 5, 3}, "softmax", N % 2 == 1, (n + N) % 3 == 0, true, false, 0, 0, 1, pieces});
  check({{1, 1, 1, 9, 67, 5, 3}, "softmax", false, false, true, false, 0, 0, 200, 4});
}

TEST_F(Kernels, SoftmaxOfLargeLogits) { check({{1, 1, 1, 9, 20, 5, 3}, "softmax", false, false, true, false, 0, 0, 200}); }

TEST_F(Kernels, Quadratic) {
  for (int64_t n : lengths)
    for (int64_t N : lengths)
      check({{2, 4, 2, n, N, 3, 5}, "quadratic", n == N, (n + N) % 2 == 1, false, false, 1e-6});
}

TEST_F(Kernels, State) {
  for (int64_t n : lengths)
    for (int64_t N : lengths)
      check({{2, 4, 2, n, N, 3, 5}, "state", false, (n + N) % 2 == 1, n % 2 == 1, false, 0, 0.5});
}

TEST_F(Kernels, Chunked) {
  for (int64_t n : lengths)
    for (bool withLengths : {false, true})
      for (bool initial : {false, true})
        check({{3, 4, 2, n, n, 3, 5}, "chunked", true, withLengths, n % 2 == 1, initial, 1e-6});
}

TEST_F(Kernels, MoreHeadsThanKeyValueHeads) { check({{1, 6, 2, 9, 11, 4, 4}, "softmax", true}); }
TEST_F(Kernels, CausalWithFewerKeysThanQueries) { check({{1, 1, 1, 20, 5, 4, 4}, "softmax", true, false, true}); }
