//===- ErasingScan.cpp - Scans whose rows add what they make of the state --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of the state's columns
//     for row t of the tile
//       u = v_t − Σ_i x_ti g_ti S_i                                   of the strip
//       for row i of the state:  S_i ← g_ti S_i + b_ti u;  result_t += a_ti S_i
//
// One row goes through a strip twice, the second time from where the first one ended, from the last row of S up: what of S is in a first-level cache then
// is what it finds. Lines that lie one below the other in rows of 512 bytes share 8 of the 64 sets of such a cache, which have room for 96 of them, or for
// 64: where S has more rows, narrower strips do not help. The rows that the first time begins with are fetched while the strip before is gone through, as
// many as leave room for those that are still read there. (128 x 128 in L2, a row: 1.60 µs at first, .40 of it for the first time through S; 1.52 in strips
// of two lines, 1.26 with fetches; S read and written once: 1.08.) Both times fetch S of the next program, as memory must not wait for either.
//
// Of several rows each goes through a strip once: what it makes of S_i the next row reads as well, for its u.
//
//===----------------------------------------------------------------------===//
#include "ScanBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Sums that are under way at a time, so that none waits for the one before; of several rows so many of each of two, with what one writes, fit registers.
static int64_t mostSums(const Isa &isa, const ScanShape &shape) { return shape.rows > 1 ? isa.lanes / 2 : 8; }
/// Of a row of a strip, where S is more than a first-level cache holds.
static constexpr int64_t linesOfStrip = 2;

namespace {
struct ErasingScan : ScanBody {
  explicit ErasingScan(const ScanBody &operands) : ScanBody(operands) {}

  void run();

private:
  using Vectors = SmallVector<Value, 8>;

  int64_t rowBytes() const { return (shape.steps[ScanShape::State] < 0 ? shape.columns : shape.steps[ScanShape::State]) * int64_t(sizeof(float)); }
  /// Rows of S that such a cache holds, of any strip.
  int64_t nearRows() const { return 2 * nearBytes / rowBytes(); }
  bool isNear() const { return nearRows() >= shape.features; }
  /// Vectors of a row of a strip.
  int64_t wide() const {
    int64_t sums = mostSums(emit.isa, shape), ofLines = linesOfStrip * cacheLineBytes / (emit.lanes() * int64_t(sizeof(float)));
    return std::min<int64_t>(isNear() ? sums : std::min(sums, ofLines), llvm::divideCeil(shape.columns, emit.lanes()));
  }
  /// Rows of S whose sums are under way together.
  int64_t height(int64_t vectors) const { return std::min(std::max<int64_t>(1, mostSums(emit.isa, shape) / vectors), shape.features); }
  /// Blocks of so many rows, of a whole strip and of all.
  int64_t blocksOfStrip() const { return llvm::divideCeil(shape.features, height(wide())); }
  int64_t blockCount() const { return llvm::divideCeil(llvm::divideCeil(shape.columns, emit.lanes()), wide()) * blocksOfStrip(); }

  void strip(Value column, int64_t vectors);
  void rowTwice(Value t, ScanShape::Operand from, Value column, int64_t vectors);
  SmallVector<Value> zeros(int64_t vectors) { return SmallVector<Value>(height(vectors) * vectors, emit.splat(0.0)); }
  SmallVector<Value> overRows(SmallVector<Value> sums, int64_t vectors, bool up, llvm::function_ref<void(Value feature, int64_t rows, MutableArrayRef<Value> sums)> block);
  Vectors ofColumns(ScanShape::Operand of, Value t, Value column, int64_t vectors);
  std::optional<Rows> nextOf(Value column);
  void fetchRows(const Rows &next, Value before, int64_t row);

  /// Whether each row goes through S once.
  bool goesOnce() const { return shape.rows > 1 && shape.decay != ScanShape::Decay::Columns; }
  void rowsOnce(Value column, int64_t vectors);
  SmallVector<Value> rowOnce(Value t, ScanShape::Operand from, Value column, int64_t vectors, ValueRange sums);
  Vectors added(SmallVector<Value> sums, int64_t vectors);
  Vectors write(Value t, Value column, const Vectors &erased);
  void storeResult(Value t, Value column, const Vectors &sums);

  /// Whether S decays by this at a row that finds it there.
  bool decays(ScanShape::Decay by, ScanShape::Operand from) const { return shape.decay == by && (!shape.once || from == ScanShape::State); }
  Value product(Value x, Value y) { return arith::MulFOp::create(emit, x, y); }
};
} // namespace

/// Sums, each in `vectors` vectors, as one.
ErasingScan::Vectors ErasingScan::added(SmallVector<Value> sums, int64_t vectors) {
  for (int64_t count = static_cast<int64_t>(sums.size()) / vectors; count > 1; count = llvm::divideCeil(count, 2))
    for (int64_t row = llvm::divideCeil(count, 2); row < count; ++row)
      for (int64_t j = 0; j < vectors; ++j) {
        Value &sum = sums[(row - llvm::divideCeil(count, 2)) * vectors + j];
        sum = arith::AddFOp::create(emit, sum, sums[row * vectors + j]);
      }
  return Vectors(ArrayRef(sums).take_front(vectors));
}

/// What `block` adds to sums, of which each of so many rows of S has one of `vectors` vectors, from the first row of S or from the last one on.
SmallVector<Value> ErasingScan::overRows(SmallVector<Value> sums, int64_t vectors, bool up, llvm::function_ref<void(Value, int64_t, MutableArrayRef<Value>)> block) {
  int64_t height = this->height(vectors), whole = shape.features / height * height, rest = shape.features % height;
  auto ofRest = [&] {
    if (rest)
      block(emit.constant(whole), rest, sums);
  };
  if (up)
    ofRest();
  sums = emit.loop(emit.constant(0), emit.constant(whole), height, sums, [&](Value feature, ValueRange before) {
    SmallVector<Value> next(before);
    block(up ? emit.sub(emit.constant(whole - height), feature) : feature, height, next);
    return next;
  });
  if (!up)
    ofRest();
  return sums;
}

ErasingScan::Vectors ErasingScan::ofColumns(ScanShape::Operand of, Value t, Value column, int64_t vectors) {
  Vectors all;
  for (int64_t j = 0; j < vectors; ++j)
    all.push_back(vectorAt(of, t, column, j));
  return all;
}

/// The strip behind this one; behind the last one the first strip of the state that is fetched, if any.
std::optional<ScanBody::Rows> ErasingScan::nextOf(Value column) {
  int64_t width = wide() * emit.lanes();
  if (isNear() || width >= shape.columns)
    return std::nullopt;
  Value behind = emit.add(column, width), rowBytes = emit.mul(steps[ScanShape::State], sizeof(float));
  Rows next{place(ScanShape::State, emit.constant(0), behind), rowBytes};
  if (!nextState)
    return next;
  Value isLast = arith::CmpIOp::create(emit, arith::CmpIPredicate::uge, behind, emit.constant(shape.columns));
  return Rows{emit.select(isLast, nextState->base, next.base), emit.select(isLast, nextState->rowBytes, next.rowBytes)};
}

/// The share that a row of S has in it, `row` rows behind so many. What lies behind the last strip of all is fetched in vain.
void ErasingScan::fetchRows(const Rows &next, Value before, int64_t row) {
  int64_t all = nearRows() * linesOfStrip, each = llvm::divideCeil(all, shape.features);
  for (int64_t line = 0; line < each; ++line) {
    Value number = emit.add(emit.mul(emit.add(before, row), each), line);
    if (each * shape.features > all)
      number = emit.min(number, emit.constant(all - 1));
    Value at = emit.mul(arith::DivUIOp::create(emit, number, emit.constant(linesOfStrip)), next.rowBytes);
    at = emit.add(at, emit.mul(arith::RemUIOp::create(emit, number, emit.constant(linesOfStrip)), cacheLineBytes));
    prefetch(next.base, at, /*intoFirst=*/true);
  }
}

/// Stores what row t writes, and gives it.
ErasingScan::Vectors ErasingScan::write(Value t, Value column, const Vectors &erased) {
  Vectors u = ofColumns(ScanShape::V, t, column, static_cast<int64_t>(erased.size()));
  for (auto [j, each] : llvm::enumerate(u)) {
    each = arith::SubFOp::create(emit, each, erased[j]);
    if (shape.writes)
      emit.store(each, place(ScanShape::U, t, emit.add(column, static_cast<int64_t>(j) * emit.lanes())));
  }
  return u;
}

void ErasingScan::storeResult(Value t, Value column, const Vectors &sums) {
  for (int64_t j = 0; j < static_cast<int64_t>(sums.size()); ++j) {
    Value sum = sums[j];
    if (shape.accumulates)
      sum = arith::AddFOp::create(emit, sum, vectorAt(ScanShape::Acc, t, column, j));
    emit.store(sum, place(ScanShape::Result, t, emit.add(column, j * emit.lanes())));
  }
}

/// Row t, which finds S where `from` says: the first one where it lay before, and lines are fetched while it goes through.
void ErasingScan::rowTwice(Value t, ScanShape::Operand from, Value column, int64_t vectors) {
  bool fades = decays(ScanShape::Decay::Rows, from), isFirst = from == ScanShape::State;
  Vectors g = decays(ScanShape::Decay::Columns, from) ? ofColumns(ScanShape::G, t, column, vectors) : Vectors();
  Value before = emit.mul(arith::DivUIOp::create(emit, column, emit.constant(wide() * emit.lanes())), blocksOfStrip());
  SmallVector<Value> sums = overRows(zeros(vectors), vectors, /*up=*/false, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
    Value block = emit.add(before, arith::DivUIOp::create(emit, feature, emit.constant(height(vectors))));
    if (isFirst)
      fetchNextState(emit.mul(block, 2), 2 * blockCount());
    for (int64_t row = 0; row < rows; ++row) {
      Value x = numberAt(ScanShape::X, t, feature, row);
      if (fades)
        x = product(x, numberAt(ScanShape::G, t, feature, row));
      for (int64_t j = 0; j < vectors; ++j) {
        Value s = vectorAt(from, emit.add(feature, row), column, j);
        sums[row * vectors + j] = LLVM::FMAOp::create(emit, x, s, sums[row * vectors + j]);
      }
    }
  });
  Vectors erased = added(sums, vectors);
  for (auto [j, factor] : llvm::enumerate(g))
    erased[j] = product(erased[j], factor);
  Vectors u = write(t, column, erased);
  std::optional<Rows> next = isFirst ? nextOf(column) : std::nullopt;
  sums = overRows(zeros(vectors), vectors, /*up=*/true, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
    Value block = emit.add(before, arith::DivUIOp::create(emit, feature, emit.constant(height(vectors))));
    if (isFirst) {
      fetchAll(block, blockCount());
      fetchNextState(emit.add(emit.mul(block, 2), 1), 2 * blockCount());
    }
    Value done = emit.sub(emit.constant(shape.features - rows), feature); // rows below
    for (int64_t row = 0; row < rows; ++row) {
      if (next)
        fetchRows(*next, done, row);
      Value at = emit.add(feature, row), a = numberAt(ScanShape::A, t, feature, row), b = numberAt(ScanShape::B, t, feature, row);
      Value ofRow = fades ? numberAt(ScanShape::G, t, feature, row) : Value();
      for (int64_t j = 0; j < vectors; ++j) {
        Value s = vectorAt(from, at, column, j);
        if (Value factor = ofRow ? ofRow : g.empty() ? Value() : g[j])
          s = product(s, factor);
        s = LLVM::FMAOp::create(emit, b, u[j], s);
        emit.store(s, place(ScanShape::Next, at, emit.add(column, j * emit.lanes())));
        sums[row * vectors + j] = LLVM::FMAOp::create(emit, a, s, sums[row * vectors + j]);
      }
    }
  });
  storeResult(t, column, added(sums, vectors));
}

/// Row t, which finds S where `from` says, by what that has for it, `sums`; gives what S has for the next one.
SmallVector<Value> ErasingScan::rowOnce(Value t, ScanShape::Operand from, Value column, int64_t vectors, ValueRange sums) {
  Vectors u = write(t, column, added(SmallVector<Value>(sums), vectors));
  bool fades = decays(ScanShape::Decay::Rows, from), nextFades = decays(ScanShape::Decay::Rows, ScanShape::Next);
  Value next = emit.min(emit.add(t, 1), emit.constant(shape.rows - 1));
  SmallVector<Value> both = zeros(vectors);
  auto half = static_cast<int64_t>(both.size());
  llvm::append_range(both, zeros(vectors));
  both = overRows(both, vectors, /*up=*/false, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
    for (int64_t row = 0; row < rows; ++row) {
      Value at = emit.add(feature, row), a = numberAt(ScanShape::A, t, feature, row), b = numberAt(ScanShape::B, t, feature, row);
      Value g = fades ? numberAt(ScanShape::G, t, feature, row) : Value(), x = numberAt(ScanShape::X, next, feature, row);
      if (nextFades)
        x = product(x, numberAt(ScanShape::G, next, feature, row));
      for (int64_t j = 0; j < vectors; ++j) {
        Value s = vectorAt(from, at, column, j), &read = sums[row * vectors + j], &erased = sums[half + row * vectors + j];
        s = LLVM::FMAOp::create(emit, b, u[j], fades ? product(s, g) : s);
        emit.store(s, place(ScanShape::Next, at, emit.add(column, j * emit.lanes())));
        read = LLVM::FMAOp::create(emit, a, s, read), erased = LLVM::FMAOp::create(emit, x, s, erased);
      }
    }
  });
  storeResult(t, column, added(SmallVector<Value>(ArrayRef(both).take_front(half)), vectors));
  return SmallVector<Value>(ArrayRef(both).drop_front(half));
}

void ErasingScan::rowsOnce(Value column, int64_t vectors) {
  Value zero = emit.constant(0), number = arith::DivUIOp::create(emit, column, emit.constant(wide() * emit.lanes()));
  SmallVector<Value> sums = overRows(zeros(vectors), vectors, /*up=*/false, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
    for (int64_t row = 0; row < rows; ++row) {
      Value x = numberAt(ScanShape::X, zero, feature, row);
      if (decays(ScanShape::Decay::Rows, ScanShape::State))
        x = product(x, numberAt(ScanShape::G, zero, feature, row));
      for (int64_t j = 0; j < vectors; ++j) {
        Value s = vectorAt(ScanShape::State, emit.add(feature, row), column, j);
        sums[row * vectors + j] = LLVM::FMAOp::create(emit, x, s, sums[row * vectors + j]);
      }
    }
  });
  int64_t strips = llvm::divideCeil(llvm::divideCeil(shape.columns, emit.lanes()), wide());
  auto fetch = [&](Value t) { fetchAll(emit.add(emit.mul(number, shape.rows), t), strips * shape.rows); };
  fetch(zero);
  sums = rowOnce(zero, ScanShape::State, column, vectors, sums);
  emit.loop(emit.constant(1), emit.constant(shape.rows), 1, sums, [&](Value t, ValueRange erased) {
    fetch(t);
    return rowOnce(t, ScanShape::Next, column, vectors, erased);
  });
}

void ErasingScan::strip(Value column, int64_t vectors) {
  if (goesOnce()) {
    rowsOnce(column, vectors);
    return;
  }
  rowTwice(emit.constant(0), ScanShape::State, column, vectors);
  if (shape.rows > 1)
    emit.loop(emit.constant(1), emit.constant(shape.rows), 1, [&](Value t) { rowTwice(t, ScanShape::Next, column, vectors); });
}

void ErasingScan::run() {
  if (!goesOnce())
    takeNextState();
  strips(wide(), [&](Value column, int64_t vectors) { strip(column, vectors); });
}

void cpu::emitErasingScan(const ScanBody &operands) { ErasingScan(operands).run(); }
