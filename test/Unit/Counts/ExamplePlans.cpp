//===- ExamplePlans.cpp - The kernels of every plan of an example ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExamplePlans.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/Memo.h"
#include "attune/Laws/RewriteLaw.h"
#include "attune/Kernel/Passes.h"
#include "attune/Support/SourceFile.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <filesystem>

using namespace mlir;
using namespace attune;
using namespace attune::test;

static const std::filesystem::path examples = std::filesystem::path(ATTUNE_SOURCE_DIR) / "examples";

std::vector<std::string> test::exampleNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(examples))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().stem().string());
  llvm::sort(names);
  return names;
}

/// A spec's text with sizes that only a run knows.
static std::string withOpenSizes(llvm::StringRef text) {
  std::string open;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    bool isSize = line.starts_with("batch:") || line.starts_with("queries:") || line.starts_with("keys:");
    open += (isSize ? line.split(':').first + ": '?'" : line).str() + "\n";
  }
  return open;
}

/// The example, at any sizes where it can be: windows of images, and weights for each token, have sizes of their own.
static OwningOpRef<ModuleOp> attnOf(MLIRContext &context, const std::string &example) {
  llvm::Expected<SourceFile> file = SourceFile::read((examples / (example + ".yaml")).string(), 1 << 20);
  EXPECT_TRUE(bool(file));
  Spec open, fixed;
  Diagnostics notOpen, diagnostics;
  if (parseSpec(SourceFile("open.yaml", withOpenSizes(file->text())), open, notOpen) == SpecStatus::Good)
    return specToAttn(open, example, context);
  EXPECT_EQ(parseSpec(*file, fixed, diagnostics), SpecStatus::Good);
  return specToAttn(fixed, example, context);
}

/// The plans that compute what their choice is about, and that the device can run.
static std::vector<std::pair<OwningOpRef<func::FuncOp>, graph::PricedPlan>> plansOf(func::FuncOp function,
                                                                                    graph::Metric &metric) {
  std::vector<std::pair<OwningOpRef<func::FuncOp>, graph::PricedPlan>> plans;
  auto laws = graph::createLaws();
  graph::Memo memo(function, laws);
  for (const SmallVector<unsigned> &choice : graph::enumeratePlans(memo.groups(), memo.feasible(), 1024).plans) {
    llvm::SmallBitVector computed;
    OwningOpRef<func::FuncOp> plan = memo.realize(choice, &computed);
    bool isPlan = static_cast<bool>(plan);
    for (size_t group = 0; isPlan && group < choice.size(); ++group)
      isPlan &= computed[group] || choice[group] == memo.feasible()[group].front();
    if (!isPlan)
      continue;
    llvm::Expected<graph::PricedPlan> priced = metric.partition(*plan);
    if (priced)
      plans.push_back({std::move(plan), std::move(*priced)});
    else
      llvm::consumeError(priced.takeError());
  }
  return plans;
}

static LoweredPlan lower(OwningOpRef<func::FuncOp> plan, graph::PricedPlan priced) {
  OwningOpRef<func::FuncOp> attention(plan->clone());
  OwningOpRef<ModuleOp> module = ModuleOp::create(plan->getLoc());
  plan.get()->setAttr("tile.schedule", priced.schedule);
  module->push_back(plan.release());
  PassManager manager(module->getContext());
  kernel::buildTilePipeline(manager, priced.schedule.getTarget());
  EXPECT_TRUE(succeeded(manager.run(*module)));
  return {std::move(module), std::move(priced), std::move(attention)};
}

size_t test::forEachPlan(MLIRContext &context, const std::string &example, const cost::DeviceDescription &device,
                         size_t limit, const std::function<void(LoweredPlan &)> &visit) {
  OwningOpRef<ModuleOp> module = attnOf(context, example);
  graph::Metric metric(device);
  auto plans = plansOf(*module->getOps<func::FuncOp>().begin(), metric);
  size_t count = std::min(limit, plans.size());
  for (size_t i = 0; i < count; ++i) {
    auto &[plan, priced] = plans[i * plans.size() / count];
    LoweredPlan lowered = lower(std::move(plan), std::move(priced));
    visit(lowered);
  }
  return plans.size();
}
