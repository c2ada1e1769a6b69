//===- EvalWeightTerms.cpp - Contractions, visibility, row sums ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Gates.h"
#include "Head.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// attn.contract
//===----------------------------------------------------------------------===//

namespace {
using Sizes = std::map<attn::Role, int64_t>;

/// An operand, or the result, with the roles of its dimensions.
struct Factor {
  AttnValue value;
  SmallVector<attn::Role> roles;

  Factor(AttnValue value, ArrayAttr names) : value(std::move(value)) {
    for (auto name : names.getAsRange<attn::RoleAttr>())
      roles.push_back(name.getValue());
  }

  /// The element at `point`; heads that are fewer than the contraction's are shared.
  double &at(const Sizes &point, const Sizes &sizes) const {
    SmallVector<int64_t, 6> indices;
    for (auto [dimension, role] : llvm::enumerate(roles)) {
      int64_t index = point.at(role), own = value.array.size(dimension), all = sizes.at(role);
      indices.push_back(own == all ? index : index * own / all);
    }
    return value.array(indices);
  }

  /// Elements from one index of the role to the next; 0 if the factor lacks it.
  int64_t stride(attn::Role role) const {
    const auto *found = llvm::find(roles, role);
    return found == roles.end() ? 0 : value.array.stride(found - roles.begin());
  }
};

/// Calls `visit` at each point of the box; roles in their order, the last one fastest.
template <typename Visit> void forEachPoint(const Sizes &box, Sizes &point, Visit visit) {
  for (auto [role, size] : box) {
    if (size == 0)
      return;
    point[role] = 0;
  }
  while (true) {
    visit();
    auto role = box.rbegin();
    for (; role != box.rend() && ++point[role->first] == role->second; ++role)
      point[role->first] = 0;
    if (role == box.rend())
      return;
  }
}
} // namespace

/// An operand, with the chosen rows only if it has a query dimension (which is then the third) and the result too.
static Factor operandOf(const AttnFrame &frame, attn::ContractOp op, mlir::Value value, ArrayAttr roles) {
  Factor factor(frame.get(value), roles);
  if (factor.roles.size() > 2 && factor.roles[2] == attn::Role::Query &&
      llvm::is_contained(op.getResultRoles(), attn::RoleAttr::get(op.getContext(), attn::Role::Query)))
    factor.value = frame.rowsFor(op.getResult(), value);
  return factor;
}

/// The size of each role: of heads, the larger; of others, the only one.
static LogicalResult unite(attn::ContractOp op, const Factor &factor, Sizes &sizes) {
  for (auto [dimension, role] : llvm::enumerate(factor.roles)) {
    int64_t size = factor.value.array.size(dimension);
    int64_t &united = sizes.try_emplace(role, size).first->second;
    bool shares = role == attn::Role::Head && std::min(size, united) > 0 &&
                  std::max(size, united) % std::min(size, united) == 0;
    if (size != united && !shares)
      return op.emitOpError() << "expected equal sizes of " << attn::stringifyRole(role) << ", but got " << united
                              << " and " << size;
    united = std::max(united, size);
  }
  return success();
}

namespace {
/// The sum over the roles that the result lacks.
struct Summation {
  const Factor &lhs, &rhs;
  const Sizes &sizes;
  Sizes outer;                     ///< the summed roles but one …
  std::optional<attn::Role> inner; ///< … which has a loop of its own, by strides
  int64_t innerSize = 1;

  Summation(const Factor &lhs, const Factor &rhs, const Sizes &sizes, Sizes summed)
      : lhs(lhs), rhs(rhs), sizes(sizes), outer(std::move(summed)) {
    for (auto [role, size] : outer)
      if (role != attn::Role::Head) // shared heads have no stride
        inner = role, innerSize = size;
    if (inner)
      outer.erase(*inner);
  }

  double operator()(Sizes &point) const {
    double sum = 0;
    if (innerSize == 0)
      return sum;
    int64_t leftStride = 0, rightStride = 0;
    if (inner) {
      point[*inner] = 0;
      leftStride = lhs.stride(*inner), rightStride = rhs.stride(*inner);
    }
    forEachPoint(outer, point, [&] {
      const double *left = &lhs.at(point, sizes), *right = &rhs.at(point, sizes);
      for (int64_t i = 0; i < innerSize; ++i, left += leftStride, right += rightStride)
        if (*left != 0) // what a weight of 0 multiplies may be anything
          sum += *left * *right;
    });
    return sum;
  }
};
} // namespace

static LogicalResult evalContract(AttnFrame &frame, attn::ContractOp op) {
  Factor lhs = operandOf(frame, op, op.getLhs(), op.getLhsRoles());
  Factor rhs = operandOf(frame, op, op.getRhs(), op.getRhsRoles());
  Sizes sizes;
  if (failed(unite(op, lhs, sizes)) || failed(unite(op, rhs, sizes)))
    return failure();
  Factor result({}, op.getResultRoles());
  Sizes kept, summed = sizes, point;
  SmallVector<int64_t> shape;
  for (attn::Role role : result.roles) {
    kept[role] = sizes[role];
    summed.erase(role);
    shape.push_back(sizes[role]);
  }
  result.value.array = Array(shape);
  result.value.queries = lhs.value.queries ? lhs.value.queries : rhs.value.queries;
  Summation sum(lhs, rhs, sizes, summed);
  forEachPoint(kept, point, [&] { result.at(point, sizes) = sum(point); });
  frame.set(op.getResult(), result.value.array, llvm::is_contained(result.roles, attn::Role::Query)
                                                    ? result.value.queries
                                                    : std::nullopt);
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static LogicalResult evalVisible(AttnFrame &frame, attn::VisibleOp op) {
  AttnValue weights = frame.rowsFor(op.getResult(), op.getWeights());
  const Array &w = weights.array;
  // Only the sizes count here: the weights stand for queries and keys alike.
  AttentionInputs sizes{Array({w.size(0), w.size(1), w.size(2), 0}), Array({w.size(0), w.size(1), w.size(3), 0}),
                        Array({w.size(0), w.size(1), w.size(3), 0}), frame.optional(op.getLengths()), op.getCausal(),
                        frame.rowsOf(weights), weights.queries, Window::of(op.getWindow()), op.getLast()};
  if (failed(check(op, sizes.problem())))
    return failure();
  Array result(w.shape());
  forEachHead(sizes, [&](const Head &head) {
    for (int64_t i = 0; i < w.size(2); ++i)
      for (int64_t j : head.keysOf(head.rows[i]))
        result({head.batch, head.head, i, j}) = w({head.batch, head.head, i, j});
  });
  frame.set(op.getResult(), std::move(result), weights.queries);
  return success();
}

static LogicalResult evalDecay(AttnFrame &frame, attn::DecayOp op) {
  AttnValue weights = frame.rowsFor(op.getResult(), op.getWeights());
  const Array &w = weights.array, &decay = frame[op.getDecay()];
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), w.size(0), w.size(3));
  int64_t heads = decay.size(decay.rank() == 1 ? 0 : 1);
  if (failed(lengths) || w.size(1) % heads != 0)
    return failed(lengths) ? failure()
                           : op.emitOpError() << "expected a number of decays that divides " << w.size(1) << ", but got " << heads;
  if (decay.rank() == 3 && failed(expectShape(op, "decay", decay, {w.size(0), heads, w.size(3)})))
    return failure();
  std::vector<int64_t> rows = frame.rowsOf(weights);
  Array result(w.shape());
  for (int64_t b = 0; b < w.size(0); ++b)
    for (int64_t h = 0; h < w.size(1); ++h)
      for (int64_t i = 0; i < w.size(2); ++i) {
        double exponent = 0; // of the tokens from the key on, the query's own included
        for (int64_t j = w.size(3) - 1; j >= 0; --j) {
          result({b, h, i, j}) = w({b, h, i, j}) * std::exp(exponent);
          if (j <= rows[i] && j < (*lengths)[b])
            exponent += gateAt(decay, b, h * heads / w.size(1), j, 0);
        }
      }
  frame.set(op.getResult(), std::move(result), weights.queries);
  return success();
}

static LogicalResult evalGate(AttnFrame &frame, attn::GateOp op) {
  const Array &x = frame[op.getSource()], &gate = frame[op.getGate()];
  if (failed(expectShape(op, "gate", gate, x.shape().take_front(gate.rank()))))
    return failure();
  Array result(x.shape());
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t h = 0; h < x.size(1); ++h)
      for (int64_t t = 0; t < x.size(2); ++t)
        for (int64_t c = 0; c < x.size(3); ++c)
          if (double entry = x({b, h, t, c}); entry != 0) // else the gate may be anything
            result({b, h, t, c}) = gateAt(gate, b, h, t, c) * entry;
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalPower(AttnFrame &frame, attn::PowerOp op) {
  AttnValue weights = frame.rowsFor(op.getResult(), op.getWeights());
  std::vector<double> elements = weights.array.elements();
  double scale = op.getScale().convertToDouble();
  for (double &element : elements)
    element = std::pow(scale * element, static_cast<double>(op.getDegree()));
  frame.set(op.getResult(), makeArray(weights.array.shape(), elements), weights.queries);
  return success();
}

static LogicalResult evalDiagonalBlocks(AttnFrame &frame, attn::DiagonalBlocksOp op) {
  AttnValue inside = frame.rowsFor(op.getResult(), op.getInside());
  Array outside = frame.rowsFor(op.getResult(), op.getOutside()).array;
  auto block = static_cast<int64_t>(op.getBlock());
  if (failed(expectShape(op, "weights outside", outside, inside.array.shape())))
    return failure();
  if (block < 1)
    return op.emitOpError() << "expected a block of at least one token, but got " << block;
  std::vector<int64_t> rows = frame.rowsOf(inside);
  Array result(outside.shape());
  for (int64_t b = 0; b < result.size(0); ++b)
    for (int64_t h = 0; h < result.size(1); ++h)
      for (int64_t i = 0; i < result.size(2); ++i)
        for (int64_t j = 0; j < result.size(3); ++j)
          result({b, h, i, j}) = (rows[i] / block == j / block ? inside.array : outside)({b, h, i, j});
  frame.set(op.getResult(), std::move(result), inside.queries);
  return success();
}

/// One number of each row, what `fold` makes of it and the next entry, from 0 on.
template <typename Op> static LogicalResult foldRows(AttnFrame &frame, Op op, llvm::function_ref<double(double, double)> fold) {
  AttnValue weights = frame.rowsFor(op.getResult(), op.getWeights());
  const Array &w = weights.array;
  Array result(w.shape().drop_back());
  std::vector<double> elements = w.elements();
  for (int64_t i = 0; i < result.count(); ++i)
    for (int64_t j = 0; j < w.size(3); ++j)
      result.element(i) = fold(result.element(i), elements[i * w.size(3) + j]);
  frame.set(op.getResult(), std::move(result), weights.queries);
  return success();
}

static LogicalResult evalRowSum(AttnFrame &frame, attn::RowSumOp op) {
  return foldRows(frame, op, [](double sum, double x) { return sum + x; });
}

static LogicalResult evalRowMaximum(AttnFrame &frame, attn::RowMaximumOp op) {
  double root = 1 / static_cast<double>(op.getRoot());
  return foldRows(frame, op, [&](double most, double x) { return std::fmax(most, std::pow(std::fabs(x), root)); });
}

void attune::reference::addWeightTerms(Evaluators &all) {
  all.add(evalContract, evalVisible, evalDecay, evalGate, evalPower, evalDiagonalBlocks, evalRowSum, evalRowMaximum);
}
