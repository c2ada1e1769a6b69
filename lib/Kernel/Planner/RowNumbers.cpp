//===- RowNumbers.cpp - Numbers of rows that are made before their readers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   row_products:   parallel over (batch, head, query block)    δ_i = ⟨ō_i, o_i⟩ [T], and what else a row's weights have in common
//   key_gradients:  for each key tile:  for each query tile:    w_ij (ō_i · v_j − δ_i), which reads δ
//
// A region of keys meets each query as often as it has tiles of keys. The product of two rows of d numbers costs next to nothing beside the products
// of pairs, but it reads both, and o for nothing else: a third of all that the region streams. So what weights of pairs read of such products is a
// number of each row in memory on a CPU, unless all keys are in one tile.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "StateRules.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

attn::WindowAttr kernel::windowOf(Value numbers) {
  Operation *reduction = reductionOf(numbers);
  return reduction && ruleOf(reduction)->keys ? ruleOf(reduction)->keys(reduction).window : attn::WindowAttr();
}

Value HostBuilder::allocateNumbers(int64_t heads, Value rows, attn::WindowAttr window) {
  Value memory = rowsOf(rows).memory;
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> shape{dynamic, heads, dynamic};
  if (window && window.isGrid())
    shape.push_back(1);
  return site.workspace(shape, {host.dim(memory, 0), tokenCount(host, memory)});
}

LogicalResult HostBuilder::writeNumbers(Value value, attn::WindowAttr window) {
  Value rows = rowsBehind(value);
  if (failed(read(rows)))
    return failure();
  Value memory = allocateNumbers(shapeOf(value)[1], rows, window);
  if (failed(write(value, Output{memory, 0, std::nullopt})))
    return failure();
  workspaces[value] = memory;
  return success();
}

LogicalResult HostBuilder::writeNumbersOfRows(Value value, Value rows, attn::WindowAttr window) {
  rows = rowsBehind(rows);
  if (failed(read(rows)))
    return failure();
  OpSet reads, later;
  Problem problem = startProblem();
  WrittenValue written{value, Output()};
  if (failed(prepare(written, reads, later)) || failed(materializeAll(later, problem)))
    return failure();
  problem.query = rowsOf(rows), problem.query.heads = shapeOf(value)[1];
  written.output.memory = allocateNumbers(problem.heads(), rows, window);
  RegionDraft draft(*this, problem, RegionPlanner::OfQueries, std::move(reads));
  if (failed(buildKernel(draft.plan.region("row_products", outputsOf(draft, written, Place{fusion::Axis::Query, fusion::Axis::Head, problem.heads()})))))
    return failure();
  workspaces[value] = written.output.memory;
  return success();
}

/// Whether numbers of rows are made of products of whole rows.
static bool areOfRowProducts(Value numbers) {
  Operation *op = numbers.getDefiningOp();
  if (!op || !ruleOf(op) || shapeOf(numbers).size() != 3)
    return false;
  auto product = dyn_cast<attn::ContractOp>(op);
  return (product && multipliesRows(product)) || llvm::any_of(op->getOperands(), areOfRowProducts);
}

LogicalResult HostBuilder::bringRowProducts(Operation *reduction) {
  // On a GPU another launch costs more, by its price. What is no weights of pairs is refused where it is read.
  if (schedule.getTarget() != tile::TargetKind::CPU || !arePairs(reduction->getOperand(0)))
    return success();
  SeenKeys keys = ruleOf(reduction)->keys(reduction);
  if (areOneTile(keys, schedule))
    return success();
  llvm::SetVector<Value> seen; // weights of pairs and what they read, each once
  for (auto sum : reduction->getBlock()->getOps<attn::ContractOp>())
    if (sumsQueries(sum) && streamOf(sum) == streamOf(reduction))
      seen.insert(sum.getLhs());
  for (size_t next = 0; next < seen.size(); ++next) {
    Value value = seen[next];
    if (arePairs(value)) {
      auto operands = value.getDefiningOp()->getOperands();
      seen.insert(operands.begin(), operands.end());
    } else if (!memoryOf(value) && areOfRowProducts(value)) {
      // As many as queries: the cotangent of the output may be left out where that of other numbers is given.
      if (failed(writeNumbersOfRows(value, rowsOfPairs(reduction->getOperand(0)), keys.window)))
        return failure();
    }
  }
  return success();
}
