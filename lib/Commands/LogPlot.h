//===- LogPlot.h - A picture with two logarithmic axes --------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SVG that needs no other file and follows the reader's light or dark colours.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_LOGPLOT_H
#define ATTUNE_COMMANDS_LOGPLOT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace attune::attnc {

/// A place in the units of the axes, above 0.
struct PlotPoint {
  double x, y;
};

class LogPlot {
public:
  /// Decades that hold all of `points`; the axes are drawn.
  LogPlot(llvm::raw_ostream &os, llvm::StringRef xLabel, llvm::StringRef yLabel, llvm::ArrayRef<PlotPoint> points);
  ~LogPlot(); // ends the picture

  /// A line through points; its name stands at its end, in its colour, one of a few by `number`.
  void curve(llvm::ArrayRef<PlotPoint> points, llvm::StringRef name, unsigned number);
  /// A dot with a tooltip; a bright one has its name beside it.
  void dot(PlotPoint at, llvm::StringRef name, bool bright);
  /// Dashed lines across the picture.
  void vertical(double x, llvm::StringRef name);
  void horizontal(double y);

private:
  /// Decades `first` … `last` between two places of the picture.
  struct Axis {
    double first, last, from, to;
    double place(double number) const;
  };
  static Axis axisOf(llvm::ArrayRef<PlotPoint> points, double PlotPoint::*part, double from, double to);
  void line(double x1, double y1, double x2, double y2, llvm::StringRef style);
  void text(double x, double y, llvm::StringRef style, llvm::StringRef words);
  void decades(llvm::StringRef xLabel, llvm::StringRef yLabel);

  llvm::raw_ostream &os;
  Axis x, y;
  /// Moves a name up or down (`step`) until it stands clear of those that are there.
  double clear(double x, double y, double step);
  std::vector<PlotPoint> labels; ///< where names stand, in the picture
};

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_LOGPLOT_H
