//===- Warpgroup.cpp - Operands of a warpgroup's products in shared memory -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Warpgroup.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::tile;

int64_t WarpgroupOperand::startOf(int64_t i, int64_t k) const {
  int64_t row = kFirst ? i : k, column = kFirst ? k : i;
  return column / layout.panel * layout.panelBytes() + row * layout.rowBytes() +
         column % layout.panel * layout.elementBytes;
}

bool WarpgroupOperand::isReadable(int64_t i, int64_t count) const {
  if (i % blockSize != 0 || i < 0 || i + count > (kFirst ? layout.rows : layout.columns))
    return false;
  return kFirst || i % layout.panel == 0 || i % layout.panel + count <= layout.panel;
}

uint64_t WarpgroupOperand::descriptor() const {
  // 1, 2 and 3 stand for 128, 64 and 32 bytes.
  uint64_t swizzle = swizzleBytes() == 128 ? 1 : swizzleBytes() == 64 ? 2 : 3;
  auto field = [](int64_t bytes) { return static_cast<uint64_t>(bytes / 16); };
  return field(leadingBytes()) << 16 | field(strideBytes()) << 32 | swizzle << 62;
}

SharedAttr attune::tile::warpgroupSharedFor(RankedTensorType tile) {
  int64_t columns = llvm::alignTo(tile.getDimSize(1), warpgroupDepth);
  int64_t panel = columns == 16 || columns == 32 ? columns : 64;
  return SharedAttr::get(tile.getContext(), llvm::alignTo(tile.getDimSize(0), fragmentRows),
                         llvm::alignTo(columns, panel), panel);
}
