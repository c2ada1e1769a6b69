//===- FetchAhead.cpp - Tiles that dots fetch while they compute --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FetchAhead.h"

#include "DotForms.h"
#include "KernelState.h"
#include "MemoryAccess.h"
#include "RunningSums.h"
#include "Scan.h"
#include "ShiftedLoads.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-lower-kernels"

std::string FetchShape::name() const {
  std::string text = (near ? "_n" : "_f") + std::to_string(rows) + "x" + std::to_string(lines);
  return columns ? text + "w" + std::to_string(columns) + "_" + std::to_string(stride) : text;
}

int64_t cpu::blocksToFetch(ArrayRef<FetchShape> shapes, int64_t lines) {
  int64_t needed = 0;
  for (const FetchShape &shape : shapes)
    needed += shape.blocks(lines);
  return needed;
}

int64_t cpu::linesOfBlock(ArrayRef<FetchShape> shapes, int64_t blocks) {
  int64_t lines = 1;
  while (lines < 64 && blocksToFetch(shapes, lines) > blocks)
    lines *= 2;
  return lines;
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

/// 2³² / n rounded up: for whole numbers a < 2³² / n, a · that / 2³² is a / n, rounded down.
static int64_t reciprocal(int64_t n) { return llvm::divideCeil(int64_t(1) << 32, n); }

BlockFetch::BlockFetch(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number,
                       int64_t steps, Value idle)
    : base(idle), near(shapes.front().near) {
  if (shapes.front().columns)
    walkWindow(emit, shapes, places, number, steps);
  else
    walkLines(emit, shapes, places, number, steps);
}

void BlockFetch::walkLines(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number, int64_t steps) {
  bool beginRows = llvm::all_of(shapes, [&](const FetchShape &shape) { return steps % shape.lines == 0; });
  bool ends = llvm::any_of(shapes, [&](const FetchShape &shape) { return (shape.rows * shape.lines) % steps != 0; });
  int64_t before = 0;
  jump = emit.constant(0), rowsOfLine = emit.constant(reciprocal(shapes.front().lines));
  if (!beginRows || ends)
    first = emit.constant(0);
  if (ends)
    last = emit.constant(0);
  for (auto [shape, place] : llvm::zip_equal(shapes, places)) {
    Value own = emit.sub(number, emit.constant(before));
    before += shape.blocks(steps);
    // The blocks of the tiles before have made their choice already.
    Value mine = arith::CmpIOp::create(emit, arith::CmpIPredicate::ult, own, emit.constant(shape.blocks(steps)));
    Value start = place.base, beyond = emit.sub(place.rowBytes, emit.constant(shape.lines * cacheLineBytes));
    if (!first) {
      Value lines = emit.mul(own, steps * cacheLineBytes), rows = emit.mul(emit.mul(own, steps / shape.lines), beyond);
      start = emit.offset(start, emit.add(lines, rows), emit.getI8Type());
    }
    base = emit.select(mine, start, base);
    jump = emit.select(mine, beyond, jump);
    if (shape.lines != shapes.front().lines)
      rowsOfLine = emit.select(mine, emit.constant(reciprocal(shape.lines)), rowsOfLine);
    if (first)
      first = emit.select(mine, emit.mul(own, steps), first);
    if (last)
      last = emit.select(mine, emit.constant(shape.rows * shape.lines - 1), last);
  }
}

/// The blocks of a window have a line of its rows each.
void BlockFetch::walkWindow(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number, int64_t steps) {
  int64_t before = 0, columns = shapes.front().columns, stride = shapes.front().stride;
  Value rowBytes = emit.constant(0), first = rowBytes;
  for (auto [shape, place] : llvm::zip_equal(shapes, places)) {
    int64_t parts = shape.blocks(steps) / shape.lines;
    Value own = emit.sub(number, emit.constant(before)), line = own, row = place.first;
    if (parts > 1) {
      line = arith::DivUIOp::create(emit, own, emit.constant(parts));
      row = emit.add(row, emit.mul(emit.sub(own, emit.mul(line, parts)), steps));
    }
    before += shape.blocks(steps);
    Value mine = arith::CmpIOp::create(emit, arith::CmpIPredicate::ult, own, emit.constant(shape.blocks(steps)));
    base = emit.select(mine, emit.offset(place.base, emit.mul(line, cacheLineBytes), emit.getI8Type()), base);
    rowBytes = emit.select(mine, place.rowBytes, rowBytes);
    first = emit.select(mine, row, first);
  }
  walk.emplace(emit, Fold{columns}, FoldPlace{first, emit.constant(stride - columns)}, rowBytes);
}

/// From the base to a line of its tile.
Value BlockFetch::bytesTo(Emit &emit, Value line) const {
  if (last)
    line = emit.min(line, last);
  Value row = arith::ShRUIOp::create(emit, emit.mul(line, rowsOfLine), emit.constant(32));
  return emit.add(emit.mul(line, cacheLineBytes), emit.mul(row, jump));
}

SmallVector<Value, 2> BlockFetch::emitStep(Emit &emit, Value k, ValueRange carried) const {
  Value bytes = walk ? carried[0] : bytesTo(emit, first ? emit.add(first, k) : k);
  // Past the end of the memory a prefetch does nothing.
  LLVM::Prefetch::create(emit, emit.offset(base, bytes, emit.getI8Type()), /*rw=*/0, /*hint=*/near ? 3 : 2, /*cache=*/1);
  return walk ? walk->next(emit, carried) : SmallVector<Value, 2>();
}

//===----------------------------------------------------------------------===//
// Which dot fetches what
//===----------------------------------------------------------------------===//

namespace {
/// A dot or a scan, and what it fetches.
struct Fetcher {
  Operation *op;
  int64_t steps; ///< of each of its blocks
  double size;   ///< of what its blocks make up
  int64_t blocks = 0; ///< that fetch
  SmallVector<FetchShape, 2> shapes = {};

  double share() const { return double(blocks) / size; }
  /// Rows that follow each other and those of a window have different steps. Those of a shallow dot fetch long runs of lines.
  bool accepts(const FetchShape &shape) const {
    if (shape.rows == 1 || (isShallow(steps) && shape.bytes() < nearBytes / 4))
      return false;
    return llvm::all_of(shapes, [&](const FetchShape &other) {
      return other.columns == shape.columns && other.stride == shape.stride;
    });
  }
};
} // namespace

/// The fetcher with the least to fetch for its products; of two alike the shallow one, whose operands are near: a product of a few rows waits for its
/// own.
static Fetcher *leastBusy(MutableArrayRef<Fetcher> fetchers, const FetchShape &shape) {
  Fetcher *best = nullptr;
  for (Fetcher &fetcher : fetchers)
    if (fetcher.accepts(shape) && (!best || fetcher.share() < best->share() || (fetcher.share() == best->share() && isShallow(fetcher.steps))))
      best = &fetcher;
  return best;
}

/// Whether an index follows the blocks of queries or the windows of the grid.
static bool followsBlocks(Value index) {
  // Formulas of packed sequences read each number many times.
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> values{index};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto id = dyn_cast<tile::ProgramIdOp>(op); id && (id.getAxis() == tile::Axis::QueryBlock || id.getAxis() == tile::Axis::Batch))
      return true;
    if (isa<arith::ArithDialect>(op->getDialect()))
      llvm::append_range(values, op->getOperands());
  }
  return false;
}

/// Whether the rows of a load or a store follow the blocks of the grid.
static bool rowsFollowBlocks(Operation *access) {
  auto row = [](auto op) { return op.getIndices()[op.getIndices().size() - 2]; };
  if (auto load = dyn_cast<tile::LoadOp>(access))
    return rankOf(load.getResult()) == 2 && followsBlocks(row(load));
  auto store = dyn_cast<tile::StoreOp>(access);
  return store && rankOf(store.getValue()) == 2 && followsBlocks(row(store));
}

/// What the dots of the loop fetch the next tiles of: what it loads, and what the kernel loads before it, for the next
/// program. What the kernel stores after it is fetched, too.
static SmallVector<Operation *> accessesToFetch(tile::LoopOp loop) {
  SmallVector<Operation *> accesses;
  for (auto load : loop.getBody().front().getOps<tile::LoadOp>())
    accesses.push_back(load);
  auto isState = [&](Operation *op) { return isa<tile::LoadOp>(op) && loop.getStep() == 1 && blocksToNext(op) != 0; };
  for (Operation &op : *loop->getBlock())
    if ((rowsFollowBlocks(&op) || isState(&op)) && isa<tile::LoadOp>(op) == op.isBeforeInBlock(loop))
      accesses.push_back(&op);
  // Around a loop of tokens one by one that is the state of the next head, too.
  llvm::erase_if(accesses, [&](Operation *access) {
    return rowsToNext(access) == 0 && (access->getBlock() == loop->getBlock() ? !isState(access) : blocksToNext(access) == 0);
  });
  return accesses;
}

//===----------------------------------------------------------------------===//
// Kernels without a loop
//===----------------------------------------------------------------------===//

/// Of shifted loads one is fetched: in a window the one that reads all of it, else the last, whose tile has what the
/// block before has not read.
static bool fetchedInstead(tile::LoadOp a, tile::LoadOp b) {
  int64_t first = firstRow(a).second, second = firstRow(b).second;
  return a.getFold() ? std::abs(first) < std::abs(second) : first > second;
}

/// The loads of a kernel without a loop that the next program has elsewhere.
static SmallVector<tile::LoadOp> loadsOfBlock(Block &body) {
  SmallVector<tile::LoadOp> loads;
  for (auto load : body.getOps<tile::LoadOp>()) {
    if (rowsToNext(load) == 0 || !rowsFollowBlocks(load))
      continue;
    auto shifted = llvm::find_if(loads, [&](tile::LoadOp other) { return isShifted(load, other); });
    if (shifted == loads.end())
      loads.push_back(load);
    else if (fetchedInstead(load, *shifted))
      *shifted = load;
  }
  return loads;
}

/// Whether a loop is a branch that is taken unless numbers are rare.
static bool isUsualWay(tile::LoopOp loop) { return loop.isBranch() && !loop.getUpper().getDefiningOp<tile::AnyOp>(); }

/// The scans of a block that have blocks of the state to speak of, those of its usual ways among them.
static SmallVector<tile::ScanOp> scansOf(Block &block) {
  SmallVector<tile::ScanOp> scans;
  for (Operation &op : block)
    if (auto scan = dyn_cast<tile::ScanOp>(op); scan && scan.getFeatures() > 1)
      scans.push_back(scan);
    else if (auto loop = dyn_cast<tile::LoopOp>(op); loop && isUsualWay(loop))
      llvm::append_range(scans, scansOf(loop.getBody().front()));
  return scans;
}

/// Lets the scans of the other ways fetch what those of the usual ones do.
static void fetchInOtherWays(KernelState &state, Block &block) {
  tile::LoopOp usual;
  for (auto loop : block.getOps<tile::LoopOp>()) {
    if (isUsualWay(loop)) {
      usual = loop;
      fetchInOtherWays(state, loop.getBody().front());
    } else if (loop.isBranch() && usual) {
      SmallVector<tile::ScanOp> others = scansOf(loop.getBody().front()), scans = scansOf(usual.getBody().front());
      if (others.size() == scans.size())
        for (auto [other, scan] : llvm::zip_equal(others, scans))
          state.fetches[other] = state.fetches.lookup(scan);
    }
  }
}

void cpu::assignFetches(KernelState &state, Block &body) {
  auto loop = dyn_cast<tile::LoopOp>(body.getParentOp());
  auto kernel = dyn_cast<tile::KernelOp>(body.getParentOp());
  if (!loop && !(kernel && body.getOps<tile::LoopOp>().empty()))
    return;
  SmallVector<Fetcher> fetchers;
  for (auto dot : body.getOps<tile::DotOp>())
    // Below a diagonal blocks are left out; running sums have none.
    if (!resultDiagonal(dot) && !operandDiagonal(dot) && !runningSums(dot))
      fetchers.push_back({dot, dot.getK(), double(dot.getM()) * double(dot.getN())});
  for (tile::ScanOp scan : scansOf(body))
    fetchers.push_back({scan, scan.getRows(), double(scan.getFeatures()) * double(scan.getColumns())});
  SmallVector<Operation *> accesses;
  if (loop)
    accesses = accessesToFetch(loop);
  else
    llvm::append_range(accesses, loadsOfBlock(body));
  // A store reads its cache line first unless that is there already, and those behind it wait.
  auto isFetched = [&](tile::StoreOp store) {
    return llvm::any_of(accesses, [&](Operation *access) { return isa<tile::LoadOp>(access) && haveSameElements(cast<tile::LoadOp>(access), store); });
  };
  for (auto store : body.getOps<tile::StoreOp>())
    if (rowsToNext(store) != 0 && !isFetched(store))
      accesses.push_back(store);
  for (Operation *access : accesses) {
    FetchShape shape = nextShape(access);
    Fetcher *fetcher = leastBusy(fetchers, shape);
    ATTUNE_DEBUG() << (fetcher ? "fetched during a product: " : "no product has room for: ") << *access;
    if (!fetcher)
      continue;
    fetcher->blocks += shape.blocks(fetcher->steps);
    fetcher->shapes.push_back(shape);
    state.fetches[fetcher->op].push_back(access);
    state.fetchedByDots.insert(access);
  }
  fetchInOtherWays(state, body);
}

FetchPlace cpu::fetchPlace(KernelState &state, Operation *op, Operation *access, Value idle) {
  Emit &emit = state.emit;
  MemoryAccess memory(state, access);
  auto loop = dyn_cast<tile::LoopOp>(op->getParentOp());
  while (loop && loop.isBranch() && access->getBlock() != op->getBlock())
    op = loop, loop = dyn_cast<tile::LoopOp>(op->getParentOp());
  if (access->getBlock() == op->getBlock())
    return memory.nextPlace(emit, access);
  // Around the loop: in its last step, as what comes sooner may leave the cache again.
  FetchPlace place = isa<tile::StoreOp>(access) ? memory.place(emit) : memory.nextPlace(emit, access);
  Value next = emit.add(state.scalars.lookup(loop.getInductionVar()), static_cast<int64_t>(loop.getStep()));
  Value more = emit.less(next, state.scalars.lookup(loop.getUpper()));
  return {emit.select(more, idle, place.base), emit.select(more, emit.constant(0), place.rowBytes), place.first};
}
