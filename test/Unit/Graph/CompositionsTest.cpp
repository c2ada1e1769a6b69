//===- CompositionsTest.cpp - Selection against laws applied one after another -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   apply(ops, laws):
//     ask every law for its forms of every op, and take one of each
//     put them in the place of the ops, then mark what is there
//     apply(what a law has put there, the laws that said nothing of the op)          a law that builds may open others
//
//   every sequence of such choices is replayed on a copy of the function, without a memo; what is equal comes once
//
// Selection must have the same plans, no more and no fewer, and take the cheapest.
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"
#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;

namespace {
using Laws = std::vector<const RewriteLaw *>;

/// Answers to the questions that a replay asks, the later ones 0 until they have been counted up.
class Answers {
public:
  unsigned next(unsigned forms) {
    if (asked == answers.size())
      answers.push_back({0, forms});
    return answers[asked++].first;
  }
  /// Counts up; false behind the last combination.
  bool advance() {
    asked = 0;
    while (!answers.empty() && ++answers.back().first == answers.back().second)
      answers.pop_back();
    return !answers.empty();
  }

private:
  std::vector<std::pair<unsigned, unsigned>> answers; ///< and of how many
  size_t asked = 0;
};

/// One form of a law for one op.
struct Taken {
  Operation *op;
  const RewriteLaw *law;
  StringRef form;
  bool isFirst;
};

/// A copy of a function in which laws are applied.
class Replay {
public:
  Replay(func::FuncOp function, Answers &answers) : answers(answers), plan(function.clone()) {}

  /// Null where a mark is of an op that is gone, and another one would do.
  OwningOpRef<func::FuncOp> run(const Laws &laws) {
    apply(llvm::map_to_vector(plan->getOps(), [](Operation &op) { return &op; }), laws);
    for (Block &block : plan->getBody())
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    std::set<Operation *> left;
    for (Operation &op : plan->getOps())
      left.insert(&op);
    for (const Taken &mark : marks)
      if (!mark.isFirst && (!left.count(mark.op) || !mark.law->isComputed(mark.op)))
        return {};
    return std::move(plan);
  }

private:
  std::vector<Taken> ask(ArrayRef<Operation *> ops, const Laws &laws) {
    std::vector<Taken> taken;
    for (Operation *op : ops)
      for (const RewriteLaw *law : laws) {
        if (!law->appliesTo(op))
          continue;
        SmallVector<StringRef> forms = law->formNames();
        llvm::erase_if(forms, [&](StringRef form) { return !law->refusal(op, form).empty(); });
        unsigned answer = answers.next(forms.size());
        taken.push_back({op, law, forms[answer], answer == 0});
      }
    return taken;
  }

  void apply(ArrayRef<Operation *> ops, const Laws &laws) {
    std::vector<Taken> taken = ask(ops, laws);
    std::map<Operation *, Operation *> standsFor;
    std::vector<std::pair<Operation *, SmallVector<Operation *>>> made;
    for (const Taken &each : taken) {
      if (each.law->marks())
        continue;
      Operation *end = each.op->getPrevNode();
      OpBuilder builder(each.op);
      SmallVector<Value> values = each.law->build(builder, each.op, each.form);
      each.op->replaceAllUsesWith(values);
      standsFor[each.op] = values.front().getDefiningOp();
      made.push_back({each.op, {}});
      for (Operation *op = each.op->getPrevNode(); op != end; op = op->getPrevNode())
        made.back().second.insert(made.back().second.begin(), op);
    }
    for (Taken &each : taken)
      if (each.law->marks()) {
        each.op = standsFor.count(each.op) ? standsFor[each.op] : each.op;
        each.law->mark(each.op, each.form);
        marks.push_back(each);
      }
    for (const auto &[op, parts] : made) {
      Laws others;
      for (const RewriteLaw *law : laws)
        if (!law->appliesTo(op))
          others.push_back(law);
      apply(parts, others);
    }
  }

  Answers &answers;
  OwningOpRef<func::FuncOp> plan;
  std::vector<Taken> marks;
};

class CompositionsTest : public GraphTest {
protected:
  void SetUp() override { loadDialectsOfKernels(context); }
  /// Returns how many plans there are.
  size_t compare(const std::string &text);

  std::vector<std::unique_ptr<RewriteLaw>> laws = createLaws();
};
} // namespace

/// All compositions, as text.
static std::map<std::string, OwningOpRef<func::FuncOp>> compositions(func::FuncOp function,
                                                                     ArrayRef<std::unique_ptr<RewriteLaw>> laws) {
  Laws all;
  for (const auto &law : laws)
    all.push_back(law.get());
  std::map<std::string, OwningOpRef<func::FuncOp>> plans;
  Answers answers;
  do {
    OwningOpRef<func::FuncOp> plan = Replay(function, answers).run(all);
    if (plan) {
      std::string text = print(*plan);
      plans.try_emplace(std::move(text), std::move(plan));
    }
  } while (answers.advance());
  return plans;
}

static std::set<std::string> plansOfMemo(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws) {
  Memo memo(function, laws);
  std::set<std::string> texts;
  SmallVector<SmallVector<unsigned>> feasible = memo.feasible();
  for (const SmallVector<unsigned> &choice : enumeratePlans(memo.groups(), feasible, 4096).plans) {
    llvm::SmallBitVector computed;
    OwningOpRef<func::FuncOp> plan = memo.realize(choice, &computed);
    bool isPlan = true;
    for (size_t group = 0; group < choice.size(); ++group)
      isPlan &= computed[group] || choice[group] == feasible[group].front();
    if (isPlan)
      texts.insert(print(*plan));
  }
  return texts;
}

size_t CompositionsTest::compare(const std::string &text) {
  OwningOpRef<ModuleOp> module = parse(text);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  auto plans = compositions(function, laws);
  std::set<std::string> texts;
  for (const auto &[plan, ir] : plans)
    texts.insert(plan);
  EXPECT_EQ(plansOfMemo(function, laws), texts);
  for (auto [device, threads] : {std::pair("x86-64-avx512", 2), std::pair("x86-64-avx2", 16), std::pair("h100-sxm", 0)}) {
    SelectOptions options{llvm::cantFail(cost::DeviceDescription::named(device)), {}};
    options.device.runOn(threads);
    double least = INFINITY;
    for (const auto &[plan, ir] : plans) {
      Metric metric(options.device); // of its own, so that no plan has kernels of another one
      llvm::Expected<PricedPlan> priced = metric.partition(*ir);
      if (priced)
        least = std::min(least, metric.price(*priced, {}).seconds);
      else
        llvm::consumeError(priced.takeError());
    }
    OwningOpRef<ModuleOp> copy = parse(text);
    FailureOr<Selection> selection = selectRewrites(*copy, options);
    EXPECT_TRUE(succeeded(selection)) << device;
    if (succeeded(selection))
      EXPECT_NEAR(selection->functions[0].seconds, least, 1e-9 * least) << device;
  }
  return plans.size();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// `%name = attn.kernel` of elu1, causal.
static std::string kernelOp(const std::string &name, const std::string &types) {
  return "  %" + name + " = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, "
         "feature_map = #attn.feature_map<elu1>} : " + types + "\n";
}

/// Quadratic, chunked, split, grouped, and grouped with its chunks in parts; each with the keys mapped in the load or alone.
TEST_F(CompositionsTest, HeadsOfGroups) {
  for (int64_t n : {40, 1024}) {
    std::string q = "tensor<1x7x" + std::to_string(n) + "x64xf32>", k = "tensor<1x1x" + std::to_string(n) + "x64xf32>";
    EXPECT_EQ(compare("func.func @groups(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q + " {\n" +
                      kernelOp("o", q + ", " + k + ", " + k + " -> " + q) + "  return %o : " + q + "\n}\n"),
              5u * 2);
  }
}

/// The same behind projections of q and k, each alone or in its readers.
TEST_F(CompositionsTest, ProjectedHeadsOfGroups) {
  std::string q = "tensor<1x4x200x16xf32>", k = "tensor<1x2x200x16xf32>", x = "tensor<1x200x64xf32>";
  EXPECT_EQ(compare("func.func @layer(%x: " + x + ", %wq: tensor<64x64xf32> {attn.parameter}, %wk: tensor<64x32xf32> "
                    "{attn.parameter}, %v: " + k + ") -> " + q + " {\n"
                    "  %q = attn.project %x, %wq : " + x + ", tensor<64x64xf32> -> " + q + "\n"
                    "  %k = attn.project %x, %wk : " + x + ", tensor<64x32xf32> -> " + k + "\n" +
                    kernelOp("o", q + ", " + k + ", " + k + " -> " + q) + "  return %o : " + q + "\n}\n"),
            5u * 2 * 2 * 2);
}

/// Beside exact attention, whose keys are in order or split as well; the parts in launches of their own or in common ones.
TEST_F(CompositionsTest, GroupsBesideSoftmax) {
  std::string q = "tensor<1x4x64x16xf32>", k = "tensor<1x2x64x16xf32>", o = "tensor<1x8x64x16xf32>";
  EXPECT_EQ(compare("func.func @mixture(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + o + " {\n" +
                    kernelOp("a", q + ", " + k + ", " + k + " -> " + q) +
                    "  %b = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : " + q + ", " + k + ", " + k + " -> " + q +
                    "\n  %o = attn.concat_heads %a, %b : " + q + ", " + q + " -> " + o + "\n  return %o : " + o + "\n}\n"),
            5u * 2 * 2 * 2);
}

/// Heads that are none of a group: nothing is composed.
TEST_F(CompositionsTest, HeadsOfTheirOwn) {
  std::string q = "tensor<1x2x64x16xf32>";
  EXPECT_EQ(compare("func.func @heads(%q: " + q + ", %k: " + q + ", %v: " + q + ") -> " + q + " {\n" +
                    kernelOp("o", q + ", " + q + ", " + q + " -> " + q) + "  return %o : " + q + "\n}\n"),
            3u * 2);
}
