//===- GraphFixture.cpp - Modules of kernel attention for the tests -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"

#include "attune/Tile/Tile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

GraphTest::GraphTest() { context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>(); }

static std::string tensorType(llvm::ArrayRef<int64_t> shape, llvm::StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size ? std::to_string(size) : "?") + "x";
  return text + element.str() + ">";
}

/// A double that MLIR reads back exactly.
static std::string real(double value) { return llvm::formatv("{0:e}", value); }

OwningOpRef<ModuleOp> GraphTest::parse(const KernelCase &c) {
  std::string q = tensorType({c.batch, c.heads, c.queries, c.width}, c.element);
  std::string k = tensorType({c.batch, c.sharedHeads, c.keys, c.width}, c.element);
  std::string v = tensorType({c.batch, c.sharedHeads, c.keys, c.valueWidth}, c.element);
  std::string o = tensorType({c.batch, c.heads, c.queries, c.valueWidth}, c.element);
  std::string state = tensorType({c.batch, c.sharedHeads, c.width, c.valueWidth}, "f32");
  std::string sum = tensorType({c.batch, c.sharedHeads, c.width}, "f32");
  std::string lengths = tensorType({c.batch}, "i32");
  std::string arguments = "%q: " + q + ", %k: " + k + ", %v: " + v;
  std::string operands, results = o, values = "%o";
  if (c.lengths)
    arguments += ", %l: " + lengths, operands += " lengths(%l : " + lengths + ")";
  std::string parameter = tensorType(c.parameter, "f32"), slots = tensorType({1, c.slots, c.keys}, "f32");
  if (!c.parameter.empty())
    arguments += ", %w: " + parameter, operands += " parameter(%w : " + parameter + ")";
  if (c.slots)
    arguments += ", %e: " + slots, operands += " compress(%e, %e : " + slots + ", " + slots + ")";
  if (c.initial)
    arguments += ", %s0: " + state + ", %z0: " + sum, operands += " initial(%s0, %z0 : " + state + ", " + sum + ")";
  std::string decay = tensorType({c.parameter.empty() || c.parameter[0] == 1 ? c.sharedHeads : c.heads}, "f32");
  if (c.decay)
    arguments += ", %g: " + decay, operands += " decay(%g : " + decay + ")";
  std::string guard = c.divides ? "bias = " + real(c.bias) + ", floor = " + real(c.floor) : "none";
  std::string type = o;
  if (c.final)
    results += ", " + state + ", " + sum, values += ", %s, %z", type += ", final " + state + ", " + sum;
  std::string text = "func.func @attention(" + arguments + ") -> (" + results + ") {\n  " + values +
                     " = attn.kernel %q, %k, %v" + operands + " {" + (c.causal ? "causal, " : "") +
                     "denominator = #attn.denominator<" + guard + ">, feature_map = #attn.feature_map<" + c.map + ">" +
                     (c.window ? ", window = #attn.window<" + std::to_string(c.window) + ">" : "") + "} : " + q + ", " +
                     k + ", " + v + " -> " + type + "\n  return " + values + " : " + results + "\n}\n";
  return parse(text);
}

OwningOpRef<ModuleOp> GraphTest::parse(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module;
}

graph::SelectOptions GraphTest::options(std::vector<graph::Pin> pins) const {
  cost::DeviceDescription device =
      llvm::cantFail(cost::DeviceDescription::named(ATTUNE_SOURCE_DIR "/test/Graph/Inputs/products.yaml"));
  return {std::move(device), std::move(pins)};
}

std::string test::print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out);
  return text;
}

double test::difference(const reference::Array &a, const reference::Array &b) {
  double error = 0, norm = 0;
  for (auto [x, y] : llvm::zip_equal(a.elements(), b.elements()))
    error += (x - y) * (x - y), norm += y * y;
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}
