//===- Version.cpp - attnc --version ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Version.h"

#include "attune/Cost/DeviceDescription.h"
#include "attune/Pipeline/DeviceCode.h"
#include "attune/Target/LibraryDescription.h"
#include "attune/Target/LinkLibrary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <link.h>

static int anchor = 0; // an address in this program

/// LLVM's libraries, as the loader found them; none if they are part of the program.
static int printLibrary(dl_phdr_info *info, size_t, void *out) {
  llvm::StringRef path = info->dlpi_name, name = llvm::sys::path::filename(path);
  if (name.starts_with("libLLVM") || name.starts_with("libMLIR"))
    *static_cast<llvm::raw_ostream *>(out) << "library: " << path << "\n";
  return 0;
}

static void printFound(llvm::raw_ostream &out, llvm::StringRef what, llvm::Expected<std::string> path) {
  if (path)
    out << what << ": " << *path << "\n";
  else
    out << "no " << what << ", but " << llvm::toString(path.takeError()) << "\n";
}

/// The files that a compiled library depends on, one a line: the Python package reads them for its cache's keys.
static void printFiles(llvm::raw_ostream &out) {
  out << "program: " << llvm::sys::fs::getMainExecutable(nullptr, &anchor) << "\n";
  dl_iterate_phdr(printLibrary, &out);
  printFound(out, "linker", attune::target::findLinker());
  printFound(out, "runtime", attune::target::findRuntimeArchive());
}

void attune::attnc::printVersion(llvm::raw_ostream &out) {
  std::optional<std::string> ptxas = findPtxas();
  out << target::compilerVersion() << "\n"
      << "LLVM and MLIR " << LLVM_VERSION_STRING << "\n"
      << "targets: " << llvm::join(cost::DeviceDescription::targets(), ", ") << "\n"
      << "cubins: " << (ptxas ? "by " + *ptxas : "none, as there is no ptxas; the driver assembles the PTX") << "\n";
  printFiles(out);
}
