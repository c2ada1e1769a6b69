//===- Packed.cpp - Kernels of sequences that lie end to end -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of a batch is one of packed sequences where
//   the entry of the batch        is the sequence s, and 0 in memories of tokens,
//   the size of a token dimension is offsets[s + 1] − offsets[s],
//   a token index i               is offsets[s] + i, and rows from offsets[s + 1] on do not exist.
//
// Nothing else changes, so a sequence has the result that it has alone. A grid with blocks of B tokens has one axis for the blocks
// of all sequences: those of s begin at ⌊offsets[s] / B⌋ + s, which leaves each at least ⌈length / B⌉ of them, since
// ⌊(x + l) / B⌋ − ⌊x / B⌋ + 1 ≥ ⌈l / B⌉. There are ⌊T / B⌋ + S, which the host knows without the offsets, and a program finds its
// sequence by bisection. A block behind the end of its sequence is one of a sequence without tokens: it computes nothing.
// Offsets are clamped to 0 … T, so that wrong ones lead to no memory outside the tensors.
//
//===----------------------------------------------------------------------===//
#include "Packed.h"

#include "KernelFrame.h"
#include "LaunchedKernel.h"
#include "WindowView.h"
#include "attune/Kernel/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// There are no more sequences than an i32 counts.
static constexpr int mostBits = 30;

/// Letters of dimensions: q and k count tokens, 1 is the one entry of a memory of tokens, `.` anything else.
static constexpr char one = '1', other = '.';

static bool isTokens(char letter) { return letter == 'q' || letter == 'k'; }

static char letterOf(Value memory, unsigned dimension);

/// What a size on the host is the size of.
static char letterOf(Value size) {
  auto dim = size.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> dimension = dim ? dim.getConstantIndex() : std::nullopt;
  return dimension ? letterOf(dim.getSource(), static_cast<unsigned>(*dimension)) : other;
}

static char letterOf(Value memory, unsigned dimension) {
  auto type = cast<MemRefType>(memory.getType());
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    auto host = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto dims = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argumentDimsAttr);
    bool packed = dims && dims.getValue().starts_with(StringRef(&one, 1));
    return packed ? dims.getValue()[dimension] : other;
  }
  auto workspace = memory.getDefiningOp<tile::WorkspaceOp>();
  if (!workspace || !type.isDynamicDim(dimension))
    return other;
  return letterOf(workspace->getOperand(type.getDynamicDimIndex(dimension)));
}

static std::string lettersOf(Value memory) {
  std::string letters;
  if (auto type = dyn_cast<MemRefType>(memory.getType()))
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      letters += letterOf(memory, dimension);
  return letters;
}

namespace {
/// Tokens of one letter at a program.
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
  LogicalResult readGrid();
  LogicalResult checkUses();
  Value offsetsArgument(char letter);
  Value total(char letter);
  Value clampedOffset(char letter, Value position);
  Value findSequence(Value program);
  void cut(char letter, Value sequence);
  void replaceProgram(size_t axis, Value by);
  template <typename Access> LogicalResult shift(Access access, int64_t tileRank, BlockArgument memory);

  func::FuncOp host;
  LaunchedKernel kernel;
  OpBuilder builder;
  TileBuilder tiles;
  SmallVector<std::string> letters; ///< of the arguments
  std::optional<size_t> batchAxis, tokenAxis;
  char tokenLetter = other;
  int64_t block = 1; ///< tokens of a program
  llvm::SmallDenseMap<char, Value> offsets, totals;
  llvm::SmallDenseMap<char, Cut> cuts;
  llvm::SmallPtrSet<Operation *, 8> own; ///< sizes of memories, which stay what they are
};
} // namespace

/// The host's argument that cuts the tokens of a letter.
static BlockArgument offsetsOnHost(func::FuncOp host, char letter) {
  for (BlockArgument argument : host.getArguments())
    if (auto of = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argumentOffsetsAttr))
      if (of.getValue().contains(letter))
        return argument;
  return {};
}

/// How many sequences there are.
static Value countOnHost(TileBuilder &tiles, func::FuncOp host) {
  return tiles.sub(tiles.dim(offsetsOnHost(host, 'q'), 0), tiles.index(1));
}

LogicalResult Packer::readGrid() {
  for (auto [axis, size] : llvm::enumerate(kernel.launches.front().getGrid())) {
    APInt number;
    auto blocks = size.getDefiningOp<arith::CeilDivUIOp>();
    bool cutEvenly = blocks && matchPattern(blocks.getRhs(), m_ConstantInt(&number));
    char letter = letterOf(cutEvenly ? blocks.getLhs() : size);
    if (letter == one && !blocks)
      batchAxis = axis;
    else if (isTokens(letter) && !tokenAxis)
      tokenAxis = axis, tokenLetter = letter, block = cutEvenly ? number.getSExtValue() : 1;
    else if (letter != other || !matchPattern(size, m_ConstantInt(&number)))
      return refuse("a grid whose axis " + Twine(axis) + " depends on lengths in another way");
  }
  return success();
}

Value Packer::offsetsArgument(char letter) {
  Value onHost = offsetsOnHost(host, letter);
  for (auto [known, argument] : offsets)
    if (offsetsOnHost(host, known) == onHost)
      return argument;
  return offsets[letter] = kernel.addArgument(cast<MemRefType>(onHost.getType()), onHost);
}

/// All tokens of a letter.
Value Packer::total(char letter) {
  Value &known = totals[letter];
  for (size_t number = 0; !known && number < letters.size(); ++number)
    if (size_t dimension = letters[number].find(letter); dimension != std::string::npos) {
      known = memref::DimOp::create(builder, tiles.loc, kernel.kernel.getBody().getArgument(number), dimension);
      own.insert(known.getDefiningOp());
    }
  return known;
}

Value Packer::clampedOffset(char letter, Value position) {
  return lengthAt(tiles, offsetsArgument(letter), position, total(letter));
}

/// The last sequence whose blocks begin at the program or before it.
Value Packer::findSequence(Value program) {
  Value memory = offsetsArgument(tokenLetter), count = tiles.sub(tiles.dim(memory, 0), tiles.index(1));
  Value zero = tiles.index(0), unit = tiles.index(1), found = zero, behind = tiles.add(program, unit);
  for (int bit = mostBits; bit >= 0; --bit) {
    Value step = tiles.index(int64_t{1} << bit), middle = tiles.min(tiles.add(found, step), count);
    Value begin = tiles.add(divide(tiles, clampedOffset(tokenLetter, middle), tiles.index(block)), middle);
    Value isBefore = tiles.min(tiles.max(tiles.sub(behind, begin), zero), unit);
    found = tiles.add(found, multiply(tiles, isBefore, step));
  }
  return tiles.max(tiles.min(found, tiles.sub(count, unit)), zero);
}

void Packer::cut(char letter, Value sequence) {
  Value first = clampedOffset(letter, sequence), next = clampedOffset(letter, tiles.add(sequence, tiles.index(1)));
  cuts[letter] = {first, tiles.max(tiles.sub(next, first), tiles.index(0))};
}

void Packer::replaceProgram(size_t axis, Value by) {
  auto wanted = cast<tile::AxisAttr>(kernel.kernel.getGrid()[axis]).getValue();
  kernel.kernel.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() == wanted && !own.contains(id))
      id.getResult().replaceAllUsesWith(by);
  });
}

/// A tile of tokens of the sequence.
template <typename Access> LogicalResult Packer::shift(Access access, int64_t tileRank, BlockArgument memory) {
  StringRef dims = letters[memory.getArgNumber()];
  size_t dimension = dims.find_if(isTokens);
  if (dimension == StringRef::npos)
    return success();
  if (access.getFold() || dimension + tileRank != dims.size())
    return refuse("tiles whose rows are not tokens of a sequence, one after another");
  const Cut &cut = cuts[dims[dimension]];
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(access);
  SmallVector<Value> indices(access.getIndices());
  indices[0] = tiles.index(0);
  indices[dimension] = tiles.add(cut.first, indices[dimension]);
  Value limit = access.getRows() ? tiles.min(access.getRows(), cut.length) : cut.length, lower = access.getLower();
  access.getIndicesMutable().assign(indices);
  access.getRowsMutable().assign(tiles.add(cut.first, limit));
  if (lower)
    access.getLowerMutable().assign(tiles.add(cut.first, tiles.max(lower, tiles.index(0))));
  return success();
}

LogicalResult Packer::checkUses() {
  for (auto [argument, dims] : llvm::zip(kernel.kernel.getBody().getArguments(), letters))
    if (llvm::any_of(dims, isTokens))
      for (Operation *user : argument.getUsers())
        if (!isa<memref::DimOp, tile::LoadOp, tile::StoreOp>(user))
          return refuse(user->getName().getStringRef() + " of tokens");
  return success();
}

LogicalResult Packer::pack() {
  tile::LaunchOp launch = kernel.launches.front();
  for (Value argument : launch.getArguments())
    letters.push_back(lettersOf(argument));
  if (failed(readGrid()) || failed(checkUses()))
    return failure();
  if (!batchAxis)
    return tokenAxis ? LogicalResult(refuse("a grid without the batch")) : success();
  auto programAt = [&](size_t axis) {
    Value id = tiles.programId(cast<tile::AxisAttr>(kernel.kernel.getGrid()[axis]).getValue());
    own.insert(id.getDefiningOp());
    return id;
  };
  OpBuilder before(launch);
  TileBuilder onHost(before, launch.getLoc());
  Value count = countOnHost(onHost, host), sequence = programAt(tokenAxis ? *tokenAxis : *batchAxis), number;
  if (tokenAxis) {
    Value program = sequence;
    sequence = findSequence(program);
    Value begin = tiles.add(divide(tiles, clampedOffset(tokenLetter, sequence), tiles.index(block)), sequence);
    number = tiles.max(tiles.sub(program, begin), tiles.index(0));
  }
  std::string all;
  for (StringRef dims : letters)
    all += dims;
  for (char letter : {'q', 'k'})
    if (StringRef(all).contains(letter))
      cut(letter, sequence);
  if (tokenAxis) {
    Value left = tiles.sub(cuts[tokenLetter].length, multiply(tiles, number, tiles.index(block)));
    Value exists = tiles.min(tiles.max(left, tiles.index(0)), tiles.index(1));
    for (auto &[letter, cut] : cuts)
      cut.length = multiply(tiles, cut.length, exists);
    replaceProgram(*tokenAxis, number);
    Value size = launch.getGrid()[*tokenAxis];
    auto blocks = size.getDefiningOp<arith::CeilDivUIOp>();
    Value tokens = block == 1 && !blocks ? size : blocks.getLhs();
    launch.getGridMutable()[*tokenAxis].set(onHost.add(onHost.div(tokens, block), count));
  } else {
    launch.getGridMutable()[*batchAxis].set(count);
  }
  replaceProgram(*batchAxis, sequence);
  for (auto [number, dims] : llvm::enumerate(letters)) {
    BlockArgument memory = kernel.kernel.getBody().getArgument(number);
    for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
      if (auto dim = dyn_cast<memref::DimOp>(user); dim && !own.contains(dim) && isTokens(dims[*dim.getConstantIndex()]))
        dim.getResult().replaceAllUsesWith(cuts[dims[*dim.getConstantIndex()]].length);
      auto load = dyn_cast<tile::LoadOp>(user);
      auto store = dyn_cast<tile::StoreOp>(user);
      if (load && failed(shift(load, load.getType().getRank(), memory)))
        return failure();
      if (store && failed(shift(store, cast<RankedTensorType>(store.getValue().getType()).getRank(), memory)))
        return failure();
    }
  }
  kernel.removeUnused();
  return success();
}

LogicalResult kernel::packSequences(func::FuncOp host) {
  if (!offsetsOnHost(host, 'q'))
    return success();
  for (tile::LaunchOp launch : llvm::to_vector(host.getOps<tile::LaunchOp>())) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(host, launch.getCalleeAttr());
    if (failed(Packer(host, {kernel, {launch}}).pack()))
      return failure();
  }
  // A memory without tokens has an entry for each sequence.
  for (auto workspace : llvm::to_vector(host.getOps<tile::WorkspaceOp>())) {
    std::string letters = lettersOf(workspace);
    if (!letters.empty() && letters[0] == one && llvm::none_of(letters, isTokens)) {
      OpBuilder builder(workspace);
      TileBuilder tiles(builder, workspace.getLoc());
      workspace->setOperand(0, countOnHost(tiles, host));
    }
  }
  return success();
}
