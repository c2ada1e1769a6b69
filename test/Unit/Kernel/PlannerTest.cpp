//===- PlannerTest.cpp - Graphs of terms that are no known mechanism -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions written by hand, with several results and terms in combinations that no mechanism has. Their kernels are run by
// the interpreter of tile, and compared with the interpreter of attn; both are in their ideal mode, so that nothing but rounding of
// float64 is between them.
//
//===----------------------------------------------------------------------===//
#include "Drawn.h"

#include "attune/Attn/Attn.h"
#include "attune/Kernel/Passes.h"
#include "attune/Reference/EvalAttn.h"
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
struct Sizes {
  int64_t queries, keys;
};

class Planner : public ::testing::Test {
protected:
  Planner() { context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>(); }

  /// Compares the results of @f. In the text, !q, !k … are types of 4 and 2 heads (typesOf); a `?` that is not the batch counts
  /// queries in arguments whose name begins with q, else keys.
  void check(const std::string &text, Sizes sizes);
  void check(const std::string &text);
  /// The names of the kernels that are launched, in their order.
  std::vector<std::string> launchesOf(const std::string &text);

  OwningOpRef<ModuleOp> parse(const std::string &text);
  LogicalResult lower(ModuleOp module);

  MLIRContext context;
  std::mt19937_64 random{11};
};
} // namespace

/// Types of 4 query heads, 2 heads of keys, 6 features and width, 5 values.
static const char *typesOf = R"(
!q = tensor<?x4x?x6xf32>
!k = tensor<?x2x?x6xf32>
!v = tensor<?x2x?x5xf32>
!o = tensor<?x4x?x5xf32>
!w = tensor<?x4x?x?xf32>
!den = tensor<?x4x?xf32>
!S = tensor<?x2x6x5xf32>
!z = tensor<?x2x6xf32>
!l = tensor<?xi32>
#elu1 = #attn.feature_map<elu1>
#favor = #attn.feature_map<favor, features = 6, epsilon = 0.0, scale = 0.4, stabilizer = constant>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#some = #attn.denominator<bias = 1.0e-6, floor = 0.0>
)";

OwningOpRef<ModuleOp> Planner::parse(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(typesOf + text, &context);
  EXPECT_TRUE(module) << text;
  if (module)
    module->lookupSymbol<func::FuncOp>("f")->setAttr(
        "tile.schedule", parseAttribute("#tile.schedule<target = cpu, query_tile = 8, key_tile = 8, piece = 16, operand = f32, "
                                        "warps = 1, stages = 1, parts = 2>", &context));
  return module;
}

LogicalResult Planner::lower(ModuleOp module) {
  PassManager manager(&context);
  manager.addPass(kernel::createAttnToTile());
  manager.addPass(kernel::createTileSplitReduction());
  return manager.run(module);
}

std::vector<std::string> Planner::launchesOf(const std::string &text) {
  OwningOpRef<ModuleOp> module = parse(text);
  std::vector<std::string> names;
  if (!module || failed(lower(*module)))
    return names;
  for (auto launch : module->lookupSymbol<func::FuncOp>("f").getOps<tile::LaunchOp>())
    names.push_back(launch.getCallee().str());
  return names;
}

void Planner::check(const std::string &text, Sizes sizes) {
  SCOPED_TRACE(text + " n=" + std::to_string(sizes.queries) + " N=" + std::to_string(sizes.keys));
  OwningOpRef<ModuleOp> module = parse(text);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("f");
  constexpr int64_t batch = 2;
  std::vector<reference::Array> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name");
    auto type = cast<RankedTensorType>(argument.getType());
    std::vector<int64_t> shape;
    for (auto [dimension, size] : llvm::enumerate(type.getShape()))
      shape.push_back(!ShapedType::isDynamic(size)            ? size
                      : dimension == 0                        ? batch
                      : name && name.getValue().starts_with("q") ? sizes.queries
                                                              : sizes.keys);
    bool lengths = type.getElementType().isInteger(32);
    inputs.push_back(lengths ? reference::Array(shape) : drawNormal(random, shape));
    for (int64_t i = 0; lengths && i < batch; ++i)
      inputs.back()({i}) = i == 0 ? sizes.keys / 2 : sizes.keys;
  }
  FailureOr<std::vector<reference::Array>> expected = reference::evalAttn(function, inputs);
  ASSERT_TRUE(succeeded(expected));
  ASSERT_TRUE(succeeded(lower(*module)));
  std::vector<reference::Argument> arguments(inputs.begin(), inputs.end());
  std::vector<reference::Array> found;
  for (const reference::Array &result : *expected) // what is not written shows
    found.emplace_back(std::vector<int64_t>(result.shape().begin(), result.shape().end()), NAN);
  arguments.insert(arguments.end(), found.begin(), found.end());
  ASSERT_TRUE(succeeded(reference::evalTile(module->lookupSymbol<func::FuncOp>("f"), arguments)));
  for (size_t result = 0; result < found.size(); ++result)
    for (int64_t i = 0; i < found[result].bufferCount(); ++i) {
      double actual = found[result].element(i), wanted = (*expected)[result].element(i);
      ASSERT_TRUE(actual == wanted || std::abs(actual - wanted) <= 1e-10 * (1 + std::abs(wanted)))
          << "result " << result << " entry " << i << ": " << actual << ", expected " << wanted;
    }
}

/// Around the tile of 8 and the piece of 16.
void Planner::check(const std::string &text) {
  bool equal = StringRef(text).contains("causal");
  for (auto [queries, keys] : {Sizes{1, 1}, Sizes{8, 16}, Sizes{9, 7}, Sizes{19, 35}})
    check(text, {equal ? keys : queries, keys});
}

//===----------------------------------------------------------------------===//
// Pieces of text
//===----------------------------------------------------------------------===//

static const std::string qkv = "%q: !q {attn.name = \"q\"}, %k: !k {attn.name = \"k\"}, %v: !v {attn.name = \"v\"}";
static const std::string maps = R"(
  %a = attn.map %q {feature_map = #elu1} : !q -> !q
  %b = attn.map %k {feature_map = #elu1, keys} : !k -> !k
)";
static const std::string weights = R"(
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !q, !k -> !w
)";
static const std::string sums = R"(
  %num = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !v -> !o
  %den = attn.row_sum %w : !w -> !den
)";

static std::string function(const std::string &arguments, const std::string &results, const std::string &body) {
  return "func.func @f(" + arguments + ") -> (" + results + ") {\n" + body + "}\n";
}

//===----------------------------------------------------------------------===//
// One reduction, several results
//===----------------------------------------------------------------------===//

TEST_F(Planner, SumsOfWeightsWithoutQuotient) {
  check(function(qkv, "!o", maps + weights + sums + "return %num : !o\n"));
  std::string masked = R"(
  %w0 = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !q, !k -> !w
  %w = attn.visible %w0 {causal} : !w
)";
  check(function(qkv, "!o", maps + masked + sums + "return %num : !o\n"));
}

TEST_F(Planner, QuotientAndItsSums) {
  std::string text = function(qkv, "!den, !o, !o", maps + weights + sums +
                                                       "%o = attn.normalize %num, %den {guard = #some} : !o, !den -> !o\n"
                                                       "return %den, %o, %num : !den, !o, !o\n");
  check(text);
  EXPECT_EQ(launchesOf(text), std::vector<std::string>{"f_quadratic"});
}

TEST_F(Planner, OneSetOfWeightsForTwoValues) {
  std::string text = function(qkv + ", %u: !v {attn.name = \"v2\"}", "!o, !o", maps + weights + sums + R"(
  %num2 = attn.contract %w[batch, head, query, key], %u[batch, head, key, value] -> [batch, head, query, value] : !w, !v -> !o
  %o = attn.normalize %num, %den {guard = #some} : !o, !den -> !o
  %o2 = attn.normalize %num2, %den {guard = #some} : !o, !den -> !o
  return %o, %o2 : !o, !o
)");
  check(text);
  EXPECT_EQ(launchesOf(text), std::vector<std::string>{"f_quadratic"});
}

TEST_F(Planner, SumsUnderDifferentMasks) {
  check(function(qkv + ", %l: !l {attn.name = \"key_lengths\"}", "!o", maps + R"(
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !q, !k -> !w
  %c = attn.visible %w {causal} : !w
  %x = attn.visible %w lengths(%l : !l) : !w
  %num = attn.contract %c[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !v -> !o
  %den = attn.row_sum %x : !w -> !den
  %o = attn.normalize %num, %den {guard = #some} : !o, !den -> !o
  return %o : !o
)"));
}

TEST_F(Planner, LseComesFirst) {
  check(function(qkv, "!den, !o", R"(
  %o, %lse = attn.softmax %q, %k, %v {scale = 0.3 : f64} : !q, !k, !v -> !o, lse !den
  return %lse, %o : !den, !o
)"));
}

TEST_F(Planner, TwoAttentions) {
  check(function(qkv + ", %l: !l {attn.name = \"key_lengths\"}", "!o, !o", R"(
  %o = attn.softmax %q, %k, %v {scale = 0.3 : f64} : !q, !k, !v -> !o
  %p = attn.softmax %q, %k, %v lengths(%l : !l) {scale = 0.7 : f64} : !q, !k, !v -> !o
  return %o, %p : !o, !o
)"));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static const std::string state = "%S, %z = attn.state %b, %v : !k, !v -> !S, !z\n";

TEST_F(Planner, StateBesideQuadraticAttention) {
  std::string text = function(qkv, "!S, !o, !z", maps + weights + sums + state + R"(
  %o = attn.normalize %num, %den {guard = #none} : !o, !den -> !o
  return %S, %o, %z : !S, !o, !z
)");
  check(text);
  EXPECT_EQ(launchesOf(text), (std::vector<std::string>{"f_state", "f_merge", "f_2_quadratic"}));
}

TEST_F(Planner, StateAlone) { check(function("%k: !k {attn.name = \"k\"}, %v: !v {attn.name = \"v\"}", "!S", R"(
  %b = attn.map %k {feature_map = #elu1, keys} : !k -> !k
)" + state + "return %S : !S\n")); }

/// Two sets of queries of one state.
static std::string twoReadouts(const std::string &maps, const std::string &more, const std::string &execution = "") {
  return function(qkv + ", %r: !q {attn.name = \"q2\"}, %omega: tensor<1x6x6xf32> {attn.name = \"omega\"}",
                  more.empty() ? "!o, !o" : "!o, !o, !S", maps + state + R"(
  %num, %den = attn.readout %a, %S, %z )" + execution + R"(: !q, !S, !z -> !o, !den
  %num2, %den2 = attn.readout %c, %S, %z : !q, !S, !z -> !o, !den
  %o = attn.normalize %num, %den {guard = #none} : !o, !den -> !o
  %o2 = attn.normalize %num2, %den2 {guard = #none} : !o, !den -> !o
  return %o, %o2)" + more + (more.empty() ? " : !o, !o\n" : " : !o, !o, !S\n"));
}

static std::string mapsOf(const std::string &map) {
  std::string by = "parameter(%omega : tensor<1x6x6xf32>) {feature_map = " + map;
  return "%a = attn.map %q " + by + "} : !q -> !q\n%c = attn.map %r " + by + "} : !q -> !q\n%b = attn.map %k " + by + ", keys} : !k -> !k\n";
}

TEST_F(Planner, TwoOutputsOfOneState) {
  std::string features = mapsOf("#attn.feature_map<favor_relu, features = 6, epsilon = 1.0e-3, scale = 0.4>");
  check(twoReadouts(features, ""));
  EXPECT_EQ(launchesOf(twoReadouts(features, "")), (std::vector<std::string>{"f_state", "f_merge", "f_readout", "f_2_readout"}));
  // A reader that would have the state in its own kernel finds the one that the other needs.
  check(twoReadouts(features, "", "{execution = #attn.execution<values = fused>}"));
  EXPECT_EQ(launchesOf(twoReadouts(features, "", "{execution = #attn.execution<values = fused>}")),
            (std::vector<std::string>{"f_state", "f_merge", "f_readout", "f_2_readout"}));
}

TEST_F(Planner, OneStateInUnits) {
  check(twoReadouts(mapsOf("#favor"), ""));
  // As a result it is one of plain features.
  check(twoReadouts(mapsOf("#favor"), ", %S"));
}

TEST_F(Planner, StateOfAnArgument) {
  std::string text = function("%q: !q {attn.name = \"q\"}, %S: !S {attn.name = \"s\"}, %z: !z {attn.name = \"z\"}", "!o", R"(
  %a = attn.map %q {feature_map = #elu1} : !q -> !q
  %num, %den = attn.readout %a, %S, %z : !q, !S, !z -> !o, !den
  %o = attn.normalize %num, %den {guard = #some} : !o, !den -> !o
  return %o : !o
)");
  check(text);
  EXPECT_EQ(launchesOf(text), std::vector<std::string>{"f_readout"});
}

TEST_F(Planner, SumsOfChunks) {
  std::string lengths = ", %l: !l {attn.name = \"key_lengths\"}";
  for (const std::string &execution : {"", "{execution = #attn.execution<grouped = true>}", "{execution = #attn.execution<split = true>}"})
    check(function(qkv + lengths, "!o, !den, !z", maps + R"(
  %num, %den, %S, %z = attn.causal_readout %a, %b, %v lengths(%l : !l) )" + execution + R"( : !q, !k, !v -> !o, !den, !S, !z
  return %num, %den, %z : !o, !den, !z
)"));
}

//===----------------------------------------------------------------------===//
// What a backward pass is made of
//===----------------------------------------------------------------------===//

// u = A S, S = Bᵀ V without a mask: Ā = ū Sᵀ, S̄ = Aᵀ ū, B̄ = V S̄ᵀ, V̄ = B S̄.
TEST_F(Planner, CotangentsOfState) {
  std::string text = R"(
!a = tensor<?x2x?x6xf32>
!u = tensor<?x2x?x5xf32>
func.func @f(%a: !a {attn.name = "q"}, %b: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %du: !u {attn.name = "q_u"})
    -> (!a {attn.name = "da"}, !k {attn.name = "db"}, !v {attn.name = "dv"}) {
  %S, %z = attn.state %b, %v : !k, !v -> !S, !z
  %da = attn.contract %du[batch, head, query, value], %S[batch, head, feature, value] -> [batch, head, query, feature] : !u, !S -> !a
  %dS, %dz = attn.state %a, %du : !a, !u -> !S, !z
  %db = attn.contract %v[batch, head, key, value], %dS[batch, head, feature, value] -> [batch, head, key, feature] : !v, !S -> !k
  %dv = attn.contract %b[batch, head, key, feature], %dS[batch, head, feature, value] -> [batch, head, key, value] : !k, !S -> !v
  return %da, %db, %dv : !a, !k, !v
}
)";
  check(text);
  // Each state is made once, though two read that of the cotangents. A product with a state alone has rows of tokens as its result,
  // no sums of weights beside it, so it is no readout.
  EXPECT_EQ(launchesOf(text), (std::vector<std::string>{"f_state", "f_merge", "f_tokens", "f_2_state", "f_2_merge", "f_2_tokens",
                                                        "f_3_tokens"}));
}

// u_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ v_j, and its cotangents by three more causal readouts: of (ū, V) by B and, on tokens in reversed order,
// of (V, ū) by A and of (B, A) by ū.
TEST_F(Planner, CotangentsOfCausalReadout) {
  std::string text = R"(
!a = tensor<?x2x?x6xf32>
!u = tensor<?x2x?x5xf32>
!d = tensor<?x2x?xf32>
!T = tensor<?x2x5x6xf32>
!y = tensor<?x2x5xf32>
func.func @f(%a: !a {attn.name = "q"}, %b: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %du: !u {attn.name = "u"},
             %ra: !a {attn.name = "reversed_q"}, %rb: !k {attn.name = "reversed_k"}, %rv: !v {attn.name = "reversed_v"},
             %rdu: !u {attn.name = "reversed_u"})
    -> (!u {attn.name = "o"}, !a {attn.name = "da"}, !k {attn.name = "db"}, !v {attn.name = "dv"}) {
  %u, %9, %10, %11 = attn.causal_readout %a, %b, %v : !a, !k, !v -> !u, !d, !S, !z
  %da, %0, %1, %2 = attn.causal_readout %du, %v, %b : !u, !v, !k -> !a, !d, !T, !y
  %db, %3, %4, %5 = attn.causal_readout %rv, %rdu, %ra : !v, !u, !a -> !k, !d, !T, !y
  %dv, %6, %7, %8 = attn.causal_readout %rb, %ra, %rdu : !k, !a, !u -> !v, !d, !S, !z
  return %u, %da, %db, %dv : !u, !a, !k, !v
}
)";
  check(text);
  EXPECT_EQ(launchesOf(text), (std::vector<std::string>{"f_chunked", "f_2_chunked", "f_3_chunked", "f_4_chunked"}));
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

TEST_F(Planner, TokensAreResults) {
  check(function("%q: !q {attn.name = \"q\"}, %k: !k {attn.name = \"k\"}", "!q, !q", R"(
  %n = attn.qk_norm %q {epsilon = 1.0e-5 : f64} : !q -> !q
  %r = attn.rope %n aligned(%k : !k) {base = 1.0e4 : f64} : !q -> !q
  %a = attn.map %r {feature_map = #elu1} : !q -> !q
  return %r, %a : !q, !q
)"));
}

TEST_F(Planner, AttentionOfAttention) {
  std::string text = function("%q: !q {attn.name = \"q\"}, %k: !k {attn.name = \"k\"}, %x: !q {attn.name = \"k2\"}", "!q, !q", R"(
  %a = attn.map %x {feature_map = #elu1} : !q -> !q
  %b = attn.map %k {feature_map = #elu1, keys} : !k -> !k
  %T, %y = attn.state %b, %k : !k, !k -> tensor<?x2x6x6xf32>, !z
  %num, %den = attn.readout %a, %T, %y : !q, tensor<?x2x6x6xf32>, !z -> !q, !den
  %p = attn.normalize %num, %den {guard = #none} : !q, !den -> !q
  %o = attn.softmax %q, %p, %p {scale = 0.3 : f64} : !q, !q, !q -> !q
  return %o, %p : !q, !q
)");
  check(text);
  EXPECT_EQ(launchesOf(text), (std::vector<std::string>{"f_2_state", "f_2_merge", "f_2_readout", "f_softmax"}));
}
