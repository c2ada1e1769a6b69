//===- WorkTest.cpp - Counts of kernels beside what prices take for them --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of every kernel of every plan of the examples, at a length that tiles divide and at one that they do not:
// multiply-adds, exponentials and bytes by the IR, and by lib/Cost/*Work.cpp. Where they differ is what
// docs/Rationale/Counts.md explains; with ATTUNE_SHOW_COUNTS=1 this prints the table, and how much IR was read.
//
//===----------------------------------------------------------------------===//
#include "ExamplePlans.h"
#include "ExecutedCounts.h"

#include "attune/Kernel/Passes.h"
#include "attune/Tile/Together.h"

#include "llvm/Support/Format.h"

#include <set>

using namespace mlir;
using namespace attune;
using namespace attune::test;
using tile::Counted;

namespace {
/// Of one kind of kernel, one kind of count, whether tiles divide the length.
struct Compared {
  int kernels = 0, differ = 0;
  double least = INFINITY, most = 0; ///< of the IR's count over the price's, where they differ
  std::set<std::string> examples;
  std::string first; ///< the two counts of the first kernel that differs
};
using Table = std::map<std::string, Compared>;
} // namespace

namespace {
/// A launch, or several that run together, by the names that prices have for their kernels.
struct CountedLaunch {
  std::string kernel;
  tile::OpCount count;
};
} // namespace

/// The kernel's name without that of its host function, and without the number of those that have one name.
static StringRef nameOf(tile::LaunchOp launch, func::FuncOp host) {
  StringRef name = launch.getCallee();
  name.consume_front(host.getName());
  name.consume_front("_");
  if (name.ends_with("_sketch")) // prices have one name for those of queries and of keys
    return "sketch";
  size_t digits = name.find_first_not_of("0123456789");
  return digits > 0 ? name.substr(digits + 1) : name;
}

static std::vector<CountedLaunch> countsOfLaunches(func::FuncOp host, const RunSizes &sizes) {
  std::vector<CountedLaunch> counts;
  for (auto launch : host.getOps<tile::LaunchOp>()) {
    auto compiled = cost::KernelCounts::compile(launch);
    EXPECT_TRUE(succeeded(compiled));
    SmallVector<int64_t> inputs;
    for (const cost::SizeInput &input : compiled->inputs())
      inputs.push_back(sizeOf(host, input.argument, input.dimension, sizes));
    bool together = tile::runsWithThePrevious(launch);
    if (!together)
      counts.emplace_back();
    counts.back().kernel += (together ? " + " : "") + nameOf(launch, host).str();
    counts.back().count.add(compiled->evaluate(inputs).count);
  }
  return counts;
}

static void compare(Table &table, const std::string &what, const std::string &example, double counted, double priced) {
  Compared &compared = table[what];
  ++compared.kernels;
  if (std::fabs(counted - priced) <= 1e-9 * priced)
    return;
  if (++compared.differ == 1)
    compared.first = std::to_string(counted) + " for " + std::to_string(priced) + " in " + example;
  compared.least = std::min(compared.least, counted / priced);
  compared.most = std::max(compared.most, counted / priced);
  compared.examples.insert(example);
}

static void compareKernel(Table &table, const std::string &example, const std::string &kernel,
                          const cost::WorkEstimate &work, const tile::OpCount &count) {
  compare(table, kernel + " macs", example, count.macs(), work.products);
  compare(table, kernel + " exponentials", example, count[Counted::Exponentials], work.exps);
  compare(table, kernel + " bytes", example, count.bytes(), work.nearBytes);
}

static void comparePlan(Table &table, const std::string &example, LoweredPlan &plan, const graph::Metric &metric,
                        const RunSizes &sizes) {
  for (auto host : plan.module->getOps<func::FuncOp>()) {
    if (host->hasAttr(kernel::prepareAttr) || !takes(host, sizes))
      continue;
    auto priced = metric.kernels(plan.priced, {sizes.batch, sizes.queries, sizes.keys});
    std::vector<CountedLaunch> launches = countsOfLaunches(host, sizes);
    EXPECT_EQ(launches.size(), priced.size()) << example;
    // Kernels of one name together: parts of a mixture are launched in another order than they are priced in.
    std::map<std::string, std::pair<tile::OpCount, cost::WorkEstimate>> byName;
    for (const CountedLaunch &launch : launches)
      byName[launch.kernel].first.add(launch.count);
    for (const graph::PricedKernel &kernel : priced)
      byName[kernel.kernel.kernel].second += kernel.kernel.work;
    for (const auto &[name, both] : byName)
      compareKernel(table, example, name, both.second, both.first);
  }
}

/// Whether a kernel projects what it reads or writes, of which formulas know only what is needed.
static bool projects(const cost::AttentionShape &shape) {
  return shape.queryModel || shape.keyModel || shape.valueModel || shape.outputModel;
}

static void print(const Table &table) {
  for (const auto &[what, compared] : table) {
    llvm::outs() << what << ": " << compared.differ << " of " << compared.kernels;
    if (compared.differ)
      llvm::outs() << llvm::format(", %.4f to %.4f,", compared.least, compared.most);
    for (const std::string &example : compared.examples)
      llvm::outs() << ' ' << example;
    if (compared.differ)
      llvm::outs() << ", " << compared.first;
    llvm::outs() << '\n';
  }
}

/// What a walk of all plans reads: kernels, those that differ in more than their names, and their lines and
/// instructions.
static void printSizes(MLIRContext &context, const std::string &example, const cost::DeviceDescription &device) {
  size_t kernels = 0, lines = 0, instructions = 0;
  std::set<std::string> distinct;
  size_t plans = forEachPlan(context, example, device, SIZE_MAX, [&](LoweredPlan &plan) {
    plan.module->walk([&](tile::LaunchOp launch) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(launch, launch.getCalleeAttr());
      OwningOpRef<tile::KernelOp> nameless = kernel.clone();
      nameless->setSymName("kernel");
      std::string text;
      llvm::raw_string_ostream(text) << *nameless.get().getOperation();
      ++kernels;
      if (!distinct.insert(text).second)
        return;
      lines += llvm::count(text, '\n') + 1;
      auto compiled = cost::KernelCounts::compile(launch);
      instructions += succeeded(compiled) ? compiled->size() : 0;
    });
  });
  llvm::outs() << example << ": " << plans << " plans, " << kernels << " kernels, " << distinct.size()
               << " distinct of " << lines << " lines, " << instructions << " instructions\n";
}

/// What differs; docs/Rationale/Counts.md says why, line by line.
static std::set<std::string> explained() {
  std::set<std::string> all;
  for (const char *kernel :
       {"chunked", "edges", "features", "fused_state", "merged_state", "mix", "quadratic", "sketch", "state"})
    all.insert(kernel + std::string(" macs"));
  for (const char *kernel :
       {"chunked", "edges", "merge", "merged_state", "mix", "polysketch", "quadratic", "readout", "state",
        "summaries"})
    all.insert(kernel + std::string(" exponentials"));
  for (const char *kernel :
       {"chunked",    "edges",      "features", "fused_state", "key_maximum",    "merge",         "merged_state",
        "mix",        "pieces",     "polynomial", "polysketch", "project",       "project_output", "project_slots",
        "quadratic",  "readout",    "sketch",   "softmax",     "state"})
    all.insert(kernel + std::string(" bytes"));
  return all;
}

TEST(CountsAndWork, OfTheExamples) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  graph::Metric metric(device);
  std::set<std::string> differ;
  int equal = 0;
  for (RunSizes sizes : {RunSizes{1, 4096, 4096}, RunSizes{2, 4200, 4200}}) {
    Table table;
    for (const std::string &example : exampleNames())
      forEachPlan(*context, example, device, 64,
                  [&](LoweredPlan &plan) {
                    if (llvm::none_of(plan.priced.attentions, projects))
                      comparePlan(table, example, plan, metric, sizes);
                  });
    if (getenv("ATTUNE_SHOW_COUNTS")) {
      llvm::outs() << "n = N = " << sizes.queries << "\n";
      print(table);
    }
    for (const auto &[what, compared] : table)
      compared.differ ? void(differ.insert(what)) : void(++equal);
  }
  if (getenv("ATTUNE_SHOW_COUNTS"))
    for (const std::string &example : exampleNames())
      printSizes(*context, example, device);
  EXPECT_EQ(differ, explained());
  EXPECT_GT(equal, 40);
}
