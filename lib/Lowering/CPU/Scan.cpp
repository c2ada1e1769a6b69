//===- Scan.cpp - Causal products with a part of the state in registers --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ScanBody.h"

#include "KernelState.h"
#include "MemoryAccess.h"
#include "attune/Lowering/CPU/Pipeline.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Half of the registers hold a block, so that a row of v and of the result, and numbers of a and b, have theirs.
static int64_t blockSize(const Isa &isa) { return isa.lanes; }
/// Vectors of a row of a block: with one, each number of a and b would be read for one multiply-add, and more of them leave fewer rows, whose result is read
/// and written once a block. Of few features there are more: what they add up to is a chain from row to row. Of a few rows all time is that of reading and
/// writing S, which is fastest in the order in which it lies.
static int64_t blockVectors(const Isa &isa, const ScanShape &shape) {
  if (isShallow(shape.rows))
    return std::min<int64_t>(llvm::divideCeil(shape.columns, isa.lanes), blockSize(isa) / 2);
  return std::max<int64_t>(2, blockSize(isa) / std::max<int64_t>(shape.features, 2));
}

std::string ScanShape::name() const {
  std::string text = "scan_" + std::to_string(rows) + "x" + std::to_string(features) + "x" + std::to_string(columns);
  for (int64_t step : ArrayRef(steps).drop_back(erases ? writes ? 0 : 1 : 2))
    text += "_" + (step < 0 ? "x" : std::to_string(step));
  text += accumulates ? "_add" : "";
  text += decay == Decay::Rows ? "_fades" : decay == Decay::Columns ? "_fadescolumns" : "";
  text += once ? "once" : "";
  text += erases ? "_erases" : "";
  text += writes ? "_writes" : "";
  text += (exclusive ? "_before" : std::string()) + (reverse ? "_up" : "");
  for (const FetchShape &fetch : fetches)
    text += fetch.name();
  return text;
}

namespace {
/// A scan whose rows add what they have.
struct AddingScan : ScanBody {
  explicit AddingScan(const ScanBody &operands) : ScanBody(operands) {}

  void run();

private:
  int64_t wide() const { return blockVectors(emit.isa, shape); } ///< vectors of a block
  using Block = SmallVector<Value>; ///< rows of vectors of S

  int64_t height() const { return std::min(blockSize(emit.isa) / wide(), shape.features); } ///< rows of S in a block
  int64_t blockCount() const { return llvm::divideCeil(llvm::divideCeil(shape.columns, emit.lanes()), wide()) * llvm::divideCeil(shape.features, height()); }
  void strip(Value column, int64_t vectors);
  void block(Value column, int64_t vectors, Value feature, int64_t rows, Value number, bool first);
  Block step(ArrayRef<Value> before, Value t, Value column, int64_t vectors, Value feature, int64_t rows, bool first);
  void fade(Block &state, ArrayRef<Value> added, Value t, Value column, int64_t vectors, Value feature);
};
} // namespace

/// S times the decay of row t, plus what is `added` unless that is empty.
void AddingScan::fade(Block &state, ArrayRef<Value> added, Value t, Value column, int64_t vectors, Value feature) {
  SmallVector<Value, 4> ofColumns;
  if (shape.decay == ScanShape::Decay::Columns)
    for (int64_t j = 0; j < vectors; ++j)
      ofColumns.push_back(vectorAt(ScanShape::G, t, column, j));
  Value ofRow;
  for (auto [at, sum] : llvm::enumerate(state)) {
    int64_t row = static_cast<int64_t>(at) / vectors, vector = static_cast<int64_t>(at) % vectors;
    if (ofColumns.empty() && vector == 0)
      ofRow = numberAt(ScanShape::G, t, feature, row);
    Value factor = ofColumns.empty() ? ofRow : ofColumns[vector];
    sum = added.empty() ? arith::MulFOp::create(emit, sum, factor).getResult() : LLVM::FMAOp::create(emit, sum, factor, added[at]).getResult();
  }
}

/// S behind row t, whose result is stored.
AddingScan::Block AddingScan::step(ArrayRef<Value> before, Value t, Value column, int64_t vectors, Value feature, int64_t rows, bool first) {
  Block state(before);
  SmallVector<Value, 4> v, sums;
  for (int64_t j = 0; j < vectors; ++j) {
    v.push_back(vectorAt(ScanShape::V, t, column, j));
    bool begins = first && !shape.accumulates;
    sums.push_back(begins ? emit.splat(0.0) : vectorAt(first ? ScanShape::Acc : ScanShape::Result, t, column, j));
  }
  auto read = [&](int64_t row) {
    Value a = numberAt(ScanShape::A, t, feature, row);
    for (int64_t j = 0; j < vectors; ++j)
      sums[j] = LLVM::FMAOp::create(emit, a, state[row * vectors + j], sums[j]);
  };
  bool fades = shape.decay != ScanShape::Decay::None && !shape.once;
  // A product that S decays for is added as S is multiplied.
  bool together = fades && !shape.reverse && !shape.exclusive;
  if (fades && !shape.reverse && !together)
    fade(state, {}, t, column, vectors, feature);
  if (together) {
    SmallVector<Value> added;
    for (int64_t row = 0; row < rows; ++row)
      for (Value b = numberAt(ScanShape::B, t, feature, row); Value each : v)
        added.push_back(arith::MulFOp::create(emit, b, each));
    fade(state, added, t, column, vectors, feature);
  }
  for (int64_t row = 0; row < rows; ++row) {
    if (shape.exclusive)
      read(row);
    if (!together) {
      Value b = numberAt(ScanShape::B, t, feature, row);
      for (int64_t j = 0; j < vectors; ++j)
        state[row * vectors + j] = LLVM::FMAOp::create(emit, b, v[j], state[row * vectors + j]);
    }
    if (!shape.exclusive)
      read(row);
  }
  for (int64_t j = 0; j < vectors; ++j)
    emit.store(sums[j], place(ScanShape::Result, t, emit.add(column, j * emit.lanes())));
  if (fades && shape.reverse)
    fade(state, {}, t, column, vectors, feature);
  return state;
}

void AddingScan::block(Value column, int64_t vectors, Value feature, int64_t rows, Value number, bool first) {
  Block carried;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < vectors; ++j)
      carried.push_back(vectorAt(ScanShape::State, emit.add(feature, row), column, j));
  if (shape.once)
    fade(carried, {}, emit.constant(0), column, vectors, feature);
  std::optional<BlockFetch> fetch;
  if (!fetches.empty() && !isShallow(shape.rows)) {
    fetch.emplace(emit, shape.fetches, fetches, number, shape.rows, pointers[ScanShape::Result]);
    llvm::append_range(carried, fetch->start());
  } else {
    fetchAll(number, blockCount());
    fetchNextState(number, blockCount());
  }
  int64_t count = rows * vectors;
  carried = emit.loop(emit.constant(0), emit.constant(shape.rows), 1, carried, [&](Value step, ValueRange before) {
    Value t = shape.reverse ? emit.sub(emit.constant(shape.rows - 1), step) : step;
    Block next = this->step(SmallVector<Value>(before.take_front(count)), t, column, vectors, feature, rows, first);
    if (fetch)
      llvm::append_range(next, fetch->emitStep(emit, step, before.drop_front(count)));
    return next;
  });
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < vectors; ++j)
      emit.store(carried[row * vectors + j], place(ScanShape::Next, emit.add(feature, row), emit.add(column, j * emit.lanes())));
}

void AddingScan::strip(Value column, int64_t vectors) {
  int64_t height = this->height(), whole = shape.features / height, rest = shape.features % height;
  int64_t blocks = whole + (rest != 0);
  Value before = emit.mul(arith::DivUIOp::create(emit, column, emit.constant(wide() * emit.lanes())), emit.constant(blocks));
  block(column, vectors, emit.constant(0), height, before, /*first=*/true);
  emit.loop(emit.constant(1), emit.constant(whole), 1, [&](Value number) {
    block(column, vectors, emit.mul(number, height), height, emit.add(before, number), /*first=*/false);
  });
  if (rest)
    block(column, vectors, emit.constant(whole * height), rest, emit.add(before, whole), /*first=*/false);
}

void AddingScan::run() {
  if (isShallow(shape.rows))
    takeNextState();
  strips(wide(), [&](Value column, int64_t vectors) { strip(column, vectors); });
}

void ScanBody::strips(int64_t vectors, llvm::function_ref<void(Value, int64_t)> strip) {
  int64_t all = llvm::divideCeil(shape.columns, emit.lanes()), whole = all / vectors, width = vectors * emit.lanes();
  emit.loop(emit.constant(0), emit.constant(whole * width), width, [&](Value column) { strip(column, vectors); });
  if (all % vectors)
    strip(emit.constant(whole * width), all % vectors);
}

void ScanBody::prefetch(Value base, Value bytes, bool intoFirst) {
  LLVM::Prefetch::create(emit, emit.offset(base, bytes, emit.getI8Type()), /*rw=*/0, /*hint=*/intoFirst ? 3 : 2, /*cache=*/1);
}

void ScanBody::takeNextState() {
  int64_t lines = shape.columns * int64_t(sizeof(float)) / cacheLineBytes;
  auto isState = [&](const FetchShape &fetch) { return fetch.rows == shape.features && fetch.lines == lines && !fetch.columns; };
  const auto *found = llvm::find_if(shape.fetches, isState);
  if (found == shape.fetches.end())
    return;
  const auto *at = fetches.begin() + (found - shape.fetches.begin());
  nextState = Rows{at->base, at->rowBytes};
  if (found->near) {
    auto address = [&](Value pointer) { return LLVM::PtrToIntOp::create(emit, emit.getI64Type(), pointer).getResult(); };
    Value bytes = emit.sub(address(nextState->base), address(pointers[ScanShape::State]));
    afterNext = emit.offset(nextState->base, bytes, emit.getI8Type());
  }
  fetches.erase(at), shape.fetches.erase(found);
}

void ScanBody::fetchNextState(Value block, int64_t blocks) {
  int64_t lines = shape.columns * int64_t(sizeof(float)) / cacheLineBytes, each = nextState ? llvm::divideCeil(shape.features * lines, blocks) : 0;
  for (int64_t i = 0; i < each; ++i) {
    Value number = emit.add(emit.mul(block, each), i), row = arith::DivUIOp::create(emit, number, emit.constant(lines));
    Value at = emit.add(emit.mul(row, nextState->rowBytes), emit.mul(arith::RemUIOp::create(emit, number, emit.constant(lines)), cacheLineBytes));
    prefetch(nextState->base, at, static_cast<bool>(afterNext));
    if (afterNext)
      prefetch(afterNext, at, /*intoFirst=*/false);
  }
}

void ScanBody::fetchAll(Value block, int64_t blocks) {
  if (fetches.empty())
    return;
  int64_t lines = linesOfBlock(shape.fetches, blocks);
  BlockFetch all(emit, shape.fetches, fetches, block, lines, pointers[ScanShape::Result]);
  for (int64_t line = 0; line < lines; ++line)
    (void)all.emitStep(emit, emit.constant(line), all.start());
}

/// The function for a shape, made at its first use.
static LLVM::LLVMFuncOp scanFunction(KernelState &state, const ScanShape &shape) {
  std::string name = variantName(shape.name(), state.emit.isa.name);
  if (auto known = state.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  Emit emit(state.emit.getLoc(), OpBuilder(state.module.getContext()), state.emit.isa);
  Type pointer = emit.pointerType(), i64 = emit.getI64Type();
  SmallVector<Type> arguments(ScanShape::NumOperands, pointer);
  arguments.append(ScanShape::NumOperands, i64);
  for (size_t i = 0; i < shape.fetches.size(); ++i)
    arguments.append({pointer, i64, i64});
  LLVM::LLVMFuncOp op = emit.callee(state.module, name, arguments);
  Block &block = op.getBody().front();
  ScanBody body(emit, shape);
  for (unsigned operand = 0; operand < ScanShape::NumOperands; ++operand) {
    body.pointers[operand] = block.getArgument(operand);
    int64_t known = shape.steps[operand];
    body.steps[operand] = known < 0 ? Value(block.getArgument(ScanShape::NumOperands + operand)) : emit.constant(known);
  }
  for (unsigned at = 2 * ScanShape::NumOperands; at < block.getNumArguments(); at += 3)
    body.fetches.push_back({block.getArgument(at), block.getArgument(at + 1), block.getArgument(at + 2)});
  if (shape.erases)
    emitErasingScan(body);
  else
    AddingScan(body).run();
  LLVM::ReturnOp::create(emit, ValueRange());
  return op;
}

void cpu::emitScan(KernelState &state, tile::ScanOp scan) {
  Emit &emit = state.emit;
  auto row = [&](Value tile) { return state.require(tile, Order::Row); };
  Buffer a = row(scan.getA()), b = row(scan.getB()), v = row(scan.getV()), before = row(scan.getState());
  bool accumulates = splatValue(scan.getAcc()) != 0.0;
  Buffer acc = accumulates ? row(scan.getAcc()) : Buffer(), decay = scan.getDecay() ? row(scan.getDecay()) : Buffer();
  Buffer erase = scan.getErase() ? row(scan.getErase()) : a;
  Buffer next = state.destination(scan.getNext(), Order::Row), result = state.destination(scan.getResult(), Order::Row);
  bool writes = scan.getWritten() && !scan.getWritten().use_empty();
  Buffer written = writes ? state.destination(scan.getWritten(), Order::Row) : result;
  std::array<Buffer, ScanShape::NumOperands> buffers{a, b, v, decay.pointer ? decay : b, before, next, accumulates ? acc : result, result, erase, written};
  ScanShape shape{scan.getRows(), scan.getFeatures(), scan.getColumns(), {}, accumulates,
                  !scan.getDecay()        ? ScanShape::Decay::None
                  : scan.getDecayColumns() ? ScanShape::Decay::Columns
                                           : ScanShape::Decay::Rows,
                  scan.decaysOnce(), static_cast<bool>(scan.getErase()), writes, scan.getExclusive(), scan.getReverse()};
  SmallVector<Value> arguments;
  for (Buffer buffer : buffers)
    arguments.push_back(buffer.pointer);
  for (auto [buffer, step] : llvm::zip_equal(buffers, shape.steps)) {
    arguments.push_back(buffer.stride);
    step = Emit::known(buffer.stride).value_or(-1);
  }
  for (Operation *access : state.fetches.lookup(scan)) {
    FetchPlace fetched = fetchPlace(state, scan, access, result.pointer);
    FetchShape fetch = nextShape(access);
    fetch.near = isShallow(shape.rows) && fetch.bytes() <= nearBytes;
    shape.fetches.push_back(fetch);
    arguments.append({fetched.base, fetched.rowBytes, fetched.first});
  }
  LLVM::CallOp::create(emit, scanFunction(state, shape), arguments);
}
