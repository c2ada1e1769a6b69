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

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

void attune::attnc::printVersion(llvm::raw_ostream &out) {
  std::optional<std::string> ptxas = findPtxas();
  out << target::compilerVersion() << "\n"
      << "LLVM and MLIR " << LLVM_VERSION_STRING << "\n"
      << "targets: " << llvm::join(cost::DeviceDescription::targets(), ", ") << "\n"
      << "cubins: " << (ptxas ? "by " + *ptxas : "none, as there is no ptxas; the driver assembles the PTX") << "\n";
}
