//===- SuggestReport.cpp - What attnc suggest found, as text and JSON -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SuggestReport.h"

#include "attune/Frontend/WriteSpec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attune;
using namespace attune::attnc;

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

static std::string milliseconds(double seconds) { return llvm::formatv("{0:F3} ms", seconds * 1e3).str(); }

/// Three digits, whatever the size.
static std::string digits(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", number);
  return text;
}

/// Whether the clock can be trusted: of one library's runs the slowest took no more than twice the fastest's time.
static bool isQuiet(const SuggestReport &report) { return !isMeasured(report) || report.unrest <= 2; }

static void printStay(const SuggestReport &report, llvm::raw_ostream &os) {
  os << "Stay with exact softmax (" << milliseconds(exactOf(report)) << "): of " << report.tried.size()
     << " others none is faster and within an error of " << digits(report.maxError) << ".\n";
  for (const Suggestion &each : llvm::reverse(report.tried))
    if (each.onFront) {
      os << "  The closest that is faster: " << each.label << ", error " << digits(each.error) << ".\n";
      return;
    }
}

static void printTake(const SuggestReport &report, const Suggestion &best, llvm::raw_ostream &os) {
  double seconds = secondsOf(report, best);
  os << "Take " << best.label << ": error " << digits(best.error) << ", " << milliseconds(seconds) << ", "
     << digits(exactOf(report) / seconds) << " times as fast as exact softmax (" << milliseconds(exactOf(report))
     << ").\n";
  if (!best.spec.hasParts)
    os << "  mechanism: " << writeMechanism(best.spec.parts.front().mechanism) << "\n";
  for (const Part &part : best.spec.hasParts ? llvm::ArrayRef(best.spec.parts) : llvm::ArrayRef<Part>())
    os << "  " << part.heads << " heads: " << writeMechanism(part.mechanism) << "\n";
}

static void printAnswer(const SuggestReport &report, llvm::raw_ostream &os) {
  const Spec &spec = report.spec;
  os << spec.name << ": " << spec.heads << " heads of " << spec.headDim << ", n = " << *spec.queries
     << ", N = " << *spec.keys << ", batch " << *spec.batch << ", " << nameOf(spec.dtype)
     << (spec.causal ? ", causal" : "") << "\n";
  if (report.chosen)
    printTake(report, report.tried[*report.chosen], os);
  else
    printStay(report, os);
  os << "Errors are of these tensors, relative to exact softmax; "
     << (isMeasured(report) ? "times were measured here, threads: " + std::to_string(report.threads)
                            : "times are predicted for " + report.target)
     << ".\nParameters that a model would learn (E, the focus, …) are drawn, so trained ones may come closer.\n";
  if (!isQuiet(report))
    os << "The machine is busy: exact softmax took " << digits(report.unrest)
       << " times as long in its slowest run as in its fastest.\n";
  os << "\n";
}

void attune::attnc::printReport(const SuggestReport &report, llvm::raw_ostream &os) {
  printAnswer(report, os);
  os << llvm::left_justify("  attention", 50) << "     error  worst head   predicted    measured   exact / this\n";
  for (const Suggestion &each : report.tried) {
    os << (each.onFront ? "* " : "  ") << llvm::left_justify(each.label, 48)
       << llvm::right_justify(digits(each.error), 10)
       << llvm::right_justify(each.worstHead ? digits(*each.worstHead) : "-", 12)
       << llvm::right_justify(milliseconds(each.predicted), 12) << llvm::right_justify(milliseconds(each.seconds), 12)
       << llvm::format("%15.2f\n", exactOf(report) / secondsOf(report, each));
  }
  os << "* nothing here is both faster and closer\n";
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
