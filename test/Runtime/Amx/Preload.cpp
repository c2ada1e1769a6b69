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
// With ATTUNE_AMX_REPORT=FILE a line with the number of products is appended to the file when the program ends: a test
// sees that it has run them.
//
//===----------------------------------------------------------------------===//
#include "TrapEmulator.h"

#include <cstdio>
#include <cstdlib>

__attribute__((constructor)) static void begin() { attune::test::amx::install(); }

__attribute__((destructor)) static void end() {
  const char *path = getenv("ATTUNE_AMX_REPORT");
  FILE *file = path ? fopen(path, "a") : nullptr;
  if (!file)
    return;
  fprintf(file, "products: %llu\n", static_cast<unsigned long long>(attune::test::amx::productsExecuted()));
  fclose(file);
}
