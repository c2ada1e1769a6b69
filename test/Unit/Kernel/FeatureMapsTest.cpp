//===- FeatureMapsTest.cpp - Every feature map in every form -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As KernelsTest: terms are cut into kernels, and the kernels are run by the interpreter of tile in its ideal mode.
//
//===----------------------------------------------------------------------===//
#include "Drawn.h"
#include "MapDefinition.h"

#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

namespace {
struct MapCase {
  std::string map, form; // #attn.feature_map<…>'s text; quadratic, state, chunked
  MapShape shape;
  bool lengths = false, causal = false, perHead = false;
  int64_t window = 0;
  double bias = 0, floor = 0, magnitude = 1, last = 0; // the rows' magnitudes go from one to the other
};

class FeatureMaps : public ::testing::Test {
protected:
  FeatureMaps() { context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>(); }

  MLIRContext context;
  std::mt19937_64 random{11};

  MapInputs drawInputs(const MapCase &c);
  std::string text(const MapCase &c, const MapInputs &in);
  void check(const MapCase &c, double tolerance = 1e-11);
  void checkForms(const std::string &map, double bias = 0, double floor = 0);
};
} // namespace

MapInputs FeatureMaps::drawInputs(const MapCase &c) {
  const MapShape &s = c.shape;
  MapInputs in;
  in.shape = s;
  in.map = cast<attn::FeatureMapAttr>(parseAttribute("#attn.feature_map<" + c.map + ">", &context));
  in.query = drawNormal(random, {s.batch, s.heads, s.queries, s.width}, c.magnitude, c.last);
  in.key = drawNormal(random, {s.batch, s.sharedHeads, s.keys, s.width}, c.magnitude, c.last);
  in.value = drawNormal(random, {s.batch, s.sharedHeads, s.keys, s.valueWidth});
  in.causal = c.causal, in.window = c.window, in.bias = c.bias, in.floor = c.floor;
  if (in.map.getKind() == attn::FeatureKind::Focused)
    in.parameter = drawNormal(random, {s.heads, s.width});
  else if (in.map.hasParameter())
    in.parameter = drawNormal(random, {c.perHead ? s.heads : 1, in.map.getFeatureCount(), s.width});
  if (c.lengths)
    in.lengths = drawLengths(random, in.key, in.value);
  return in;
}

//===----------------------------------------------------------------------===//
// The function as text
//===----------------------------------------------------------------------===//

std::string FeatureMaps::text(const MapCase &c, const MapInputs &in) {
  const MapShape &s = c.shape;
  int64_t m = in.map.getFeatures(s.width);
  bool perQueryHead = in.parameter && in.parameter->size(0) > 1;
  int64_t keyHeads = perQueryHead ? s.heads : s.sharedHeads;
  std::string q = tensorType({-1, s.heads, -1, s.width}), k = tensorType({-1, s.sharedHeads, -1, s.width});
  std::string v = tensorType({-1, s.sharedHeads, -1, s.valueWidth}), o = tensorType({-1, s.heads, -1, s.valueWidth});
  std::string a = tensorType({-1, s.heads, -1, m}), b = tensorType({-1, keyHeads, -1, m});
  std::string den = tensorType({-1, s.heads, -1}), weights = tensorType({-1, s.heads, -1, -1});
  std::string S = tensorType({-1, keyHeads, m, s.valueWidth}), z = tensorType({-1, keyHeads, m});
  std::string p, parameter;
  if (in.parameter) {
    SmallVector<int64_t> sizes;
    for (int64_t i = 0; i < in.parameter->rank(); ++i)
      sizes.push_back(in.parameter->size(i));
    p = tensorType(sizes), parameter = " parameter(%p : " + p + ")";
  }
  std::string lengths = c.lengths ? " lengths(%l : tensor<?xi32>)" : "", shift;
  std::string map = "feature_map = #attn.feature_map<" + c.map + ">";
  std::string body;
  bool shifted = in.map.isFavor() && !in.map.stabilizerCancels(attn::DenominatorAttr::get(in.map.getContext(), c.bias, c.floor)) &&
                 (in.map.getStabilizer() == attn::Stabilizer::Max ||
                  in.map.getStabilizer() == attn::Stabilizer::Projection);
  if (shifted) {
    body += "%c = attn.key_maximum %k" + lengths + parameter + " {" + map + "} : " + k + " -> " +
            tensorType({-1, keyHeads}) + "\n";
    shift = " shift(%c : " + tensorType({-1, keyHeads}) + ")";
  }
  body += "%a = attn.map %q" + parameter + " {" + map + "} : " + q + " -> " + a + "\n%b = attn.map %k" + lengths +
          parameter + shift + " {" + map + ", keys} : " + k + " -> " + b + "\n";
  if (c.form == "state")
    body += "%S, %z = attn.state %b, %v" + lengths + " : " + b + ", " + v + " -> " + S + ", " + z +
            "\n%num, %den = attn.readout %a, %S, %z : " + a + ", " + S + ", " + z + " -> " + o + ", " + den + "\n";
  if (c.form == "chunked")
    body += "%num, %den, %S, %z = attn.causal_readout %a, %b, %v" + lengths + " : " + a + ", " + b + ", " + v + " -> " +
            o + ", " + den + ", " + S + ", " + z + "\n";
  if (c.form == "quadratic") {
    body += "%w0 = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, "
            "key] : " + a + ", " + b + " -> " + weights + "\n";
    bool masked = c.causal || c.lengths || c.window;
    std::string fields = c.causal ? "causal" : "";
    if (c.window)
      fields += (fields.empty() ? "" : ", ") + ("window = #attn.window<" + std::to_string(c.window) + ">");
    if (masked)
      body += "%w = attn.visible %w0" + lengths + (fields.empty() ? "" : " {" + fields + "}") + " : " + weights + "\n";
    std::string w = masked ? "%w" : "%w0";
    body += "%num = attn.contract " + w + "[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, "
            "value] : " + weights + ", " + v + " -> " + o + "\n%den = attn.row_sum " + w + " : " + weights + " -> " + den +
            "\n";
  }
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + (c.lengths ? ", %l: tensor<?xi32>" : "") +
         (in.parameter ? ", %p: " + p : "") + ") -> " + o +
         " attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 8, key_tile = 8, piece = 16, operand = "
         "f32, warps = 1, stages = 1>} {\n" +
         body + "%o = attn.normalize %num, %den {guard = #attn.denominator<bias = " + std::to_string(c.bias) +
         ", floor = " + std::to_string(c.floor) + ">} : " + o + ", " + den + " -> " + o + "\nreturn %o : " + o + "\n}\n";
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

void FeatureMaps::check(const MapCase &c, double tolerance) {
  const MapShape &s = c.shape;
  SCOPED_TRACE(c.map + " " + c.form + (c.causal ? " causal" : "") + (c.lengths ? " lengths" : "") +
               " n=" + std::to_string(s.queries) + " N=" + std::to_string(s.keys) + " d=" + std::to_string(s.width));
  MapInputs in = drawInputs(c);
  std::string source = text(c, in);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module) << source;
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  reference::Array output({s.batch, s.heads, s.queries, s.valueWidth}, NAN); // what is not written shows
  std::vector<reference::Argument> arguments{in.query, in.key, in.value};
  if (in.lengths)
    arguments.push_back(*in.lengths);
  if (in.parameter)
    arguments.push_back(*in.parameter);
  arguments.push_back(output);
  ASSERT_TRUE(succeeded(reference::evalTile(module->lookupSymbol<func::FuncOp>("f"), arguments)));
  auto near = [&](double actual, double expected) {
    return actual == expected || std::abs(actual - expected) <= tolerance * (1 + std::abs(expected));
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h) {
      double shift = in.map.isFavor() ? keyShift(in, b, h) : 0;
      for (int64_t i = 0; i < s.queries; ++i) {
        Row row = kernelRow(in, b, h, i, shift);
        for (int64_t w = 0; w < s.valueWidth; ++w)
          ASSERT_PRED2(near, output({b, h, i, w}), row[w]) << "row " << i << " column " << w << " head " << h;
      }
    }
}

// Around the tile of 8 and the piece of 16, and one well past both.
static const int64_t counts[] = {1, 7, 8, 9, 17, 35};

void FeatureMaps::checkForms(const std::string &map, double bias, double floor) {
  for (int64_t n : counts) {
    for (int64_t N : {n, int64_t(20)})
      for (bool lengths : {false, true}) {
        check({map, "quadratic", {2, 4, 2, n, N, 3, 5}, lengths, n == N, n % 2 == 1, 0, bias, floor});
        check({map, "state", {2, 4, 2, n, N, 5, 3}, lengths, false, n % 2 == 0, 0, bias, floor});
      }
    check({map, "chunked", {3, 4, 2, n, n, 3, 5}, n % 2 == 1, true, n % 3 == 0, 0, bias, floor});
  }
  for (int64_t width : {1, 8, 17})
    for (const char *form : {"quadratic", "state"})
      check({map, form, {1, 1, 1, 9, 10, width, width}, false, false, true, 0, bias, floor});
  check({map, "quadratic", {2, 2, 1, 24, 24, 3, 5}, true, false, true, 6, bias, floor});
  check({map, "quadratic", {1, 2, 1, 24, 24, 3, 5}, false, true, true, 12, bias, floor});
}

TEST_F(FeatureMaps, Elu1) { checkForms("elu1"); }
TEST_F(FeatureMaps, Relu) { checkForms("relu", 0, 1e-6); }
TEST_F(FeatureMaps, Cosformer) { checkForms("cosformer, max_position = 40", 0, 1e-6); }
TEST_F(FeatureMaps, Focused) { checkForms("focused, epsilon = 1.0e-06, power = 3.0"); }
TEST_F(FeatureMaps, FocusedOfAnOddPower) { checkForms("focused, epsilon = 1.0e-02, power = 2.5", 0.5); }
TEST_F(FeatureMaps, FavorRelu) { checkForms("favor_relu, features = 7, epsilon = 1.0e-3, scale = 0.0"); }
TEST_F(FeatureMaps, FavorReluOfNormalizedTokens) {
  checkForms("favor_relu, features = 16, epsilon = 1.0e-3, scale = 0.5", 1e-3, 0.1);
}

//===----------------------------------------------------------------------===//
// FAVOR
//===----------------------------------------------------------------------===//

static std::string favor(int64_t features, const char *epsilon, const char *stabilizer) {
  return "favor, features = " + std::to_string(features) + ", epsilon = " + epsilon + ", scale = 0.25, stabilizer = " +
         stabilizer;
}

TEST_F(FeatureMaps, FavorWhoseStabilizerCancels) {
  for (const char *stabilizer : {"constant", "none"})
    checkForms(favor(7, "0.0", stabilizer));
}

TEST_F(FeatureMaps, FavorWithAConstantStabilizer) { checkForms(favor(9, "1.0e-3", "constant")); }
TEST_F(FeatureMaps, FavorWithoutAStabilizer) { checkForms(favor(9, "1.0e-3", "none"), 0.5); }
TEST_F(FeatureMaps, FavorWithAGuard) { checkForms(favor(9, "0.0", "constant"), 1e-3, 0.25); }

TEST_F(FeatureMaps, FavorWithAMaximumOverTheKeys) {
  for (const char *stabilizer : {"max", "projection"})
    for (int64_t n : counts)
      for (bool lengths : {false, true}) {
        check({favor(5, "1.0e-3", stabilizer), "quadratic", {2, 4, 2, n, 11, 3, 5}, lengths, false, true});
        check({favor(5, "1.0e-3", stabilizer), "state", {2, 4, 2, n, 35, 3, 5}, lengths, false, true});
        check({favor(5, "0.0", stabilizer), "state", {2, 2, 2, 9, n, 3, 5}, lengths, false, true, 0, 0.5});
      }
}

// Exponents of hundreds, and rows whose magnitude grows or shrinks by hundreds along the sequence.
TEST_F(FeatureMaps, FavorOfLongTokens) {
  for (auto [first, last] : {std::pair(4.5, 0.0), {0.01, 4.5}, {4.5, 0.01}})
    for (const char *form : {"quadratic", "chunked"})
      for (bool lengths : {false, true})
        check({favor(24, "0.0", "constant"), form, {2, 2, 1, 35, 35, 16, 3}, lengths, true, true, 0, 0, 0, first, last},
              1e-9);
}
