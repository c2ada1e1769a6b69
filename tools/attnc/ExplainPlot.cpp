//===- ExplainPlot.cpp - Prices over the length ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExplainPlot.h"

#include "LogPlot.h"

using namespace attune;
using namespace attune::attnc;

static std::vector<PlotPoint> pointsOf(const graph::PriceCurve &curve) {
  std::vector<PlotPoint> points;
  for (auto [length, seconds] : curve.points)
    points.push_back({double(length), seconds * 1e3});
  return points;
}

void attune::attnc::drawPrices(const graph::FunctionSelection &function, llvm::raw_ostream &os) {
  std::vector<PlotPoint> all;
  for (const graph::PriceCurve &curve : function.curves)
    llvm::append_range(all, pointsOf(curve));
  LogPlot plot(os, "length L = 2nN / (n + N)", "ms, predicted for " + function.device, all);
  for (const graph::PlanFunction &plan : function.plans)
    if (plan.from > 0)
      plot.vertical(plan.from, "from " + std::to_string(plan.from));
  // What is taken is drawn last, over the form that it is.
  for (unsigned index = function.curves.size(); index-- > 0;)
    plot.curve(pointsOf(function.curves[index]), function.curves[index].name, index);
}
