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
//       for row i of the state, from the last one up:  S_i ← g_ti S_i + b_ti u;  result_t += a_ti S_i
//
// A row goes through a strip twice, the second time from where the first one ended: what of S is in a first-level cache then is what it finds. Lines
// that lie one below the other in rows of 512 bytes share 8 of the 64 sets of such a cache, which have room for 96 of them, or for 64: where S has more
// rows, narrower strips do not help. The rows that the first time begins with are fetched while the strip before is gone through, as many as leave
// room for those that are still read there. (128 x 128 in L2, a row: 1.60 µs at first, .40 of it for the first time through S; 1.52 in strips of two
// lines, 1.26 with fetches; S read and written once: 1.08.)
//
// Both times fetch S of the next program, as memory must not wait for either.
//
//===----------------------------------------------------------------------===//
#include "ScanBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Sums that are under way at a time, so that none waits for the one before.
static constexpr int64_t mostSums = 8;
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
    int64_t most = isNear() ? mostSums : linesOfStrip * cacheLineBytes / (emit.lanes() * int64_t(sizeof(float)));
    return std::min<int64_t>(most, llvm::divideCeil(shape.columns, emit.lanes()));
  }
  /// Rows of S whose sums are under way together.
  int64_t height(int64_t vectors) const { return std::min(std::max<int64_t>(1, mostSums / vectors), shape.features); }
  /// Blocks of so many rows, of a whole strip and of all.
  int64_t blocksOfStrip() const { return llvm::divideCeil(shape.features, height(wide())); }
  int64_t blockCount() const { return llvm::divideCeil(llvm::divideCeil(shape.columns, emit.lanes()), wide()) * blocksOfStrip(); }

  void strip(Value column, int64_t vectors);
  void row(Value t, ScanShape::Operand from, Value column, int64_t vectors);
  Vectors overRows(int64_t vectors, bool up, llvm::function_ref<void(Value feature, int64_t rows, MutableArrayRef<Value> sums)> block);
  Vectors ofColumns(ScanShape::Operand of, Value t, Value column, int64_t vectors);
  std::optional<Rows> nextOf(Value column);
  void fetchRows(const Rows &next, Value before, int64_t row);

  /// Whether S decays by this at a row that finds it there.
  bool decays(ScanShape::Decay by, ScanShape::Operand from) const { return shape.decay == by && (!shape.once || from == ScanShape::State); }
  Value product(Value x, Value y) { return arith::MulFOp::create(emit, x, y); }
};
} // namespace

/// The sums, each in `vectors` vectors, of what `block` adds for so many rows of S, from the first or from the last one on; a row adds to others than the one
/// before it.
ErasingScan::Vectors ErasingScan::overRows(int64_t vectors, bool up, llvm::function_ref<void(Value, int64_t, MutableArrayRef<Value>)> block) {
  int64_t height = this->height(vectors), whole = shape.features / height * height, rest = shape.features % height;
  SmallVector<Value> sums(height * vectors, emit.splat(0.0));
  auto ofRest = [&] {
    if (rest)
      block(emit.constant(whole), rest, MutableArrayRef(sums).take_front(rest * vectors));
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
  for (int64_t count = height; count > 1; count = llvm::divideCeil(count, 2))
    for (int64_t row = llvm::divideCeil(count, 2); row < count; ++row)
      for (int64_t j = 0; j < vectors; ++j) {
        Value &sum = sums[(row - llvm::divideCeil(count, 2)) * vectors + j];
        sum = arith::AddFOp::create(emit, sum, sums[row * vectors + j]);
      }
  return Vectors(ArrayRef(sums).take_front(vectors));
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

/// Row t, which finds S where `from` says: the first one where it lay before, and lines are fetched while it goes through.
void ErasingScan::row(Value t, ScanShape::Operand from, Value column, int64_t vectors) {
  bool fades = decays(ScanShape::Decay::Rows, from), isFirst = from == ScanShape::State;
  Vectors g = decays(ScanShape::Decay::Columns, from) ? ofColumns(ScanShape::G, t, column, vectors) : Vectors();
  Value before = emit.mul(arith::DivUIOp::create(emit, column, emit.constant(wide() * emit.lanes())), blocksOfStrip());
  Vectors erased = overRows(vectors, /*up=*/false, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
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
  Vectors u = ofColumns(ScanShape::V, t, column, vectors);
  for (auto [j, each] : llvm::enumerate(u))
    each = arith::SubFOp::create(emit, each, g.empty() ? erased[j] : product(erased[j], g[j]));
  std::optional<Rows> next = isFirst ? nextOf(column) : std::nullopt;
  Vectors read = overRows(vectors, /*up=*/true, [&](Value feature, int64_t rows, MutableArrayRef<Value> sums) {
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
  for (int64_t j = 0; j < vectors; ++j) {
    Value sum = read[j];
    if (shape.accumulates)
      sum = arith::AddFOp::create(emit, sum, vectorAt(ScanShape::Acc, t, column, j));
    emit.store(sum, place(ScanShape::Result, t, emit.add(column, j * emit.lanes())));
  }
}

void ErasingScan::strip(Value column, int64_t vectors) {
  row(emit.constant(0), ScanShape::State, column, vectors);
  if (shape.rows > 1)
    emit.loop(emit.constant(1), emit.constant(shape.rows), 1, [&](Value t) { row(t, ScanShape::Next, column, vectors); });
}

void ErasingScan::run() {
  takeNextState();
  strips(wide(), [&](Value column, int64_t vectors) { strip(column, vectors); });
}

void cpu::emitErasingScan(const ScanBody &operands) { ErasingScan(operands).run(); }
