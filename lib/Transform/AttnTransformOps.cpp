//===- AttnTransformOps.cpp - Laws and schedules by script ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Transform/AttnTransformOps.h"

#include "attune/Attn/Attn.h"
#include "attune/Laws/RewriteLaw.h"
#include "attune/Graph/Selection.h"
#include "attune/Support/Suggestions.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;

#define GET_OP_CLASSES
#include "attune/Transform/AttnTransformOps.cpp.inc"

//===----------------------------------------------------------------------===//
// apply_law
//===----------------------------------------------------------------------===//

/// "expected … (known names), but got 'name'", with the name that was probably meant.
static DiagnosedSilenceableFailure unknownName(Operation *op, const Twine &expected, StringRef name,
                                               ArrayRef<StringRef> known) {
  DiagnosedDefiniteFailure failure = emitDefiniteFailure(op) << "expected " << expected << " (" << joinNames(known)
                                                             << "), but got '" << name << "'";
  if (std::string note = suggestionNote(name, known); !note.empty())
    failure.attachNote() << note;
  return failure;
}

DiagnosedSilenceableFailure transform::AttnApplyLawOp::applyToOne(transform::TransformRewriter &rewriter,
                                                                  Operation *target,
                                                                  transform::ApplyToEachResultList &results,
                                                                  transform::TransformState &state) {
  const graph::RewriteLaw *known = graph::findLaw(getLaw());
  if (!known)
    return unknownName(*this, "the name of an exact law", getLaw(), graph::lawNames());
  const graph::RewriteLaw &law = *known;
  if (!law.hasForm(getForm()))
    return unknownName(*this, "a form of " + getLaw(), getForm(), law.formNames());
  auto refuse = [&](const Twine &reason) {
    DiagnosedSilenceableFailure failure = emitSilenceableError()
                                          << getLaw() << ": " << getForm() << " is not possible: " << reason;
    failure.attachNote(target->getLoc()) << "of this op";
    return failure;
  };
  if (!law.appliesTo(target))
    return refuse("the law does not speak of " + target->getName().getStringRef());
  if (std::string reason = law.refusal(target, getForm()); !reason.empty())
    return refuse(reason);
  if (law.marks() && !law.marksAsWritten())
    return refuse("it marks what another law makes of the op; pin it in transform.attn.select");
  if (law.marks()) {
    law.mark(target, getForm());
    results.push_back(target);
    return DiagnosedSilenceableFailure::success();
  }
  rewriter.setInsertionPoint(target);
  SmallVector<Value> values = law.build(rewriter, target, getForm());
  if (!llvm::equal(values, target->getResults()))
    rewriter.replaceOp(target, values);
  results.push_back(values.front().getDefiningOp());
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

LogicalResult transform::AttnSelectOp::verify() {
  for (NamedAttribute pin : getPins().value_or(DictionaryAttr::get(getContext())))
    if (!isa<StringAttr>(pin.getValue()))
      return emitOpError("expected names of forms by names of laws in pins, but got ") << pin.getValue();
  return success();
}

/// The options of an op; an error at the op for a device that is not known.
static FailureOr<graph::SelectOptions> optionsOf(transform::AttnSelectOp op) {
  llvm::Expected<cost::DeviceDescription> device = cost::DeviceDescription::named(op.getDevice());
  if (!device)
    return op.emitError() << llvm::toString(device.takeError());
  graph::SelectOptions options;
  options.device = std::move(*device);
  options.device.runOn(op.getThreads());
  for (NamedAttribute pin : op.getPins().value_or(DictionaryAttr::get(op.getContext())))
    options.pins.push_back({pin.getName().str(), cast<StringAttr>(pin.getValue()).str()});
  for (Attribute name : op.getAllow().value_or(ArrayAttr::get(op.getContext(), {})))
    options.allowed.push_back(cast<StringAttr>(name).str());
  return options;
}

DiagnosedSilenceableFailure transform::AttnSelectOp::apply(transform::TransformRewriter &rewriter,
                                                           transform::TransformResults &results,
                                                           transform::TransformState &state) {
  FailureOr<graph::SelectOptions> options = optionsOf(*this);
  if (failed(options))
    return DiagnosedSilenceableFailure::definiteFailure();
  SmallVector<Operation *> functions;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto module = dyn_cast<ModuleOp>(target);
    if (!module)
      return emitSilenceableError() << "expected a builtin.module, but got " << target->getName()
                                    << "; give the module around it";
    FailureOr<graph::Selection> selection = graph::selectRewrites(module, *options);
    if (failed(selection))
      return emitSilenceableError() << "no plan was selected";
    for (const graph::FunctionSelection &function : selection->functions)
      for (const graph::PlanFunction &plan : function.plans)
        functions.push_back(module.lookupSymbol(plan.name));
  }
  results.set(cast<OpResult>(getFunctions()), functions);
  return DiagnosedSilenceableFailure::success();
}

void transform::AttnSelectOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getTargetMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// set_schedule
//===----------------------------------------------------------------------===//

LogicalResult transform::AttnSetScheduleOp::verify() {
  if (isa<tile::ScheduleAttr>(getSchedule()))
    return success();
  return emitOpError("expected a schedule (#tile.schedule<…>), but got ") << getSchedule();
}

DiagnosedSilenceableFailure transform::AttnSetScheduleOp::applyToOne(transform::TransformRewriter &rewriter,
                                                                     Operation *target,
                                                                     transform::ApplyToEachResultList &results,
                                                                     transform::TransformState &state) {
  if (!isa<func::FuncOp>(target))
    return emitSilenceableError() << "expected a func.func, but got " << target->getName();
  rewriter.modifyOpInPlace(target, [&] { target->setAttr("tile.schedule", getSchedule()); });
  return DiagnosedSilenceableFailure::success();
}

void transform::AttnSetScheduleOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class AttnTransformExtension : public transform::TransformDialectExtension<AttnTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttnTransformExtension)

  void init() {
    declareGeneratedDialect<attn::AttnDialect>();
    declareGeneratedDialect<tile::TileDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "attune/Transform/AttnTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void attune::registerTransformExtension(DialectRegistry &registry) { registry.addExtensions<AttnTransformExtension>(); }
