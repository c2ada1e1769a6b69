//===- PackedDims.cpp - What sizes of packed sequences count --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PackedDims.h"

#include "attune/Kernel/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static PackedDim dimOfMemory(Value memory, unsigned dimension);

/// The size that a dimension of a part of the workspace has been given, if need be through others of its parts; null of other memories.
static Value givenSize(Value size) {
  auto dim = size.getDefiningOp<memref::DimOp>();
  auto workspace = dim ? dim.getSource().getDefiningOp<tile::WorkspaceOp>() : tile::WorkspaceOp();
  std::optional<int64_t> dimension = workspace ? dim.getConstantIndex() : std::nullopt;
  bool isGiven = dimension && workspace.getType().isDynamicDim(static_cast<unsigned>(*dimension));
  Value given = isGiven ? workspace->getOperand(workspace.getType().getDynamicDimIndex(static_cast<unsigned>(*dimension))) : Value();
  Value before = given ? givenSize(given) : Value();
  return before ? before : given;
}

std::optional<int64_t> kernel::numberOf(Value size) {
  APInt number;
  if (matchPattern(size, m_ConstantInt(&number)))
    return number.getSExtValue();
  Operation *op = size.getDefiningOp();
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    if (Value given = givenSize(size))
      return numberOf(given);
    std::optional<int64_t> dimension = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    return dimension && type && !type.isDynamicDim(*dimension) ? std::optional(type.getDimSize(*dimension)) : std::nullopt;
  }
  if (!isa_and_present<arith::MulIOp, arith::CeilDivUIOp>(op))
    return std::nullopt;
  std::optional<int64_t> a = numberOf(op->getOperand(0)), b = numberOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  return isa<arith::MulIOp>(op) ? *a * *b : llvm::divideCeil(*a, *b);
}

/// The tokens that blocks are of; null if they are not cut by a number.
static Value tokensOf(Value size) {
  if (auto most = size.getDefiningOp<arith::MaxSIOp>(); most && numberOf(most.getRhs()) == 1) // a list has one for each sequence
    size = most.getLhs();
  auto blocks = size.getDefiningOp<arith::CeilDivUIOp>();
  return blocks && numberOf(blocks.getRhs()) ? Value(blocks.getLhs()) : Value();
}

/// The tokens that a sequence's rows are made of, and the rows beside these, which may have been taken off again; null if they are not.
static std::pair<Value, Padding> paddedTokens(Value size) {
  if (auto rest = size.getDefiningOp<arith::SubIOp>()) {
    Value rows = givenSize(rest.getLhs());
    auto [tokens, padding] = rows ? paddedTokens(rows) : std::pair<Value, Padding>();
    bool isAll = tokens && padding.multiple == 1 && numberOf(rest.getRhs()) == padding.added;
    return isAll ? std::pair(tokens, Padding()) : std::pair<Value, Padding>();
  }
  Padding padding;
  Value whole = size;
  if (auto product = size.getDefiningOp<arith::MulIOp>()) {
    auto parts = product.getLhs().getDefiningOp<arith::CeilDivUIOp>();
    std::optional<int64_t> multiple = numberOf(product.getRhs());
    if (!parts || !multiple || numberOf(parts.getRhs()) != multiple)
      return {};
    padding.multiple = *multiple, size = parts.getLhs();
  }
  if (auto sum = size.getDefiningOp<arith::AddIOp>(); sum && numberOf(sum.getRhs()))
    padding.added = *numberOf(sum.getRhs()), size = sum.getLhs();
  return size == whole ? std::pair<Value, Padding>() : std::pair(size, padding);
}

PackedDim kernel::dimOf(Value size) {
  if (auto [tokens, padding] = paddedTokens(size); tokens) {
    PackedDim dim = dimOf(tokens);
    bool once = dim.isTokens() && dim.repeats == 1 && dim.padding.isNone();
    if (once) {
      dim.padding = padding;
      return dim;
    }
  }
  if (auto product = size.getDefiningOp<arith::MulIOp>(); product && numberOf(product.getRhs())) {
    PackedDim dim = dimOf(product.getLhs());
    dim.repeats *= *numberOf(product.getRhs());
    return dim;
  }
  if (auto product = size.getDefiningOp<arith::MulIOp>(); product && dimOf(product.getLhs()).kind == PackedDim::One) {
    PackedDim dim = dimOf(product.getRhs());
    dim.ofEntries = true;
    return dim.isOfAll() ? dim : PackedDim();
  }
  if (Value tokens = tokensOf(size)) {
    PackedDim dim = dimOf(tokens);
    if (!dim.isTokens())
      return {};
    if (auto most = size.getDefiningOp<arith::MaxSIOp>())
      size = most.getLhs();
    dim.kind = PackedDim::Blocks, dim.block = *numberOf(size.getDefiningOp()->getOperand(1));
    return dim;
  }
  auto dim = size.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> dimension = dim ? dim.getConstantIndex() : std::nullopt;
  return dimension ? dimOfMemory(dim.getSource(), static_cast<unsigned>(*dimension)) : PackedDim();
}

static PackedDim dimOfArgument(BlockArgument argument, unsigned dimension) {
  auto host = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto dims = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argumentDimsAttr);
  if (!dims || !dims.getValue().starts_with("1"))
    return {};
  char letter = dims.getValue()[dimension];
  if (letter == '1')
    return {PackedDim::One};
  return letter == '.' ? PackedDim() : PackedDim{PackedDim::Tokens, letter};
}

static PackedDim dimOfMemory(Value memory, unsigned dimension) {
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return dimOfArgument(argument, dimension);
  auto type = cast<MemRefType>(memory.getType());
  if (auto either = memory.getDefiningOp<tile::EitherOp>())
    memory = either.getOther();
  auto workspace = memory.getDefiningOp<tile::WorkspaceOp>();
  return workspace && type.isDynamicDim(dimension) ? dimOf(workspace->getOperand(type.getDynamicDimIndex(dimension))) : PackedDim();
}

PackedDims kernel::dimsOf(Value memory) {
  PackedDims dims;
  if (auto type = dyn_cast<MemRefType>(memory.getType()))
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      dims.push_back(dimOfMemory(memory, dimension));
  return dims;
}

BlockArgument kernel::offsetsOnHost(func::FuncOp host, char letter) {
  for (BlockArgument argument : host.getArguments())
    if (auto of = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argumentOffsetsAttr))
      if (of.getValue().contains(letter))
        return argument;
  return {};
}

Value kernel::countOnHost(TileBuilder &tiles, func::FuncOp host) {
  return tiles.sub(tiles.dim(offsetsOnHost(host, 'q'), 0), tiles.index(1));
}

bool kernel::countsSequences(Value size) {
  auto dim = size.getDefiningOp<memref::DimOp>();
  auto argument = dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  auto host = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto dims = host ? host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argumentDimsAttr) : StringAttr();
  return dims && dim.getConstantIndex() == 0 && dims.getValue().starts_with("b");
}

bool kernel::padsTokens(Value size) { return paddedTokens(size).first && dimOf(size).isTokens(); }

Value kernel::rowsOnHost(TileBuilder &tiles, func::FuncOp host, const Padding &padding, Value size) {
  Value multiples = tiles.div(paddedTokens(size).first, padding.multiple);
  return tiles.mul(tiles.add(multiples, tiles.mul(countOnHost(tiles, host), padding.multiplesMore())), padding.multiple);
}

Value kernel::listOnHost(TileBuilder &tiles, func::FuncOp host, Value size) {
  if (auto product = size.getDefiningOp<arith::MulIOp>(); product && dimOf(size).ofEntries)
    return listOnHost(tiles, host, product.getRhs());
  if (auto product = size.getDefiningOp<arith::MulIOp>())
    return arith::MulIOp::create(tiles.builder, tiles.loc, listOnHost(tiles, host, product.getLhs()), product.getRhs());
  Value tokens = tokensOf(size);
  return tokens ? tiles.add(tiles.div(tokens, dimOf(size).block), countOnHost(tiles, host)) : size;
}
