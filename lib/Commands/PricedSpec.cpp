//===- PricedSpec.cpp - What selection says of a spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PricedSpec.h"

#include "attune/Commands/Commands.h"

using namespace attune;
using namespace attune::attnc;

mlir::FailureOr<cost::DeviceDescription> attune::attnc::pricedDevice(const Arguments &arguments) {
  llvm::Expected<cost::DeviceDescription> device =
      cost::DeviceDescription::named(arguments.device.empty() ? arguments.target : arguments.device);
  if (!device)
    return fail(device.takeError()), mlir::failure();
  device->runOn(pricedThreads(arguments));
  return std::move(*device);
}

mlir::FailureOr<graph::Selection> attune::attnc::selectFor(Compilation &compilation, const Arguments &arguments,
                                                           bool explaining) {
  mlir::FailureOr<cost::DeviceDescription> device = pricedDevice(arguments);
  if (failed(device))
    return mlir::failure();
  graph::SelectOptions options;
  options.curves = options.offers = explaining;
  options.save = true;
  options.device = std::move(*device);
  for (const Pin &pin : compilation.spec() ? compilation.spec()->pin : std::vector<Pin>())
    options.pins.push_back({pin.law, pin.form});
  return graph::selectRewrites(compilation.module(), options);
}
