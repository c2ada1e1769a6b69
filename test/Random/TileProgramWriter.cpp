//===- TileProgramWriter.cpp - Writes tile ops, one by one ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileProgramWriter.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::random;

std::string TileName::type(const std::string &element) const {
  std::string shape = std::to_string(rows) + "x" + (isVector() ? "" : std::to_string(columns) + "x");
  return "tensor<" + shape + element + ">";
}

void TileProgramWriter::line(const std::string &content) { text += indent + content + "\n"; }

TileName TileProgramWriter::define(int64_t rows, int64_t columns, const std::string &content) {
  TileName tile{fresh(), rows, columns};
  line(tile.name + " = " + content);
  tiles.push_back(tile);
  return tile;
}

std::string TileProgramWriter::index(int64_t value) {
  std::string name = fresh();
  line(name + " = arith.constant " + std::to_string(value) + " : index");
  return name;
}

static std::string decimal(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6e", value);
  return text;
}

TileName TileProgramWriter::constant(int64_t rows, int64_t columns, const std::string &value) {
  TileName tile{fresh(), rows, columns};
  line(tile.name + " = arith.constant dense<" + value + "> : " + tile.type());
  return tile;
}

TileName TileProgramWriter::elementwise(const TileName &like, const std::string &op, const std::string &operands) {
  return define(like.rows, like.columns, op + " " + operands + " : " + like.type());
}

TileName TileProgramWriter::clamp(const TileName &tile, double bound) {
  TileName high = constant(tile.rows, tile.columns, decimal(bound));
  TileName low = constant(tile.rows, tile.columns, decimal(-bound));
  TileName below = elementwise(tile, "arith.minimumf", tile.name + ", " + high.name);
  return elementwise(tile, "arith.maximumf", below.name + ", " + low.name);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string memoryType(const ProgramMemory &memory) {
  return "memref<?x?x" + std::to_string(memory.columns) + "x" + memory.dtype + ", strided<[?, ?, 1]>>";
}

/// `[indices] bounds` of an access, now and then before the memory's first row or to the rows of a window of an image.
/// Of a vector, which lies along the columns, the bounds are those of columns.
std::string TileProgramWriter::place(const ProgramMemory &memory, std::string row, std::string column, bool isVector) {
  bool isWindow = !isVector && choices.once(4), isEarly = !isWindow && choices.once(6);
  bool hasLower = isEarly || choices.once(isWindow ? 2 : 6);
  std::string bounds;
  if (isEarly)
    (isVector ? column : row) = index(choices.between(-5, -1));
  if (hasLower)
    bounds += " from(" + index(choices.between(-2, 4)) + ")";
  if (choices.once(3))
    bounds += " rows(" + index(choices.between(0, memory.rows + 2)) + ")";
  if (isWindow) {
    int64_t columns = choices.between(1, 6);
    bounds += " fold(" + index(choices.between(hasLower ? -4 : 0, 5)) + ") columns " + std::to_string(columns) +
              " stride " + std::to_string(columns + choices.below(6));
  }
  return "[%p, " + row + ", " + column + "]" + bounds;
}

/// A load near an edge: rows and columns past the end, sometimes a limit of rows before it.
TileName TileProgramWriter::load(const ProgramMemory &memory, const std::string &row, int64_t rows, int64_t columns) {
  TileName shape{"", rows, columns};
  bool isVector = columns == 0;
  std::string column = index(isVector ? choices.below(memory.columns) : choices.below(2) * (memory.columns / 2));
  std::string where = place(memory, row, column, isVector), loaded = fresh();
  line(loaded + " = tile.load %" + memory.name + where + " : " + memoryType(memory) + " -> " +
       shape.type(memory.dtype));
  if (memory.dtype == "f32") {
    tiles.push_back({loaded, rows, columns});
    return tiles.back();
  }
  return define(rows, columns, "arith.extf " + loaded + " : " + shape.type(memory.dtype) + " to " + shape.type());
}

void TileProgramWriter::store(const TileName &tile, const ProgramMemory &memory, const std::string &row) {
  std::string stored = tile.name, where = place(memory, row, index(0), tile.isVector());
  if (memory.dtype != "f32") {
    stored = fresh();
    line(stored + " = arith.truncf " + tile.name + " : " + tile.type() + " to " + tile.type(memory.dtype));
  }
  line("tile.store " + stored + ", %" + memory.name + where + " : " + tile.type(memory.dtype) + ", " +
       memoryType(memory));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TileName TileProgramWriter::unary(const TileName &tile) {
  switch (choices.below(5)) {
  case 0: return elementwise(tile, "arith.negf", tile.name);
  case 1: return elementwise(tile, "math.absf", tile.name);
  case 2: return elementwise(tile, "math.exp2", clamp(tile, 3).name);
  case 3: {
    // Away from 0, where the logarithm is steep.
    TileName positive = elementwise(tile, "math.absf", tile.name);
    TileName one = constant(tile.rows, tile.columns, "1.0");
    return elementwise(tile, "math.log2", elementwise(tile, "arith.addf", positive.name + ", " + one.name).name);
  }
  default: {
    TileName square = elementwise(tile, "arith.mulf", tile.name + ", " + tile.name);
    TileName one = constant(tile.rows, tile.columns, "1.0");
    TileName more = elementwise(tile, "arith.addf", square.name + ", " + one.name);
    return elementwise(tile, "arith.divf", tile.name + ", " + more.name);
  }
  }
}

TileName TileProgramWriter::binary(const TileName &a, const TileName &b) {
  std::string op = choices.pick({"arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"});
  return clamp(elementwise(a, op, a.name + ", " + b.name), 8);
}

TileName TileProgramWriter::dot(const TileName &a, bool transposeA, const TileName &b, bool transposeB,
                                const TileName &acc) {
  std::string flags = transposeA && transposeB ? "{transpose_a, transpose_b} "
                      : transposeA             ? "{transpose_a} "
                      : transposeB             ? "{transpose_b} "
                                               : "";
  return define(acc.rows, acc.columns,
                "tile.dot " + a.name + ", " + b.name + ", " + acc.name + " " + flags + ": " + a.type() + ", " +
                    b.type() + " -> " + acc.type());
}

TileName TileProgramWriter::product(const TileName &a, const TileName &b) {
  bool transposeA = a.columns != b.rows && a.columns != b.columns;
  int64_t inner = transposeA ? a.rows : a.columns, rows = transposeA ? a.columns : a.rows;
  bool transposeB = b.rows != inner;
  return dot(a, transposeA, b, transposeB, constant(rows, transposeB ? b.rows : b.columns, "0.0"));
}

TileName TileProgramWriter::reduce(const TileName &tile, bool isMax, int axis) {
  int64_t kept = axis == 1 ? tile.rows : tile.columns;
  return define(kept, 0,
                std::string("tile.reduce ") + (isMax ? "max " : "add ") + tile.name + " axis " + std::to_string(axis) +
                    " : " + tile.type() + " -> " + TileName{"", kept, 0}.type());
}

TileName TileProgramWriter::expand(const TileName &tile, int axis, int64_t other) {
  TileName result{"", axis == 1 ? tile.rows : other, axis == 1 ? other : tile.rows};
  return define(result.rows, result.columns,
                "tile.expand " + tile.name + " axis " + std::to_string(axis) + " : " + tile.type() + " -> " +
                    result.type());
}

TileName TileProgramWriter::mask(const TileName &tile, const std::string &fill) {
  std::string rows = " rows(" + index(choices.between(-1, tile.rows + 1)) + ")", conditions;
  if (tile.isVector())
    return define(tile.rows, 0, "tile.mask " + tile.name + " fill " + fill + rows + " : " + tile.type());
  int64_t which = choices.between(1, 7);
  if (which & 1)
    conditions += rows;
  if (which & 2)
    conditions += " cols(" + index(choices.between(-1, tile.columns + 1)) + ")";
  if (which & 4)
    conditions += " diagonal(" + index(choices.between(-tile.rows, tile.columns)) + ")";
  return define(tile.rows, tile.columns, "tile.mask " + tile.name + " fill " + fill + conditions + " : " + tile.type());
}

TileName TileProgramWriter::maskAndReplace(const TileName &tile) {
  TileName masked = mask(tile, "0xFF800000");
  TileName lowest = constant(tile.rows, tile.columns, "0xFF800000");
  TileName filler = constant(tile.rows, tile.columns, decimal(choices.uniform(-2, 2)));
  std::string condition = fresh();
  line(condition + " = arith.cmpf oeq, " + masked.name + ", " + lowest.name + " : " + tile.type());
  TileName result = define(tile.rows, tile.columns,
                           "arith.select " + condition + ", " + filler.name + ", " + masked.name + " : " +
                               tile.type("i1") + ", " + tile.type());
  std::erase(tiles, masked); // −∞ stays away from the rest of the program
  return result;
}

//===----------------------------------------------------------------------===//
// Anything
//===----------------------------------------------------------------------===//

TileName TileProgramWriter::ofShape(int64_t rows, int64_t columns) {
  std::vector<TileName> fitting;
  for (const TileName &tile : tiles)
    if (tile.rows == rows && tile.columns == columns)
      fitting.push_back(tile);
  if (fitting.empty())
    return constant(rows, columns, decimal(choices.uniform(-1, 1)));
  return fitting[choices.below(static_cast<int64_t>(fitting.size()))];
}

TileName TileProgramWriter::iota(int64_t size) {
  return clamp(define(size, 0, "tile.iota " + index(choices.between(-8, 8)) + " : " + TileName{"", size, 0}.type()), 8);
}

/// Pairs or halves exchanged, or any order.
TileName TileProgramWriter::permute(const TileName &tile) {
  int64_t width = tile.isVector() ? tile.rows : tile.columns, kind = choices.below(3);
  std::vector<int64_t> order(width);
  for (int64_t c = 0; c < width; ++c) {
    order[c] = kind == 0 ? std::min(c ^ 1, width - 1) : kind == 1 ? (c + width / 2) % width : c;
    if (kind == 2)
      std::swap(order[c], order[choices.below(c + 1)]);
  }
  std::string list;
  for (int64_t column : order)
    list += (list.empty() ? "" : ", ") + std::to_string(column);
  return elementwise(tile, "tile.permute_columns", tile.name + " [" + list + "]");
}

void TileProgramWriter::binaryOfAny() {
  TileName a = anyTile(), b = ofShape(a.rows, a.columns);
  binary(a, b);
}

/// With a partner of any orientation; the result is brought back to the size of a mean.
void TileProgramWriter::dotOfAny() {
  std::vector<TileName> matrices;
  for (const TileName &tile : tiles)
    if (!tile.isVector())
      matrices.push_back(tile);
  if (matrices.empty())
    return;
  TileName a = matrices[choices.below(static_cast<int64_t>(matrices.size()))], b = a;
  for (int tries = 0; tries < 8; ++tries) {
    TileName other = matrices[choices.below(static_cast<int64_t>(matrices.size()))];
    if (other.rows == a.columns || other.columns == a.columns || other.rows == a.rows || other.columns == a.rows) {
      b = other;
      break;
    }
  }
  clamp(product(a, b), 8);
}

TileName TileProgramWriter::matrix(int64_t rows, int64_t columns) {
  TileName ofRows = clamp(define(rows, 0, "tile.iota " + index(choices.between(-4, 4)) + " : " + TileName{"", rows, 0}.type()), 2);
  TileName ofColumns = unary(define(columns, 0, "tile.iota " + index(choices.between(-8, 8)) + " : " + TileName{"", columns, 0}.type()));
  return clamp(binary(expand(ofRows, 1, columns), expand(ofColumns, 0, rows)), 1);
}

void TileProgramWriter::scanOfAny(const TileName &tile) {
  int64_t rows = tile.rows, features = tile.columns, columns = choices.between(1, 70);
  TileName a = clamp(tile, 1), b = clamp(ofShape(rows, features), 1), v = matrix(rows, columns), state = matrix(features, columns);
  if (choices.once(2))
    a = matrix(rows, features);
  TileName acc = choices.once(2) ? constant(rows, columns, "0.0") : matrix(rows, columns);
  std::string flags, decay, decayType;
  auto flag = [&](const std::string &name) { flags += (flags.empty() ? "{" : ", ") + name; };
  if (choices.once(2)) {
    bool ofColumns = choices.once(2);
    int64_t count = ofColumns ? columns : features;
    TileName g = choices.once(2) ? clamp(define(count, 0, "tile.iota " + index(-1) + " : " + TileName{"", count, 0}.type()), 1) : matrix(rows, count);
    decay = " decay " + g.name, decayType = " decay " + g.type();
    if (ofColumns)
      flag("decay_columns");
  }
  std::string erase, eraseType;
  if (choices.once(3)) {
    TileName x = clamp(matrix(rows, features), 0.25);
    erase = " erase " + x.name, eraseType = " erase " + x.type() + " -> " + v.type();
  } else {
    if (choices.once(2))
      flag("exclusive");
    if (choices.once(2))
      flag("reverse");
  }
  std::string both = fresh();
  line(both + (erase.empty() ? ":2" : ":3") + " = tile.scan " + a.name + ", " + b.name + ", " + v.name + ", " + state.name + ", " + acc.name + decay + erase + (flags.empty() ? "" : " " + flags + "}") +
       " : " + a.type() + ", " + v.type() + ", " + state.type() + decayType + eraseType);
  // The state, and then what was read of it and written.
  std::vector<TileName> results{{both + "#1", features, columns}, {both + "#0", rows, columns}};
  if (!erase.empty())
    results.push_back({both + "#2", rows, columns});
  for (const TileName &result : results) {
    tiles.push_back(result);
    clamp(result, 8);
  }
}

void TileProgramWriter::anything() {
  TileName tile = anyTile();
  if (!tile.isVector() && choices.once(8)) {
    scanOfAny(tile);
    return;
  }
  if (choices.once(6)) {
    permute(tile);
    return;
  }
  if (choices.once(12)) {
    iota(choices.between(1, 40));
    return;
  }
  switch (choices.below(tile.isVector() ? 4 : 7)) {
  case 0: unary(tile); return;
  case 1: binaryOfAny(); return;
  case 2: maskAndReplace(tile); return;
  case 3:
    if (tile.isVector())
      expand(tile, static_cast<int>(choices.below(2)), choices.between(1, 12));
    else
      mask(tile, decimal(choices.uniform(-1, 1)));
    return;
  case 4: clamp(reduce(tile, false, static_cast<int>(choices.below(2))), 8); return;
  case 5: reduce(tile, true, static_cast<int>(choices.below(2))); return;
  default: dotOfAny(); return;
  }
}
