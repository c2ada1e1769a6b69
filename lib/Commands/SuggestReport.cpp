//===- SuggestReport.cpp - What attnc suggest found, as text and JSON -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SuggestReport.h"

#include "attune/Frontend/WriteSpec.h"
#include "attune/Graph/PrintNumbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attune;
using namespace attune::attnc;
using graph::printSeconds;

static bool isMeasured(const SuggestReport &report) { return report.target == "cpu"; }

double attune::attnc::secondsOf(const SuggestReport &report, const Suggestion &suggestion) {
  return isMeasured(report) ? suggestion.seconds : suggestion.predicted;
}

static double exactOf(const SuggestReport &report) {
  return isMeasured(report) ? report.exactSeconds : report.exactPredicted;
}

void attune::attnc::judge(SuggestReport &report) {
  auto time = [&](const Suggestion &each) { return secondsOf(report, each); };
  llvm::stable_sort(report.tried, [&](const Suggestion &a, const Suggestion &b) { return time(a) < time(b); });
  double closest = std::numeric_limits<double>::infinity();
  report.chosen.reset();
  for (auto [index, each] : llvm::enumerate(report.tried)) {
    each.onFront = each.error < closest && time(each) < exactOf(report);
    closest = std::min(closest, each.error);
    if (!report.chosen && each.onFront && each.error <= report.maxError)
      report.chosen = index;
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Three digits, whatever the size.
static std::string digits(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", number);
  return text;
}

/// Beside exact softmax, with two decimals.
static std::string timesAsFast(const SuggestReport &report, const Suggestion &each) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f", exactOf(report) / secondsOf(report, each));
  return text;
}

/// Whether the clock can be trusted: of one library's runs the slowest took no more than twice the fastest's time.
static bool isQuiet(const SuggestReport &report) { return !isMeasured(report) || report.unrest <= 2; }

static void printStay(const SuggestReport &report, llvm::raw_ostream &os) {
  os << "Stay with exact softmax (" << printSeconds(exactOf(report)) << "): of " << report.tried.size()
     << " others none is faster and within an error of " << digits(report.maxError) << ".\n";
  for (const Suggestion &each : llvm::reverse(report.tried))
    if (each.onFront) {
      os << "  The closest that is faster: " << each.label << ", error " << digits(each.error) << ", "
         << timesAsFast(report, each) << " times as fast.\n";
      return;
    }
}

static void printTake(const SuggestReport &report, const Suggestion &best, llvm::raw_ostream &os) {
  os << "Take " << best.label << ": error " << digits(best.error) << ", " << printSeconds(secondsOf(report, best)) << ", "
     << timesAsFast(report, best) << " times as fast as exact softmax (" << printSeconds(exactOf(report)) << ").\n";
  if (!best.spec.hasParts)
    os << "  mechanism: " << writeMechanism(best.spec.parts.front().mechanism) << "\n";
  for (const Part &part : best.spec.hasParts ? llvm::ArrayRef(best.spec.parts) : llvm::ArrayRef<Part>())
    os << "  " << part.heads << " heads: " << writeMechanism(part.mechanism) << "\n";
  if (!report.isWritten)
    os << "  -o FILE writes it as a spec.\n";
}

static void printSizes(const Spec &spec, llvm::raw_ostream &os) {
  os << spec.name << ": " << spec.heads << " heads of " << spec.headDim << ", n = " << *spec.queries;
  if (*spec.keys != *spec.queries)
    os << ", N = " << *spec.keys;
  os << ", batch " << *spec.batch << ", " << nameOf(spec.dtype) << (spec.causal ? ", causal" : "") << "\n";
}

static void printAnswer(const SuggestReport &report, llvm::raw_ostream &os) {
  printSizes(report.spec, os);
  if (report.chosen)
    printTake(report, report.tried[*report.chosen], os);
  else
    printStay(report, os);
  os << "Errors are of these tensors, relative to exact softmax in f32; ";
  if (isMeasured(report))
    os << "times were measured on this machine with " << report.threads << (report.threads == 1 ? " thread" : " threads");
  else
    os << "times are predicted for " << report.target << " (" << report.device << ")";
  os << ".\nParameters that a model would learn (E, the focus, …) are drawn, so trained ones may come closer.\n";
  if (!isQuiet(report))
    os << "The machine is busy: exact softmax took " << digits(report.unrest)
       << " times as long in its slowest run as in its fastest. Errors stand; run it again for times.\n";
  os << "\n";
}

static bool hasHeads(const SuggestReport &report) {
  return llvm::any_of(report.tried, [](const Suggestion &each) { return each.worstHead.has_value(); });
}

/// One line; cells to the right of the first.
static void printRow(llvm::StringRef first, llvm::ArrayRef<std::string> cells, llvm::raw_ostream &os) {
  os << llvm::left_justify(first, 52);
  for (const std::string &cell : cells)
    os << llvm::right_justify(cell, &cell == &cells.back() ? 24 : 12);
  os << "\n";
}

void attune::attnc::printReport(const SuggestReport &report, llvm::raw_ostream &os) {
  printAnswer(report, os);
  os << "*: nothing else in the table is both faster and closer\n";
  bool heads = hasHeads(report), measured = isMeasured(report);
  std::vector<std::string> header{"error"};
  if (heads)
    header.push_back("worst head");
  header.push_back("predicted");
  if (measured)
    header.push_back("measured");
  header.push_back("times as fast as exact");
  printRow("  attention", header, os);
  for (const Suggestion &each : report.tried) {
    std::vector<std::string> cells{digits(each.error)};
    if (heads)
      cells.push_back(each.worstHead ? digits(*each.worstHead) : "-");
    cells.push_back(printSeconds(each.predicted));
    if (measured)
      cells.push_back(printSeconds(each.seconds));
    cells.push_back(timesAsFast(report, each));
    printRow((each.onFront ? "* " : "  ") + each.label, cells, os);
  }
  for (const std::string &reason : report.skipped)
    os << "not tried: " << reason << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object toJson(const Suggestion &each) {
  return llvm::json::Object{
      {"attention", each.label},
      {"error", each.error},
      {"worst_head_error", each.worstHead ? llvm::json::Value(*each.worstHead) : llvm::json::Value(nullptr)},
      {"predicted_seconds", each.predicted},
      {"median_seconds", each.seconds},
      {"least_seconds", each.least},
      {"most_seconds", each.most},
      {"on_front", each.onFront},
      {"spec", writeSpec(each.spec)}};
}

void attune::attnc::printReportAsJson(const SuggestReport &report, llvm::raw_ostream &os) {
  llvm::json::Array tried;
  for (const Suggestion &each : report.tried)
    tried.push_back(toJson(each));
  llvm::json::Object object{
      {"target", report.target},
      {"max_error", report.maxError},
      {"threads", report.threads},
      {"exact",
       llvm::json::Object{{"predicted_seconds", report.exactPredicted}, {"median_seconds", report.exactSeconds}}},
      {"chosen", report.chosen ? llvm::json::Value(static_cast<int64_t>(*report.chosen)) : llvm::json::Value(nullptr)},
      {"tried", std::move(tried)},
      {"not_tried", llvm::json::Array(report.skipped)}};
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
}
