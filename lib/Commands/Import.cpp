//===- Import.cpp - attnc import ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"
#include "attune/Onnx/NodeSpec.h"

using namespace attune;
using namespace attune::attnc;

int attune::attnc::importNode(const Arguments &arguments) {
  llvm::Expected<onnx::NodeSpec> spec = onnx::readNode(*onnx::nodePathOf(arguments.specs.front()));
  if (!spec)
    return fail(spec.takeError(), Wrong);
  if (arguments.json)
    spec->writeJson(llvm::outs());
  else
    llvm::outs() << spec->yaml();
  return Done;
}
