//===- AttnUsefulOperations.cpp - What a function needs, whatever computes it -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "UsefulOperations.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attune::attn;
using checks::shapeOf;

//===----------------------------------------------------------------------===//
// What mechanisms count with
//===----------------------------------------------------------------------===//

AttentionSizes::AttentionSizes(Value query, Value key, Value value, bool causal) : causal(causal) {
  ArrayRef<int64_t> q = shapeOf(query), v = shapeOf(value);
  batch = q[0], heads = q[1], n = q[2], d = q[3], N = v[2], dv = v[3];
  shared = static_cast<double>(shapeOf(key)[1]) / heads;
}

/// The last query belongs to the last key.
double AttentionSizes::pairs(double keys, double width) const {
  double visible = !causal ? n * keys : n <= keys ? n * (keys - n / 2) : keys * keys / 2;
  return visible * (width + dv);
}

double AttentionSizes::blockPairs(double length, double width) const {
  return n * length * (causal ? 0.5 : 1) * (width + dv);
}

double AttentionSizes::pairs(std::optional<WindowAttr> window, double width) const {
  return window ? blockPairs(static_cast<double>(window->getLength()), width) : pairs(N, width);
}

double AttentionSizes::pairs(std::optional<WindowAttr> window, std::optional<int64_t> last, double width) const {
  double w = last ? static_cast<double>(*last) : N;
  if (window || w >= N)
    return pairs(window, width);
  // Of the min(n, N) queries that see keys, those whose last w would begin before the first key see fewer.
  double rows = std::min(n, N), first = N - rows, fewer = std::clamp(w - first, 0.0, rows);
  return (rows * w - fewer * fewer / 2) * (width + dv);
}

//===----------------------------------------------------------------------===//
// What stands around a mechanism
//===----------------------------------------------------------------------===//

static double elements(Value value) { return static_cast<double>(cast<ShapedType>(value.getType()).getNumElements()); }

double ProjectOp::multiplyAdds() { return elements(getResult()) * static_cast<double>(shapeOf(getSource())[2]); }

double ProjectOutputOp::multiplyAdds() { return elements(getSource()) * static_cast<double>(shapeOf(getResult())[2]); }

double CompressOp::multiplyAdds() { return elements(getResult()) * static_cast<double>(shapeOf(getSource())[2]); }

std::pair<Value, Value> CompressOp::compression() { return {getSource(), getWeight()}; }

/// Three taps of each value, or nine in an image.
double LepeOp::multiplyAdds() {
  ArrayRef<int64_t> weight = shapeOf(getWeight());
  return elements(getResult()) * static_cast<double>(ShapedType::getNumElements(weight.drop_front(2)));
}

//===----------------------------------------------------------------------===//
// A whole function
//===----------------------------------------------------------------------===//

namespace {
/// E x of one E and one x, which several heads and both keys and values may share, and what is saved by the projections and
/// compressions that it takes the place of.
struct CompressedInput {
  double needs = 0, saves = 0;
};
} // namespace

/// E (x W) as (E x) W, where that is less.
static void compressFirst(UsefulOperationsOpInterface op,
                          llvm::MapVector<std::pair<Value, Value>, CompressedInput> &inputs) {
  auto [tokens, weight] = op.compression();
  if (!tokens)
    return;
  bool alone = tokens.hasOneUse();
  Value made = tokens;
  if (auto heads = made.getDefiningOp<TakeHeadsOp>())
    made = heads.getSource();
  auto project = made.getDefiningOp<ProjectOp>();
  if (!project)
    return;
  ArrayRef<int64_t> x = shapeOf(project.getSource()), e = shapeOf(weight); // [batch, N, D], [1 or heads, k, N]
  double batch = static_cast<double>(x[0]), N = static_cast<double>(x[1]), D = static_cast<double>(x[2]);
  double k = static_cast<double>(e[1]);
  double columns = static_cast<double>(shapeOf(tokens)[1] * shapeOf(tokens)[3]); // of W, that these heads are made with
  CompressedInput &input = inputs[{weight, project.getSource()}];
  input.needs = batch * static_cast<double>(e[0]) * k * N * D;
  // Tokens that others read as well are projected all the same.
  input.saves += std::max(0.0, batch * columns * ((alone ? N * D : 0) + k * N - k * D));
}

static std::optional<double> usefulOperations(Block &function) {
  double total = 0;
  llvm::MapVector<std::pair<Value, Value>, CompressedInput> inputs;
  for (Operation &op : function.without_terminator()) {
    auto step = dyn_cast<UsefulOperationsOpInterface>(op);
    auto known = [](Type type) { return cast<ShapedType>(type).hasStaticShape(); };
    if (!step || !llvm::all_of(op.getOperandTypes(), known) || !llvm::all_of(op.getResultTypes(), known))
      return std::nullopt;
    total += step.multiplyAdds();
    compressFirst(step, inputs);
  }
  for (const auto &[of, input] : inputs)
    total -= std::max(0.0, input.saves - input.needs);
  return 2 * total;
}

std::optional<double> attune::attn::usefulOperations(ModuleOp module) {
  double total = 0;
  for (Operation &function : module.getOps())
    for (Block &body : function.getRegion(0)) {
      std::optional<double> own = ::usefulOperations(body);
      if (!own)
        return std::nullopt;
      total += *own;
    }
  return total;
}
