//===- RegionPrinter.h - Regions as text -*- C++ -*- --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_REGIONPRINTER_H
#define ATTUNE_LIB_FUSION_REGIONPRINTER_H

#include "Region.h"

namespace attune::fusion {

/// Prints sources as numbered lines, each before its readers, and in the innermost stage that brings an axis it depends
/// on.
class RegionPrinter {
public:
  static void print(llvm::raw_ostream &os, const KernelRegion &region);

  /// Begins the line of a source: its number.
  llvm::raw_ostream &line(const TileSource &source);
  std::string show(mlir::Value hostMemory, llvm::ArrayRef<Dimension> dimensions);
  std::string show(const Index &index);
  void term(const TileSource &source, const Term &term, Sources operands);
  void stage(const TileSource &source, const Stage &stage, const StepForm &form);

private:
  explicit RegionPrinter(llvm::raw_ostream &os) : os(os) {}

  void head(const KernelRegion &region);
  void body(const KernelRegion &region);
  void require(const TileSource &source);
  /// What a source reads that depends on nothing but the axes that have a range here.
  void requireOutside(const TileSource &source);
  unsigned numberOf(const TileSource &source) const;
  std::string show(const SegmentEnd &place);
  std::string extentOf(const Stage &stage, Axis axis);
  void output(const RegionOutput &output);
  void outputs(const Stage &stage, const StepForm &form);
  void form(const Stage &stage, const StepForm &form);
  void forms(const Stage &stage, const StepForm &given);
  /// Lines between braces: of the sources that `body` prints none is known outside.
  void block(AxisSet brings, llvm::function_ref<void()> body);
  void call(const TermBase &term, Sources operands);

  llvm::raw_ostream &os;
  std::vector<std::pair<const TileSource *, unsigned>> numbers;
  llvm::SmallVector<mlir::Value> memories;
  std::vector<std::pair<std::string, std::string>> definitions; ///< formulas that have a name, each after those that it has
  unsigned next = 0; ///< number of the next source
  AxisSet available; ///< axes of the grid and of the stages around the line
  unsigned indent = 1;
};

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_REGIONPRINTER_H
