//===- OpGraph.cpp - The ops of a function in rows -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OpGraph.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace attune::attnc;

/// Units of the picture: a letter, and the space beside names, between nodes.
static constexpr double letterWidth = 7, padding = 18, gap = 16;

/// "2x8x256x64 f32", with ? for what is known only when a kernel runs.
static std::string shapeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type;
    return text;
  }
  for (auto [axis, size] : llvm::enumerate(tensor.getShape())) {
    os << (axis ? "x" : "");
    ShapedType::isDynamic(size) ? os << "?" : os << size;
  }
  os << " " << tensor.getElementType();
  return text;
}

static std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().skipRegions());
  return text;
}

/// The name of a function's argument; empty for other values.
static std::string argumentName(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function)
    return "";
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name");
  return name ? name.str() : "argument " + std::to_string(argument.getArgNumber());
}

/// What two ops have in common that compute alike from alike operands.
static std::string keyOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << " " << op->getAttrDictionary() << " " << op->getOperandTypes() << " " << op->getResultTypes();
  for (Value operand : op->getOperands())
    os << " " << argumentName(operand);
  return text;
}

void OpGraph::addArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (argument.use_empty())
      continue;
    Node &node = nodes.emplace_back();
    node.name = argumentName(argument);
    node.result = shapeOf(argument.getType());
    node.argument = true;
    argumentNodes[argument] = nodes.size() - 1;
  }
}

std::optional<unsigned> OpGraph::makerOf(Value value) const {
  if (Operation *op = value.getDefiningOp()) {
    auto node = opNodes.find(op);
    return node == opNodes.end() ? std::nullopt : std::optional(node->second);
  }
  auto node = argumentNodes.find(value);
  return node == argumentNodes.end() ? std::nullopt : std::optional(node->second);
}

void OpGraph::addOps(func::FuncOp function) {
  for (Operation &op : function.getOps()) {
    Node node;
    node.name = op.getName().stripDialect().str();
    node.result = op.getNumResults() ? shapeOf(op.getResult(0).getType()) : "";
    node.text = textOf(&op), node.key = keyOf(&op);
    for (Value operand : op.getOperands())
      if (std::optional<unsigned> maker = makerOf(operand))
        node.row = std::max(node.row, nodes[*maker].row + 1);
    opNodes[&op] = nodes.size();
    nodes.push_back(std::move(node));
  }
  // An argument stands right above the first op that reads it.
  for (auto [argument, index] : argumentNodes) {
    int first = std::numeric_limits<int>::max();
    for (Operation *user : argument.getUsers())
      first = std::min(first, nodes[opNodes.at(user)].row);
    nodes[index].row = first - 1;
  }
}

void OpGraph::addEdge(unsigned from, unsigned to) {
  for (int row = nodes[from].row + 1; row < nodes[to].row; ++row) {
    Node bend;
    bend.row = row;
    nodes.push_back(bend);
    edges.push_back({from, nodes.size() - 1});
    from = nodes.size() - 1;
  }
  edges.push_back({from, to});
}

void OpGraph::order() {
  constexpr int sweeps = 8;
  std::vector<double> place(nodes.size(), 0);
  auto number = [&] {
    for (const std::vector<unsigned> &row : rows)
      for (auto [index, node] : llvm::enumerate(row))
        place[node] = (index + 0.5) / row.size();
  };
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    number();
    bool down = sweep % 2 == 0;
    std::vector<double> sum(nodes.size(), 0), count(nodes.size(), 0);
    for (auto [from, to] : edges) {
      unsigned moved = down ? to : from, fixed = down ? from : to;
      sum[moved] += place[fixed], count[moved] += 1;
    }
    auto target = [&](unsigned node) { return count[node] > 0 ? sum[node] / count[node] : place[node]; };
    for (std::vector<unsigned> &row : rows)
      llvm::stable_sort(row, [&](unsigned a, unsigned b) { return target(a) < target(b); });
  }
}

void OpGraph::place() {
  for (Node &node : nodes)
    node.width = node.bend() ? 2 : letterWidth * std::max(node.name.size(), node.result.size()) + padding;
  auto extent = [&](const std::vector<unsigned> &row) {
    double sum = gap * (row.size() - 1);
    for (unsigned node : row)
      sum += nodes[node].width;
    return sum;
  };
  for (const std::vector<unsigned> &row : rows)
    width = std::max(width, extent(row));
  for (const std::vector<unsigned> &row : rows) {
    double at = (width - extent(row)) / 2;
    for (unsigned node : row) {
      nodes[node].middle = at + nodes[node].width / 2;
      at += nodes[node].width + gap;
    }
  }
}

OpGraph::OpGraph(func::FuncOp function) {
  addArguments(function);
  addOps(function);
  for (Operation &op : function.getOps()) {
    llvm::SmallSetVector<unsigned, 4> makers;
    for (Value operand : op.getOperands())
      if (std::optional<unsigned> maker = makerOf(operand))
        makers.insert(*maker);
    for (unsigned maker : makers)
      addEdge(maker, opNodes.at(&op));
  }
  for (auto [index, node] : llvm::enumerate(nodes)) {
    rows.resize(std::max<size_t>(rows.size(), node.row + 1));
    rows[node.row].push_back(index);
  }
  order();
  place();
}
