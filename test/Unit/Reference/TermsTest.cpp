//===- TermsTest.cpp - Every mechanism against its decomposition ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random inputs through a mechanism and through its terms. Keys and values that do not exist are NaN: neither may read
// them.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "attune/Attn/Attn.h"
#include "attune/Reference/Tolerance.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>
#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// A function of one mechanism. The letter of an argument says what it holds: l key lengths, s signs, i and j indices
/// of leaves and nodes, others normal numbers.
struct Case {
  std::string op;
  std::string arguments; ///< "q 2x4x12x8, k 2x2x12x8, …"
  std::string operands;  ///< after q, k, v
  std::string attributes;
};

struct Operand {
  std::string name;
  SmallVector<int64_t> shape;

  bool isInteger() const { return llvm::is_contained({'l', 'i', 'j'}, name[0]); }
  std::string type() const {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + (isInteger() ? "i32>" : "f32>");
  }
};
} // namespace

constexpr int64_t leafWidth = 8, nodeWidth = 4; // of the sketches below

static std::vector<Operand> parseOperands(StringRef text) {
  std::vector<Operand> arguments;
  for (StringRef part : llvm::split(text, ", ")) {
    auto [name, sizes] = part.split(' ');
    Operand argument{name.str(), {}};
    for (StringRef size : llvm::split(sizes, 'x'))
      argument.shape.push_back(std::stoll(size.str()));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

/// The function as text; its output has the queries' sizes and the values' width.
static std::string textOf(const Case &c, ArrayRef<Operand> arguments) {
  SmallVector<int64_t> o(arguments[0].shape);
  o[3] = arguments[2].shape[3];
  std::string signature, types, output = Operand{"o", o}.type();
  for (const Operand &argument : arguments)
    signature += (signature.empty() ? "%" : ", %") + argument.name + ": " + argument.type();
  for (const Operand &argument : arguments.take_front(3))
    types += (types.empty() ? "" : ", ") + argument.type();
  return "func.func @f(" + signature + ") -> " + output + " {\n  %o = " + c.op + " %q, %k, %v " + c.operands + " {" +
         c.attributes + "} : " + types + " -> " + output + "\n  return %o : " + output + "\n}";
}

namespace {
struct Draw {
  std::mt19937_64 random{7};
  std::normal_distribution<double> normal{0.0, 0.7};

  double number(char kind, const Operand &keys) {
    auto below = [&](int64_t bound) {
      return static_cast<double>(std::uniform_int_distribution<int64_t>(0, bound - 1)(random));
    };
    switch (kind) {
    case 'l':
      return below(keys.shape[2] + 1);
    case 'i':
      return below(leafWidth);
    case 'j':
      return below(nodeWidth);
    case 's':
      return below(2) * 2 - 1;
    default:
      return normal(random);
    }
  }

  std::vector<Array> operator()(ArrayRef<Operand> arguments) {
    std::vector<Array> drawn;
    for (const Operand &argument : arguments) {
      Array &array = drawn.emplace_back(argument.shape);
      for (int64_t i = 0; i < array.count(); ++i)
        array.element(i) = number(argument.name[0], arguments[1]);
    }
    return drawn;
  }
};
} // namespace

/// What keys and values hold where no key exists must not matter.
static void poison(ArrayRef<Operand> arguments, std::vector<Array> &arrays) {
  const auto *lengths = llvm::find_if(arguments, [](const Operand &argument) { return argument.name == "l"; });
  if (lengths == arguments.end())
    return;
  const Array &length = arrays[lengths - arguments.begin()];
  for (const Array &tokens : {arrays[1], arrays[2]})
    for (int64_t b = 0; b < tokens.size(0); ++b)
      for (int64_t g = 0; g < tokens.size(1); ++g)
        for (auto j = static_cast<int64_t>(length({b})); j < tokens.size(2); ++j)
          for (int64_t c = 0; c < tokens.size(3); ++c)
            tokens({b, g, j, c}) = std::numeric_limits<double>::quiet_NaN();
}

/// Replaces the mechanism by its terms, of which none is a mechanism.
static void decompose(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (auto mechanism = dyn_cast<attn::MechanismOpInterface>(op)) {
      OpBuilder builder(&op);
      op.replaceAllUsesWith(mechanism.decompose(builder));
      op.erase();
    }
  for (Operation &op : function.getBody().front().without_terminator()) {
    EXPECT_FALSE(isa<attn::MechanismOpInterface>(op)) << op.getName().getStringRef().str();
    EXPECT_EQ(op.getName().getDialectNamespace(), "attn");
  }
}

static void check(const Case &c, std::optional<std::vector<int64_t>> rows) {
  std::vector<Operand> arguments = parseOperands(c.arguments);
  std::string text = textOf(c, arguments);
  Program whole(text), terms(text);
  ASSERT_TRUE(whole.parsed() && terms.parsed()) << whole.messages << text;
  decompose(terms.host());
  ASSERT_TRUE(succeeded(verify(terms.host()))) << terms.messages << text;
  std::vector<Array> arrays = Draw()(arguments);
  poison(arguments, arrays);
  EvalAttnOptions options{Precision::Ideal, std::move(rows)};
  std::vector<Array> expected = whole.runAttn(arrays, options), got = terms.runAttn(arrays, options);
  ASSERT_EQ(expected.size(), 1u) << whole.messages << text;
  ASSERT_EQ(got.size(), 1u) << terms.messages << text;
  ASSERT_EQ(got[0].shape(), expected[0].shape()) << text;
  for (double value : expected[0].elements())
    ASSERT_TRUE(std::isfinite(value)) << text;
  EXPECT_LE(relativeError(got[0].elements(), expected[0].elements()), 1e-12) << text;
}

static void check(const Case &c) {
  check(c, std::nullopt);
  check(c, {{7, 2}});
}

//===----------------------------------------------------------------------===//
// The cases: 4 query heads on 2 key-value heads, d = 8, dv = 3
//===----------------------------------------------------------------------===//

static const std::string self = "q 2x4x12x8, k 2x2x12x8, v 2x2x12x3", cross = "q 2x4x12x8, k 2x2x18x8, v 2x2x18x3";
static const std::string lengths = "lengths(%l : tensor<2xi32>) ";
static const std::string plain = "denominator = #attn.denominator<bias = 0.0, floor = 0.0>, ",
                         guarded = "denominator = #attn.denominator<bias = 0.25, floor = 0.5>, ";
static const std::string windows[] = {"window = #attn.window<4>, ", "window = #attn.window<2x3 of 4x3>, "};

static Case withLengths(Case c) {
  c.arguments += ", l 2";
  c.operands = lengths + c.operands;
  return c;
}

static std::vector<Case> softmaxCases() {
  std::string scale = "scale = 0.7 : f64";
  std::vector<Case> cases{{"attn.softmax", cross, "", scale}, {"attn.softmax", cross, "", "causal, " + scale}};
  for (const std::string &window : windows)
    for (const char *causal : {"", "causal, "})
      cases.push_back({"attn.softmax", self, "", window + causal + scale});
  return cases;
}

static Case kernelCase(const std::string &map, const std::string &parameter, const std::string &attributes,
                       const std::string &inputs = self) {
  Case c{"attn.kernel", inputs, "", attributes + "feature_map = #attn.feature_map<" + map + ">"};
  if (parameter.empty())
    return c;
  Operand argument = parseOperands(parameter).front();
  c.arguments += ", " + parameter;
  c.operands = "parameter(%" + argument.name + " : " + argument.type() + ")";
  return c;
}

static std::vector<Case> kernelCases() {
  std::vector<Case> cases;
  for (auto [map, parameter] : std::initializer_list<std::pair<std::string, std::string>>{
           {"elu1", ""},
           {"relu", ""},
           {"cosformer, max_position = 20", ""},
           {"softmax", ""},
           {"tensor_square", ""},
           {"symmetric_square", ""},
           {"focused, epsilon = 1.0e-6, power = 3.0", "f 4x8"},
           {"favor, features = 16, epsilon = 0.0, scale = 0.5, stabilizer = constant", "w 1x16x8"},
           {"favor, features = 16, epsilon = 1.0e-3, scale = 0.5, stabilizer = constant", "w 4x16x8"},
           {"favor, features = 16, epsilon = 1.0e-3, scale = 0.5, stabilizer = none", "w 4x16x8"},
           {"favor_relu, features = 16, epsilon = 1.0e-3, scale = 0.0", "w 1x16x8"},
           {"favor_relu, features = 16, epsilon = 1.0e-3, scale = 0.5", "w 4x16x8"}})
    for (const std::string &guard : {plain, guarded}) {
      cases.push_back(kernelCase(map, parameter, guard, cross));
      cases.push_back(kernelCase(map, parameter, guard + "causal, "));
      cases.push_back(kernelCase(map, parameter, guard + windows[0]));
      cases.push_back(kernelCase(map, parameter, guard + windows[1] + "causal, "));
    }
  return cases;
}

/// Decays of the heads of φ(K), and sums that nothing divides.
static std::vector<Case> decayCases() {
  std::vector<Case> cases;
  std::string undivided = "denominator = #attn.denominator<none>, ";
  for (auto [map, parameter, heads] : std::initializer_list<std::tuple<std::string, std::string, std::string>>{
           {"identity, scale = 0.5", "", "2"},
           {"elu1", "", "2"},
           {"focused, epsilon = 1.0e-6, power = 3.0", "f 4x8", "4"},
           {"favor_relu, features = 16, epsilon = 1.0e-3, scale = 0.0", "w 1x16x8", "2"}})
    for (const std::string &guard : {plain, guarded, undivided}) {
      cases.push_back(kernelCase(map, parameter, guard + "causal, "));
      Case c = kernelCase(map, parameter, guard + "causal, ");
      c.arguments += ", g " + heads;
      c.operands += " decay(%g : tensor<" + heads + "xf32>)";
      cases.push_back(c);
    }
  cases.push_back(kernelCase("favor, features = 16, epsilon = 0.0, scale = 0.5, stabilizer = none", "w 4x16x8", undivided + "causal, "));
  return cases;
}

/// Stabilizers that are maxima over the keys: as part of the function, and where they cancel.
static std::vector<Case> maximumCases() {
  std::vector<Case> cases;
  for (const char *stabilizer : {"max", "projection"})
    for (const char *parameter : {"w 1x16x8", "w 4x16x8"})
      for (const char *epsilon : {"0.0", "1.0e-2"})
        for (const std::string &guard : {plain, guarded})
          for (const std::string &window : {std::string(), windows[1]}) {
            std::string map =
                "favor, features = 16, epsilon = " + std::string(epsilon) + ", scale = 0.5, stabilizer = " + stabilizer;
            cases.push_back(kernelCase(map, parameter, guard + window));
            if (StringRef(epsilon) == "0.0" && guard == plain)
              cases.push_back(kernelCase(map, parameter, guard + window + "causal, "));
          }
  return cases;
}

static std::vector<Case> compressCases() {
  std::vector<Case> cases;
  for (const char *e : {"e 1x5x18", "e 2x5x18"})
    for (const char *parameter : {"", "w 1x16x8", "w 4x16x8"}) {
      std::string map = *parameter ? "favor, features = 16, epsilon = 1.0e-3, scale = 0.5, stabilizer = none" : "elu1";
      Case c = kernelCase(map, parameter, plain, cross);
      std::string type = parseOperands(e).front().type();
      c.arguments += std::string(", ") + e + ", f 2x5x18";
      c.operands += "compress(%e, %f : " + type + ", tensor<2x5x18xf32>)";
      cases.push_back(c);
    }
  return cases;
}

static std::vector<Case> powerCases() {
  std::vector<Case> cases;
  std::string sketch = self + ", s0 4x8, s1 4x8, s2 4x4, s3 4x4, i0 4x4, i1 4x4, j0 4x4, j1 4x4";
  std::string operands =
      "signs(%s0, %s1, %s2, %s3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) "
      "indices(%i0, %i1, %j0, %j1 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>)";
  for (const std::string &guard : {plain, guarded}) {
    cases.push_back({"attn.polynomial", cross, "", guard + "causal, degree = 4 : i64, scale = 0.5 : f64"});
    cases.push_back({"attn.polynomial", cross, "", guard + "degree = 2 : i64, scale = 1.0 : f64"});
    for (const std::string &window : windows)
      cases.push_back({"attn.polynomial", self, "", guard + window + "degree = 6 : i64, scale = 0.5 : f64"});
    for (const char *mask : {"", "causal, ", "causal, local_exact = 3 : i64, "})
      cases.push_back(
          {"attn.polysketch", sketch, operands, guard + mask + "degree = 4 : i64, scale = 0.5 : f64, size = 4 : i64"});
  }
  return cases;
}

static std::vector<Case> blockedCases() {
  std::vector<Case> cases{{"attn.effatt", cross, "", ""},
                          {"attn.agent", cross, "", "agents = 4 : i64, scale = 0.5 : f64"}};
  for (const char *more : {"", "mass, ", "exclude_local, "})
    for (const char *blocks :
         {"chunk = 3 : i64, ", "chunk = 3 : i64, local = 6 : i64, ", "chunk = 6 : i64, local = 3 : i64, ",
          "chunk = 4 : i64, local = 6 : i64, ", "causal, chunk = 2 : i64, local = 6 : i64, "})
      cases.push_back({"attn.eva", self, "", std::string(more) + blocks + "mu_weight = 0.5 : f64, scale = 0.5 : f64"});
  cases.push_back({"attn.eva", cross, "",
                   "chunk = 3 : i64, local = 9 : i64, exclude_local, mass, mu_weight = 1.0 : f64, scale = 0.5 : f64"});
  return cases;
}

static std::vector<std::vector<Case>> allCases() {
  return {softmaxCases(), kernelCases(), decayCases(), maximumCases(), compressCases(), powerCases(), blockedCases()};
}

TEST(TermsTest, MechanismsMeanTheirTerms) {
  for (const std::vector<Case> &family : allCases())
    for (const Case &c : family) {
      check(c);
      check(withLengths(c));
    }
}

TEST(TermsTest, NoMechanismIsLeftOut) {
  std::set<std::string> compared;
  for (const std::vector<Case> &family : allCases())
    for (const Case &c : family)
      compared.insert(c.op);
  Program program("func.func @f() { return }");
  ASSERT_TRUE(program.parsed());
  int mechanisms = 0;
  for (RegisteredOperationName name : program.host()->getContext()->getRegisteredOperations())
    if (name.hasInterface<attn::MechanismOpInterface>()) {
      ++mechanisms;
      EXPECT_TRUE(compared.count(name.getStringRef().str())) << name.getStringRef().str();
    }
  EXPECT_EQ(mechanisms, 7);
}
