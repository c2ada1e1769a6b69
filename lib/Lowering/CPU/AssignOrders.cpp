//===- AssignOrders.cpp - Choose the storage order of every tile ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles that elementwise ops, masks and carries tie together form a group, and a group has one order. A choice is a bit
// for every dot (vectors along N or M); given the bits, what is left separates: every group takes its cheaper order.
//
//===----------------------------------------------------------------------===//
#include "Emit.h"
#include "Orders.h"
#include "RunningSums.h"

#include "attune/Lowering/CPU/Passes.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace attune::cpu {
#define GEN_PASS_DEF_ASSIGNORDERS
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-assign-orders"

// Prices in vector instructions. A product costs one a vector and half a load; transposing an element costs about
// four shuffles, loads and stores a vector; summing across the lanes of a vector eight.
static constexpr double transposePrice = 6, acrossLanesPrice = 8, elementwisePrice = 2;
/// With more dots than this the choice is made dot by dot.
static constexpr unsigned mostDots = 10;
static constexpr double loopWeight = 16;

namespace {
/// The price of a group in each order.
struct Prices {
  double row = 0, column = 0;
};

/// The problem of one kernel: its groups, its dots, and the price of a choice.
class KernelOrders {
public:
  KernelOrders(tile::KernelOp kernel, int64_t lanes) : lanes(lanes) {
    kernel->walk([&](Operation *op) { collect(op); });
    for (Operation *op : all)
      priceFixed(op);
  }
  void solve();
  /// Marks the ops; returns how many tiles are column-major.
  unsigned annotate();
  double bestPrice() const { return cheapest; }
  /// The price if every dot makes rows.
  double rowMajorPrice() const { return rowMajor; }

private:
  int64_t lanes;
  llvm::EquivalenceClasses<void *> groups;
  SmallVector<Operation *> all;
  SmallVector<tile::DotOp> dots;
  llvm::DenseMap<void *, Prices> fixed;
  llvm::DenseMap<void *, Order> chosen;
  uint64_t bestBits = 0;
  double cheapest = 0, rowMajor = 0;

  bool grouped(Value value) const { return isTile(value) && rankOf(value) == 2 && !isFree(value); }
  void *group(Value value) { return groups.getOrInsertLeaderValue(value.getAsOpaquePointer()); }
  void tie(Value a, Value b) {
    if (grouped(a) && grouped(b))
      groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  double vectors(ArrayRef<int64_t> shape, Order order) const {
    return double(outerSize(shape, order)) * double(roundUp(innerSize(shape, order), lanes) / lanes);
  }
  /// Of a branch, the way that begins at what numbers decide is the usual one.
  static double steps(tile::LoopOp loop) {
    if (!loop.isBranch())
      return loopWeight;
    return loop.getUpper().getDefiningOp<tile::AnyOp>() ? 1 / loopWeight : 1;
  }
  static double weight(Operation *op) {
    double result = 1;
    for (; op; op = op->getParentOp())
      if (auto loop = dyn_cast_if_present<tile::LoopOp>(op->getParentOp()))
        result *= steps(loop);
    return result;
  }
  void collect(Operation *op);
  void priceFixed(Operation *op);
  /// Adds the price of reading `value` in `wanted` to the other order of its group.
  void want(llvm::DenseMap<void *, Prices> &prices, Value value, Order wanted, double weight);
  double priceDot(tile::DotOp dot, bool rows, llvm::DenseMap<void *, Prices> &prices);
  double price(uint64_t bits, llvm::DenseMap<void *, Order> *orders);
};
} // namespace

void KernelOrders::collect(Operation *op) {
  all.push_back(op);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    dots.push_back(dot);
    tie(dot.getResult(), dot.getAcc());
  } else if (auto loop = dyn_cast<tile::LoopOp>(op)) {
    for (auto [init, carried, result, yielded] :
         llvm::zip_equal(loop.getInitArgs(), loop.getCarried(), loop.getResults(), loop.getYield()->getOperands())) {
      tie(result, carried);
      tie(result, yielded);
      tie(result, init);
    }
  } else if (!isa<tile::ReduceOp, tile::ExpandOp, tile::StoreOp, tile::LoadOp, tile::PermuteColumnsOp, tile::YieldOp,
                  tile::ScanOp>(op)) {
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        tie(result, operand);
  }
}

void KernelOrders::want(llvm::DenseMap<void *, Prices> &prices, Value value, Order wanted, double weight) {
  if (!grouped(value))
    return;
  double price = transposePrice * weight * vectors(shapeOf(value), Order::Row);
  (wanted == Order::Row ? prices[group(value)].column : prices[group(value)].row) += price;
}

void KernelOrders::priceFixed(Operation *op) {
  double times = weight(op);
  if (isa<tile::LoadOp, tile::PermuteColumnsOp>(op))
    want(fixed, op->getResult(0), Order::Row, times);
  if (isa<tile::StoreOp, tile::PermuteColumnsOp>(op))
    want(fixed, op->getOperand(0), Order::Row, times);
  if (isa<tile::ScanOp>(op)) {
    for (Value operand : op->getOperands())
      want(fixed, operand, Order::Row, times);
    for (Value result : op->getResults())
      want(fixed, result, Order::Row, times);
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && grouped(reduce.getSource())) {
    // Along axis 1 the lanes of a row-major tile are summed among themselves; along axis 0 those of a column-major one.
    Prices &prices = fixed[group(reduce.getSource())];
    double price = times * acrossLanesPrice * double(shapeOf(reduce.getResult())[0]);
    (reduce.getAxis() == 1 ? prices.row : prices.column) += price;
  }
  if (op->getNumResults() == 1 && grouped(op->getResult(0)) &&
      !isa<tile::LoadOp, tile::LoopOp, tile::DotOp, tile::PermuteColumnsOp>(op)) {
    Prices &prices = fixed[group(op->getResult(0))];
    double each = times * (isa<math::Exp2Op>(op) ? 6 : 1) * elementwisePrice;
    prices.row += each * vectors(shapeOf(op->getResult(0)), Order::Row);
    prices.column += each * vectors(shapeOf(op->getResult(0)), Order::Column);
  }
}

double KernelOrders::priceDot(tile::DotOp dot, bool rows, llvm::DenseMap<void *, Prices> &prices) {
  double times = weight(dot);
  if (!rows && runningSums(dot)) { // an addition a number
    want(prices, dot.getB(), Order::Row, times);
    want(prices, dot.getResult(), Order::Row, times);
    return times * elementwisePrice * vectors(shapeOf(dot.getResult()), Order::Row);
  }
  Order order = rows ? Order::Column : Order::Row;
  // A tile is transposed where it is made, which may be outside of the dot's loop.
  Value read = rows ? dot.getA() : dot.getB();
  double made = read.getDefiningOp() ? weight(read.getDefiningOp()) : times;
  want(prices, read, (rows ? dot.getTransposeA() : dot.getTransposeB()) != rows ? Order::Column : Order::Row, made);
  want(prices, dot.getResult(), order, times);
  return times * double(dot.getK()) * vectors(shapeOf(dot.getResult()), order);
}

double KernelOrders::price(uint64_t bits, llvm::DenseMap<void *, Order> *orders) {
  llvm::DenseMap<void *, Prices> prices = fixed;
  double total = 0;
  for (auto [position, dot] : llvm::enumerate(dots))
    total += priceDot(dot, bits >> position & 1, prices);
  for (auto &[key, both] : prices) {
    total += std::min(both.row, both.column);
    if (orders)
      (*orders)[key] = both.column < both.row ? Order::Column : Order::Row;
  }
  return total;
}

void KernelOrders::solve() {
  double best = price(0, nullptr);
  rowMajor = best;
  auto attempt = [&](uint64_t bits) {
    double now = price(bits, nullptr);
    if (now < best)
      best = now, bestBits = bits;
  };
  if (dots.size() <= mostDots)
    for (uint64_t bits = 1; bits < uint64_t(1) << dots.size(); ++bits)
      attempt(bits);
  else
    for (unsigned position = 0; position < dots.size() && position < 64; ++position)
      attempt(bestBits ^ uint64_t(1) << position);
  cheapest = best;
  price(bestBits, &chosen);
}

unsigned KernelOrders::annotate() {
  unsigned count = 0;
  auto column = [&](Value value) {
    bool yes = grouped(value) && chosen.lookup(group(value)) == Order::Column;
    count += yes;
    return yes;
  };
  for (Operation *op : all) {
    UnitAttr flag = UnitAttr::get(op->getContext());
    if (auto loop = dyn_cast<tile::LoopOp>(op)) {
      SmallVector<bool> flags = llvm::map_to_vector(loop.getResults(), column);
      if (llvm::is_contained(flags, true))
        op->setAttr(columnsAttr, DenseBoolArrayAttr::get(op->getContext(), flags));
    } else if (isa<tile::LoadOp, tile::PermuteColumnsOp, tile::ScanOp>(op)) {
      continue; // memory is row-major, and so are permuted rows; a use that wants columns transposes
    } else if (op->getNumResults() == 1 && column(op->getResult(0))) {
      op->setAttr(columnAttr, flag);
    }
  }
  return count;
}

namespace {
struct AssignOrders : public cpu::impl::AssignOrdersBase<AssignOrders> {
  using AssignOrdersBase::AssignOrdersBase;

  void runOnOperation() override {
    KernelOrders orders(getOperation(), lanes);
    orders.solve();
    unsigned columns = orders.annotate();
    ATTUNE_DEBUG() << "@" << getOperation().getSymName() << ": " << columns << " column-major tiles, price "
                   << orders.bestPrice() << ", " << orders.rowMajorPrice() << " if all dots make rows";
    numColumn += columns;
  }
};
} // namespace
