//===- SuggestPlot.cpp - Error over time as SVG ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SuggestReport.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::attnc;

namespace {
/// Decades from one number to another along a stretch of pixels.
struct Axis {
  double first, last; // logarithms to base 10
  double from, to;    // pixels

  Axis(double least, double most, double from, double to)
      : first(std::floor(std::log10(least))), last(std::max(std::ceil(std::log10(most)), first + 1)), from(from),
        to(to) {}
  double place(double number) const {
    double part = (std::log10(number) - first) / (last - first);
    return from + (to - from) * std::clamp(part, 0.0, 1.0);
  }
};

class Plot {
public:
  Plot(const SuggestReport &report, llvm::raw_ostream &os)
      : report(report), os(os), x(least(&Plot::time), most(&Plot::time), 70, 700),
        y(least(&Plot::error), most(&Plot::error), 410, 40) {}
  void draw();

private:
  double time(const Suggestion &each) const { return secondsOf(report, each) * 1e3; }
  double error(const Suggestion &each) const { return std::max(each.error, 1e-9); }
  double exact() const { return 1e3 * (report.target == "cpu" ? report.exactSeconds : report.exactPredicted); }
  double least(double (Plot::*of)(const Suggestion &) const) const;
  double most(double (Plot::*of)(const Suggestion &) const) const;

  void line(double x1, double y1, double x2, double y2, const char *style);
  void text(double atX, double atY, const char *style, llvm::StringRef words);
  void grid();
  void front();

  const SuggestReport &report;
  llvm::raw_ostream &os;
  Axis x, y;
};
} // namespace

double Plot::least(double (Plot::*of)(const Suggestion &) const) const {
  double result = of == &Plot::time ? exact() : report.maxError;
  for (const Suggestion &each : report.tried)
    result = std::min(result, (this->*of)(each));
  return std::max(result, 1e-9);
}

double Plot::most(double (Plot::*of)(const Suggestion &) const) const {
  double result = of == &Plot::time ? exact() : report.maxError;
  for (const Suggestion &each : report.tried)
    result = std::max(result, (this->*of)(each));
  return std::max(result, 1e-9);
}

void Plot::line(double x1, double y1, double x2, double y2, const char *style) {
  os << llvm::format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, style);
}

void Plot::text(double atX, double atY, const char *style, llvm::StringRef words) {
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", atX, atY, style) << words << "</text>\n";
}

void Plot::grid() {
  for (double decade = x.first; decade <= x.last; ++decade) {
    double at = x.place(std::pow(10, decade));
    line(at, y.from, at, y.to, "grid");
    text(at, y.from + 18, "middle", std::to_string(int(decade)).insert(0, "10^"));
  }
  for (double decade = y.first; decade <= y.last; ++decade) {
    double at = y.place(std::pow(10, decade));
    line(x.from, at, x.to, at, "grid");
    text(x.from - 6, at + 4, "end", std::to_string(int(decade)).insert(0, "10^"));
  }
  text((x.from + x.to) / 2, y.from + 38, "middle", report.target == "cpu" ? "ms, measured" : "ms, predicted");
  text(x.from, y.to - 12, "start", "relative error against exact softmax");
  line(x.from, y.place(report.maxError), x.to, y.place(report.maxError), "limit");
  line(x.place(exact()), y.from, x.place(exact()), y.to, "limit");
  text(x.place(exact()) - 4, y.to + 12, "end", "exact softmax");
}

void Plot::front() {
  os << "<polyline class=\"front\" points=\"";
  for (const Suggestion &each : report.tried)
    if (each.onFront)
      os << llvm::format("%.1f,%.1f ", x.place(time(each)), y.place(error(each)));
  os << "\"/>\n";
}

void Plot::draw() {
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 470\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n"
        "<style>text{fill:#333}.middle{text-anchor:middle}.end{text-anchor:end}.grid{stroke:#ddd}"
        ".limit{stroke:#b55;stroke-dasharray:5 4}.front{fill:none;stroke:#27c}circle{fill:#999}.on{fill:#27c}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>\n";
  grid();
  front();
  for (const Suggestion &each : report.tried) {
    double atX = x.place(time(each)), atY = y.place(error(each));
    os << llvm::format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"%s\"><title>", atX, atY,
                       each.onFront ? "on" : "off")
       << each.label << "</title></circle>\n";
    if (each.onFront)
      text(atX + 7, atY - 5, "start", each.label);
  }
  os << "</svg>\n";
}

void attune::attnc::drawReport(const SuggestReport &report, llvm::raw_ostream &os) { Plot(report, os).draw(); }
