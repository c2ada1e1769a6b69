//===- Blas.cpp - cuBLASLt, opened at run time ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blas.h"

#include "Common/Process.h"

#include <cstdio>
#include <dlfcn.h>
#include <initializer_list>

using namespace attune::rt;

namespace {

/// Versions whose functions are those declared in Blas.h.
constexpr size_t firstVersion = 110500, endVersion = 140000;
constexpr const char *files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

ProcessLock loading;
bool loaded = false;
Blas table;

/// Also with what a framework has loaded from a folder of its own.
void *openFile() {
  for (int flags : {RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL})
    for (const char *file : files)
      if (void *library = dlopen(file, flags))
        return library;
  return nullptr;
}

/// The name of a function that is not there; null if all are.
const char *findFunctions(void *library) {
#define FIND(symbol, field, result, parameters)                                                                        \
  table.field = reinterpret_cast<decltype(table.field)>(dlsym(library, #symbol));                                      \
  if (!table.field)                                                                                                    \
    return #symbol;
  ATTUNE_BLAS_FUNCTIONS(FIND)
#undef FIND
  return nullptr;
}

bool open(BlasReason &reason) {
  if (loaded)
    return true;
  void *library = openFile(); // never closed: handles of other threads may be of it
  if (!library)
    return snprintf(reason.text, sizeof(reason.text), "no %s, .12 or .11 is on the library path", files[0]), false;
  if (const char *missing = findFunctions(library))
    return snprintf(reason.text, sizeof(reason.text), "cuBLASLt has no function %s", missing), false;
  loaded = true;
  return true;
}

bool isKnown(BlasReason &reason) {
  table.version = table.getVersion();
  if (table.version >= firstVersion && table.version < endVersion)
    return true;
  snprintf(reason.text, sizeof(reason.text), "expected cuBLASLt 11.5 ... 13, but got version %zu", table.version);
  return false;
}

} // namespace

const Blas *attune::rt::openBlas(BlasReason &reason) {
  loading.lock();
  bool usable = open(reason) && isKnown(reason);
  loading.unlock();
  return usable ? &table : nullptr;
}
