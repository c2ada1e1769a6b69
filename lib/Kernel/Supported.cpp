//===- Supported.cpp - What attention asks for and no kernel does yet ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Supported.h"

using namespace mlir;
using namespace attune;

static bool unsupportedMap(attn::FeatureMapAttr map, tile::TargetKind target) {
  switch (map.getKind()) {
  case attn::FeatureKind::Elu1:
    return false;
  case attn::FeatureKind::Relu:
  case attn::FeatureKind::Cosformer:
  case attn::FeatureKind::Focused:
  case attn::FeatureKind::FavorRelu:
  case attn::FeatureKind::Favor:
    return target == tile::TargetKind::GPU;
  default:
    return true;
  }
}

/// Windows and parameters are fields that a family would drop silently, so they are refused by name.
static StringRef unsupportedField(Operation &op, tile::TargetKind target) {
  auto window = op.getAttrOfType<attn::WindowAttr>("window");
  if (window && target == tile::TargetKind::GPU)
    return "a window";
  if (auto map = dyn_cast<attn::MapOp>(op); map && unsupportedMap(map.getFeatureMap(), target))
    return attn::stringifyFeatureKind(map.getFeatureMap().getKind());
  return "";
}

LogicalResult kernel::checkSupported(func::FuncOp function, tile::TargetKind target) {
  auto refuse = [](Operation &op, StringRef what) {
    InFlightDiagnostic error = op.emitError() << "expected attention that this version compiles, but got " << what
                                              << " (not supported yet)";
    error.attachNote() << "--emit attn and run --reference take it";
    return failure();
  };
  for (Operation &op : function.getOps()) {
    bool layer = isa<attn::ProjectOp, attn::ProjectOutputOp, attn::QkNormOp, attn::CompressOp, attn::TakeHeadsOp,
                     attn::ConcatHeadsOp, attn::RopeOp, attn::LepeOp, attn::EvaOp, attn::AgentOp,
                     attn::PolynomialOp, attn::PolysketchOp, attn::EffattOp, attn::KeyMaximumOp>(op);
    if (layer && target == tile::TargetKind::GPU)
      return refuse(op, op.getName().getStringRef());
    if (isa<attn::SketchOp, attn::PoolOp, attn::SequenceSoftmaxOp, attn::EvaSummariesOp, attn::EvaMixOp,
            attn::PowerOp>(op))
      return refuse(op, op.getName().getStringRef());
    if (StringRef field = unsupportedField(op, target); !field.empty())
      return refuse(op, field);
  }
  return success();
}
