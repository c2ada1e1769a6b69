//===- PlanBench.cpp - Plans of a spec, timed beside one another ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Are the prices right? Every plan is compiled, whatever its price, and the plans run in turn in one process, round after
// round, so that a change of the clock or a busy neighbour meets all of them alike. Short plans run several times in a
// row, so that what is timed is longer than what a clock can tell; before each timing a plan runs once to find its tensors
// where it would find them itself.
//
// One thread is timed by the process's processor time, which other programs do not add to; several by the wall clock. They
// are held on processors of their own, since the scheduler of a busy machine leaves two of them on one; and a time in which
// one had to wait for its processor is taken again.
//
//===----------------------------------------------------------------------===//
#include "PlanBench.h"
#include "DrawnLibrary.h"
#include "PricedSpec.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <sched.h>

using namespace attune;
using namespace attune::attnc;

static double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// The folders of this process's threads.
static std::vector<std::string> threadFolders() {
  std::vector<std::string> folders;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator task("/proc/self/task", code), end; !code && task != end; task.increment(code))
    folders.push_back(task->path());
  llvm::sort(folders);
  return folders;
}

/// Holds this thread on one processor, and those of each library, which follow it in the order of their numbers, on others.
static void holdThreads(size_t threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &allowed))
      processors.push_back(processor);
  for (auto [index, folder] : llvm::enumerate(threadFolders())) {
    cpu_set_t one;
    CPU_ZERO(&one);
    size_t place = index == 0 ? 0 : 1 + (index - 1) % (threads - 1);
    CPU_SET(processors[place % processors.size()], &one);
    pid_t thread = 0;
    if (!llvm::sys::path::filename(folder).getAsInteger(10, thread))
      (void)sched_setaffinity(thread, sizeof(one), &one);
  }
}

/// Seconds for which threads of this process, ready to run, have waited for a processor; 0 where the system does not tell.
static double waitedSeconds() {
  double sum = 0;
  for (const std::string &folder : threadFolders()) {
    auto text = llvm::MemoryBuffer::getFile(folder + "/schedstat", /*IsText=*/true);
    llvm::SmallVector<llvm::StringRef> fields; // nanoseconds on a processor, waiting for one; turns
    if (text)
      (*text)->getBuffer().split(fields, ' ');
    int64_t waited = 0;
    if (fields.size() > 1 && !fields[1].getAsInteger(10, waited))
      sum += 1e-9 * static_cast<double>(waited);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// The plans in the order of `--plan`, without times.
static llvm::Expected<PlanTable> pricedPlans(const Spec &spec, const Arguments &arguments) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, arguments.specs.front(), "cpu", status);
  mlir::FailureOr<graph::Selection> selection = mlir::failure();
  if (compilation)
    selection = selectFor(*compilation, arguments, /*explaining=*/false);
  if (failed(selection) || selection->functions.empty())
    return llvm::createStringError("the spec has no plans");
  const graph::FunctionSelection &function = selection->functions.front();
  PlanTable table{spec.name, function.priced, {}};
  table.plans.push_back({function.takenForms, function.seconds, {}});
  // A pin leaves plans that could not be taken among the rejected ones.
  if (spec.pin.empty())
    for (const graph::RejectedPlan &plan : function.rejected)
      if (static_cast<int64_t>(table.plans.size()) < arguments.plans)
        table.plans.push_back({plan.forms, plan.seconds, {}});
  return table;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {
/// A compiled plan, and how often it runs in a row.
struct Runner {
  DrawnLibrary plan;
  int repeats = 1;
  std::vector<double> *times = nullptr; ///< where they are collected
};
} // namespace

static constexpr double leastSeconds = 2e-3; // of one timing
static constexpr double wantedSeconds = 0.6; // of all rounds
static constexpr double mostSeconds = 8;     // after which three rounds have to do
static constexpr double mostWaiting = 0.02;  // of the time of several threads

static llvm::Expected<Runner> makeRunner(const Spec &spec, Arguments arguments, int64_t place) {
  arguments.plan = place;
  llvm::Expected<DrawnLibrary> plan = DrawnLibrary::make(spec, arguments);
  if (!plan)
    return plan.takeError();
  Runner runner{std::move(*plan), 1, nullptr};
  for (int warm = 0; warm < 2; ++warm)
    if (llvm::Error error = runner.plan.run())
      return std::move(error);
  runner.repeats = static_cast<int>(std::clamp(leastSeconds / runner.plan.library.seconds.back(), 1.0, 1000.0));
  return runner;
}

/// Seconds of one run, and for how much of them threads had to wait.
static llvm::Expected<std::pair<double, double>> tryOnce(Runner &runner, bool oneThread) {
  bool isShort = runner.repeats > 1;
  if (isShort)
    if (llvm::Error error = runner.plan.run())
      return std::move(error);
  auto now = oneThread ? processorSeconds : wallSeconds;
  double waited = waitedSeconds(), start = now();
  for (int repeat = 0; repeat < runner.repeats; ++repeat)
    if (llvm::Error error = runner.plan.run())
      return std::move(error);
  double seconds = (now() - start) / runner.repeats;
  waited = (waitedSeconds() - waited) / runner.repeats;
  runner.plan.library.seconds.clear();
  return std::pair(seconds, waited);
}

/// Of several threads the first time in which they had processors, or of some tries the one with the least waiting.
static llvm::Expected<double> timeOnce(Runner &runner, bool oneThread) {
  std::pair<double, double> best(0, INFINITY);
  for (int attempt = 0; attempt < (oneThread ? 1 : 8) && best.second > mostWaiting * best.first; ++attempt) {
    auto next = tryOnce(runner, oneThread);
    if (!next)
      return next.takeError();
    if (next->second < best.second)
      best = *next;
  }
  return best.first;
}

/// Compiles every plan of a table.
static llvm::Error addRunners(const Spec &spec, PlanTable &table, const Arguments &arguments,
                              std::vector<Runner> &runners) {
  for (auto [place, plan] : llvm::enumerate(table.plans)) {
    llvm::Expected<Runner> runner = makeRunner(spec, arguments, static_cast<int64_t>(place));
    if (!runner)
      return runner.takeError();
    runner->times = &plan.seconds;
    runners.push_back(std::move(*runner));
  }
  return llvm::Error::success();
}

static llvm::Error timeAll(std::vector<Runner> &runners, bool oneThread) {
  double start = wallSeconds();
  for (int round = 0; round < 100; ++round) {
    double passed = wallSeconds() - start;
    if ((round >= 5 && passed > wantedSeconds) || (round >= 3 && passed > mostSeconds))
      break;
    for (Runner &runner : runners) {
      llvm::Expected<double> seconds = timeOnce(runner, oneThread);
      if (!seconds)
        return seconds.takeError();
      runner.times->push_back(*seconds);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<PlanTable>> attune::attnc::timePlans(llvm::ArrayRef<Spec> specs,
                                                                const Arguments &arguments) {
  std::vector<PlanTable> tables;
  for (auto [spec, path] : llvm::zip_equal(specs, arguments.specs)) {
    llvm::Expected<PlanTable> table = pricedPlans(spec, forSpec(arguments, path));
    if (!table)
      return table.takeError();
    tables.push_back(std::move(*table));
  }
  std::vector<Runner> runners; // they point into the tables, which stay as they are from here on
  for (auto [spec, path, table] : llvm::zip_equal(specs, arguments.specs, tables))
    if (llvm::Error error = addRunners(spec, table, forSpec(arguments, path), runners))
      return std::move(error);
  if (arguments.threads > 1)
    holdThreads(static_cast<size_t>(arguments.threads));
  if (llvm::Error error = timeAll(runners, arguments.threads == 1))
    return std::move(error);
  return tables;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

void attune::attnc::printPlans(const PlanTable &table, llvm::raw_ostream &out) {
  out << table.name << ": " << table.plans.size() << " of " << table.priced << " plans, ms\n"
      << "  predicted      median       least  plan\n";
  for (const TimedPlan &plan : table.plans) {
    Spread time(plan.seconds);
    out << llvm::format("%11.4f%12.4f%12.4f  %s\n", plan.predicted * 1e3, time.median * 1e3, time.least * 1e3,
                        plan.forms.empty() ? "the only form" : plan.forms.c_str());
  }
}

llvm::json::Object attune::attnc::plansAsJson(const PlanTable &table) {
  llvm::json::Array plans;
  for (const TimedPlan &plan : table.plans) {
    Spread time(plan.seconds);
    plans.push_back(llvm::json::Object{{"forms", plan.forms},
                                       {"predicted_seconds", plan.predicted},
                                       {"median_seconds", time.median},
                                       {"least_seconds", time.least},
                                       {"rounds", static_cast<int64_t>(plan.seconds.size())}});
  }
  return llvm::json::Object{{"spec", table.name}, {"priced", table.priced}, {"plans", std::move(plans)}};
}
