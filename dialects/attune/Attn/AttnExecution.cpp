//===- AttnExecution.cpp - How selection wants ops computed -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

ExecutionAttr Execution::toAttr(MLIRContext *context) const {
  auto attribute = ExecutionAttr::get(context, form, values, split, grouped, ending, launch);
  Execution none;
  bool decided = attribute != ExecutionAttr::get(context, none.form, none.values, none.split, none.grouped, none.ending,
                                                 none.launch);
  return decided ? attribute : ExecutionAttr();
}

Execution attn::executionOf(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  ExecutionAttr said = executable ? executable.getExecutionAttr() : ExecutionAttr();
  if (!said)
    return {};
  return {said.getForm(), said.getValues(), said.getSplit(), said.getGrouped(), said.getEnding(), said.getLaunch()};
}

/// The decisions of an attribute as it prints them.
static SmallVector<std::string> decisionsOf(ExecutionAttr execution) {
  SmallVector<std::string> all;
  auto add = [&](StringRef what, StringRef value) { all.push_back((what + " = " + value).str()); };
  if (execution.getForm() != TermForm::AsWritten)
    add("form", stringifyTermForm(execution.getForm()));
  if (execution.getValues() != Values::AsUsual)
    add("values", stringifyValues(execution.getValues()));
  if (execution.getSplit())
    add("split", "true");
  if (execution.getGrouped())
    add("grouped", "true");
  if (execution.getEnding() != Ending::MergeKernel)
    add("ending", stringifyEnding(execution.getEnding()));
  if (execution.getLaunch() != Launch::Sequential)
    add("launch", stringifyLaunch(execution.getLaunch()));
  return all;
}

/// A52.
LogicalResult attn::checkExecution(Operation *op, ArrayRef<StringLiteral> decisions) {
  ExecutionAttr execution = cast<ExecutableOpInterface>(op).getExecutionAttr();
  for (const std::string &decision : execution ? decisionsOf(execution) : SmallVector<std::string>())
    if (!llvm::is_contained(decisions, decision))
      return op->emitOpError() << "expected an execution that says " << llvm::join(decisions, " or ") << ", but got "
                               << decision;
  return success();
}

Form attn::formOf(PolysketchOp op) {
  TermForm form = executionOf(op).form;
  return form == TermForm::State ? Form::State : form == TermForm::Chunked ? Form::Chunked : Form::Quadratic;
}

ProjectOp attn::projectionInLoad(Value tokens) {
  auto project = tokens ? tokens.getDefiningOp<ProjectOp>() : ProjectOp();
  return project && isInReader(project) ? project : ProjectOp();
}

ProjectOutputOp attn::projectionInEpilogue(Value heads) {
  for (Operation *user : heads.getUsers()) {
    if (auto lepe = dyn_cast<LepeOp>(user); lepe && lepe.getSource() == heads)
      return projectionInEpilogue(lepe.getResult());
    if (auto project = dyn_cast<ProjectOutputOp>(user); project && isInEpilogue(project))
      return project;
  }
  return ProjectOutputOp();
}

Operation *attn::attentionOf(Value part) {
  while (auto lepe = part.getDefiningOp<LepeOp>())
    part = lepe.getSource();
  return part.getDefiningOp();
}
