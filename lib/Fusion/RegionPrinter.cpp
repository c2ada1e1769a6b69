//===- RegionPrinter.cpp - Regions as text ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionPrinter.h"

#include "attune/Kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

raw_ostream &RegionPrinter::line(const TileSource &source) {
  numbers.emplace_back(&source, next);
  return os.indent(2 * indent) << '%' << next++ << " = ";
}

void RegionPrinter::require(const TileSource &source) {
  if (llvm::any_of(numbers, [&](const auto &known) { return known.first == &source; }))
    return;
  source.print(*this);
}

void RegionPrinter::requireOutside(const TileSource &source) {
  if ((source.axes() & ~available).none())
    return require(source);
  for (const Source &operand : source.operands())
    requireOutside(*operand);
}

/// The name that an argument of the host has in the spec, else its number; w and a number of a workspace.
static std::string nameOfMemory(Value memory, SmallVectorImpl<Value> &workspaces) {
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kernel::argumentNameAttr);
    return name ? name.str() : "arg" + std::to_string(argument.getArgNumber());
  }
  auto *found = llvm::find(workspaces, memory);
  if (found == workspaces.end()) {
    workspaces.push_back(memory);
    return "workspace" + std::to_string(workspaces.size() - 1);
  }
  return "workspace" + std::to_string(found - workspaces.begin());
}

std::string RegionPrinter::show(const Index &index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto define = [&](StringRef name, const Index &formula) {
    if (llvm::any_of(definitions, [&](const auto &known) { return known.first == name; }))
      return;
    std::string shown = show(formula); // names that it has come before it
    definitions.emplace_back(name.str(), std::move(shown));
  };
  index.print(os, [&](Value memory) { return nameOfMemory(memory, memories); }, define);
  return text;
}

/// %name[batch, head / 2, key : rows, 24]
std::string RegionPrinter::show(Value hostMemory, ArrayRef<Dimension> dimensions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << nameOfMemory(hostMemory, memories) << '[';
  llvm::interleaveComma(dimensions, os, [&](const Dimension &dimension) {
    if (dimension.at)
      os << show(dimension.at);
    else
      os << (dimension.axis ? nameOf(*dimension.axis) : StringRef("0"));
    if (dimension.divide != 1)
      os << " / " << dimension.divide;
    if (dimension.modulo)
      os << " mod " << dimension.modulo;
    if (dimension.position != Position::First)
      os << (dimension.position == Position::Before ? " : before" : " : last");
    if (dimension.fromRange)
      os << " from 0";
    if (dimension.add)
      os << " + " << dimension.add;
    if (dimension.scale != 1)
      os << " * " << dimension.scale;
    if (dimension.rows)
      os << " : rows";
    else if (dimension.count)
      os << " : " << dimension.count;
    if (dimension.limit)
      os << " below " << show(dimension.limit);
  });
  os << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Terms and stages
//===----------------------------------------------------------------------===//

unsigned RegionPrinter::numberOf(const TileSource &source) const {
  return llvm::find_if(numbers, [&](const auto &known) { return known.first == &source; })->second;
}

void RegionPrinter::call(const TermBase &term, Sources operands) {
  os << term.name() << '(';
  llvm::interleaveComma(operands, os, [&](const Source &operand) { os << '%' << numberOf(*operand); });
  os << ')';
  term.printParameters(os);
}

void RegionPrinter::term(const TileSource &source, const Term &term, Sources operands) {
  for (const Source &operand : operands)
    require(*operand);
  line(source);
  call(term, operands);
  if (source.gives() != Representation::Plain)
    os << " -> " << nameOf(source.gives());
  os << '\n';
}

void RegionPrinter::output(const RegionOutput &output) {
  require(*output.source);
  os.indent(2 * indent) << "output %" << numberOf(*output.source);
  if (output.tile)
    os << '#' << output.tile;
  os << " to ";
  os << show(output.memory, output.dimensions) << '\n';
}

void RegionPrinter::block(AxisSet brings, llvm::function_ref<void()> body) {
  os << " {\n";
  AxisSet outside = std::exchange(available, available | brings);
  size_t known = numbers.size();
  ++indent;
  body();
  --indent;
  numbers.resize(known);
  available = outside;
  os.indent(2 * indent) << "}";
}

void RegionPrinter::outputs(const Stage &stage, const StepForm &form) {
  auto all = [&] {
    for (const RegionOutput &each : form.outputs)
      output(each);
    for (const Source &effect : form.effects)
      require(*effect);
  };
  if (!stage.group || form.outputs.empty())
    return all();
  for (const RegionOutput &each : form.outputs)
    requireOutside(*each.source);
  os.indent(2 * indent) << "each " << nameOf(stage.group->member) << " of " << stage.group->count;
  block(setOf(stage.group->member), all);
  os << '\n';
}

/// Outputs, then what enters the state.
void RegionPrinter::form(const Stage &stage, const StepForm &form) {
  outputs(stage, form);
  for (const Source &operand : form.operands)
    require(*operand);
  os.indent(2 * indent) << "carry ";
  call(*form.term, form.operands);
  if (form.term->gives() != Representation::Plain)
    os << " -> " << nameOf(form.term->gives());
  os << '\n';
}

/// That of the stage, and in blocks those of segments that have their own.
void RegionPrinter::forms(const Stage &stage, const StepForm &given) {
  if (llvm::any_of(stage.segments, [](const Segment &segment) { return !segment.form; }))
    form(stage, given);
  for (const Segment &segment : stage.segments) {
    if (!segment.form)
      continue;
    os.indent(2 * indent) << "in " << segment.name;
    block({}, [&] { form(stage, *segment.form); });
    os << '\n';
  }
}

std::string RegionPrinter::show(const SegmentEnd &place) {
  constexpr StringLiteral names[] = {"begin", "entered", "seen", "end", "block", "rows", "rows_end"};
  return place.index ? show(place.index) : names[static_cast<unsigned>(place.border)].str();
}

/// Which entries of an axis exist, and for whom.
std::string RegionPrinter::extentOf(const Stage &stage, Axis axis) {
  const Extent &extent = (*stage.extents)[axis];
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (extent.lengths)
    stream << " lengths(" << nameOfMemory(extent.lengths, memories) << ')';
  if (extent.causal)
    stream << " causal(" << nameOf(*extent.causal) << ')';
  if (int64_t heads = extent.causal ? (*stage.extents)[*extent.causal].heads : 1; heads > 1)
    stream << " of " << heads << " heads";
  if (extent.last)
    stream << " last(" << extent.last << ')';
  if (extent.sees) {
    const Extent &seen = (*stage.extents)[*extent.sees];
    stream << " that see " << nameOf(*extent.sees);
    if (seen.lengths)
      stream << " lengths(" << nameOfMemory(seen.lengths, memories) << ')';
    if (seen.causal)
      stream << " causal";
    if (seen.last)
      stream << " last(" << seen.last << ')';
  }
  if (extent.ofPart)
    stream << " of part";
  if (extent.ofPiece)
    stream << " of piece";
  if (extent.pastLengths && extent.lengths)
    stream << " past lengths";
  if (extent.memberOf)
    stream << " of " << nameOf(*extent.memberOf);
  if (extent.within)
    stream << " within " << nameOf(*extent.within);
  if (extent.size)
    stream << " of " << show(extent.size);
  if (extent.window)
    stream << ' ' << Attribute(extent.window);
  return text;
}

void RegionPrinter::stage(const TileSource &source, const Stage &stage, const StepForm &given) {
  for (const Source &operand : source.operands())
    requireOutside(*operand);
  line(source) << "stage " << nameOf(stage.axis) << extentOf(stage, stage.axis) << " step " << stage.step;
  if (stage.reverse)
    os << " reverse";
  if (stage.together)
    os << " with " << nameOf(*stage.together) << extentOf(stage, *stage.together);
  os << " segments(";
  llvm::interleaveComma(stage.segments, os, [&](const Segment &segment) {
    os << segment.name << ": " << show(segment.from) << " to " << show(segment.to);
    if (segment.step)
      os << " step " << segment.step;
    if (segment.diagonal)
      os << " diagonal " << show(segment.diagonal);
    os << (segment.masked ? " masked" : "");
  });
  os << ") carry(" << Attribute(given.term->carry((*stage.extents)[Axis::Batch].memory.getContext())) << ')';
  if (stage.begin)
    os << " from %" << numberOf(*stage.begin);
  if (stage.cut) {
    os << " in pieces";
    if (stage.cut->length)
      os << " of " << stage.cut->length;
    if (!stage.cut->kernel.empty())
      os << " merged by @" << stage.cut->kernel;
    if (stage.cut->memory)
      os << " memory(" << Attribute(stage.cut->memory) << ')';
  }
  AxisSet brings = setOf(stage.axis);
  if (stage.together)
    brings |= setOf(*stage.together);
  block(brings, [&] {
    if (stage.faded) {
      require(*stage.faded);
      os.indent(2 * indent) << "fade %" << numberOf(*stage.faded) << '\n';
    }
    if (!stage.shortcut)
      return forms(stage, given);
    for (const auto &[both, element] : stage.shortcut->both)
      require(*both);
    require(*stage.shortcut->unless);
    os.indent(2 * indent) << "unless %" << numberOf(*stage.shortcut->unless);
    block({}, [&] { form(stage, stage.shortcut->form); });
    os << " else";
    block({}, [&] { form(stage, given); });
    os << '\n';
  });
  os << '\n';
}

void RegionPrinter::head(const KernelRegion &region) {
  os << "region @" << region.name << '_' << region.suffix << " grid(";
  llvm::interleaveComma(region.grid, os, [&](const GridAxis &axis) {
    os << nameOf(axis.axis);
    if (axis.inner)
      os << " x " << nameOf(*axis.inner) << " of " << show((*region.extents)[*axis.inner].size);
    if (axis.tile != 1)
      os << " tile " << axis.tile;
    if (const Extent &extent = (*region.extents)[axis.axis]; extent.begin)
      os << " from " << show(extent.begin) << (extent.size ? " of " + show(extent.size) : "");
  });
  os << ")\n    schedule(" << Attribute(region.schedule) << ") {\n";
}

void RegionPrinter::body(const KernelRegion &region) {
  for (const GridAxis &axis : region.grid) {
    available |= setOf(axis.axis);
    if (axis.inner)
      available |= setOf(*axis.inner);
  }
  for (const Source &stage : region.effects)
    require(*stage);
  for (const RegionOutput &each : region.outputs)
    output(each);
}

/// The body is printed first, since it says which formulas stand before it.
void RegionPrinter::print(llvm::raw_ostream &os, const KernelRegion &region) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  RegionPrinter printer(stream);
  printer.head(region);
  size_t begin = text.size();
  printer.body(region);
  os << StringRef(text).take_front(begin);
  for (const auto &[name, formula] : printer.definitions)
    os << "  let " << name << " = " << formula << '\n';
  os << StringRef(text).drop_front(begin) << "}\n";
}
