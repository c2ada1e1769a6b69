//===- SuggestPlot.cpp - Error over time ----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LogPlot.h"
#include "SuggestReport.h"

using namespace attune;
using namespace attune::attnc;

/// An attention that is exact has a place on a logarithmic axis too.
static PlotPoint placeOf(const SuggestReport &report, const Suggestion &each) {
  return {secondsOf(report, each) * 1e3, std::max(each.error, 1e-9)};
}

void attune::attnc::drawReport(const SuggestReport &report, llvm::raw_ostream &os) {
  bool measured = report.target == "cpu";
  double exact = 1e3 * (measured ? report.exactSeconds : report.exactPredicted);
  std::vector<PlotPoint> all{{exact, report.maxError}}, front;
  for (const Suggestion &each : report.tried) {
    all.push_back(placeOf(report, each));
    if (each.onFront)
      front.push_back(all.back());
  }
  LogPlot plot(os, measured ? "ms, measured" : "ms, predicted for " + report.target,
               "relative error against exact softmax", all);
  plot.vertical(exact, "exact softmax");
  plot.horizontal(report.maxError);
  plot.curve(front, "front", 0);
  for (const Suggestion &each : report.tried)
    plot.dot(placeOf(report, each), each.label, each.onFront);
}
