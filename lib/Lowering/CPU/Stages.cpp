//===- Stages.cpp - A kernel as a sequence of loop nests and dots --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Greedy: an op joins the first nest of its shape and order that comes late enough for its operands, else it opens a
// new one. Moving an op forward is free, as tiles are immutable; only loads and stores keep their order.
//
// What is made of memory alone waits for the first op that needs it and joins its nest: nine shifted loads of a
// convolution that is added to a product are read where they are added, and not kept until the product is done.
//
//===----------------------------------------------------------------------===//
#include "Stages.h"

#include "CarriedPlaces.h"
#include "DotForms.h"
#include "VectorOps.h"

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

bool cpu::isScalarOp(Operation *op) {
  return !isa<tile::LoopOp, tile::ArriveOp, tile::StoreOp, tile::YieldOp, tile::ReturnOp>(op) &&
         llvm::none_of(op->getResults(), [](Value value) { return isTile(value); }) &&
         llvm::none_of(op->getOperands(), [](Value value) { return isTile(value); });
}

/// Whether a dot or a loop does the op's work.
bool Stages::absorbed(Operation *op) const {
  if (auto store = dyn_cast<tile::StoreOp>(op); store && isCarriedInMemory(store, target.lanes))
    return true;
  if (dotThatStores(op, target.lanes) || dotThatEndsWith(op, target.lanes))
    return true;
  if (op->getNumResults() != 1 || !op->hasOneUse())
    return false;
  auto dot = dyn_cast<tile::DotOp>(*op->user_begin());
  auto scaled = dot ? scaledAccumulator(dot) : std::nullopt;
  return scaled && scaled->product == op;
}

Stages::Stages(Block &block, const Isa &target) : block(block), target(target) {
  for (Operation &op : block)
    if (!isScalarOp(&op) && !isTable(&op) && !isa<tile::YieldOp, tile::ReturnOp>(op) &&
        !(op.getNumResults() == 1 && isFree(op.getResult(0))) && !absorbed(&op))
      place(&op);
}

unsigned Stages::find(Operation *op) const {
  while (op && op->getBlock() != &block)
    op = op->getParentOp();
  auto found = stageOf.find(op);
  return found == stageOf.end() ? list.size() : found->second;
}

static bool readsOuter(Stage &stage, tile::ReduceOp reduce) {
  // The axis that is reduced is the inner one for axis 1 of a row-major nest and axis 0 of a column-major one.
  return (reduce.getAxis() == 1) == (stage.order == Order::Row);
}

static Stage nestFor(Operation *op) {
  Stage stage{Stage::Kind::Nest, {}, {}};
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    stage.shape.assign(shapeOf(reduce.getSource()).begin(), shapeOf(reduce.getSource()).end());
    stage.order = isFree(reduce.getSource()) ? Order::Row : orderOf(reduce.getSource());
    (readsOuter(stage, reduce) ? stage.keepsOuter : stage.keepsInner) = true;
    return stage;
  }
  Value tile = isa<tile::StoreOp>(op) ? op->getOperand(0) : op->getResult(0);
  stage.shape.assign(shapeOf(tile).begin(), shapeOf(tile).end());
  stage.order = isa<tile::StoreOp>(op) ? Order::Row : orderOf(tile);
  return stage;
}

/// The first stage in which the operand can be read.
unsigned Stages::ready(Value operand) const {
  if (auto expand = operand.getDefiningOp<tile::ExpandOp>())
    return isFree(expand.getSource()) ? 0 : ready(expand.getSource());
  Operation *definition = operand.getDefiningOp();
  auto found = stageOf.find(definition);
  if (!definition || found == stageOf.end())
    return 0;
  const Stage &stage = list[found->second];
  // A reduction is there only when its nest is done.
  return found->second + (stage.kind != Stage::Kind::Nest || isa<tile::ReduceOp>(definition));
}

/// Whether every vector of the result is made of the source's vector at the same place.
static bool staysInVectors(tile::PermuteColumnsOp op, int64_t lanes) {
  for (auto [column, from] : llvm::enumerate(op.getPermutation()))
    if (static_cast<int64_t>(column) / lanes != from / lanes)
      return false;
  return true;
}

/// The load that the tile is, be it widened: reading it twice costs less than a way through the scratch.
static tile::LoadOp asLoad(Value tile) {
  if (auto widened = tile.getDefiningOp<arith::ExtFOp>())
    tile = widened.getIn();
  return tile.getDefiningOp<tile::LoadOp>();
}

bool Stages::storesInto(unsigned position, Value memory) const {
  return llvm::any_of(accesses, [&](Operation *op) {
    auto store = dyn_cast<tile::StoreOp>(op);
    return store && store.getTarget() == memory && find(store) == position;
  });
}

/// With the source if its vectors can be had again there, else after it.
unsigned Stages::readyForPermutation(tile::PermuteColumnsOp op) const {
  Value source = op.getSource();
  unsigned result = ready(source);
  Operation *definition = source.getDefiningOp();
  if (isFree(source) || !definition || !stageOf.count(definition) || staysInVectors(op, target.lanes))
    return result;
  tile::LoadOp load = asLoad(source);
  bool again = load && find(load) == find(definition) && !storesInto(find(definition), load.getSource());
  return again ? result : std::max(result, find(definition) + 1);
}

/// The first stage in which a store does not overwrite what loads before it have yet to read. A load of the very same
/// elements has read what it needs when a vector is stored, but not if a permutation reads it at other places.
unsigned Stages::afterLoads(tile::StoreOp store) const {
  unsigned result = 0;
  for (Operation *op : accesses) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load || load.getSource() != store.getTarget())
      continue;
    bool permuted = llvm::any_of(load->getUsers(), [](Operation *user) {
      return isa<tile::PermuteColumnsOp>(user) ||
             llvm::any_of(user->getUsers(), [](Operation *next) { return isa<tile::PermuteColumnsOp>(next); });
    });
    bool same = load.getIndices() == store.getIndices() && load.getFold() == store.getFold() && !permuted;
    result = std::max(result, find(load) + !same);
  }
  return result;
}

unsigned Stages::earliest(Operation *op) const {
  unsigned result = 0;
  for (Value operand : op->getOperands())
    if (isTile(operand))
      result = std::max(result, waits(operand) ? earliest(operand.getDefiningOp()) : ready(operand));
  if (auto permute = dyn_cast<tile::PermuteColumnsOp>(op))
    result = readyForPermutation(permute);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    result = std::max(result, afterLoads(store));
  if (auto load = waiting.find(op); load != waiting.end())
    result = std::max(result, load->second);
  else if (isa<tile::LoadOp>(op) && anyStore)
    result = std::max(result, lastStore + 1);
  if (isa<tile::StoreOp>(op))
    result = std::max({result, anyLoad ? lastLoad : 0, anyStore ? lastStore : 0});
  return result;
}

//===----------------------------------------------------------------------===//
// Ops that wait for the first use
//===----------------------------------------------------------------------===//

bool Stages::waits(Value tile) const { return waiting.contains(tile.getDefiningOp()); }

/// Whether every use is an op of a nest of this block that reads the tile at its own place, or the only one a dot that
/// adds it to what it stores.
bool Stages::usedInNests(Value tile) const {
  if (tile::DotOp dot = tile.hasOneUse() ? dotThatStores(*tile.user_begin(), target.lanes) : tile::DotOp())
    return dot->getBlock() == &block && scaledStore(dot, target.lanes)->addend == tile;
  return !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](Operation *user) {
    bool nest = isa<tile::ReduceOp, tile::MaskOp>(user) || isElementwise(user) ||
                (isa<tile::StoreOp>(user) && user->getOperand(0) == tile);
    return nest && user->getBlock() == &block && !absorbed(user);
  });
}

/// Whether the op is made of memory that the kernel only reads, of constants and of expansions.
bool Stages::mayWait(Operation *op) const {
  auto load = dyn_cast<tile::LoadOp>(op);
  if ((!load && !isElementwise(op)) || !usedInNests(op->getResult(0)))
    return false;
  if (!load)
    return llvm::all_of(op->getOperands(), [&](Value tile) { return isFree(tile) || waits(tile); });
  bool stored = false;
  op->getParentOfType<tile::KernelOp>()->walk(
      [&](tile::StoreOp store) { stored |= store.getTarget() == load.getSource(); });
  return !stored;
}

static bool accepts(const Stage &stage, const Stage &wanted) {
  bool inner = stage.keepsInner || wanted.keepsInner, outer = stage.keepsOuter || wanted.keepsOuter;
  return stage.kind == Stage::Kind::Nest && stage.shape == wanted.shape && stage.order == wanted.order &&
         !(inner && outer);
}

void Stages::append(Stage::Kind kind, Operation *op) {
  stageOf[op] = list.size();
  list.push_back({kind, {op}, {}});
}

/// A dot before this one that can make it, too: both are of one row and read the same tile once.
Stage *Stages::besideDot(tile::DotOp dot) {
  if (!isRowAlone(dot, target))
    return nullptr;
  for (Stage &stage : list) {
    auto other = stage.kind == Stage::Kind::Dot ? cast<tile::DotOp>(stage.ops.front()) : tile::DotOp();
    bool alike = other && other.getB() == dot.getB() && other.getTransposeB() == dot.getTransposeB() && isRowAlone(other, target);
    if (alike && ready(dot.getA()) <= stageOf.lookup(other))
      return &stage;
  }
  return nullptr;
}

void Stages::place(Operation *op) {
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    if (Stage *stage = besideDot(dot)) {
      stage->kind = Stage::Kind::Dots;
      stage->ops.push_back(op), stageOf[op] = stage - list.begin();
      return;
    }
    if (auto stored = scaledStore(dot, target.lanes)) {
      if (stored->addend && waits(stored->addend))
        placeAlone(stored->addend.getDefiningOp());
      stageOf[stored->product] = stageOf[stored->store] = list.size();
      if (stored->sum)
        stageOf[stored->sum] = list.size();
      accesses.push_back(stored->store);
      lastStore = list.size(), anyStore = true;
    }
    auto touches = [&](Operation *access) {
      stageOf[access] = list.size();
      accesses.push_back(access);
      if (isa<tile::LoadOp>(access))
        lastLoad = list.size(), anyLoad = true;
      else
        lastStore = list.size(), anyStore = true;
    };
    if (auto sum = sumInMemory(dot, target.lanes))
      touches(sum->load), touches(sum->store);
    if (tile::StoreOp store = plainStore(dot, target.lanes))
      touches(store);
    if (auto scaled = scaledAccumulator(dot))
      stageOf[scaled->product] = list.size();
    append(Stage::Kind::Dot, op);
    if (Operation *last = lastOf(dot, target.lanes); last != op)
      list.back().ops.push_back(last), stageOf[last] = list.size() - 1;
    return;
  }
  if (isa<tile::LoopOp, tile::ArriveOp>(op)) {
    anyLoad = anyStore = true, lastLoad = lastStore = list.size();
    return append(isa<tile::LoopOp>(op) ? Stage::Kind::Loop : Stage::Kind::Arrive, op);
  }
  if (isa<tile::AnyOp>(op))
    return append(Stage::Kind::Any, op);
  if (isa<tile::ScanOp>(op))
    return append(Stage::Kind::Scan, op);
  if (auto load = dyn_cast<tile::LoadOp>(op); load && readInPlace(load, target)) {
    lastLoad = list.size(), anyLoad = true;
    return append(Stage::Kind::Place, op);
  }
  if (mayWait(op))
    waiting[op] = isa<tile::LoadOp>(op) && anyStore ? lastStore + 1 : 0;
  else
    placeInNest(op);
}

/// Gives nests of their own to those that wait for the op and cannot be computed beside it.
void Stages::settleOperands(Operation *op) {
  Stage nest = nestFor(op);
  for (Value operand : op->getOperands()) {
    if (!isTile(operand) || !waits(operand))
      continue;
    Operation *definition = operand.getDefiningOp();
    Stage own = nestFor(definition);
    if (own.shape == nest.shape && own.order == nest.order)
      settleOperands(definition);
    else
      placeInNest(definition);
  }
}

void Stages::placeInNest(Operation *op) {
  settleOperands(op);
  Stage wanted = nestFor(op);
  unsigned position = earliest(op);
  while (position < list.size() && !accepts(list[position], wanted))
    ++position;
  if (position == list.size())
    list.push_back(wanted);
  join(op, position, wanted);
}

/// Gives the op, with what waits for it, a nest of its own after all others.
void Stages::placeAlone(Operation *op) {
  settleOperands(op);
  list.push_back(nestFor(op));
  join(op, list.size() - 1, nestFor(op));
}

/// Adds the op, and before it what waits for it, to a nest.
void Stages::join(Operation *op, unsigned position, const Stage &wanted) {
  waiting.erase(op);
  for (Value operand : op->getOperands())
    if (isTile(operand) && waits(operand))
      join(operand.getDefiningOp(), position, nestFor(operand.getDefiningOp()));
  Stage &stage = list[position];
  stage.ops.push_back(op);
  stage.keepsInner |= wanted.keepsInner, stage.keepsOuter |= wanted.keepsOuter;
  stageOf[op] = position;
  if (isa<tile::LoadOp, tile::StoreOp>(op))
    accesses.push_back(op);
  if (isa<tile::LoadOp>(op))
    lastLoad = anyLoad ? std::max(lastLoad, position) : position, anyLoad = true;
  if (isa<tile::StoreOp>(op))
    lastStore = anyStore ? std::max(lastStore, position) : position, anyStore = true;
}

bool Stages::leavesStage(Value tile) const {
  Operation *definition = tile.getDefiningOp();
  auto found = stageOf.find(definition);
  if (found != stageOf.end() && list[found->second].kind == Stage::Kind::Dot)
    return list[found->second].ops.back() == definition;
  if (found == stageOf.end() || list[found->second].kind != Stage::Kind::Nest || isa<tile::ReduceOp>(definition))
    return true;
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    // An expansion is read where it is used; a rank-1 tile and its expansion are never in one nest.
    return isa<tile::ExpandOp>(user) || find(user) != found->second;
  });
}

bool Stages::readsElsewhere(Value tile, unsigned position) const {
  return llvm::any_of(tile.getUsers(),
                      [&](Operation *user) { return isa<tile::PermuteColumnsOp>(user) && find(user) == position; });
}

std::optional<unsigned> Stages::lastUse(Value tile) const {
  std::optional<unsigned> last;
  for (Operation *user : tile.getUsers()) {
    std::optional<unsigned> use;
    if (auto expand = dyn_cast<tile::ExpandOp>(user))
      use = lastUse(expand.getResult());
    else
      use = find(user);
    if (use && (!last || *use > *last))
      last = use;
  }
  return last;
}
