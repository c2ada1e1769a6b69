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

#include "llvm/Config/llvm-config.h"

#include <cstdio>
#include <dlfcn.h>

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

/// Of no plugin: the program then refuses this one by itself.
static constexpr uint32_t noVersion = 0;

/// MLIR's number for plugins has not changed since there are plugins, its classes change with every release of LLVM. So
/// the program is asked which one it has, by a function of LLVM's C interface, which stays as it is; it is looked up,
/// as a program may have none. Patches of one release fit each other.
static uint32_t versionForProgram() {
  using GetVersion = void (*)(unsigned *major, unsigned *minor, unsigned *patch);
  auto ask = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned major = 0, minor = 0, patch = 0;
  if (ask)
    ask(&major, &minor, &patch);
  if (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR)
    return MLIR_PLUGIN_API_VERSION;
  char found[64] = "one that does not say its version";
  if (ask)
    std::snprintf(found, sizeof(found), "%u.%u.%u", major, minor, patch);
  std::fprintf(stderr,
               "error: AttunePlugin: expected a program with LLVM and MLIR %d.%d, but got %s; load it in the mlir-opt "
               "that it was built for, or build Attune for this one\n",
               LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, found);
  return noVersion;
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {versionForProgram(), "Attune", ATTUNE_VERSION,
          [](mlir::DialectRegistry *registry) { attune::registerAllDialects(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {versionForProgram(), "Attune", ATTUNE_VERSION, [] { attune::registerAllPasses(); }};
}
