//===- LogPlot.cpp - A picture with two logarithmic axes ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LogPlot.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace attune::attnc;

double LogPlot::Axis::place(double number) const {
  double part = number > 0 ? (std::log10(number) - first) / (last - first) : 0;
  return from + (to - from) * std::clamp(part, 0.0, 1.0);
}

LogPlot::Axis LogPlot::axisOf(llvm::ArrayRef<PlotPoint> points, double PlotPoint::*part, double from, double to) {
  double least = 1, most = 1;
  bool any = false;
  for (const PlotPoint &point : points) {
    double number = point.*part;
    if (!(number > 0) || !std::isfinite(number))
      continue;
    least = any ? std::min(least, number) : number, most = any ? std::max(most, number) : number;
    any = true;
  }
  Axis axis{std::floor(std::log10(least)), std::ceil(std::log10(most)), from, to};
  axis.last = std::max(axis.last, axis.first + 1);
  return axis;
}

LogPlot::LogPlot(llvm::raw_ostream &os, llvm::StringRef xLabel, llvm::StringRef yLabel,
                 llvm::ArrayRef<PlotPoint> points)
    : os(os), x(axisOf(points, &PlotPoint::x, 70, 700)), y(axisOf(points, &PlotPoint::y, 410, 40)) {
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 470\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<style>text{fill:#333}.middle{text-anchor:middle}.end{text-anchor:end}.grid{stroke:#ddd}"
        ".mark{stroke:#b55;stroke-dasharray:5 4}.off{fill:#999}polyline{fill:none;stroke-width:2}"
        ".on,.fill0{fill:#27c}.line0{stroke:#27c}.fill1{fill:#b55}.line1{stroke:#b55}.fill2{fill:#283}"
        ".line2{stroke:#283}.fill3{fill:#a60}.line3{stroke:#a60}.fill4{fill:#748}.line4{stroke:#748}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>\n";
  decades(xLabel, yLabel);
}

LogPlot::~LogPlot() { os << "</svg>\n"; }

void LogPlot::line(double x1, double y1, double x2, double y2, llvm::StringRef style) {
  os << llvm::format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", x1, y1, x2, y2) << " class=\"" << style
     << "\"/>\n";
}

/// Words as XML has them.
static std::string escaped(llvm::StringRef words) {
  std::string text;
  for (char c : words)
    text += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return text;
}

void LogPlot::text(double atX, double atY, llvm::StringRef style, llvm::StringRef words) {
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\"", atX, atY) << " class=\"" << style << "\">" << escaped(words)
     << "</text>\n";
}

/// 100 and 0.01 as they are, what is beyond as a power.
static std::string decadeName(int decade) {
  if (decade >= 0 && decade <= 5)
    return "1" + std::string(decade, '0');
  return decade < 0 && decade >= -3 ? "0." + std::string(-decade - 1, '0') + "1" : "1e" + std::to_string(decade);
}

void LogPlot::decades(llvm::StringRef xLabel, llvm::StringRef yLabel) {
  for (int decade = int(x.first); decade <= int(x.last); ++decade) {
    double at = x.place(std::pow(10, decade));
    line(at, y.from, at, y.to, "grid");
    text(at, y.from + 18, "middle", decadeName(decade));
  }
  for (int decade = int(y.first); decade <= int(y.last); ++decade) {
    double at = y.place(std::pow(10, decade));
    line(x.from, at, x.to, at, "grid");
    text(x.from - 6, at + 4, "end", decadeName(decade));
  }
  text((x.from + x.to) / 2, y.from + 38, "middle", xLabel);
  text(x.from, y.to - 22, "start", yLabel);
}

double LogPlot::clear(double atX, double atY, double step) {
  auto isNear = [&](PlotPoint other) { return std::abs(other.x - atX) < 150 && std::abs(other.y - atY) < 13; };
  while (llvm::any_of(labels, isNear))
    atY += step;
  labels.push_back({atX, atY});
  return atY;
}

void LogPlot::curve(llvm::ArrayRef<PlotPoint> points, llvm::StringRef name, unsigned number) {
  std::string colour = std::to_string(number % 5);
  os << "<polyline class=\"line" << colour << "\" points=\"";
  for (const PlotPoint &point : points)
    os << llvm::format("%.1f,%.1f ", x.place(point.x), y.place(point.y));
  os << "\"/>\n";
  if (points.empty())
    return;
  double height = clear(x.place(points.back().x), y.place(points.back().y) + 4, 1);
  text(x.place(points.back().x) + 8, height, "start fill" + colour, name);
}

void LogPlot::dot(PlotPoint at, llvm::StringRef name, bool bright) {
  double atX = x.place(at.x), atY = y.place(at.y);
  os << llvm::format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"", atX, atY) << " class=\"" << (bright ? "on" : "off")
     << "\"><title>" << escaped(name) << "</title></circle>\n";
  if (bright)
    text(atX + 7, clear(atX, atY - 5, -1), "start", name);
}

void LogPlot::vertical(double atX, llvm::StringRef name) {
  line(x.place(atX), y.from, x.place(atX), y.to, "mark");
  text(x.place(atX) - 4, y.to - 6, "end", name);
}

void LogPlot::horizontal(double atY) { line(x.from, y.place(atY), x.to, y.place(atY), "mark"); }
