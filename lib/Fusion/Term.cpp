//===- Term.cpp - Sources that are terms --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Term.h"

#include "RegionPrinter.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static AxisSet axesOf(const Term &term, Sources operands) {
  AxisSet axes = term.ownAxes();
  for (const Source &operand : operands)
    axes |= operand->axes() & ~term.movedAxes();
  return axes;
}

namespace {
class TermSource : public TileSource {
public:
  TermSource(std::unique_ptr<Term> term, SmallVector<Source> sources)
      : TileSource(axesOf(*term, sources), term->gives(sources)), term(std::move(term)), sources(std::move(sources)) {}

  StringRef name() const override { return term->name(); }
  Sources operands() const override { return sources; }
  std::optional<Representation> takes(unsigned operand) const override { return term->takes(operand); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { term->appendArguments(values); }
  void print(RegionPrinter &printer) const override { printer.term(*this, *term, sources); }

private:
  SiteValue build(const TileSite &site) const override { return {term->buildTile(site, sources)}; }

  std::unique_ptr<Term> term;
  SmallVector<Source> sources;
};
} // namespace

Source fusion::term(std::unique_ptr<Term> term, SmallVector<Source> operands) {
  return std::make_shared<TermSource>(std::move(term), std::move(operands));
}
