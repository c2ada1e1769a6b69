//===- Stage.cpp - Loops over axes --------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Extents.h"
#include "RegionPrinter.h"
#include "StepStream.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using tile::OpenState;

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

namespace {
class StageSource : public TileSource {
public:
  StageSource(Stage stage, StepForm form);

  StringRef name() const override { return form.term->name(); }
  Sources operands() const override { return all; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < form.operands.size() ? form.term->takes(operand) : std::nullopt;
  }
  void appendArguments(SmallVectorImpl<Value> &values) const override;
  void print(RegionPrinter &printer) const override { printer.stage(*this, stage, form); }

private:
  SiteValue build(const TileSite &site) const override;
  SmallVector<Value> buildSegment(const TileSite &site, const Segment &segment, kernel::VisibleKeys borders,
                                  ValueRange state) const;
  TileSite stepSite(const TileSite &site, Scope &inner, Value first, const Segment &segment,
                    const kernel::VisibleKeys &borders, Value end) const;
  SmallVector<Value> buildStep(const TileSite &site, const StepForm &chosen, ValueRange state) const;
  SmallVector<Value> buildForm(const TileSite &site, const StepForm &chosen, ValueRange state) const;
  SmallVector<Value> buildInUnit(const TileSite &site, const StepForm &form, const OpenState &open,
                                 ArrayRef<Operation *> rescaling = {}) const;
  SmallVector<Value> buildBranches(const TileSite &site, ValueRange state) const;

  Stage stage;
  StepForm form;
  SmallVector<Source> all; ///< operands of the term, then everything else that steps read
};
} // namespace

AxisSet Stage::axes() const {
  AxisSet own = setOf(axis);
  if (together)
    own |= setOf(*together);
  if (group)
    own |= setOf(group->member);
  return own;
}

static AxisSet axesOf(const StepForm &form) {
  AxisSet axes = form.term->ownAxes();
  for (const Source &operand : form.operands)
    axes |= operand->axes() & ~form.term->movedAxes();
  for (const RegionOutput &output : form.outputs)
    axes |= output.source->axes();
  for (const Source &effect : form.effects)
    axes |= effect->axes();
  return axes;
}

static AxisSet axesOf(const Stage &stage, const StepForm &form) {
  AxisSet axes = axesOf(form);
  for (const Segment &segment : stage.segments)
    if (segment.form)
      axes |= axesOf(*segment.form);
  if (stage.group)
    axes |= setOf(stage.group->of);
  for (const Source &each : {stage.begin, stage.faded})
    if (each)
      axes |= each->axes();
  const Extent &extent = (*stage.extents)[stage.axis];
  if (extent.ofPart)
    axes |= setOf(Axis::Part);
  if (extent.ofPiece)
    axes |= setOf(Axis::Piece);
  if (extent.memberOf)
    axes |= setOf(*extent.memberOf);
  if (extent.within)
    axes |= setOf(*extent.within);
  if (extent.sees)
    axes |= setOf(*extent.sees);
  if (extent.causal && (*stage.extents)[*extent.causal].within)
    axes |= setOf(*(*stage.extents)[*extent.causal].within);
  axes &= ~stage.axes();
  // Formulas are those of the stage's reader: it may have another range of the axis that the stage streams.
  for (const Segment &segment : stage.segments)
    axes |= segment.from.index.axes() | segment.to.index.axes() | segment.diagonal.axes();
  return axes | extent.size.axes();
}

StageSource::StageSource(Stage given, StepForm givenForm)
    : TileSource(axesOf(given, givenForm), givenForm.term->gives()), stage(std::move(given)),
      form(std::move(givenForm)), all(form.operands) {
  auto append = [&](const StepForm &each) {
    for (const RegionOutput &output : each.outputs)
      all.push_back(output.source);
    llvm::append_range(all, each.effects);
  };
  append(form);
  for (const Source &each : {stage.begin, stage.faded})
    if (each)
      all.push_back(each);
  for (const Segment &segment : stage.segments)
    if (segment.form) {
      llvm::append_range(all, segment.form->operands);
      append(*segment.form);
    }
  if (!stage.shortcut)
    return;
  all.push_back(stage.shortcut->unless);
  llvm::append_range(all, stage.shortcut->form.operands);
  append(stage.shortcut->form);
}

void StageSource::appendArguments(SmallVectorImpl<Value> &values) const {
  const Extent &streamed = (*stage.extents)[stage.axis];
  values.push_back(streamed.lengths);
  if (streamed.sees)
    values.push_back((*stage.extents)[*streamed.sees].lengths);
  (*stage.extents)[stage.axis].size.appendArguments(values);
  form.term->appendArguments(values);
  for (const Segment &segment : stage.segments)
    for (const Index &index : {segment.from.index, segment.to.index, segment.diagonal})
      index.appendArguments(values);
  for (const RegionOutput &output : form.outputs)
    values.push_back(output.memory);
}

Source fusion::stream(Stage stage, StepForm form) {
  return std::make_shared<StageSource>(std::move(stage), std::move(form));
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

static SmallVector<Value> emptyState(const TileSite &site, const StreamedTerm &term) {
  TileBuilder &tiles = site.tiles();
  SmallVector<Type> types;
  for (const SmallVector<int64_t> &shape : term.stateShapes(site))
    types.push_back(RankedTensorType::get(shape, tiles.builder.getF32Type()));
  SmallVector<Value> state = term.carry(tiles.builder.getContext()).buildIdentityState(tiles.builder, tiles.loc, types);
  if (std::optional<double> least = term.leastUnit())
    state[0] = tiles.constant(tiles.shape(state[0]), *least);
  return state;
}

/// The borders of the stage's axis, where a segment has one that is no formula.
static kernel::VisibleKeys bordersOfSegments(const TileSite &site, const Stage &stage) {
  auto isFormula = [](const Segment &segment) { return segment.from.index && segment.to.index; };
  return llvm::all_of(stage.segments, isFormula) ? kernel::VisibleKeys() : bordersOf(site, stage);
}

SiteValue StageSource::build(const TileSite &site) const {
  kernel::VisibleKeys borders = bordersOfSegments(site, stage);
  SmallVector<Value> state = emptyState(site, *form.term);
  if (stage.begin)
    state.assign(stage.begin->read(site).tiles);
  for (const Segment &segment : stage.segments)
    state = buildSegment(site, segment, borders, state);
  return {SmallVector<Value, 3>(state.begin(), state.end())};
}

/// A loop whose body gives the next state. What its steps share is built in the block around it meanwhile, so it has a
/// builder of its own.
using NextState = function_ref<SmallVector<Value>(Block &block, Value first, ValueRange carried)>;
static tile::LoopOp buildLoop(TileBuilder &tiles, tile::CarryAttrInterface carry, Value lower, Value upper, int64_t step,
                              ValueRange state, NextState next) {
  auto body = [&](OpBuilder &builder, Location loc, Value first, ValueRange carried) {
    Block &block = *builder.getInsertionBlock();
    SmallVector<Value> yielded = next(block, first, carried);
    builder.setInsertionPointToEnd(&block);
    tile::YieldOp::create(builder, loc, yielded);
  };
  OpBuilder builder(tiles.loc.getContext());
  builder.setInsertionPointToEnd(tiles.builder.getInsertionBlock());
  return tile::LoopOp::create(builder, tiles.loc, carry, lower, upper, step, state, body);
}

TileSite StageSource::stepSite(const TileSite &site, Scope &inner, Value first, const Segment &segment,
                               const kernel::VisibleKeys &borders, Value end) const {
  const Extent &streamed = (*stage.extents)[stage.axis];
  if (streamed.memberOf)
    first = inner.tiles.add(inner.tiles.mul(site[*streamed.memberOf].first, streamed.count), first);
  int64_t count = segment.step ? segment.step : stage.step;
  AxisRange range{first, count, segment.masked && !streamed.sees ? borders.limit : Value(), Value(), site[stage.axis].view};
  if (!segment.to.index && segment.to.border == Border::Block)
    range.limit = end;
  Mask mask = segment.masked ? Mask{borders.limit, borders.diagonal, borders.lastOnly, borders.heads} : Mask();
  if (streamed.sees && mask.diagonal) // of the first row
    mask.diagonal = inner.tiles.add(first, mask.diagonal);
  TileSite step = site.step(inner, stage.axis, range, mask);
  if (!stage.together)
    return step;
  const Extent &extent = (*stage.extents)[*stage.together];
  range.limit = limitOf(site, extent, site[*stage.together].view);
  return step.with(*stage.together, range);
}

SmallVector<Value> StageSource::buildSegment(const TileSite &site, const Segment &segment, kernel::VisibleKeys borders,
                                             ValueRange state) const {
  TileBuilder &tiles = site.tiles();
  Value lower = beginAt(site, stage, borders, segment.from), upper = endAt(site, stage, borders, segment.to);
  if (segment.to.index) {
    borders.limit = upper;
    borders.diagonal = segment.diagonal ? segment.diagonal.at(site) : Value();
  }
  const StepForm &chosen = segment.form ? *segment.form : form;
  int64_t step = segment.step ? segment.step : stage.step;
  // From the last step down is up, with the steps' places counted from the other end.
  Value ends; // first + last step
  if (stage.reverse)
    ends = tiles.add(tiles.add(lower, lower), tiles.roundDown(tiles.sub(tiles.sub(upper, lower), tiles.index(1)), step));
  auto next = [&](Block &block, Value first, ValueRange carried) {
    Scope inner(block, tiles.loc, &site.block());
    if (ends)
      first = inner.tiles.sub(ends, first);
    return buildStep(stepSite(site, inner, first, segment, borders, upper), chosen, carried);
  };
  tile::CarryAttrInterface carry = form.term->carry(tiles.builder.getContext());
  tile::LoopOp loop = buildLoop(tiles, carry, lower, upper, step, state, next);
  if (stage.cut)
    kernel::markStream(loop, stage.cut->length, stage.cut->kernel, stage.cut->memory);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The operations behind `before` that make the sums of an open state, but not its unit.
static SmallVector<Operation *> opsOfSums(Block &block, Operation *before, const OpenState &open) {
  SmallVector<Value> units{open.carried, open.unit};
  llvm::SmallPtrSet<Operation *, 8> ofUnit;
  while (!units.empty()) {
    Value value = units.pop_back_val();
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (op && op->getBlock() == &block && ofUnit.insert(op).second)
      llvm::append_range(units, op->getOperands());
  }
  SmallVector<Operation *> result;
  for (Operation *op = before ? before->getNextNode() : (block.empty() ? nullptr : &block.front()); op; op = op->getNextNode())
    if (!ofUnit.contains(op))
      result.push_back(op);
  return result;
}

SmallVector<Value> StageSource::buildStep(const TileSite &site, const StepForm &chosen, ValueRange state) const {
  auto fade = [&](ValueRange left) {
    stage.left->bind(site, SmallVector<Value>(left));
    return stage.faded->tiles(site);
  };
  SmallVector<Value, 3> begun(state);
  if (stage.faded && !stage.reverse)
    begun = fade(begun);
  if (stage.state)
    stage.state->bind(site, begun);
  SmallVector<Value> next = stage.shortcut ? buildBranches(site, begun) : buildForm(site, chosen, begun);
  return stage.faded && stage.reverse ? SmallVector<Value>(fade(next)) : next;
}

/// The form that joins the unit of the entries to that of the state.
SmallVector<Value> StageSource::buildForm(const TileSite &site, const StepForm &chosen, ValueRange state) const {
  TileBuilder &tiles = site.tiles();
  tile::CarryAttrInterface carry = chosen.term->carry(tiles.builder.getContext());
  if (chosen.term->isOfStates())
    return carry.buildApply(tiles.builder, tiles.loc, chosen.operands[0]->read(site).tiles, state);
  Value unit = chosen.term->buildUnit(site, chosen.operands);
  bool maybeNone = site.mask() && chosen.term->leastUnit() && std::isinf(*chosen.term->leastUnit());
  Block &block = *tiles.builder.getInsertionBlock();
  Operation *before = block.empty() ? nullptr : &block.back();
  OpenState open = carry.buildJoin(tiles.builder, tiles.loc, state, unit, maybeNone);
  SmallVector<Operation *> rescaling;
  if (!chosen.outputs.empty())
    rescaling = opsOfSums(block, before, open);
  if (stage.unit)
    stage.unit->bind(site, open.unit);
  SmallVector<Value> next;
  if (open.carried)
    next.push_back(open.carried);
  llvm::append_range(next, buildInUnit(site, chosen, open, rescaling));
  return next;
}

/// Outputs, then the sums with the entries added. The outputs read the sums as they were, so these are rescaled after them: else both
/// would be live while outputs are built.
SmallVector<Value> StageSource::buildInUnit(const TileSite &site, const StepForm &chosen, const OpenState &open,
                                            ArrayRef<Operation *> rescaling) const {
  for (int64_t number = 0; number < (stage.group ? stage.group->count : 1); ++number) {
    TileSite at = stage.group ? site.member(stage.group->member, stage.group->of, stage.group->count, number) : site;
    for (const RegionOutput &output : chosen.outputs)
      at.store(output.source->tiles(at)[output.tile], output.memory, output.dimensions, output.alikeAlong);
    for (const Source &effect : chosen.effects)
      effect->read(at);
  }
  for (Operation *op : rescaling)
    op->moveBefore(op->getBlock(), op->getBlock()->end());
  return chosen.term->buildContribution(site, chosen.operands, open.unit, open.sums);
}

/// Two loops of at most one step: the shortcut, which carries sums in the unit that stays, then the form for all
/// entries.
SmallVector<Value> StageSource::buildBranches(const TileSite &site, ValueRange state) const {
  TileBuilder &tiles = site.tiles();
  for (const auto &[source, element] : stage.shortcut->both)
    source->tile(site, element);
  Value taken = stage.shortcut->unless->tile(site), unit = state[0];
  MLIRContext *context = tiles.builder.getContext();
  auto inUnit = [&](Block &block, Value, ValueRange sums) {
    Scope inner(block, tiles.loc, &site.block(), /*conditional=*/true);
    TileSite at = site.in(inner);
    SmallVector<Value> carried{unit};
    llvm::append_range(carried, sums);
    stage.state->bind(at, carried);
    return buildInUnit(at, stage.shortcut->form, {unit, unit, SmallVector<Value>(sums)});
  };
  auto inAny = [&](Block &block, Value, ValueRange carried) {
    Scope inner(block, tiles.loc, &site.block(), /*conditional=*/true);
    TileSite at = site.in(inner);
    stage.state->bind(at, SmallVector<Value>(carried));
    return buildForm(at, form, carried);
  };
  SmallVector<Value> next{unit};
  auto sums = tile::SumAttr::get(context);
  llvm::append_range(next, buildLoop(tiles, sums, taken, tiles.index(1), 1, state.drop_front(), inUnit).getResults());
  return SmallVector<Value>(
      buildLoop(tiles, form.term->carry(context), tiles.index(0), taken, 1, next, inAny).getResults());
}
