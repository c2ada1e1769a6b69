//===- attune-equal.cpp - Both sides of an identity, by the interpreter ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attune-equal FILE.mlir [--rounds=N] [--tolerance=1e-10]
//
// Functions @f and @f__other are sides of one identity: they are evaluated in ideal mode on the same random arguments and
// must agree. @f__not_other is one that breaks the condition: it must differ, or the condition says too much. Every side is
// taken after the canonical laws too, and in every combination of forms that the laws offer; a function without another side
// must have forms.
//
// An unknown size is drawn: the first of a tensor is the batch (1 … 3), others are tokens (1 … 9), the same everywhere.
// Arguments are normal. `{attn.draw = "signs"}` makes them ±1, "ones" 1, "positive" not negative, "below 8" integers from 0 to
// 7; a vector of i32 is of key lengths.
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/CanonicalLaws.h"
#include "attune/Graph/Memo.h"
#include "attune/InitAll.h"
#include "attune/Reference/EvalAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace attune;
using reference::Array;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required, cl::desc("FILE.mlir"));
static cl::opt<int> rounds("rounds", cl::desc("Draws of sizes and arguments"), cl::init(20));
static cl::opt<double> tolerance("tolerance", cl::desc("Relative difference of equal sides"), cl::init(1e-10));

/// What sides that must not be equal differ by at least, in one of the rounds.
static constexpr double visible = 1e-3;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
struct Drawing {
  std::mt19937_64 random;
  int64_t batch, tokens;

  explicit Drawing(int round) : random(round) { batch = below(3) + 1, tokens = below(9) + 1; }
  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(random); }

  double entry(StringRef how) {
    double normal = std::normal_distribution<double>()(random);
    int64_t bound;
    if (how == "ones")
      return 1;
    if (how == "signs")
      return normal > 0 ? 1 : -1;
    if (how.consume_front("below ") && !how.getAsInteger(10, bound) && bound > 0)
      return static_cast<double>(below(bound));
    return how == "positive" ? std::abs(normal) : normal;
  }

  Array argument(func::FuncOp function, unsigned number) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[number]);
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dimension, size] : llvm::enumerate(shape))
      if (ShapedType::isDynamic(size))
        size = dimension == 0 ? batch : tokens;
    auto how = function.getArgAttrOfType<StringAttr>(number, "attn.draw");
    bool lengths = !how && type.getElementType().isInteger(32);
    Array array(shape);
    for (int64_t i = 0; i < array.count(); ++i)
      array.element(i) = lengths ? static_cast<double>(below(tokens + 1)) : entry(how ? how.getValue() : "");
    return array;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Sides
//===----------------------------------------------------------------------===//

namespace {
/// A function to evaluate: as it is written, or in forms of the laws.
struct Side {
  std::string name;
  OwningOpRef<func::FuncOp> function;
  bool equal = true;
};
} // namespace

static std::string textOf(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream);
  return text;
}

static std::vector<Side> sidesOf(func::FuncOp function) {
  std::vector<Side> sides;
  std::string name = function.getName().str();
  bool equal = !function.getName().contains("__not_");
  sides.push_back({name, function.clone(), equal});
  Side canonical{name + ", canonical", function.clone(), equal};
  std::string before = textOf(*canonical.function);
  graph::applyCanonicalLaws(*canonical.function);
  if (textOf(*canonical.function) != before)
    sides.push_back(std::move(canonical));
  auto laws = graph::createLaws();
  graph::Memo memo(function, laws);
  for (const SmallVector<unsigned> &choice : graph::enumeratePlans(memo.groups(), memo.feasible(), 64).plans) {
    std::string forms;
    for (auto [group, index] : llvm::zip_equal(memo.groups(), choice))
      forms += ", " + group.alternatives[index].form.str();
    if (!forms.empty())
      sides.push_back({name + forms, memo.realize(choice), equal});
  }
  return sides;
}

/// ‖a − b‖ / ‖b‖ over all results; ‖a‖ where b is 0.
static double difference(ArrayRef<Array> a, ArrayRef<Array> b) {
  double error = 0, norm = 0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    if (x.count() != y.count())
      return HUGE_VAL;
    for (auto [left, right] : llvm::zip_equal(x.elements(), y.elements()))
      error += (left - right) * (left - right), norm += right * right;
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// Every side against the first one; the status.
static int compare(std::vector<Side> &sides) {
  std::vector<double> largest(sides.size(), 0.0);
  func::FuncOp first = *sides.front().function;
  for (int round = 0; round < rounds; ++round) {
    Drawing drawing(round);
    std::vector<Array> arguments;
    for (unsigned i = 0; i < first.getNumArguments(); ++i)
      arguments.push_back(drawing.argument(first, i));
    FailureOr<std::vector<Array>> expected = reference::evalAttn(first, arguments);
    if (failed(expected))
      return 1;
    for (auto [side, error] : llvm::zip_equal(sides, largest)) {
      FailureOr<std::vector<Array>> found = reference::evalAttn(*side.function, arguments);
      if (failed(found))
        return 1;
      double here = found->size() == expected->size() ? difference(*found, *expected) : HUGE_VAL;
      error = here > error || std::isnan(here) ? here : error;
    }
  }
  int status = 0;
  for (auto [side, error] : llvm::zip_equal(sides, largest)) {
    llvm::outs() << side.name << (side.equal ? " equals " : " differs from ") << sides.front().name << ": "
                 << llvm::format("%.1e", error) << "\n";
    if (side.equal ? !(error <= tolerance) : !(error > visible))
      status = fail("expected @" + side.name + (side.equal ? " to equal @" : " to differ from @") + sides.front().name);
  }
  return status;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Both sides of identities, by the interpreter of the attn dialect\n");
  DialectRegistry registry;
  attune::registerAllDialects(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return 2;
  llvm::MapVector<StringRef, std::vector<Side>> families;
  for (auto function : module->getOps<func::FuncOp>()) {
    std::vector<Side> &family = families[function.getName().split("__").first];
    for (Side &side : sidesOf(function))
      family.push_back(std::move(side));
  }
  int status = families.empty() ? fail("expected functions, but got none") : 0;
  for (auto &[name, sides] : families) {
    if (sides.size() == 1)
      status = fail("expected another side of @" + name + " or a form of it, but got none");
    status |= compare(sides);
  }
  return status;
}
