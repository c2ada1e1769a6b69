//===- MemoTest.cpp - Offers stand beside the ops; enumeration misses nothing -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Memo.h"
#include "GraphFixture.h"
#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;

using Plans = std::vector<SmallVector<unsigned>>;

/// All combinations, by recursion over the groups. A group of what a form is made of has one choice without that form.
static void combine(ArrayRef<EqualForms> groups, ArrayRef<SmallVector<unsigned>> candidates, SmallVector<unsigned> chosen,
                    Plans &plans) {
  size_t place = chosen.size();
  if (place == groups.size())
    return plans.push_back(chosen);
  bool isMade = true;
  for (std::optional<Origin> origin = groups[place].origin; origin; origin = groups[origin->group].origin)
    isMade &= chosen[origin->group] == origin->alternative;
  for (unsigned candidate : candidates[place]) {
    if (!isMade && candidate != candidates[place].front())
      continue;
    SmallVector<unsigned> next = chosen;
    next.push_back(candidate);
    combine(groups, candidates, next, plans);
  }
}

/// Groups of ops that a function has.
static std::vector<EqualForms> groupsOf(const std::vector<SmallVector<unsigned>> &candidates) {
  return std::vector<EqualForms>(candidates.size());
}

TEST(EnumeratePlans, AgreesWithRecursion) {
  const std::vector<std::vector<SmallVector<unsigned>>> graphs = {
      {}, {{4}}, {{0, 1, 2}}, {{0, 1}, {2}, {1, 0, 3}}, {{5, 4}, {3, 2}, {1, 0}, {7}}, {{0, 1}, {}}};
  for (const auto &candidates : graphs) {
    std::vector<EqualForms> groups = groupsOf(candidates);
    Plans expected;
    if (llvm::none_of(candidates, [](const auto &each) { return each.empty(); }))
      combine(groups, candidates, {}, expected);
    Enumeration found = enumeratePlans(groups, candidates, 1000);
    EXPECT_EQ(found.plans, expected);
    EXPECT_TRUE(found.complete);
  }
}

/// What is made for one form, and what is made of that, has no choice in the plans of others.
TEST(EnumeratePlans, AgreesWithRecursionOnFormsOfForms) {
  std::vector<SmallVector<unsigned>> candidates = {{0, 1, 2}, {0, 1}, {0, 1}, {0, 2}, {3, 0, 1}};
  std::vector<EqualForms> groups = groupsOf(candidates);
  groups[2].origin = Origin{0, 2}, groups[3].origin = Origin{2, 0}, groups[4].origin = Origin{1, 1};
  Plans expected;
  combine(groups, candidates, {}, expected);
  ASSERT_EQ(expected.size(), (2u + 1 + 2) * (1 + 3)); // of form 2 one plan without what group 3 is made for, and two with it
  Enumeration found = enumeratePlans(groups, candidates, 20);
  EXPECT_EQ(found.plans, expected);
  EXPECT_TRUE(found.complete);
  EXPECT_FALSE(enumeratePlans(groups, candidates, 19).complete);
}

TEST(EnumeratePlans, KeepsTheFirstCandidatesBeyondTheBound) {
  std::vector<SmallVector<unsigned>> groups = {{0, 1}, {0, 1, 2}, {2, 0}};
  std::vector<EqualForms> ofFunction = groupsOf(groups);
  EXPECT_TRUE(enumeratePlans(ofFunction, groups, 12).complete);
  Enumeration found = enumeratePlans(ofFunction, groups, 11);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.plans, (Plans{{0, 0, 2}, {0, 1, 2}, {0, 2, 2}, {1, 0, 2}, {1, 1, 2}, {1, 2, 2}}));
  EXPECT_EQ(enumeratePlans(ofFunction, groups, 1).plans, (Plans{{0, 0, 2}}));
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

/// What a law makes is offered to the laws that have not spoken of the op that it is made of.
TEST_F(MemoTest, FormsOfForms) {
  OwningOpRef<ModuleOp> module = parse({.heads = 4, .sharedHeads = 2, .queries = 9, .keys = 9, .causal = true});
  auto laws = createLaws();
  Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
  ASSERT_EQ(memo.groups().size(), 3u); // the attention, its maps, and the chunks of groups
  const EqualForms &chunks = memo.groups()[2];
  ASSERT_TRUE(chunks.origin);
  EXPECT_EQ(memo.groups()[chunks.origin->group].alternatives[chunks.origin->alternative].form, "grouped");
  EXPECT_TRUE(isa<attn::CausalReadoutOp>(chunks.op));
  EXPECT_EQ(chunks.attention, 0);
  ASSERT_EQ(chunks.alternatives.size(), 2u);
  EXPECT_EQ(chunks.alternatives[1].form, "split");
  auto execution = [&](unsigned form, unsigned keys, bool isComputed) {
    llvm::SmallBitVector computed;
    OwningOpRef<func::FuncOp> plan = memo.realize({form, 0, keys}, &computed);
    EXPECT_TRUE(succeeded(plan->verify()));
    EXPECT_EQ(computed[2], isComputed);
    auto readouts = plan->getOps<attn::CausalReadoutOp>();
    return readouts.empty() ? attn::Execution() : attn::executionOf(*readouts.begin());
  };
  attn::Execution both = execution(6, 1, true), grouped = execution(6, 0, true), chunked = execution(4, 1, false);
  EXPECT_TRUE(both.grouped && both.split);
  EXPECT_TRUE(grouped.grouped && !grouped.split);
  EXPECT_FALSE(chunked.grouped || chunked.split);
}
