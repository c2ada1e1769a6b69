//===- Preload.cpp - The emulator of AMX for any program ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   LD_PRELOAD=libattune-amx.so ATTUNE_ASSUME_AMX=1 PROGRAM ...
//
// With ATTUNE_AMX_REPORT=FILE a line with the number of products is appended to the file when the program ends, or one that says that
// the processor has tiles of its own: a test sees who has run them.
//
//===----------------------------------------------------------------------===//
#include "TrapEmulator.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

static bool installed = false;

__attribute__((constructor)) static void begin() {
  attune::test::amx::install();
  installed = true;
}

/// Programs of LLVM take SIGILL for their own, to print a stack: here it stays the emulator's.
extern "C" int sigaction(int signal, const struct sigaction *action, struct sigaction *before) noexcept {
  using Function = int (*)(int, const struct sigaction *, struct sigaction *);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sigaction"));
  return next(signal, signal == SIGILL && installed ? nullptr : action, before);
}

__attribute__((destructor)) static void end() {
  const char *path = getenv("ATTUNE_AMX_REPORT");
  FILE *file = path ? fopen(path, "a") : nullptr;
  if (!file)
    return;
  if (attune::test::amx::processorHasTiles())
    fprintf(file, "products: by the processor\n");
  else
    fprintf(file, "products: %llu\n", static_cast<unsigned long long>(attune::test::amx::productsExecuted()));
  fclose(file);
}
