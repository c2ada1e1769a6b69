//===- Remarks.cpp - Decisions as remarks ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SelectPlan.h"
#include "attune/Graph/Explain.h"

#include "mlir/IR/Remarks.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

static std::string textOf(const FunctionSelection &selection, const Decision &decision) {
  std::string law = decision.subject.empty() ? decision.law : decision.law + " of " + decision.subject;
  if (!decision.feasible)
    return llvm::formatv("{0}: cannot take the {1} form: {2}", law, decision.form, decision.reason);
  return llvm::formatv("{0}: {1} the {2} form: {3}; {4} at L = {5} on {6}", law,
                       decision.taken ? "took" : "did not take", decision.form, decision.reason,
                       printSeconds(decision.seconds), selection.length, selection.device);
}

void graph::emitRemarks(const FunctionSelection &selection) {
  for (const Decision &decision : selection.decisions) {
    auto options = remark::RemarkOpts::name(decision.law).category("attn-select-rewrites").function(selection.function);
    std::string text = textOf(selection, decision);
    if (decision.taken)
      remark::passed(decision.location, options) << StringRef(text);
    else
      remark::missed(decision.location, options) << StringRef(text);
  }
}
