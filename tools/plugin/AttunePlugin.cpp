//===- AttunePlugin.cpp - Attune inside the stock mlir-opt ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Loaded as `mlir-opt --load-dialect-plugin=AttunePlugin.so --load-pass-plugin=AttunePlugin.so --pass-pipeline=…`.
// It links neither MLIR nor LLVM: both come from the program that loads it, so that every type is registered once.
//===----------------------------------------------------------------------===//
#include "attune/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Attune", ATTUNE_VERSION,
          [](mlir::DialectRegistry *registry) { attune::registerAllDialects(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Attune", ATTUNE_VERSION, [] { attune::registerAllPasses(); }};
}
