//===- PinRules.cpp - Whether what a spec pins is possible ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws know, of the ops that the spec becomes and of what they make of these. They are asked of a spec without other mistakes. Where a size is a '?', a form
// may be refused for it alone: that waits for selection, which asks them again.
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

#include "attune/Frontend/SpecToAttn.h"
#include "attune/Laws/Offers.h"
#include "attune/Laws/SavePin.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {

/// S24: a pinned form can compute the spec.
void checkPins(RuleReporter &rules) {
  const Spec &spec = rules.spec;
  if (spec.pin.empty())
    return;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = specToAttn(spec, "", context);
  mlir::func::FuncOp function = *module->getOps<mlir::func::FuncOp>().begin();
  bool sized = spec.batch && spec.queries && spec.keys;
  for (const Pin &pin : spec.pin) {
    if (pin.law == graph::savePin) {
      if (!spec.hasGradients())
        rules.atKey("pin.save", "gradients, for which a run leaves something", "none", "add gradients: all, or remove the pin");
      continue;
    }
    std::optional<graph::PinRefusal> refusal = graph::refusePin(function, *graph::findLaw(pin.law), pin.form);
    if (refusal && refusal->ofLaw)
      rules.atKey("pin." + pin.law, refusal->expected, refusal->got, refusal->note);
    else if (refusal && sized)
      rules.atValue("pin." + pin.law, refusal->expected, refusal->got, refusal->note);
  }
}

} // namespace attune
