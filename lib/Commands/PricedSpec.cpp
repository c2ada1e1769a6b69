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

mlir::FailureOr<graph::Selection> attune::attnc::selectFor(Compilation &compilation, const Arguments &arguments,
                                                           bool explaining) {
  llvm::Expected<cost::DeviceDescription> device =
      cost::DeviceDescription::named(arguments.device.empty() ? arguments.target : arguments.device);
  if (!device)
    return fail(device.takeError()), mlir::failure();
  graph::SelectOptions options;
  options.curves = options.offers = explaining;
  options.save = true;
  options.device = std::move(*device);
  options.device.runOn(pricedThreads(arguments));
  for (const Pin &pin : compilation.spec() ? compilation.spec()->pin : std::vector<Pin>())
    options.pins.push_back({pin.law, pin.form});
  return graph::selectRewrites(compilation.module(), options);
}
