//===- Dot.cpp - Dots with a block of the result in registers ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for strip of vectors of the result's adjacent elements (J)
//     for block of rows (I)
//       sum[rows × vectors] = 0
//       for k:  sum += S[row, k] (broadcast) · V[k, vectors]
//       C[row, vectors] = acc + sum
//
// S is A and V is B if the result is row-major; S is B and V is A transposed if it is column-major: then J are its rows.
// The products of one dot are summed apart and added to the accumulator last, so that the sums inside a block of keys do
// not depend on what came before. Padding of V and C is computed along: nobody reads it.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "attune/Lowering/CPU/Pipeline.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

namespace {
/// What a dot function is made for. Strides that are only known at run time are -1 and come as arguments.
struct DotShape {
  int64_t rows, columns, inner; ///< I, J (of the orientation above), K
  int64_t rowStep, innerStep;   ///< strides of S
  int64_t vectorStep;           ///< stride of V
  int64_t resultStep;           ///< stride of C and of the accumulator
  bool accumulates;

  std::string name() const;
};

/// Emits the body of a dot function.
struct DotBody {
  Emit &emit;
  DotShape shape;
  Value result, accumulator, scalars, vectors, rowStep, innerStep, vectorStep;

  void run();
  void strip(Value column, int64_t count);
  void block(Value row, int64_t rows, Value column, int64_t count);
  SmallVector<Value> product(Value row, int64_t rows, Value column, int64_t count);
};
} // namespace

std::string DotShape::name() const {
  auto text = [](int64_t step) { return step < 0 ? std::string("x") : std::to_string(step); };
  return "dot_" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(inner) + "_s" +
         text(rowStep) + "_" + text(innerStep) + "_v" + text(vectorStep) + "_c" + text(resultStep) +
         (accumulates ? "_add" : "");
}

SmallVector<Value> DotBody::product(Value row, int64_t rows, Value column, int64_t count) {
  Type f32 = emit.getF32Type();
  Value firstScalar = emit.offset(scalars, emit.mul(row, rowStep), f32);
  Value firstVector = emit.offset(vectors, column, f32);
  SmallVector<Value> zeros(rows * count, emit.splat(0.0));
  return emit.loop(emit.constant(0), emit.constant(shape.inner), 1, zeros, [&](Value k, ValueRange sums) {
    SmallVector<Value> next(sums), v;
    Value vectorRow = emit.offset(firstVector, emit.mul(k, vectorStep), f32);
    for (int64_t j = 0; j < count; ++j)
      v.push_back(emit.load(emit.offset(vectorRow, emit.constant(j * emit.lanes()), f32), emit.floats()));
    Value scalarColumn = emit.offset(firstScalar, emit.mul(k, innerStep), f32);
    for (int64_t i = 0; i < rows; ++i) {
      Value address = emit.offset(scalarColumn, emit.mul(emit.constant(i), rowStep), f32);
      Value s = emit.splat(emit.load(address, f32));
      for (int64_t j = 0; j < count; ++j)
        next[i * count + j] = LLVM::FMAOp::create(emit, s, v[j], sums[i * count + j]);
    }
    return next;
  });
}

void DotBody::block(Value row, int64_t rows, Value column, int64_t count) {
  Type f32 = emit.getF32Type();
  SmallVector<Value> sums = product(row, rows, column, count);
  Value first = emit.add(emit.mul(row, shape.resultStep), column);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < count; ++j) {
      Value place = emit.add(first, i * shape.resultStep + j * emit.lanes()), sum = sums[i * count + j];
      if (shape.accumulates)
        sum = arith::AddFOp::create(emit, emit.load(emit.offset(accumulator, place, f32), emit.floats()), sum);
      emit.store(sum, emit.offset(result, place, f32));
    }
}

/// Blocks of equal height if there is a good height that divides the rows; otherwise the last ones are one lower.
void DotBody::strip(Value column, int64_t count) {
  int64_t most = emit.isa.blockRows, blocks = (shape.rows + most - 1) / most;
  for (int64_t more = 0; more < 3; ++more)
    if (shape.rows % (blocks + more) == 0 && shape.rows / (blocks + more) * 2 >= most) {
      blocks += more;
      break;
    }
  int64_t height = (shape.rows + blocks - 1) / blocks, low = blocks * height - shape.rows;
  int64_t tall = (blocks - low) * height;
  emit.loop(emit.constant(0), emit.constant(tall), height, [&](Value row) { block(row, height, column, count); });
  emit.loop(emit.constant(tall), emit.constant(shape.rows), height - 1,
            [&](Value row) { block(row, height - 1, column, count); });
}

void DotBody::run() {
  int64_t lanes = emit.lanes(), most = emit.isa.blockVectors, count = (shape.columns + lanes - 1) / lanes;
  int64_t looped = count / most * most;
  emit.loop(emit.constant(0), emit.constant(looped * lanes), most * lanes, [&](Value column) { strip(column, most); });
  if (count > looped)
    strip(emit.constant(looped * lanes), count - looped);
}

/// The function for a shape, made at its first use.
static LLVM::LLVMFuncOp dotFunction(KernelState &state, const DotShape &shape) {
  std::string name = variantName(shape.name(), state.emit.isa.name);
  if (auto known = state.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  Emit emit(state.emit.getLoc(), OpBuilder(state.module.getContext()), state.emit.isa);
  Type pointer = emit.pointerType(), i64 = emit.getI64Type();
  LLVM::LLVMFuncOp op = emit.function(state.module, name, {pointer, pointer, pointer, pointer, i64, i64, i64});
  op.setLinkage(LLVM::Linkage::Internal);
  op.setNoInline(true);
  Block &block = op.getBody().front();
  emit.setInsertionPointToStart(&block);
  auto step = [&](int64_t known, unsigned argument) -> Value {
    return known < 0 ? Value(block.getArgument(argument)) : emit.constant(known);
  };
  DotBody body{emit, shape, block.getArgument(0), block.getArgument(1), block.getArgument(2), block.getArgument(3),
               step(shape.rowStep, 4), step(shape.innerStep, 5), step(shape.vectorStep, 6)};
  body.run();
  LLVM::ReturnOp::create(emit, ValueRange());
  return op;
}

/// Strides of the rows and of the columns of A or B as the product sees it.
static std::pair<Value, Value> strides(Emit &emit, Buffer buffer, Order order, bool transposed) {
  Value one = emit.constant(1);
  bool rowsApart = (order == Order::Row) != transposed;
  return rowsApart ? std::pair(buffer.stride, one) : std::pair(one, buffer.stride);
}

void cpu::emitDot(KernelState &state, tile::DotOp dot) {
  Emit &emit = state.emit;
  ++state.dots;
  Order order = orderOf(dot.getResult());
  bool rows = order == Order::Column;
  OpOperand &scalarUse = dot->getOpOperand(rows ? 1 : 0), &vectorUse = dot->getOpOperand(rows ? 0 : 1);
  Order scalarOrder = orderOfUse(scalarUse);
  Buffer scalars = state.require(scalarUse.get(), scalarOrder);
  Buffer vectors = state.require(vectorUse.get(), orderOfUse(vectorUse));
  bool transposed = rows ? dot.getTransposeB() : dot.getTransposeA();
  auto [rowStep, columnStep] = strides(emit, scalars, scalarOrder, transposed);
  if (rows) // S[i = column of B, k = row of B]
    std::swap(rowStep, columnStep);
  bool accumulates = splatValue(dot.getAcc()) != 0.0;
  Buffer result = state.destination(dot.getResult(), order);
  Buffer accumulator = accumulates ? state.require(dot.getAcc(), order) : result;
  auto known = [](Value value) { return Emit::known(value).value_or(-1); };
  DotShape shape{rows ? dot.getN() : dot.getM(), rows ? dot.getM() : dot.getN(), dot.getK(), known(rowStep),
                 known(columnStep), known(vectors.stride), known(result.stride), accumulates};
  LLVM::CallOp::create(emit, dotFunction(state, shape),
                       ValueRange{result.pointer, accumulator.pointer, scalars.pointer, vectors.pointer, rowStep,
                                  columnStep, vectors.stride});
}
