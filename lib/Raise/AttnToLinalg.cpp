//===- AttnToLinalg.cpp - attn.softmax as plain linalg ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     s_ij = Σ_d q_id k_jd        m_i = max_j scale · s_ij      over the keys that query i sees
//     e_ij = exp(scale · s_ij − m_i), 0 where it does not see j
//     o_i  = Σ_j e_ij v_j / Σ_j e_ij, 0 where the divisor is 0
//
// over [batch, key-value heads, query heads of one, queries, keys], with everything between q, k, v and o in f32.
//
//===----------------------------------------------------------------------===//
#include "attune/Raise/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace attune::raise {
#define GEN_PASS_DEF_ATTNTOLINALG
#include "attune/Raise/Passes.h.inc"
} // namespace attune::raise

using namespace mlir;
using namespace attune;

namespace {
/// Loops over named dimensions: each tensor is given by the letters of its dimensions.
class Loops {
public:
  Loops(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  using Body = function_ref<Value(OpBuilder &, ValueRange)>;

  void size(char name, OpFoldResult value) { sizes[name] = value; }
  /// out[outNames] (combined with the entry before, which is `start`) = body(inputs…).
  Value compute(StringRef loops, ArrayRef<std::pair<Value, StringRef>> inputs, StringRef outNames, Type element,
                double start, Body body) {
    SmallVector<OpFoldResult> outSizes;
    for (char name : outNames)
      outSizes.push_back(sizes[name]);
    Value out = tensor::EmptyOp::create(builder, loc, outSizes, element);
    if (loops.size() != outNames.size())
      out = linalg::FillOp::create(builder, loc, constant(builder, start), out).getResult(0);
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (auto [tensor, names] : inputs)
      operands.push_back(tensor), maps.push_back(mapOf(loops, names));
    maps.push_back(mapOf(loops, outNames));
    SmallVector<utils::IteratorType> iterators;
    for (char name : loops)
      iterators.push_back(outNames.contains(name) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    return linalg::GenericOp::create(builder, loc, TypeRange{out.getType()}, operands, ValueRange{out}, maps, iterators,
                                     [&](OpBuilder &inside, Location at, ValueRange arguments) {
                                       linalg::YieldOp::create(inside, at, body(inside, arguments));
                                     })
        .getResult(0);
  }
  Value constant(OpBuilder &at, double value) { return arith::ConstantOp::create(at, loc, at.getF32FloatAttr(value)); }
  Value wide(OpBuilder &at, Value number) {
    return number.getType().isF32() ? number : arith::ExtFOp::create(at, loc, at.getF32Type(), number);
  }

private:
  AffineMap mapOf(StringRef loops, StringRef names) {
    SmallVector<AffineExpr> exprs;
    for (char name : names)
      exprs.push_back(builder.getAffineDimExpr(loops.find(name)));
    return AffineMap::get(loops.size(), 0, exprs, builder.getContext());
  }
  OpBuilder &builder;
  Location loc;
  DenseMap<char, OpFoldResult> sizes;
};

class SoftmaxLowering {
public:
  SoftmaxLowering(OpBuilder &builder, attn::SoftmaxOp op) : builder(builder), op(op), loops(builder, op.getLoc()) {}
  void lower();

private:
  Value weightsAgainst(Value scores, Value maximum);
  Value visible(OpBuilder &at, Value length);
  Value dim(Value tensor, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(builder, op.getLoc(),
                                           tensor::getMixedSize(builder, op.getLoc(), tensor, dimension));
  }
  Value grouped(Value tensor);
  OpBuilder &builder;
  attn::SoftmaxOp op;
  Loops loops;
  Value queries, keys;
};
} // namespace

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// [batch, heads, …] with heads as [key-value heads, query heads of one].
Value SoftmaxLowering::grouped(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t keyHeads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = keyHeads;
  shape.insert(shape.begin() + 2, type.getDimSize(1) / keyHeads);
  return tensor::ExpandShapeOp::create(builder, op.getLoc(), type.clone(shape), tensor,
                                       ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3}, {4}});
}

/// Whether query i sees key j, at the indices of loops b, g, r, i, j; null if every query sees every key.
Value SoftmaxLowering::visible(OpBuilder &at, Value length) {
  Location loc = op.getLoc();
  Value result;
  auto require = [&](Value condition) {
    result = result ? arith::AndIOp::create(at, loc, result, condition) : condition;
  };
  if (!op.getCausal() && !op.getWindow() && !length)
    return {};
  Value i = linalg::IndexOp::create(at, loc, 3), j = linalg::IndexOp::create(at, loc, 4);
  if (op.getCausal()) {
    Value last = arith::SubIOp::create(at, loc, arith::AddIOp::create(at, loc, i, keys), queries);
    require(arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sle, j, last));
  }
  if (attn::WindowAttr window = op.getWindowAttr()) {
    auto blockOf = [&](Value token) {
      Value size = arith::ConstantIndexOp::create(at, loc, window.getLength());
      return arith::DivUIOp::create(at, loc, token, size).getResult();
    };
    require(arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, blockOf(i), blockOf(j)));
  }
  if (length)
    require(arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, j,
                                  arith::IndexCastOp::create(at, loc, at.getIndexType(), length)));
  return result;
}

/// scale · s − m → its exponential; without m, scale · s; both where the key is seen, else 0 and −∞.
Value SoftmaxLowering::weightsAgainst(Value scores, Value maximum) {
  SmallVector<std::pair<Value, StringRef>> inputs = {{scores, "bgrij"}};
  if (maximum)
    inputs.emplace_back(maximum, "bgri");
  if (op.getLengths())
    inputs.emplace_back(op.getLengths(), "b");
  return loops.compute("bgrij", inputs, "bgrij", builder.getF32Type(), 0, [&](OpBuilder &at, ValueRange x) {
    Location loc = op.getLoc();
    Value result =
        maximum ? x[0]
                : Value(arith::MulFOp::create(at, loc, x[0], loops.constant(at, op.getScale().convertToDouble())));
    if (maximum)
      result = math::ExpOp::create(at, loc, arith::SubFOp::create(at, loc, x[0], x[1]));
    Value sees = visible(at, op.getLengths() ? x[inputs.size() - 1] : Value());
    return sees ? Value(arith::SelectOp::create(at, loc, sees, result, loops.constant(at, maximum ? 0 : -infinity)))
                : result;
  });
}

void SoftmaxLowering::lower() {
  Location loc = op.getLoc();
  Value query = grouped(op.getQuery());
  queries = dim(op.getQuery(), 2), keys = dim(op.getKey(), 2);
  std::tuple<char, Value, int64_t> named[] = {{'b', query, 0}, {'g', query, 1},       {'r', query, 2},
                                              {'i', query, 3}, {'j', op.getKey(), 2}, {'v', op.getValue(), 3}};
  for (auto [name, tensor, dimension] : named)
    loops.size(name, tensor::getMixedSize(builder, loc, tensor, dimension));
  Type f32 = builder.getF32Type();
  Value products = loops.compute(
      "bgrijd", {{query, "bgrid"}, {op.getKey(), "bgjd"}}, "bgrij", f32, 0, [&](OpBuilder &at, ValueRange x) -> Value {
        Value product = arith::MulFOp::create(at, loc, loops.wide(at, x[0]), loops.wide(at, x[1]));
        return arith::AddFOp::create(at, loc, x[2], product);
      });
  Value scores = weightsAgainst(products, {});
  Value maximum =
      loops.compute("bgrij", {{scores, "bgrij"}}, "bgri", f32, -infinity, [&](OpBuilder &at, ValueRange x) -> Value {
        return arith::MaximumFOp::create(at, loc, x[0], x[1]);
      });
  Value weights = weightsAgainst(scores, maximum);
  Value sum = loops.compute("bgrij", {{weights, "bgrij"}}, "bgri", f32, 0, [&](OpBuilder &at, ValueRange x) -> Value {
    return arith::AddFOp::create(at, loc, x[0], x[1]);
  });
  Value numerator = loops.compute("bgrijv", {{weights, "bgrij"}, {op.getValue(), "bgjv"}}, "bgriv", f32, 0,
                                  [&](OpBuilder &at, ValueRange x) -> Value {
                                    Value product = arith::MulFOp::create(at, loc, x[0], loops.wide(at, x[1]));
                                    // What a key that does not exist holds may be NaN.
                                    Value zero = loops.constant(at, 0);
                                    Value none = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, x[0], zero);
                                    return arith::AddFOp::create(at, loc, x[2],
                                                                 arith::SelectOp::create(at, loc, none, zero, product));
                                  });
  Type element = cast<RankedTensorType>(op.getOutput().getType()).getElementType();
  Value output = loops.compute(
      "bgriv", {{numerator, "bgriv"}, {sum, "bgri"}}, "bgriv", element, 0, [&](OpBuilder &at, ValueRange x) -> Value {
        Value zero = loops.constant(at, 0);
        Value none = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, x[1], zero);
        Value quotient = arith::DivFOp::create(at, loc, x[0], x[1]);
        Value result = arith::SelectOp::create(at, loc, none, zero, quotient);
        return element.isF32() ? result : Value(arith::TruncFOp::create(at, loc, element, result));
      });
  auto flat = [&](Value tensor, ArrayRef<ReassociationIndices> groups, Type type) -> Value {
    Value collapsed = tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
    return collapsed.getType() == type ? collapsed : Value(tensor::CastOp::create(builder, loc, type, collapsed));
  };
  op.getOutput().replaceAllUsesWith(flat(output, {{0}, {1, 2}, {3}, {4}}, op.getOutput().getType()));
  if (!op.getLse())
    return;
  Value lse = loops.compute("bgri", {{maximum, "bgri"}, {sum, "bgri"}}, "bgri", f32, 0,
                            [&](OpBuilder &at, ValueRange x) -> Value {
                              return arith::AddFOp::create(at, loc, x[0], math::LogOp::create(at, loc, x[1]));
                            });
  op.getLse().replaceAllUsesWith(flat(lse, {{0}, {1, 2}, {3}}, op.getLse().getType()));
}

namespace {
struct AttnToLinalg : public raise::impl::AttnToLinalgBase<AttnToLinalg> {
  void runOnOperation() override {
    SmallVector<attn::SoftmaxOp> ops;
    getOperation().walk([&](attn::SoftmaxOp op) { ops.push_back(op); });
    for (attn::SoftmaxOp op : ops) {
      if (op.getWindow() && op.getWindowAttr().isGrid()) {
        op.emitError()
            << "expected windows of consecutive tokens, but got those of a grid; attn-to-linalg has no form of it";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      SoftmaxLowering(builder, op).lower();
      op->erase();
      ++numLowered;
    }
  }
};
} // namespace
