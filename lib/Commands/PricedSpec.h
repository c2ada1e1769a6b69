//===- PricedSpec.h - What selection says of a spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_PRICEDSPEC_H
#define ATTUNE_COMMANDS_PRICEDSPEC_H

#include "attune/Commands/Arguments.h"
#include "attune/Graph/Selection.h"
#include "attune/Pipeline/Compilation.h"

namespace attune::attnc {

/// The device of the command line, with its threads. Errors have been printed.
mlir::FailureOr<cost::DeviceDescription> pricedDevice(const Arguments &arguments);

/// Selects in a compilation's module for the device and the threads of the command line, with the pins of its spec;
/// `explaining`: with all that people are told. Errors have been printed.
mlir::FailureOr<graph::Selection> selectFor(Compilation &compilation, const Arguments &arguments, bool explaining);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_PRICEDSPEC_H
