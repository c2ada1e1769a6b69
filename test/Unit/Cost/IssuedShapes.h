//===- IssuedShapes.h - What tests of issued work count -*- C++ -*---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_COST_ISSUEDSHAPES_H
#define ATTUNE_TEST_UNIT_COST_ISSUEDSHAPES_H

#include "attune/Cost/AttentionWork.h"
#include "attune/Tile/Tile.h"

#include "gtest/gtest.h"

namespace attune::cost::test {

/// A context with storage types, and a small shape.
class IssuedShapes : public ::testing::Test {
protected:
  IssuedShapes() { context.loadDialect<tile::TileDialect, attn::AttnDialect>(); }

  mlir::Type f16() { return mlir::Float16Type::get(&context); }
  mlir::Type bf16() { return mlir::BFloat16Type::get(&context); }
  mlir::Type f32() { return mlir::Float32Type::get(&context); }

  /// One head with d = m = 20 and dv = 12, stored in `bytes` bytes: in f16 no row is whole pieces of 16 bytes.
  static AttentionShape shape(Family family, attn::Form form, int64_t queries, int64_t keys, int64_t bytes) {
    AttentionShape shape;
    shape.family = family, shape.form = form;
    shape.queries = queries, shape.keys = keys;
    shape.width = shape.features = 20, shape.valueWidth = 12;
    shape.elementBytes = shape.queryBytes = shape.keyBytes = bytes;
    return shape;
  }

  mlir::MLIRContext context;
};

} // namespace attune::cost::test

#endif // ATTUNE_TEST_UNIT_COST_ISSUEDSHAPES_H
