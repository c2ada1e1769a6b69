//===- Packed.cpp - Kernels of sequences that lie end to end -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of a batch is one of packed sequences where
//   the entry of the batch        is the sequence s, and 0 in memories of all tokens or of all their blocks,
//   the size of a token dimension is offsets[s + 1] − offsets[s],
//   a token index i               is offsets[s] + i, and rows from offsets[s + 1] on do not exist,
//   a block index i               is the place of the sequence's i-th block in the list of all (PackedDims.h), a window one of them,
//   a row i beside those of tokens, in memory that each sequence is padded in, is the place of its i-th row there.
//
// Nothing else changes, so a sequence has the result that it has alone. A grid with an axis of blocks has the list of those of all
// sequences, and a program finds its sequence by bisection. A block behind the end of its sequence is one of a sequence without
// tokens: it computes nothing. Offsets are clamped to 0 … T, so that wrong ones lead to no memory outside the tensors.
//
// A kernel that does no more than something to each token by itself stays as it is: it needs no sequences.
//
//===----------------------------------------------------------------------===//
#include "Packed.h"

#include "KernelFrame.h"
#include "LaunchedKernel.h"
#include "PackedDims.h"
#include "WindowView.h"
#include "attune/Tile/Product.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// There are no more sequences than an i32 counts.
static constexpr int mostBits = 30;

namespace {
/// Entries of a list that a sequence has at a program.
struct Cut {
  Value first, length;
};

class Packer {
public:
  Packer(func::FuncOp host, LaunchedKernel kernel)
      : host(host), kernel(std::move(kernel)), builder(OpBuilder::atBlockBegin(&this->kernel.kernel.getBody().front())),
        tiles(builder, this->kernel.kernel.getLoc()) {}

  LogicalResult pack();

private:
  InFlightDiagnostic refuse(const Twine &what) {
    return kernel.kernel.emitOpError() << "expected a kernel that packed sequences can have, but got " << what
                                       << " (not supported yet); choose another form with `pin`, or another mechanism";
  }
  // What there is.
  LogicalResult readGrid();
  LogicalResult checkUses();
  bool isTokenWise();
  /// None of an argument that has been added.
  PackedDims dimsOfArgument(Value argument) const {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    return number < dims.size() ? dims[number] : PackedDims();
  }
  template <typename Test> bool allPlaces(Value value, Test test);

  // Sequences.
  Value offsetsArgument(char letter);
  Value total(char letter);
  Value clampedOffset(char letter, Value position);
  Value beginOf(const PackedDim &list, Value sequence);
  Value findSequence(Value program);
  Cut &cutOf(const PackedDim &list);
  SmallVector<PackedDim> lists() const;
  Value lengthOf(const PackedDim &dim) { return cutOf(dim).length; }

  // The grid.
  Value programAt(size_t axis);
  Value listProgram();
  LogicalResult placeProgram();
  LogicalResult replaceListProgram(Value number);
  LogicalResult replaceEntryAndNumber(Value number);
  void setGrid();
  void replaceProgram(size_t axis, Value by);

  // Memory.
  SmallVector<Value> placed(ValueRange indices, ArrayRef<PackedDim> dims);
  template <typename Access> LogicalResult shift(Access access, int64_t tileRank, Value memory);
  void replaceDims();
  Value ofSequence(Value onHost);
  LogicalResult replaceNumbers();
  LogicalResult shiftAll();

  func::FuncOp host;
  LaunchedKernel kernel;
  OpBuilder builder;
  TileBuilder tiles;
  SmallVector<PackedDims, 4> dims; ///< of the arguments
  std::optional<size_t> batchAxis, listAxis;
  PackedDim list; ///< of that axis
  Value sequence, exists;
  llvm::SmallDenseMap<char, Value> offsets, totals;
  std::map<decltype(PackedDim().list()), Cut> cuts;
  llvm::SmallPtrSet<Operation *, 8> own; ///< sizes of memories, and programs, that stay what they are
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// A number, or that times whether a tensor is absent (SavedTensors.cpp), which no length says.
static bool isNumber(Value size) {
  auto product = size.getDefiningOp<arith::MulIOp>();
  return numberOf(size) || (product && numberOf(product.getLhs()) && product.getRhs().getDefiningOp<arith::SubIOp>());
}

LogicalResult Packer::readGrid() {
  for (auto [axis, size] : llvm::enumerate(kernel.launches.front().getGrid())) {
    PackedDim dim = dimOf(size);
    if ((dim.kind == PackedDim::One && dim.repeats == 1) || countsSequences(size))
      batchAxis = axis;
    else if (dim.isOfAll() && !listAxis)
      listAxis = axis, list = dim;
    else if (dim.kind != PackedDim::Other || !isNumber(size))
      return refuse("a grid whose axis " + Twine(axis) + " depends on lengths in another way");
  }
  if (listAxis && list.ofEntries)
    batchAxis = listAxis;
  return success();
}

LogicalResult Packer::checkUses() {
  for (BlockArgument argument : kernel.kernel.getBody().getArguments())
    if (isOfAll(dimsOfArgument(argument)))
      for (Operation *user : argument.getUsers())
        if (!isa<memref::DimOp, tile::LoadOp, tile::StoreOp, tile::ArriveOp>(user))
          return refuse(user->getName().getStringRef() + " of tokens");
  return success();
}

/// Whether a value is only used as an index of loads and stores that are as `test` says of their dimensions and the index's number.
template <typename Test> bool Packer::allPlaces(Value value, Test test) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto ofAccess = [&](auto access, Value memory) {
      unsigned first = access.getIndices().getBeginOperandIndex();
      PackedDims ofMemory = dimsOfArgument(memory);
      return use.getOperandNumber() >= first && use.getOperandNumber() < first + ofMemory.size() && isOfAll(ofMemory) &&
             test(ofMemory[use.getOperandNumber() - first]);
    };
    if (auto load = dyn_cast<tile::LoadOp>(use.getOwner()))
      return ofAccess(load, load.getSource());
    auto store = dyn_cast<tile::StoreOp>(use.getOwner());
    return store && ofAccess(store, store.getTarget());
  });
}

/// Tokens are loaded and stored at the place of the program's block, and nothing else is known of places and lengths.
bool Packer::isTokenWise() {
  if (!listAxis || list.repeats != 1 || list.ofEntries)
    return false;
  auto idOf = [&](size_t axis) { return cast<tile::AxisAttr>(kernel.kernel.getGrid()[axis]).getValue(); };
  auto isTokens = [&](const PackedDim &dim) { return dim.isTokens() && dim.padding == list.padding; };
  SmallVector<Value> places;
  bool simple = true;
  kernel.kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() == idOf(*batchAxis))
      simple &= allPlaces(id, [](const PackedDim &dim) { return dim.kind == PackedDim::One; });
    if (id.getAxis() != idOf(*listAxis))
      return;
    if (list.isTokens())
      places.push_back(id);
    else
      for (Operation *user : id->getUsers())
        if (auto product = dyn_cast<arith::MulIOp>(user); product && matchPattern(product.getRhs(), m_Constant()))
          places.push_back(product);
        else
          simple = false;
  });
  simple &= llvm::all_of(places, [&](Value place) { return allPlaces(place, isTokens); });
  for (BlockArgument argument : kernel.kernel.getBody().getArguments()) {
    PackedDims ofArgument = dimsOfArgument(argument);
    simple &= isa<MemRefType>(argument.getType());
    if (!isOfAll(ofArgument))
      continue;
    auto dimension = llvm::find_if(ofArgument, isTokens) - ofArgument.begin();
    if (dimension == static_cast<int64_t>(ofArgument.size())) // of blocks of them
      return false;
    auto isPlain = [&](auto access) { return !access.getRows() && !access.getLower() && llvm::is_contained(places, access.getIndices()[dimension]); };
    for (Operation *user : argument.getUsers())
      simple &= llvm::TypeSwitch<Operation *, bool>(user).Case<tile::LoadOp, tile::StoreOp>(isPlain).Default([](Operation *op) { return op->use_empty(); });
  }
  return simple;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Value Packer::offsetsArgument(char letter) {
  Value onHost = offsetsOnHost(host, letter);
  for (auto [known, argument] : offsets)
    if (offsetsOnHost(host, known) == onHost)
      return argument;
  return offsets[letter] = kernel.addArgument(cast<MemRefType>(onHost.getType()), onHost);
}

/// All tokens of a letter. Kernels that read none have a memory of them for this alone.
Value Packer::total(char letter) {
  Value &known = totals[letter];
  if (known)
    return known;
  auto placeIn = [&](const PackedDims &dims) -> std::optional<unsigned> {
    auto found = llvm::find_if(dims, [&](const PackedDim &dim) { return dim.isTokens() && dim.letter == letter; });
    return found == dims.end() ? std::nullopt : std::optional(static_cast<unsigned>(found - dims.begin()));
  };
  Value memory, onHost = *llvm::find_if(host.getArguments(), [&](BlockArgument argument) { return placeIn(dimsOf(argument)).has_value(); });
  for (BlockArgument argument : kernel.kernel.getBody().getArguments())
    if (!memory && placeIn(dimsOfArgument(argument)))
      memory = argument;
  std::optional<unsigned> place = memory ? placeIn(dimsOfArgument(memory)) : placeIn(dimsOf(onHost));
  if (!memory)
    memory = kernel.addArgument(cast<MemRefType>(onHost.getType()), onHost);
  known = tiles.dim(memory, *place);
  own.insert(known.getDefiningOp());
  return known;
}

Value Packer::clampedOffset(char letter, Value position) {
  return lengthAt(tiles, offsetsArgument(letter), position, total(letter));
}

/// Where a sequence begins in a list.
Value Packer::beginOf(const PackedDim &list, Value sequence) {
  Value first = clampedOffset(list.letter, sequence);
  if (const Padding &padding = list.padding; !padding.isNone()) {
    Value multiples = divide(tiles, first, tiles.index(padding.multiple));
    first = tiles.mul(tiles.add(multiples, tiles.mul(sequence, padding.multiplesMore())), padding.multiple);
  }
  return list.isTokens() ? first : tiles.add(divide(tiles, first, tiles.index(list.block)), sequence);
}

/// The last sequence that begins in the list at the program or before it.
Value Packer::findSequence(Value program) {
  Value memory = offsetsArgument(list.letter), count = tiles.sub(tiles.dim(memory, 0), tiles.index(1));
  Value zero = tiles.index(0), unit = tiles.index(1), found = zero, behind = tiles.add(program, unit);
  for (int bit = mostBits; bit >= 0; --bit) {
    Value step = tiles.index(int64_t{1} << bit), middle = tiles.min(tiles.add(found, step), count);
    Value isBefore = tiles.min(tiles.max(tiles.sub(behind, beginOf(list, middle)), zero), unit);
    found = tiles.add(found, multiply(tiles, isBefore, step));
  }
  return tiles.max(tiles.min(found, tiles.sub(count, unit)), zero);
}

Cut &Packer::cutOf(const PackedDim &of) {
  auto [place, missing] = cuts.try_emplace(of.list());
  if (missing) {
    Value first = beginOf(of, sequence), next = beginOf(of, tiles.add(sequence, tiles.index(1)));
    Value length = tiles.max(tiles.sub(next, first), tiles.index(0));
    if (of.isTokens() && !of.padding.isNone()) {
      Value rows = tiles.add(lengthOf({PackedDim::Tokens, of.letter}), tiles.index(of.padding.added));
      length = tiles.mul(tiles.ceilDiv(rows, of.padding.multiple), of.padding.multiple);
    }
    place->second = {first, of.isTokens() && exists ? multiply(tiles, length, exists) : length};
  }
  return place->second;
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

Value Packer::programAt(size_t axis) {
  Value id = tiles.programId(cast<tile::AxisAttr>(kernel.kernel.getGrid()[axis]).getValue());
  own.insert(id.getDefiningOp());
  return id;
}

void Packer::replaceProgram(size_t axis, Value by) {
  auto wanted = cast<tile::AxisAttr>(kernel.kernel.getGrid()[axis]).getValue();
  kernel.kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() == wanted && !own.contains(id))
      id.getResult().replaceAllUsesWith(by);
  });
}

/// The program's place in the list. Where an axis repeats that, the kernel knows it as what its division leaves.
Value Packer::listProgram() {
  Value id = programAt(*listAxis);
  if (list.repeats == 1)
    return id;
  Value all = total(list.letter);
  if (list.isBlocks())
    all = tiles.add(tiles.div(all, list.block), tiles.sub(tiles.dim(offsetsArgument(list.letter), 0), tiles.index(1)));
  return tiles.sub(id, multiply(tiles, divide(tiles, id, all), all));
}

/// Where blocks of all entries of the batch are one axis, the kernel knows the entry as its quotient by their number, and the block as the rest.
LogicalResult Packer::replaceEntryAndNumber(Value number) {
  auto wanted = cast<tile::AxisAttr>(kernel.kernel.getGrid()[*listAxis]).getValue();
  bool known = list.repeats == 1;
  kernel.kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() != wanted || own.contains(id))
      return;
    for (Operation *user : llvm::make_early_inc_range(id->getUsers())) {
      known &= isa<arith::DivUIOp, arith::RemUIOp>(user) && user->getOperand(0) == id;
      if (!known)
        return;
      user->getResult(0).replaceAllUsesWith(isa<arith::DivUIOp>(user) ? sequence : number);
      user->erase();
    }
  });
  return known ? success() : LogicalResult(refuse("a grid whose blocks are counted in another way"));
}

/// Puts the number of the program's block in its sequence for the program's place in the list.
LogicalResult Packer::replaceListProgram(Value number) {
  if (list.ofEntries)
    return replaceEntryAndNumber(number);
  if (list.repeats == 1)
    return replaceProgram(*listAxis, number), success();
  auto wanted = cast<tile::AxisAttr>(kernel.kernel.getGrid()[*listAxis]).getValue();
  bool known = true;
  kernel.kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() != wanted || own.contains(id))
      return;
    for (Operation *user : llvm::make_early_inc_range(id->getUsers())) {
      auto quotient = dyn_cast<arith::DivUIOp>(user);
      auto rest = dyn_cast<arith::SubIOp>(user);
      known &= (quotient && quotient.getRhs().getDefiningOp<memref::DimOp>()) || (rest && rest.getLhs() == id);
      if (quotient && known)
        own.insert(quotient.getRhs().getDefiningOp()); // that of all
      if (rest)
        rest.getResult().replaceAllUsesWith(number);
    }
  });
  return known ? success() : LogicalResult(refuse("a grid whose blocks are repeated in another way"));
}

/// A program works on the block of a sequence.
LogicalResult Packer::placeProgram() {
  Value place = listProgram();
  sequence = findSequence(place);
  Value number = tiles.max(tiles.sub(place, beginOf(list, sequence)), tiles.index(0));
  PackedDim tokens{PackedDim::Tokens, list.letter};
  tokens.padding = list.padding;
  Value left = tiles.sub(lengthOf(tokens), multiply(tiles, number, tiles.index(list.block)));
  exists = tiles.min(tiles.max(left, tiles.index(0)), tiles.index(1));
  cuts.clear(); // lengths are 0 where the block does not exist
  return replaceListProgram(number);
}

void Packer::setGrid() {
  tile::LaunchOp launch = kernel.launches.front();
  OpBuilder before(launch);
  TileBuilder onHost(before, launch.getLoc());
  if (listAxis)
    launch.getGridMutable()[*listAxis].set(listOnHost(onHost, host, launch.getGrid()[*listAxis]));
  else
    launch.getGridMutable()[*batchAxis].set(countOnHost(onHost, host));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Indices in a memory of all tokens, or of all blocks.
SmallVector<Value> Packer::placed(ValueRange indices, ArrayRef<PackedDim> dims) {
  SmallVector<Value> result(indices);
  for (size_t dimension = 0; dimension < result.size() && dimension < dims.size(); ++dimension)
    if (dims[dimension].kind == PackedDim::One)
      result[dimension] = tiles.index(0);
    else if (dims[dimension].isOfAll())
      result[dimension] = tiles.add(cutOf(dims[dimension]).first, result[dimension]);
  return result;
}

/// A tile of tokens of the sequence, or what one of its blocks leaves.
template <typename Access> LogicalResult Packer::shift(Access access, int64_t tileRank, Value memory) {
  PackedDims dims = dimsOfArgument(memory);
  auto found = llvm::find_if(dims, [](const PackedDim &dim) { return dim.isOfAll(); });
  auto dimension = static_cast<int64_t>(found - dims.begin()), rank = static_cast<int64_t>(dims.size());
  bool isEntry = dimension + tileRank < rank; // a tile that one of them leaves
  if (access.getFold() || dimension + tileRank > rank || (found->isBlocks() && !isEntry))
    return refuse("tiles whose rows are not tokens of a sequence, one after another");
  Cut cut = cutOf(*found);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(access);
  access.getIndicesMutable().assign(placed(access.getIndices(), dims));
  if (isEntry)
    return success();
  Value limit = access.getRows() ? tiles.min(access.getRows(), cut.length) : cut.length, lower = access.getLower();
  access.getRowsMutable().assign(tiles.add(cut.first, limit));
  if (lower)
    access.getLowerMutable().assign(tiles.add(cut.first, tiles.max(lower, tiles.index(0))));
  return success();
}

/// Sizes of memories of all are those of the sequence.
void Packer::replaceDims() {
  for (BlockArgument argument : kernel.kernel.getBody().getArguments())
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (auto dim = dyn_cast<memref::DimOp>(user); dim && !own.contains(dim) && isOfAll(dimsOfArgument(argument)))
        if (PackedDim of = dimsOfArgument(argument)[*dim.getConstantIndex()]; of.isOfAll())
          dim.getResult().replaceAllUsesWith(lengthOf(of));
}

/// What a number of the host is of one sequence; null if that is not known.
Value Packer::ofSequence(Value onHost) {
  if (PackedDim dim = dimOf(onHost); dim.isTokens())
    return lengthOf(dim);
  Operation *op = onHost.getDefiningOp();
  APInt number;
  if (matchPattern(onHost, m_ConstantInt(&number)))
    return tiles.index(number.getSExtValue());
  if (!isa_and_present<arith::AddIOp, arith::SubIOp>(op))
    return Value();
  Value a = ofSequence(op->getOperand(0)), b = a ? ofSequence(op->getOperand(1)) : Value();
  return !b ? Value() : isa<arith::AddIOp>(op) ? tiles.add(a, b) : tiles.sub(a, b);
}

/// Numbers that the host gives are those of the sequence.
LogicalResult Packer::replaceNumbers() {
  for (auto [argument, onHost] : llvm::zip(kernel.kernel.getBody().getArguments(), SmallVector<Value>(kernel.launches.front().getArguments()))) {
    if (isa<MemRefType>(argument.getType()) || argument.use_empty())
      continue;
    Value own = ofSequence(onHost);
    if (!own)
      return refuse("a number that depends on lengths in another way");
    argument.replaceAllUsesWith(own);
  }
  return success();
}

LogicalResult Packer::shiftAll() {
  for (BlockArgument memory : SmallVector<BlockArgument>(kernel.kernel.getBody().getArguments())) {
    if (!isOfAll(dimsOfArgument(memory)))
      continue;
    for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
      if (auto load = dyn_cast<tile::LoadOp>(user); load && failed(shift(load, load.getType().getRank(), memory)))
        return failure();
      auto store = dyn_cast<tile::StoreOp>(user);
      if (store && failed(shift(store, cast<RankedTensorType>(store.getValue().getType()).getRank(), memory)))
        return failure();
      if (auto arrive = dyn_cast<tile::ArriveOp>(user)) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(arrive);
        arrive.getIndicesMutable().assign(placed(arrive.getIndices(), dimsOfArgument(memory)));
      }
    }
  }
  return success();
}

/// The lists that memories of the kernel have entries of, and numbers of the host are made of.
SmallVector<PackedDim> Packer::lists() const {
  SmallVector<PackedDim> all;
  for (const PackedDims &ofArgument : dims)
    llvm::copy_if(ofArgument, std::back_inserter(all), [](const PackedDim &dim) { return dim.isOfAll(); });
  SmallVector<Value> numbers(tile::LaunchOp(kernel.launches.front()).getArguments());
  while (!numbers.empty()) {
    Value number = numbers.pop_back_val();
    Operation *op = number.getDefiningOp();
    if (!isa<IndexType>(number.getType()) || !op)
      continue;
    if (PackedDim dim = dimOf(number); dim.isTokens())
      all.push_back(dim);
    else if (isa<arith::AddIOp, arith::SubIOp>(op))
      llvm::append_range(numbers, op->getOperands());
  }
  return all;
}

LogicalResult Packer::pack() {
  for (Value argument : tile::LaunchOp(kernel.launches.front()).getArguments())
    dims.push_back(dimsOf(argument));
  if (failed(readGrid()) || failed(checkUses()))
    return failure();
  if (!batchAxis)
    return listAxis ? LogicalResult(refuse("a grid without the batch")) : success();
  if (isTokenWise())
    return success();
  kernel.kernel->removeAttr(tile::Product::attributeName);
  SmallVector<PackedDim> used = lists();
  setGrid();
  if (listAxis && failed(placeProgram()))
    return failure();
  if (!listAxis)
    sequence = programAt(*batchAxis);
  if (!list.ofEntries)
    replaceProgram(*batchAxis, sequence);
  for (const PackedDim &dim : used) // before all that reads them
    cutOf(dim);
  replaceDims();
  if (failed(replaceNumbers()) || failed(shiftAll()))
    return failure();
  kernel.removeUnused();
  return success();
}

/// A memory of no tokens, and of no blocks of them, has an entry for each sequence; of blocks there is the list.
static void resizeWorkspace(func::FuncOp host, tile::WorkspaceOp workspace) {
  OpBuilder builder(workspace);
  TileBuilder tiles(builder, workspace.getLoc());
  PackedDims dims = dimsOf(workspace);
  auto type = cast<MemRefType>(workspace.getType());
  if (!dims.empty() && dims[0].kind == PackedDim::One && !isOfAll(dims))
    workspace->setOperand(0, countOnHost(tiles, host));
  for (auto [dimension, dim] : llvm::enumerate(dims))
    if (dim.isBlocks()) {
      unsigned operand = type.getDynamicDimIndex(dimension);
      workspace->setOperand(operand, listOnHost(tiles, host, workspace->getOperand(operand)));
    } else if (type.isDynamicDim(dimension) && padsTokens(workspace->getOperand(type.getDynamicDimIndex(dimension)))) {
      unsigned operand = type.getDynamicDimIndex(dimension);
      workspace->setOperand(operand, rowsOnHost(tiles, host, dim.padding, workspace->getOperand(operand)));
    }
}

LogicalResult kernel::packSequences(func::FuncOp host) {
  if (!offsetsOnHost(host, 'q'))
    return success();
  for (tile::LaunchOp launch : llvm::to_vector(host.getOps<tile::LaunchOp>())) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(host, launch.getCalleeAttr());
    if (failed(Packer(host, {kernel, {launch}}).pack()))
      return failure();
  }
  // The last first: their sizes may be those of others.
  SmallVector<tile::WorkspaceOp> workspaces(host.getOps<tile::WorkspaceOp>());
  for (tile::WorkspaceOp workspace : llvm::reverse(workspaces))
    resizeWorkspace(host, workspace);
  return success();
}
