//===- Amx.cpp - Products of tiles of bf16 numbers -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Amx.h"

#include "DotForms.h"
#include "Orders.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

//===----------------------------------------------------------------------===//
// Which dots
//===----------------------------------------------------------------------===//

/// Sums of fewer products, or fewer rows, fill too little of a tile.
static bool isLarge(tile::DotOp dot, const Isa &target) {
  int64_t rows = orderOf(dot.getResult()) == Order::Column ? dot.getN() : dot.getM();
  return target.tiles && takesPairs(dot, target) && rows >= tileRows && dot.getK() >= tileNumbers / 2;
}

/// Pairs of a sum beyond whole tiles.
static int64_t restOf(tile::DotOp dot) { return dot.getK() / 2 % tileWords; }

std::optional<TileNames> cpu::tileNames(tile::KernelOp kernel, const Isa &target) {
  std::optional<TileNames> names;
  kernel->walk([&](tile::DotOp dot) {
    if (!isLarge(dot, target))
      return;
    if (!names)
      names = TileNames{0};
    // The first rest: another one, which is rare, is left to dot products.
    names->rest = names->rest ? names->rest : restOf(dot);
  });
  return names;
}

bool cpu::takesTiles(tile::DotOp dot, const Isa &target) {
  if (!isLarge(dot, target))
    return false;
  auto kernel = dot->getParentOfType<tile::KernelOp>();
  return dot.getK() >= tileNumbers || (kernel && tileNames(kernel, target)->rest == restOf(dot));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Value tileNumber(Emit &emit, int64_t tile) {
  return arith::ConstantOp::create(emit, emit.getI8IntegerAttr(static_cast<int8_t>(tile)));
}

static void call(Emit &emit, StringRef name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(emit, emit.getStringAttr("llvm.x86." + name), arguments);
}

/// What ldtilecfg reads: the palette, bytes of a row of each tile from byte 16 on, rows from byte 48 on.
static SmallVector<int8_t> configuration(TileNames names) {
  SmallVector<int8_t> bytes(64, 0);
  auto shape = [&](int64_t tile, int64_t rows, int64_t words) {
    bytes[16 + 2 * tile] = static_cast<int8_t>(4 * words), bytes[48 + tile] = static_cast<int8_t>(rows);
  };
  bytes[0] = 1;
  for (int64_t tile = 0; tile < 8; ++tile)
    shape(tile, tileRows, tileWords);
  if (names.rest) {
    shape(names.shortA(), tileRows, names.rest);
    shape(names.shortB(), names.rest, tileWords);
  }
  return bytes;
}

void cpu::configureTiles(Emit &emit, ModuleOp module, TileNames names) {
  std::string name = "attune_tiles_" + std::to_string(names.rest);
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    SmallVector<int8_t> bytes = configuration(names);
    auto type = LLVM::LLVMArrayType::get(emit.getI8Type(), bytes.size());
    auto tensor = RankedTensorType::get(static_cast<int64_t>(bytes.size()), emit.getI8Type());
    OpBuilder atModule = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(atModule, emit.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    DenseElementsAttr::get(tensor, ArrayRef<int8_t>(bytes)), /*alignment=*/64);
  }
  call(emit, "ldtilecfg", LLVM::AddressOfOp::create(emit, global).getResult());
}

void cpu::releaseTiles(Emit &emit) { call(emit, "tilerelease", {}); }

void cpu::zeroTile(Emit &emit, int64_t tile) { call(emit, "tilezero", tileNumber(emit, tile)); }

void cpu::loadTile(Emit &emit, int64_t tile, Value pointer, Value stride) {
  call(emit, "tileloadd64", {tileNumber(emit, tile), pointer, stride});
}

void cpu::storeTile(Emit &emit, int64_t tile, Value pointer, Value stride) {
  call(emit, "tilestored64", {tileNumber(emit, tile), pointer, stride});
}

void cpu::multiplyTiles(Emit &emit, int64_t sum, int64_t a, int64_t b) {
  call(emit, "tdpbf16ps", {tileNumber(emit, sum), tileNumber(emit, a), tileNumber(emit, b)});
}
