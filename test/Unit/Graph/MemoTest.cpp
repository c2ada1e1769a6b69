//===- MemoTest.cpp - Offers stand beside the ops; enumeration misses nothing -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Memo.h"
#include "GraphFixture.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;

using Plans = std::vector<SmallVector<unsigned>>;

/// All combinations, by recursion over the groups.
static void combine(ArrayRef<SmallVector<unsigned>> groups, SmallVector<unsigned> chosen, Plans &plans) {
  if (chosen.size() == groups.size())
    return plans.push_back(chosen);
  for (unsigned candidate : groups[chosen.size()]) {
    SmallVector<unsigned> next = chosen;
    next.push_back(candidate);
    combine(groups, next, plans);
  }
}

TEST(EnumeratePlans, AgreesWithRecursion) {
  const std::vector<std::vector<SmallVector<unsigned>>> graphs = {
      {}, {{4}}, {{0, 1, 2}}, {{0, 1}, {2}, {1, 0, 3}}, {{5, 4}, {3, 2}, {1, 0}, {7}}, {{0, 1}, {}}};
  for (const auto &groups : graphs) {
    Plans expected;
    combine(groups, {}, expected);
    Enumeration found = enumeratePlans(groups, 1000);
    EXPECT_EQ(found.plans, expected);
    EXPECT_TRUE(found.complete);
  }
}

TEST(EnumeratePlans, KeepsTheFirstCandidatesBeyondTheBound) {
  std::vector<SmallVector<unsigned>> groups = {{0, 1}, {0, 1, 2}, {2, 0}};
  EXPECT_TRUE(enumeratePlans(groups, 12).complete);
  Enumeration found = enumeratePlans(groups, 11);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.plans, (Plans{{0, 0, 2}, {0, 1, 2}, {0, 2, 2}, {1, 0, 2}, {1, 1, 2}, {1, 2, 2}}));
  EXPECT_EQ(enumeratePlans(groups, 1).plans, (Plans{{0, 0, 2}}));
}

namespace {
class MemoTest : public GraphTest {};
} // namespace

TEST_F(MemoTest, TheFunctionIsNotTouched) {
  OwningOpRef<ModuleOp> module = parse({.queries = 9, .keys = 9, .causal = true});
  std::string before = print(*module);
  auto laws = createLaws();
  Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
  ASSERT_EQ(memo.groups().size(), 2u); // and where the keys are mapped
  for (auto [index, alternative] : llvm::enumerate(memo.groups()[0].alternatives))
    if (alternative.feasible())
      memo.realize(index);
  EXPECT_EQ(print(*module), before);
}

TEST_F(MemoTest, APlanHasItsFormAndNothingElse) {
  OwningOpRef<ModuleOp> module = parse({.queries = 9, .keys = 9});
  auto laws = createLaws();
  Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
  ArrayRef<Alternative> alternatives = memo.groups()[0].alternatives;
  ASSERT_EQ(alternatives.size(), 7u);
  EXPECT_EQ(alternatives[4].form, "chunked");
  EXPECT_FALSE(alternatives[4].feasible());
  // Two maps, then contract, contract, row_sum | state, readout; normalize; return.
  for (auto [index, count] : {std::pair<unsigned, unsigned>{0, 7}, {1, 6}, {2, 6}, {3, 6}}) {
    OwningOpRef<func::FuncOp> plan = memo.realize(index);
    EXPECT_EQ(llvm::range_size(plan->getOps()), count);
    EXPECT_TRUE(plan->getOps<attn::KernelOp>().empty());
    EXPECT_TRUE(succeeded(plan->verify()));
  }
}

TEST_F(MemoTest, WhichFormsAStateAllows) {
  auto laws = createLaws();
  auto feasible = [&](const KernelCase &c) {
    OwningOpRef<ModuleOp> module = parse(c);
    Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
    std::string forms;
    for (const Alternative &alternative : memo.groups()[0].alternatives)
      forms += alternative.feasible() ? alternative.form.str() + " " : "";
    return forms;
  };
  EXPECT_EQ(feasible({}), "quadratic state fused_state merged_state ");
  EXPECT_EQ(feasible({.causal = true}), "quadratic chunked split ");
  EXPECT_EQ(feasible({.heads = 4, .sharedHeads = 2, .causal = true}), "quadratic chunked split grouped ");
  EXPECT_EQ(feasible({.final = true}), "state fused_state merged_state ");
  EXPECT_EQ(feasible({.causal = true, .final = true}), "chunked split ");
  EXPECT_EQ(feasible({.causal = true, .initial = true}), "chunked split ");
}
