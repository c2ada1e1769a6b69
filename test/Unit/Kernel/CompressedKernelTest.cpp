//===- CompressedKernelTest.cpp - Naive FLuRKA against its definition ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// o_i = Σ_slots ⟨φ(q_i), (E φ(K))_slot⟩ (F V)_slot, of batch entries with 0, some and all keys.
//
//===----------------------------------------------------------------------===//
#include "MapDefinition.h"

#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace attune;
using namespace attune::test;

namespace {
struct Layer {
  MapInputs in;
  reference::Array compressKey, compressValue; // [1 or G, k, N]
  int64_t slots() const { return compressKey.size(1); }
  int64_t weightHead(int64_t g) const { return compressKey.size(0) > 1 ? g : 0; }
};
} // namespace

static std::vector<double> rowOf(const Layer &layer, int64_t b, int64_t h, int64_t i) {
  const MapInputs &in = layer.in;
  const MapShape &s = in.shape;
  int64_t g = in.shared(h), e = layer.weightHead(g);
  Row a = features(in, h, tokenOf(in.query, b, h, i, s.width), i, std::nullopt), row(s.valueWidth, 0);
  for (int64_t slot = 0; slot < layer.slots(); ++slot) {
    double weight = 0;
    for (int64_t j = 0; j < s.keys; ++j) {
      if (!in.exists(b, j))
        continue;
      Row k = features(in, h, tokenOf(in.key, b, g, j, s.width), j, 0.0);
      for (size_t f = 0; f < k.size(); ++f)
        weight += a[f] * layer.compressKey({e, slot, j}) * k[f];
    }
    for (int64_t j = 0; j < s.keys; ++j)
      for (int64_t c = 0; in.exists(b, j) && c < s.valueWidth; ++c)
        row[c] += weight * layer.compressValue({e, slot, j}) * in.value({b, g, j, c});
  }
  return row;
}

static std::string typeText(const reference::Array &array, unsigned dynamic) {
  std::string text = "tensor<";
  for (int64_t i = 0; i < array.rank(); ++i)
    text += (dynamic >> i & 1 ? "?" : std::to_string(array.size(i))) + "x";
  return text + "f32>";
}

static std::string functionText(const Layer &layer, StringRef map, const reference::Array &output) {
  const MapInputs &in = layer.in;
  const MapShape &s = in.shape;
  int64_t m = in.map.getFeatures(s.width);
  int64_t heads = in.parameter && in.parameter->size(0) > 1 ? s.heads : s.sharedHeads;
  auto type = [](int64_t heads, std::string rows, int64_t width) {
    return "tensor<?x" + std::to_string(heads) + "x" + rows + "x" + std::to_string(width) + "xf32>";
  };
  std::string q = typeText(in.query, 5), k = typeText(in.key, 5), v = typeText(in.value, 5), o = typeText(output, 5);
  std::string e = typeText(layer.compressKey, 0), p = in.parameter ? typeText(*in.parameter, 0) : "";
  std::string a = type(s.heads, "?", m), b = type(heads, "?", m), slots = std::to_string(layer.slots());
  std::string bSlots = type(heads, slots, m), vSlots = type(s.sharedHeads, slots, s.valueWidth);
  std::string S = type(heads, std::to_string(m), s.valueWidth), z = "tensor<?x" + std::to_string(heads) + "x" +
                                                                   std::to_string(m) + "xf32>";
  std::string den = "tensor<?x" + std::to_string(s.heads) + "x?xf32>", lengths = " lengths(%l : tensor<?xi32>)";
  std::string parameter = in.parameter ? " parameter(%p : " + p + ")" : "";
  std::string attribute = "feature_map = #attn.feature_map<" + map.str() + ">";
  return "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %l: tensor<?xi32>, %e: " + e + ", %g: " + e +
         (in.parameter ? ", %p: " + p : "") + ") -> " + o +
         " attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 8, key_tile = 8, piece = 16, operand = "
         "f32, warps = 1, stages = 1>} {\n%a = attn.map %q" + parameter + " {" + attribute + "} : " + q + " -> " + a +
         "\n%b = attn.map %k" + lengths + parameter + " {" + attribute + ", keys} : " + k + " -> " + b +
         "\n%bs = attn.compress %b, %e" + lengths + " : " + b + ", " + e + " -> " + bSlots +
         "\n%vs = attn.compress %v, %g" + lengths + " : " + v + ", " + e + " -> " + vSlots +
         "\n%S, %z = attn.state %bs, %vs : " + bSlots + ", " + vSlots + " -> " + S + ", " + z +
         "\n%num, %den = attn.readout %a, %S, %z : " + a + ", " + S + ", " + z + " -> " + o + ", " + den +
         "\n%o = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : " + o + " -> " + o +
         "\nreturn %o : " + o + "\n}\n";
}

static void check(StringRef map, MapShape s, int64_t slots, bool perHead) {
  SCOPED_TRACE(map.str() + " n=" + std::to_string(s.queries) + " N=" + std::to_string(s.keys));
  MLIRContext context;
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 1);
  auto draw = [&](std::vector<int64_t> shape) {
    reference::Array array(shape);
    for (int64_t i = 0; i < array.bufferCount(); ++i)
      array.element(i) = normal(random);
    return array;
  };
  Layer layer;
  MapInputs &in = layer.in;
  in.shape = s;
  in.map = cast<attn::FeatureMapAttr>(parseAttribute(("#attn.feature_map<" + map + ">").str(), &context));
  in.query = draw({s.batch, s.heads, s.queries, s.width}), in.key = draw({s.batch, s.sharedHeads, s.keys, s.width});
  in.value = draw({s.batch, s.sharedHeads, s.keys, s.valueWidth}), in.lengths = reference::Array({s.batch});
  for (int64_t b = 0; b < s.batch; ++b)
    (*in.lengths)({b}) = double(b == 0 ? 0 : b == 1 ? (s.keys + 1) / 2 : s.keys);
  if (in.map.hasParameter())
    in.parameter = draw({perHead ? s.heads : 1, in.map.getFeatureCount(), s.width});
  layer.compressKey = draw({perHead ? s.sharedHeads : 1, slots, s.keys});
  layer.compressValue = draw({perHead ? s.sharedHeads : 1, slots, s.keys});

  reference::Array output({s.batch, s.heads, s.queries, s.valueWidth}, NAN);
  std::string text = functionText(layer, map, output);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  std::vector<reference::Argument> arguments{in.query, in.key, in.value, *in.lengths, layer.compressKey,
                                             layer.compressValue};
  if (in.parameter)
    arguments.push_back(*in.parameter);
  arguments.push_back(output);
  ASSERT_TRUE(succeeded(reference::evalTile(module->lookupSymbol<func::FuncOp>("f"), arguments)));
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < s.queries; ++i) {
        std::vector<double> row = rowOf(layer, b, h, i);
        for (int64_t c = 0; c < s.valueWidth; ++c)
          ASSERT_NEAR(output({b, h, i, c}), row[c], 1e-10 * (1 + std::abs(row[c]))) << b << " " << h << " " << i;
      }
}

TEST(CompressedKernel, MapsAndSlots) {
  for (bool perHead : {false, true})
    for (int64_t slots : {1, 7, 8, 19})
      for (const char *map : {"elu1", "favor_relu, features = 6, epsilon = 1.0e-3, scale = 0.0",
                              "favor, features = 9, epsilon = 0.0, scale = 0.5, stabilizer = none"})
        check(map, {3, 4, 2, 9, 20, 3, 5}, slots, perHead);
}

TEST(CompressedKernel, Lengths) {
  for (int64_t n : {1, 8, 17})
    for (int64_t N : {1, 8, 35})
      check("relu", {3, 2, 1, n, N, 4, 3}, 5, true);
}
