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

/// Whether two curves cannot be told apart in a picture.
static bool coincide(const graph::PriceCurve &one, const graph::PriceCurve &other) {
  constexpr double visible = 1.02;
  return one.points.size() == other.points.size() &&
         llvm::all_of(llvm::zip_equal(one.points, other.points), [](const auto &pair) {
           auto [a, b] = std::tuple(std::get<0>(pair).second, std::get<1>(pair).second);
           return a <= visible * b && b <= visible * a;
         });
}

/// Curves with names of all that they stand for; what is taken has its name alone, and the forms that it is go without.
static std::vector<graph::PriceCurve> toldApart(llvm::ArrayRef<graph::PriceCurve> curves) {
  std::vector<graph::PriceCurve> apart;
  std::vector<unsigned> others;
  for (const graph::PriceCurve &curve : curves) {
    auto same = llvm::find_if(apart, [&](const graph::PriceCurve &each) { return coincide(each, curve); });
    if (same == apart.end())
      apart.push_back(curve), others.push_back(0);
    else
      ++others[same - apart.begin()];
  }
  for (unsigned index = 1; index < apart.size(); ++index)
    if (others[index])
      apart[index].name += " and " + std::to_string(others[index]) + " more";
  return apart;
}

void attune::attnc::drawPrices(const graph::FunctionSelection &function, llvm::raw_ostream &os) {
  std::vector<PlotPoint> all;
  for (const graph::PriceCurve &curve : function.curves)
    llvm::append_range(all, pointsOf(curve));
  LogPlot plot(os, "length L = 2nN / (n + N)", "ms, predicted for " + function.device, all);
  for (const graph::PlanFunction &plan : function.plans)
    if (plan.from > 0)
      plot.vertical(plan.from, "from " + std::to_string(plan.from));
  std::vector<graph::PriceCurve> curves = toldApart(function.curves);
  // What is taken is drawn last, over the others.
  for (unsigned index = curves.size(); index-- > 0;)
    plot.curve(pointsOf(curves[index]), curves[index].name, index);
}
