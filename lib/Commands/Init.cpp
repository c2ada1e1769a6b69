//===- Init.cpp - attnc init ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"
#include "attune/Frontend/SpecTensors.h"

#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;

int attune::attnc::init(const Arguments &arguments) {
  InitRequest request;
  request.specPath = arguments.specs.front();
  request.outFolder = arguments.out;
  request.seed = arguments.seed;
  request.inputs = arguments.inputs;
  request.batch = arguments.batch, request.queries = arguments.queries, request.keys = arguments.keys;
  request.sequences = arguments.sequences;
  return initTensors(request, llvm::errs());
}
