//===- QuadChunks.cpp - Rows of a quad in pieces of 16 bytes -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "QuadChunks.h"
#include "IssuedCounts.h"
#include "Places.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static constexpr int64_t chunkBytes = pieceBytes, chunkWords = 4;

/// Units that a quad exchanges at once.
static int64_t unitsFor(int64_t elementBytes) { return elementBytes == 2 ? 4 : 2; }

QuadChunks::QuadChunks(KernelState &state, const TileAccess &access, tile::FragmentLayout layout)
    : state(state), code(state.code), access(access), layout(layout), element(access.memory->element),
      word(code.builder.getI32Type()), bytes(element.getIntOrFloatBitWidth() / 8), unitsOfQuad(unitsFor(bytes)),
      wordsOfUnit(chunkWords / unitsOfQuad), chunkElements(chunkBytes / bytes) {}

bool QuadChunks::possible() const {
  return (bytes == 2 || bytes == 4) && !(access.allColumns && layout.columns % chunkElements != 0);
}

Value QuadChunks::aligned() {
  if (access.allColumns)
    return access.aligned;
  return code.both(access.aligned, code.equal(code.rem(access.columnLimit, chunkElements), 0));
}

//===----------------------------------------------------------------------===//
// Which lane has which chunk
//===----------------------------------------------------------------------===//

static void forEachGroup(const tile::FragmentLayout &layout, int64_t unitsOfQuad,
                         llvm::function_ref<void(const QuadChunks::Group &)> visit) {
  int64_t whole = layout.columnBlocks() / unitsOfQuad * unitsOfQuad, rest = layout.columnBlocks() - whole;
  bool together = 2 * rest <= unitsOfQuad;
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock) {
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t block = 0; block < whole; block += unitsOfQuad)
        visit({rowBlock, block, unitsOfQuad, half, false});
      if (rest > 0 && !together)
        visit({rowBlock, whole, rest, half, false});
    }
    if (rest > 0 && together)
      visit({rowBlock, whole, rest, 0, true});
  }
}

int64_t QuadChunks::elementAt(const Group &group, int64_t unit) const {
  return fragmentElement(layout, group.rowBlock, group.blockOf(unit), group.halfOf(unit), 0);
}

QuadChunks::Place QuadChunks::placeOf(const Group &group) {
  Value unit = code.rem(state.quad, unitsOfQuad), part = code.div(state.quad, unitsOfQuad);
  Value row = fragmentRow(state, layout, group.rowBlock, group.half);
  if (group.bothHalves)
    row = code.add(row, code.mul(code.div(unit, group.blocks), 8));
  Value block = group.blocks == unitsOfQuad ? unit : code.rem(unit, group.blocks);
  Value column = code.add(code.mul(block, tile::blockSize), code.mul(part, chunkElements));
  if (layout.columnWarps() > 1)
    column = code.add(column, code.mul(state.gridColumn, layout.warpColumns()));
  int64_t known = group.block * tile::blockSize; // a constant of the instruction

  Value elements = code.add(rowOffset(state, access, row), code.widen(column)), inside = isInside(state, access, row);
  if (!(access.allColumns && layout.wholeColumns()))
    inside = code.both(inside, code.less(code.add(column, known), access.columnLimit));
  if (group.units() < unitsOfQuad)
    inside = code.both(inside, code.less(unit, code.i32(group.units())));
  return {code.offset(code.offset(access.pointer, code.mul(elements, bytes)), known * bytes), inside};
}

//===----------------------------------------------------------------------===//
// The exchange
//===----------------------------------------------------------------------===//

/// Pairs of registers of which a lane gives one for another lane's other one: those whose units differ in a bit of `mask`.
static void forEachSwap(int64_t unitsOfQuad, int64_t wordsOfUnit,
                        llvm::function_ref<void(int64_t mask, int64_t first, int64_t second)> visit) {
  for (int64_t mask = 1; mask < unitsOfQuad; mask *= 2)
    for (int64_t unit = 0; unit < unitsOfQuad; ++unit)
      for (int64_t i = 0; i < wordsOfUnit && !(unit & mask); ++i)
        visit(mask, unit * wordsOfUnit + i, (unit + mask) * wordsOfUnit + i);
}

int64_t device::exchangesInPieces(const tile::FragmentLayout &layout, int64_t elementBytes) {
  int64_t units = unitsFor(elementBytes), groups = 0, swaps = 0;
  forEachGroup(layout, units, [&](const QuadChunks::Group &) { ++groups; });
  forEachSwap(units, chunkWords / units, [&](int64_t, int64_t, int64_t) { ++swaps; });
  return groups * swaps;
}

/// The lane whose bit of `mask` is clear gives its second register for the first of the other, whose `upper` is true.
void QuadChunks::swap(Value upper, int64_t mask, Value &first, Value &second) {
  Value got = code.exchange(code.select(upper, first, second), mask);
  first = code.select(upper, got, first);
  second = code.select(upper, second, got);
}

void QuadChunks::transpose(Words &words) {
  Value upper;
  int64_t bit = 0;
  forEachSwap(unitsOfQuad, wordsOfUnit, [&](int64_t mask, int64_t first, int64_t second) {
    if (mask != bit)
      bit = mask, upper = code.equal(code.rem(code.div(state.quad, mask), 2), 1);
    swap(upper, mask, words[first], words[second]);
  });
}

QuadChunks::Words QuadChunks::wordsOf(const Group &group, ArrayRef<Value> elements) {
  Words words;
  for (int64_t unit = 0; unit < unitsOfQuad; ++unit) {
    if (unit >= group.units()) { // goes through the exchange too, so it has a value
      words.append(wordsOfUnit, code.i32(0));
      continue;
    }
    ArrayRef<Value> pair = elements.slice(elementAt(group, unit), 2);
    if (wordsOfUnit == 1)
      words.push_back(code.bitcast(code.pair(pair[0], pair[1]), word));
    else
      words.append({code.bitcast(pair[0], word), code.bitcast(pair[1], word)});
  }
  return words;
}

void QuadChunks::takeWords(const Group &group, const Words &words, MutableArrayRef<Value> elements) {
  for (int64_t unit = 0; unit < group.units(); ++unit) {
    MutableArrayRef<Value> pair = elements.slice(elementAt(group, unit), 2);
    Value narrow = wordsOfUnit == 1 ? code.bitcast(words[unit], VectorType::get({2}, element)) : Value();
    for (int64_t second = 0; second < 2; ++second)
      pair[second] = narrow ? code.element(narrow, second) : code.bitcast(words[2 * unit + second], element);
  }
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

Value QuadChunks::loadChunk(const Place &place) {
  auto type = VectorType::get({chunkWords}, word);
  auto op = scf::IfOp::create(code.builder, code.loc, type, place.inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(code.builder, code.loc, code.load(type, place.pointer, chunkBytes));
  code.builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(code.builder, code.loc, code.zero(type));
  return op.getResult(0);
}

SmallVector<Value> QuadChunks::load() {
  SmallVector<Value> elements(layout.registers());
  forEachGroup(layout, unitsOfQuad, [&](const Group &group) {
    Value chunk = loadChunk(placeOf(group));
    Words words;
    for (int64_t i = 0; i < chunkWords; ++i)
      words.push_back(code.element(chunk, i));
    transpose(words);
    takeWords(group, words, elements);
  });
  return elements;
}

void QuadChunks::store(ArrayRef<Value> elements) {
  forEachGroup(layout, unitsOfQuad, [&](const Group &group) {
    Words words = wordsOf(group, elements);
    transpose(words);
    Place place = placeOf(group);
    code.ifThen(place.inside, [&] {
      Value chunk = LLVM::UndefOp::create(code.builder, code.loc, VectorType::get({chunkWords}, word));
      for (auto [i, each] : llvm::enumerate(words))
        chunk = LLVM::InsertElementOp::create(code.builder, code.loc, chunk, each, code.i32(i));
      code.store(chunk, place.pointer, chunkBytes);
    });
  });
}
