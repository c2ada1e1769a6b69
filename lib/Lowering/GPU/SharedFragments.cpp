//===- SharedFragments.cpp - Shared memory to fragments and back ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are split into what is constant, what depends on the lane (the same in every call, so computed once), and the
// warp's share. The swizzle depends on the row modulo 8, which is the lane's own: rows that a caller or a warp adds are multiples
// of 8. x(r), chunks and panels are those of TileLayouts.h.
//
//===----------------------------------------------------------------------===//
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// x(row), as SharedLayout::swizzle; `inPattern`: the row is one of 0 … 7.
static Value swizzleOf(DeviceBuilder &code, const tile::SharedLayout &layout, Value row, bool inPattern) {
  if (layout.elementBytes == 4) {
    Value half = inPattern ? code.div(row, 4) : code.rem(code.div(row, 4), 2);
    return code.mul(code.exclusiveOr(code.rem(row, 4), half), 2);
  }
  int64_t period = layout.swizzlePeriod();
  return code.rem(code.div(row, 8 / period), period);
}

/// Bytes from a tile's begin to a chunk of row `row`, whose swizzle is that of `swizzleRow`; `inPattern` is said of the latter.
static Value bytesTo(DeviceBuilder &code, const tile::SharedLayout &layout, Value row, Value chunk, Value swizzleRow,
                     bool inPattern) {
  Value first = code.mul(row, layout.rowBytes());
  if (layout.panels() > 1) {
    first = code.add(first, code.mul(code.div(chunk, layout.chunksPerPanel()), layout.panelBytes()));
    chunk = code.rem(chunk, layout.chunksPerPanel());
  }
  return code.add(first, code.mul(code.exclusiveOr(chunk, swizzleOf(code, layout, swizzleRow, inPattern)), 16));
}

Value device::chunkOffset(DeviceBuilder &code, const tile::SharedLayout &layout, Value row, Value chunk) {
  return bytesTo(code, layout, row, chunk, row, /*inPattern=*/false);
}

/// The bytes of the chunks before `chunk` that can be added as a constant, since neither the swizzle nor what a lane adds (0 or 1
/// chunk) reaches across them; and how many chunks these are. `isKnown`: the warp adds no columns.
static std::pair<int64_t, int64_t> knownChunks(const tile::SharedLayout &layout, int64_t chunk, bool isKnown) {
  if (layout.panels() == 1) // whole multiples of 8 chunks are outside what the swizzle changes
    return {chunk / 8 * 8 * 16, chunk / 8 * 8};
  int64_t perPanel = layout.chunksPerPanel(), panel = chunk / perPanel;
  if (!isKnown || chunk % perPanel + 1 == perPanel)
    return {0, 0};
  return {panel * layout.panelBytes(), panel * perPanel};
}

/// The address of byte `inChunk` of chunk `laneChunk` of row `laneRow`, counted from `place`. `swizzleRow` is `laneRow` modulo 8.
static Value chunkAddress(KernelState &state, const SharedTile &tile, const SharedPlace &place, Value laneRow,
                          Value swizzleRow, Value laneChunk, Value inChunk) {
  DeviceBuilder &code = state.code;
  const tile::SharedLayout &layout = tile.layout;
  int64_t knownChunk = place.column / layout.elementsPerChunk();
  auto [knownBytes, known] = knownChunks(layout, knownChunk, !place.addColumn);
  Value chunk = code.add(laneChunk, knownChunk - known);
  if (place.addColumn)
    chunk = code.add(chunk, code.div(place.addColumn, layout.elementsPerChunk()));
  Value row = place.addRow ? code.add(laneRow, place.addRow) : laneRow;
  Value bytes = bytesTo(code, layout, row, chunk, swizzleRow, /*inPattern=*/true);
  if (inChunk)
    bytes = code.add(bytes, inChunk);
  return state.addressIn(tile, bytes, place.row * layout.rowBytes() + knownBytes);
}

SmallVector<Value> device::loadMatrices(KernelState &state, const SharedTile &tile, SharedPlace place, int count,
                                     bool columnsFirst, bool transposed) {
  DeviceBuilder &code = state.code;
  OpBuilder &builder = code.builder;
  Value row = code.rem(state.lane, 8), matrix = code.div(state.lane, 8), zero = code.i32(0);
  Value first = count >= 2 ? code.rem(matrix, 2) : zero, second = count == 4 ? code.div(matrix, 2) : zero;
  Value chunk = columnsFirst ? first : second, block = columnsFirst ? second : first;
  Value address = chunkAddress(state, tile, place, code.add(row, code.mul(block, 8)), row, chunk, {});

  MLIRContext *context = builder.getContext();
  Type i32 = builder.getI32Type();
  Type type = count == 1 ? i32 : LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(builder, code.loc, type, address, count,
                                          transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                          NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> pairs;
  for (int i = 0; i < count; ++i) {
    Value word = count == 1 ? loaded : LLVM::ExtractValueOp::create(builder, code.loc, loaded, i).getResult();
    pairs.push_back(code.bitcast(word, VectorType::get({2}, tile.element)));
  }
  return pairs;
}

static Value pairAddress(KernelState &state, const SharedTile &tile, const SharedPlace &place) {
  DeviceBuilder &code = state.code;
  int64_t pairsPerChunk = tile.layout.elementsPerChunk() / 2;
  Value chunk = code.div(state.quad, pairsPerChunk), inChunk = code.rem(state.quad, pairsPerChunk);
  return chunkAddress(state, tile, place, state.group, state.group, chunk, code.mul(inChunk, 2 * tile.layout.elementBytes));
}

Value device::readPair(KernelState &state, const SharedTile &tile, SharedPlace place) {
  return state.code.load(VectorType::get({2}, tile.element), pairAddress(state, tile, place),
                         2 * tile.layout.elementBytes);
}

void device::writePair(KernelState &state, const SharedTile &tile, SharedPlace place, Value pair) {
  state.code.store(pair, pairAddress(state, tile, place), 2 * tile.layout.elementBytes);
}

Value device::readWord(KernelState &state, const SharedTile &tile, SharedPlace place, int64_t second) {
  DeviceBuilder &code = state.code;
  Value row = code.add(code.mul(state.quad, 2), second);
  Value inChunk = code.mul(code.rem(state.group, 4), 4);
  Value address = chunkAddress(state, tile, place, row, row, code.div(state.group, 4), inChunk);
  return code.load(code.builder.getF32Type(), address, 4);
}

Value device::firstRow(KernelState &state, int64_t rowBlock, int64_t rows) {
  DeviceBuilder &code = state.code;
  int64_t stride = tile::fragmentRows * state.grid.rows, first = rowBlock * stride;
  Value row = code.add(code.mul(state.gridRow, tile::fragmentRows), first);
  bool inside = first + stride <= rows;
  return inside ? row : code.smaller(row, code.i32(llvm::alignTo(rows, tile::fragmentRows) - tile::fragmentRows));
}

bool device::endsPast(const tile::FragmentLayout &layout, int64_t limit) {
  return layout.columnWarps() > 1 && layout.warpColumns() * layout.columnWarps() > limit;
}

bool device::isWithin(const tile::FragmentLayout &layout, int64_t block, int64_t limit) {
  return (layout.columnWarps() - 1) * layout.warpColumns() + (block + 1) * tile::blockSize <= limit;
}

ColumnPlace device::columnPlace(KernelState &state, const tile::FragmentLayout &layout, int64_t block, int64_t limit) {
  DeviceBuilder &code = state.code;
  int64_t inWarp = block * tile::blockSize;
  if (layout.columnWarps() == 1)
    return {inWarp, {}};
  Value first = code.mul(state.gridColumn, layout.warpColumns());
  if (isWithin(layout, block, limit) || !endsPast(layout, limit))
    return {inWarp, first};
  return {0, code.smaller(code.add(first, inWarp), code.i32(limit - tile::blockSize))};
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static void readFragments(KernelState &state, const SharedTile &source, const tile::FragmentLayout &layout,
                          ThreadTile &result) {
  DeviceBuilder &code = state.code;
  int64_t blocks = layout.columnBlocks();
  auto inPairs = [&](int64_t block) {
    return block + 1 < blocks &&
           (isWithin(layout, block + 1, source.layout.columns) || !endsPast(layout, source.layout.columns));
  };
  state.sharedUse.beforeRead(code, source.buffer);
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock) {
    Value row = firstRow(state, rowBlock, source.layout.rows);
    for (int64_t block = 0; block < blocks; ++block) {
      auto [column, warpColumn] = columnPlace(state, layout, block, source.layout.columns);
      if (source.layout.elementBytes == 2) {
        int count = inPairs(block) ? 4 : 2;
        llvm::append_range(result.registers,
                           loadMatrices(state, source, {0, column, row, warpColumn}, count, /*columnsFirst=*/false, false));
        block += count == 4;
        continue;
      }
      for (int64_t half = 0; half < 2; ++half) {
        Value pair = readPair(state, source, {half * 8, column, row, warpColumn});
        result.registers.push_back(code.element(pair, 0));
        result.registers.push_back(code.element(pair, 1));
      }
    }
  }
}

/// `pair` where `inside`, else zeros: of 16 bits both at once.
static Value clearUnless(DeviceBuilder &code, Value inside, Value pair) {
  auto type = cast<VectorType>(pair.getType());
  if (type.getElementTypeBitWidth() == 16) {
    Value word = code.bitcast(pair, code.builder.getI32Type());
    return code.bitcast(code.select(inside, word, code.i32(0)), type);
  }
  Value zero = code.zero(type.getElementType());
  return code.pair(code.select(inside, code.element(pair, 0), zero), code.select(inside, code.element(pair, 1), zero));
}

/// `pair` with zeros from column `columns` on; `column` is that of its first element.
static Value clearColumns(DeviceBuilder &code, Value pair, Value column, int64_t columns) {
  if (columns % 2 == 0)
    return clearUnless(code, code.less(column, code.i32(columns)), pair);
  Value zero = code.zero(cast<VectorType>(pair.getType()).getElementType()), parts[2];
  for (int64_t i = 0; i < 2; ++i)
    parts[i] = code.select(code.less(code.add(column, i), code.i32(columns)), code.element(pair, i), zero);
  return code.pair(parts[0], parts[1]);
}

/// Pair `index` of a fragment, with zeros outside the tile in the block of 8 rows or columns in which it ends, which
/// products read as a whole.
static Value pairOf(KernelState &state, const ThreadTile &tile, const tile::FragmentLayout &layout, int64_t index) {
  DeviceBuilder &code = state.code;
  bool packed = isa<VectorType>(tile.registers.front().getType());
  Value pair = packed ? tile.registers[index] : code.pair(tile.registers[2 * index], tile.registers[2 * index + 1]);
  int64_t half = index % 2, block = index / 2 % layout.columnBlocks(), rowBlock = index / 2 / layout.columnBlocks();
  if (layout.columns % tile::blockSize != 0 && !isWithin(layout, block, layout.columns))
    pair = clearColumns(code, pair, fragmentColumn(state, layout, block), layout.columns);
  if (layout.rows % tile::blockSize != 0 && (rowBlock + 1) * layout.rowStride() > layout.rows)
    pair = clearUnless(code, code.less(fragmentRow(state, layout, rowBlock, half), code.i32(layout.rows)), pair);
  return pair;
}

/// Writes row block `rowBlock`, 16 rows of each warp, with columns up to whole fragments of the tile.
static void writeRows(KernelState &state, const ThreadTile &source, const tile::FragmentLayout &layout,
                      const SharedTile &target, int64_t rowBlock) {
  DeviceBuilder &code = state.code;
  int64_t blocks = layout.columnBlocks(), end = layout.warpColumns() * layout.columnWarps();
  Value row = code.add(code.mul(state.gridRow, tile::fragmentRows), rowBlock * layout.rowStride());
  Value first = layout.columnWarps() == 1 ? Value() : code.mul(state.gridColumn, layout.warpColumns());
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t column = block * tile::blockSize;
      Value pair = pairOf(state, source, layout, (rowBlock * blocks + block) * 2 + half);
      auto write = [&] { writePair(state, target, {half * 8, column, row, first}, pair); };
      if (endsPast(layout, target.layout.columns) && !isWithin(layout, block, target.layout.columns))
        code.ifThen(code.less(code.add(first, column), code.i32(target.layout.columns)), write);
      else
        write();
    }
  // Zeros where the last block of the tile is the first half of a fragment.
  if (end >= static_cast<int64_t>(llvm::alignTo(layout.columns, tile::fragmentRows)))
    return;
  auto clear = [&] {
    for (int64_t half = 0; half < 2; ++half)
      writePair(state, target, {half * 8, end, row, {}}, code.zero(VectorType::get({2}, target.element)));
  };
  first ? code.ifThen(code.equal(state.gridColumn, layout.columnWarps() - 1), clear) : clear();
}

static void writeShared(KernelState &state, const ThreadTile &source, const tile::FragmentLayout &layout,
                        const SharedTile &target) {
  DeviceBuilder &code = state.code;
  state.sharedUse.beforeWrite(code, target.buffer);
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock) {
    int64_t first = rowBlock * layout.rowStride();
    auto write = [&] { writeRows(state, source, layout, target, rowBlock); };
    if (first + layout.rowStride() <= target.layout.rows) {
      write();
      continue;
    }
    Value row = code.add(code.mul(state.gridRow, tile::fragmentRows), first);
    code.ifThen(code.less(row, code.i32(target.layout.rows)), write);
  }
}

/// `c` to `a`: the same registers, zeros in the padding of the last block, which meets the padding of B.
static void toOperand(KernelState &state, const ThreadTile &source, const tile::FragmentLayout &layout,
                      ThreadTile &result) {
  result.registers = source.registers;
  if (layout.columns % tile::blockSize == 0)
    return;
  bool packed = isa<VectorType>(source.registers.front().getType());
  for (int64_t i = 0, e = source.registers.size() / (packed ? 1 : 2); i < e; ++i) {
    Value pair = pairOf(state, source, layout, i);
    if (packed) {
      result.registers[i] = pair;
      continue;
    }
    for (int64_t second = 0; second < 2; ++second)
      result.registers[2 * i + second] = state.code.element(pair, second);
  }
}

LogicalResult device::lowerConvertLayout(KernelState &state, tile::ConvertLayoutOp convert) {
  auto from = cast<RankedTensorType>(convert.getSource().getType()), to = cast<RankedTensorType>(convert.getType());
  if (isa<tile::SliceAttr>(from.getEncoding()) && isa<tile::SliceAttr>(to.getEncoding()))
    return lowerSliceConversion(state, convert), success();
  auto fragment = dyn_cast<tile::FragmentAttr>(to.getEncoding());
  ThreadTile result;
  if (isa<tile::SharedAttr>(from.getEncoding()) && fragment) {
    const SharedTile &source = *state.tileOf(convert.getSource()).shared;
    bool isFirst = fragment.getRole() == tile::FragmentRole::A, sharesRows = state.grid.columns > 1;
    if (fragment.getRole() == tile::FragmentRole::B || (isFirst && sharesRows))
      result.shared = source; // products read it as they go
    else
      readFragments(state, source, {fragment, to.getShape()}, result);
  } else if (isa<tile::FragmentAttr>(from.getEncoding()) && fragment) {
    toOperand(state, state.tileOf(convert.getSource()), state.fragment(convert.getSource()), result);
  } else if (auto shared = dyn_cast<tile::SharedAttr>(to.getEncoding()); shared && isa<tile::FragmentAttr>(from.getEncoding())) {
    result.shared = state.newSharedTile(shared, to.getElementType());
    writeShared(state, state.tileOf(convert.getSource()), state.fragment(convert.getSource()), *result.shared);
  } else {
    return convert.emitError() << "expected a conversion between fragments, slices, or to and from shared memory, but got "
                               << from.getEncoding() << " to " << to.getEncoding();
  }
  state.tiles[convert.getResult()] = std::move(result);
  return success();
}
