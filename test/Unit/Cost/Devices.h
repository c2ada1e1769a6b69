//===- Devices.h - Machines made up for the tests -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_COST_DEVICES_H
#define ATTUNE_TEST_UNIT_COST_DEVICES_H

#include "attune/Cost/DeviceDescription.h"

namespace attune::test {

/// Round numbers, so that times are worked out by hand.
inline cost::DeviceDescription madeUpDevice(tile::TargetKind kind) {
  cost::DeviceDescription device;
  device.name = device.summary = "made up";
  device.kind = kind;
  device.target = kind == tile::TargetKind::GPU ? "sm_80" : "cpu";
  auto set = [](cost::Fact &fact, double value) { fact = {value, "made up"}; };
  set(device.cores, 4);
  set(device.productsPerSecond, 200);
  set(device.f32ProductPasses, device.kind == tile::TargetKind::GPU ? 6 : 1);
  set(device.productEfficiency, 0.5);
  set(device.elementwisePerSecond, 10);
  set(device.exp2PerSecond, 5);
  set(device.shufflesPerSecond, kind == tile::TargetKind::GPU ? 20 : 0);
  set(device.nearBytesPerSecond, 100);
  set(device.mainBytesPerSecond, 50);
  set(device.launchSeconds, 0.25);
  set(device.fastBytes, 1e6);
  set(device.accumulatorsPerThread, kind == tile::TargetKind::GPU ? 200 : 0);
  return device;
}

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_COST_DEVICES_H
