//===- Index.cpp - Places and counts as formulas ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileSite.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
enum class Kind { Number, Size, First, Length, Named, Add, Sub, Mul, Div, Min, Max };
} // namespace

struct Index::Node {
  Kind kind;
  int64_t number = 0; ///< or the dimension of a size
  Value memory = {};
  Axis axis = Axis::Batch;
  Index a = {}, b = {};
  std::string name = {};
};

Index::Index(Node node) : node(std::make_shared<const Node>(std::move(node))) {}
Index::Index(int64_t number) : Index(Node{Kind::Number, number}) {}
Index Index::size(Value memory, unsigned dimension) { return Index(Node{Kind::Size, dimension, memory}); }
Index Index::first(Axis axis) { return Index(Node{Kind::First, 0, {}, axis}); }
Index Index::length(Value lengths, Index count) {
  return Index(Node{Kind::Length, 0, lengths, Axis::Batch, std::move(count)});
}

Index Index::named(StringRef name, Index formula) {
  return Index(Node{Kind::Named, 0, {}, Axis::Batch, std::move(formula), {}, name.str()});
}

namespace attune::fusion {
static Index::Node binary(Kind kind, Index a, Index b) {
  return {kind, 0, {}, Axis::Batch, std::move(a), std::move(b)};
}
Index operator+(Index a, Index b) { return Index(binary(Kind::Add, std::move(a), std::move(b))); }
Index operator-(Index a, Index b) { return Index(binary(Kind::Sub, std::move(a), std::move(b))); }
Index operator*(Index a, Index b) { return Index(binary(Kind::Mul, std::move(a), std::move(b))); }
Index operator/(Index a, Index b) { return Index(binary(Kind::Div, std::move(a), std::move(b))); }
Index min(Index a, Index b) { return Index(binary(Kind::Min, std::move(a), std::move(b))); }
Index max(Index a, Index b) { return Index(binary(Kind::Max, std::move(a), std::move(b))); }
} // namespace attune::fusion

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Value combine(TileBuilder &tiles, Kind kind, Value a, Value b) {
  switch (kind) {
  case Kind::Add:
    return tiles.add(a, b);
  case Kind::Sub:
    return tiles.sub(a, b);
  case Kind::Mul:
    return kernel::multiply(tiles, a, b);
  case Kind::Div:
    return kernel::divide(tiles, a, b);
  case Kind::Min:
    return tiles.min(a, b);
  case Kind::Max:
    return tiles.max(a, b);
  default:
    llvm_unreachable("a formula of two others");
  }
}

static Value build(const Index::Node &node, const TileSite &site) {
  TileBuilder &tiles = site.tiles();
  switch (node.kind) {
  case Kind::Number:
    return tiles.index(node.number);
  case Kind::Size:
    return tiles.dim(site.argument(node.memory), node.number);
  case Kind::First:
    return site[node.axis].first;
  case Kind::Length:
    return kernel::lengthAt(tiles, site.argument(node.memory), site[Axis::Batch].first, node.a.at(site));
  case Kind::Named:
    return node.a.at(site);
  default:
    return combine(tiles, node.kind, node.a.at(site), node.b.at(site));
  }
}

Value Index::at(const TileSite &site) const {
  return site.once(node.get(), nullptr, axes(), [&](const TileSite &there) { return SiteValue{{build(*node, there)}}; }).tiles[0];
}

Value Index::onHost(TileBuilder &host) const {
  if (node->kind == Kind::Number)
    return host.index(node->number);
  if (node->kind == Kind::Size)
    return host.dim(node->memory, node->number);
  Value a = node->a.onHost(host);
  if (node->kind == Kind::Named)
    return a;
  Value b = node->b.onHost(host);
  if (node->kind == Kind::Div && node->b.node->kind != Kind::Number)
    b = host.max(b, host.index(1));
  return combine(host, node->kind, a, b);
}

//===----------------------------------------------------------------------===//
// What it depends on
//===----------------------------------------------------------------------===//

AxisSet Index::axes() const {
  if (!node)
    return {};
  if (node->kind == Kind::First)
    return setOf(node->axis);
  AxisSet own = node->kind == Kind::Length ? setOf(Axis::Batch) : AxisSet();
  return own | node->a.axes() | node->b.axes();
}

void Index::appendArguments(SmallVectorImpl<Value> &values) const {
  if (!node)
    return;
  if (node->memory)
    values.push_back(node->memory);
  node->a.appendArguments(values);
  node->b.appendArguments(values);
}

/// `min(block * 40 + 40, length(lengths))`; (…) around a sum that is a factor, divided or taken off.
void Index::print(raw_ostream &os, function_ref<std::string(Value)> nameOfMemory,
                  function_ref<void(StringRef, const Index &)> define) const {
  auto strength = [](const Index &of) {
    Kind kind = of.node->kind;
    return kind == Kind::Add || kind == Kind::Sub ? 0 : kind == Kind::Mul || kind == Kind::Div ? 1 : 2;
  };
  auto operand = [&](const Index &of, bool bracket) {
    os << (bracket ? "(" : "");
    of.print(os, nameOfMemory, define);
    os << (bracket ? ")" : "");
  };
  auto infix = [&](StringRef sign, int least, int leastRight) {
    operand(node->a, strength(node->a) < least);
    os << ' ' << sign << ' ';
    operand(node->b, strength(node->b) < leastRight);
  };
  auto call = [&](StringRef name) {
    os << name << '(';
    operand(node->a, false);
    os << ", ";
    operand(node->b, false);
    os << ')';
  };
  switch (node->kind) {
  case Kind::Number:
    os << node->number;
    return;
  case Kind::Size:
    os << "size(" << nameOfMemory(node->memory) << ", " << node->number << ')';
    return;
  case Kind::First:
    os << nameOf(node->axis);
    return;
  case Kind::Length:
    os << "length(" << nameOfMemory(node->memory) << ')';
    return;
  case Kind::Named:
    define(node->name, node->a);
    os << node->name;
    return;
  case Kind::Add:
    return infix("+", 0, 0);
  case Kind::Sub:
    return infix("-", 0, 1);
  case Kind::Mul:
    return infix("*", 1, 2);
  case Kind::Div:
    return infix("/", 1, 2);
  case Kind::Min:
    return call("min");
  case Kind::Max:
    return call("max");
  }
}
