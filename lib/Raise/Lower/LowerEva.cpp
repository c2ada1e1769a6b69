//===- LowerEva.cpp - EVA's summaries and joint softmax as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of summaries have the letter y, keys j, queries i. Which keys a row sums up and which rows a query reads are
// tables of comparisons, so that one formula serves chunks whole and chunks without the keys of a block.
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// What row y sums up: its chunk, and the block whose keys it leaves out if it stands behind the whole chunks.
struct Row {
  Place chunk, block, first, last;
  Truth isPart, isSecond;
};
/// The places of rows, chunks and blocks of n queries and N keys.
struct Places {
  int64_t chunk;
  std::optional<int64_t> local;
  Place queries, keys;

  Place chunks(Point at) const { return at.place(keys.value) / chunk; }
  Place firstChunk(Place block) const { return block * *local / chunk; }
  Place lastChunk(Place block) const { return ((block + 1) * *local - 1) / chunk; }
  Place blockOfQuery(Point at, Place i) const {
    return i / (at.place(queries.value) / (at.place(keys.value) / *local));
  }
  Place chunkOfQuery(Point at, Place i) const { return i / (at.place(queries.value) / chunks(at)); }
  Row row(Point at) const;
};
} // namespace

/// With blocks only: rows C + 2l and C + 2l + 1 are of block l.
Row Places::row(Point at) const {
  Place y = at.index('y'), beyond = y - chunks(at), block = beyond / 2;
  Truth isPart = chunks(at) <= y, isSecond = beyond % 2 == 1;
  Place first = firstChunk(block), last = lastChunk(block);
  return {select(isPart, select(isSecond, last, first), y), block, first, last, isPart, isSecond};
}

/// A table of 1 and 0; its sizes are known to the loops.
static Value tableOf(Loops &loops, StringRef names, ArrayRef<Named> inputs,
                     function_ref<Truth(Point, ArrayRef<Number>)> condition) {
  return loops.map(names, inputs,
                   [&](Point at, ArrayRef<Number> x) { return select(condition(at, x), at.number(1), 0); });
}

static Number product(Point, ArrayRef<Number> x) { return x[0] * x[1]; }
static Number itself(Point, ArrayRef<Number> x) { return x[0]; }

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

namespace {
class Summaries {
public:
  Summaries(OpBuilder &builder, attn::EvaSummariesOp op);
  Results lower();

private:
  std::string over(StringRef pattern) { return loops.names(pattern, heads); }
  Named members();
  Named queryMeans();
  Value values(Named means, Named member);
  attn::EvaSummariesOp op;
  int64_t heads;
  Loops loops;
  Places places;
  Named key, value;
};
} // namespace

Summaries::Summaries(OpBuilder &builder, attn::EvaSummariesOp op)
    : op(op), heads(headsOf(op.getQuery())), loops(builder, op.getLoc(), {headsOf(op.getKey()), heads}),
      places{static_cast<int64_t>(op.getChunk()), op.getLocal(), loops.placeOf(op.getQuery(), 2),
             loops.placeOf(op.getKey(), 2)},
      key(loops.named(existing(loops, op.getKey(), op.getLengths()), "bhjd")),
      value(loops.named(existing(loops, op.getValue(), op.getLengths()), "bhjv")) {
  Place rows = places.keys / places.chunk;
  if (places.local)
    rows = rows + places.keys / *places.local * 2;
  loops.size('y', getAsOpFoldResult(rows.value));
  loops.size('j', loops.sizeOf(op.getKey(), 2));
  loops.size('i', loops.sizeOf(op.getQuery(), 2));
  if (headsOf(op.getKey()) != heads)
    loops.size('r', builder.getIndexAttr(heads / headsOf(op.getKey())));
}

/// Whether row y sums up key j.
Named Summaries::members() {
  std::string names = op.getLengths() ? "byj" : "yj";
  SmallVector<Named> inputs;
  if (op.getLengths())
    inputs.push_back({op.getLengths(), "b"});
  return {tableOf(loops, names, inputs,
                  [&](Point at, ArrayRef<Number> x) {
                    Place j = at.index('j');
                    std::optional<Row> row;
                    if (places.local)
                      row = places.row(at);
                    Truth result = j / places.chunk == (row ? row->chunk : at.index('y'));
                    if (row)
                      result = result && (!row->isPart || (!(j / *places.local == row->block) &&
                                                           !(row->isSecond && row->first == row->last)));
                    return op.getLengths() ? result && j < at.place(x[0]) : result;
                  }),
          names};
}

/// The mean of the queries of a row's chunk.
Named Summaries::queryMeans() {
  Value belongs = tableOf(loops, "yi", {}, [&](Point at, ArrayRef<Number>) {
    Place chunk = places.local ? places.row(at).chunk : at.index('y');
    return places.chunkOfQuery(at, at.index('i')) == chunk;
  });
  Named count = {loops.sum("yi", "y", {{belongs, "yi"}}, itself), "y"};
  Value sum = loops.sum(over("bhydi"), over("bhyd"), {loops.named(op.getQuery(), "bhid"), {belongs, "yi"}}, product);
  return {loops.map(over("bhyd"), {{sum, over("bhyd")}, count}, [](Point, ArrayRef<Number> x) { return x[0] / x[1]; }),
          over("bhyd")};
}

/// β: softmax over the row's keys of s⟨μ, k⟩ − s|k|²/2, times their values.
Value Summaries::values(Named means, Named member) {
  double scale = op.getScale().convertToDouble(), weight = op.getMuWeight().convertToDouble();
  Named mu = {
      loops.map(over("bhyd"), {queryMeans(), means}, [&](Point, ArrayRef<Number> x) { return (x[0] + x[1]) * weight; }),
      over("bhyd")};
  Named products = {loops.sum(over("bhyjd"), over("bhyj"), {mu, key}, product), over("bhyj")};
  std::string norms = without(key.names, "d");
  Named squares = {loops.sum(key.names, norms, {key}, [](Point, ArrayRef<Number> x) { return x[0] * x[0] * 0.5; }),
                   norms};
  Named logits = {
      loops.map(over("bhyj"), {products, squares, member},
                [&](Point, ArrayRef<Number> x) { return select(!x[2].isZero(), (x[0] - x[1]) * scale, -infinity); }),
      over("bhyj")};
  Named largest = {loops.maximum(over("bhyj"), over("bhy"), {logits}, itself), over("bhy")};
  Named weights = {loops.map(over("bhyj"), {logits, largest, member},
                             [](Point, ArrayRef<Number> x) { return select(!x[2].isZero(), exp(x[0] - x[1]), 0); }),
                   over("bhyj")};
  Named sum = {loops.sum(over("bhyj"), over("bhy"), {weights}, itself), over("bhy")};
  Named total = {loops.sum(over("bhyvj"), over("bhyv"), {weights, value}, product), over("bhyv")};
  return loops.map(over("bhyv"), {total, sum},
                   [](Point, ArrayRef<Number> x) { return select(!x[1].isZero(), x[0] / x[1], 0); });
}

Results Summaries::lower() {
  Named member = members();
  std::string counted = without(member.names, "j");
  Named count = {loops.sum(member.names, counted, {member}, itself), counted};
  std::string shared = key.names;
  shared.replace(shared.find('j'), 1, "y");
  Named sum = {loops.sum(shared + "j", shared, {key, member}, product), shared};
  Named means = {loops.map(over("bhyd"), {sum, count},
                           [](Point, ArrayRef<Number> x) { return select(!x[1].isZero(), x[0] / x[1], 0); }),
                 over("bhyd")};
  loops.size('g', loops.sizeOf(op.getKey(), 1));
  loops.size('b', loops.sizeOf(op.getKey(), 0));
  Value logWeight = loops.map(over("bhy"), {count}, [&](Point, ArrayRef<Number> x) {
    return select(x[0].isZero(), x[0].constant(-infinity), op.getMass() ? log(x[0]) : x[0].constant(0));
  });
  return {loops.flat(means.tensor, "bhyd", heads), loops.flat(values(means, member), "bhyv", heads),
          loops.flat(logWeight, "bhy", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::EvaSummariesOp op) { return Summaries(builder, op).lower(); }

//===----------------------------------------------------------------------===//
// The joint softmax
//===----------------------------------------------------------------------===//

namespace {
class Mix {
public:
  Mix(OpBuilder &builder, attn::EvaMixOp op)
      : op(op), heads(headsOf(op.getQuery())), loops(builder, op.getLoc(), {headsOf(op.getKey()), heads}),
        places{static_cast<int64_t>(op.getChunk()), op.getLocal(), loops.placeOf(op.getQuery(), 2),
               loops.placeOf(op.getKey(), 2)} {}
  Results lower();

private:
  /// Logits, −∞ where a query does not read, and what they weigh.
  struct Side {
    Named logits, values;
    char letter;
  };
  std::string over(StringRef pattern) { return loops.names(pattern, heads); }
  Side localKeys();
  Side chunks();
  Truth readsRow(Point at);
  attn::EvaMixOp op;
  int64_t heads;
  Loops loops;
  Places places;
};
} // namespace

Mix::Side Mix::localKeys() {
  double scale = op.getScale().convertToDouble();
  Named query = loops.named(op.getQuery(), "bhid"), key = loops.named(op.getKey(), "bhjd");
  SmallVector<Named> inputs = {{loops.sum(over("bhijd"), over("bhij"), {query, key}, product), over("bhij")}};
  if (op.getLengths())
    inputs.push_back({op.getLengths(), "b"});
  Value logits = loops.map(over("bhij"), inputs, [&](Point at, ArrayRef<Number> x) {
    Place i = at.index('i'), j = at.index('j');
    Truth seen = places.blockOfQuery(at, i) == j / *places.local;
    if (op.getCausal())
      seen = seen && j <= i;
    if (op.getLengths())
      seen = seen && j < at.place(x[1]);
    return select(seen, x[0] * scale, -infinity);
  });
  return {{logits, over("bhij")}, loops.named(existing(loops, op.getValue(), op.getLengths()), "bhjv"), 'j'};
}

/// Whether query i reads row y: its chunk, or what is left of it beside the query's own block.
Truth Mix::readsRow(Point at) {
  Place i = at.index('i'), chunk = at.index('y');
  Truth result = chunk == chunk;
  if (op.getExcludeLocal()) {
    Row row = places.row(at);
    Place block = places.blockOfQuery(at, i);
    Truth apart = row.chunk < places.firstChunk(block) || places.lastChunk(block) < row.chunk;
    result = (row.isPart && row.block == block) || (!row.isPart && apart);
    chunk = row.chunk;
  }
  return op.getCausal() ? result && chunk < places.chunkOfQuery(at, i) : result;
}

Mix::Side Mix::chunks() {
  double scale = op.getScale().convertToDouble();
  Named query = loops.named(op.getQuery(), "bhid"), mean = loops.named(op.getMean(), "bhyd");
  Named products = {loops.sum(over("bhiyd"), over("bhiy"), {query, mean}, product), over("bhiy")};
  Value logits =
      loops.map(over("bhiy"), {products, loops.named(op.getLogWeight(), "bhy")},
                [&](Point at, ArrayRef<Number> x) { return select(readsRow(at), x[0] * scale + x[1], -infinity); });
  return {{logits, over("bhiy")}, loops.named(op.getSummary(), "bhyv"), 'y'};
}

Results Mix::lower() {
  SmallVector<Side> sides = {chunks()};
  if (places.local)
    sides.push_back(localKeys());
  auto added = [&](ArrayRef<Named> parts, Loops::Body body) {
    return parts.size() == 1 ? parts[0] : Named{loops.map(parts[0].names, parts, body), parts[0].names};
  };
  SmallVector<Named> maxima, sums, totals;
  for (Side &side : sides)
    maxima.push_back({loops.maximum(side.logits.names, over("bhi"), {side.logits}, itself), over("bhi")});
  Named largest = added(maxima, [](Point, ArrayRef<Number> x) { return larger(x[0], x[1]); });
  for (Side &side : sides) {
    std::string names = side.logits.names;
    Named weights = {loops.map(names, {side.logits, largest},
                               [](Point, ArrayRef<Number> x) {
                                 Truth hidden = x[0].compare(arith::CmpFPredicate::OEQ, x[0].constant(-infinity));
                                 return select(hidden, x[0].constant(0), exp(x[0] - x[1]));
                               }),
                     names};
    sums.push_back({loops.sum(names, over("bhi"), {weights}, itself), over("bhi")});
    totals.push_back(
        {loops.sum(over("bhiv") + side.letter, over("bhiv"), {weights, side.values}, product), over("bhiv")});
  }
  auto plus = [](Point, ArrayRef<Number> x) { return x[0] + x[1]; };
  Named sum = added(sums, plus);
  Value output = loops.flat(loops.map(
                                over("bhiv"), {added(totals, plus), sum},
                                [](Point, ArrayRef<Number> x) { return select(!x[1].isZero(), x[0] / x[1], 0); }, elementOf(op.getOutput())),
                            "bhiv", heads);
  if (!op.getLse())
    return {output};
  // The logarithm of 0 is −∞, and −∞ the maximum.
  Value lse = loops.map(over("bhi"), {largest, sum}, [](Point, ArrayRef<Number> x) { return x[0] + log(x[1]); });
  return {output, loops.flat(lse, "bhi", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::EvaMixOp op) { return Mix(builder, op).lower(); }
