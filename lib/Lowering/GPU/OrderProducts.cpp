//===- OrderProducts.cpp - Fences, groups and waits around a warpgroup's products -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async runs while the thread goes on: its registers may be touched only once its group has been waited for,
// and what the thread did with them before comes first only if wgmma.fence stands between. Products that follow each
// other, with nothing between them that takes their sums, are one group:
//
//     s, p = wgmma.fence s, p                   sums that are added to, and A where it is in registers
//     s = wgmma.mma_async s, p, …               as often as there are products
//     wgmma.commit_group
//     …                                         what needs neither the sums nor a barrier
//     s = wgmma.wait_group 0, s                 before their first use, the next barrier, or the end of the block
//
// Fence and wait have the registers as operands and results: nothing in LLVM would otherwise keep arithmetic on
// registers on its side of an instruction that does not name them. Before a barrier, since it may hand the operands'
// buffers on.
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"

#include "attune/Emulator/EmulatedAsm.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SetVector.h"

namespace attune::device {
#define GEN_PASS_DEF_ORDERPRODUCTS
#include "attune/Lowering/GPU/Passes.h.inc"
} // namespace attune::device

using namespace mlir;
using namespace attune;

/// The product that an operation is.
static std::optional<WgmmaAsm> productOf(Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  return assembly ? findWgmmaAsm(assembly.getAsmString(), assembly.getConstraints()) : std::nullopt;
}

namespace {
/// The groups of one block. Blocks inside its operations have their own.
class Groups {
public:
  explicit Groups(Block &block) : block(block) {}
  /// Gives the number of groups.
  int64_t run();

private:
  void take(Operation *op, const WgmmaAsm &product);
  bool isOfGroup(Value value) const { return sums.contains(value) || isProduct(value.getDefiningOp()); }
  bool isProduct(Operation *op) const { return op && llvm::is_contained(products, op); }
  bool isThereBefore(Value value, Operation *op) const;
  bool endsAt(Operation *op) const;
  void finish(Operation *at);
  void fence();
  void wait(Operation *at);

  Block &block;
  int64_t count = 0;
  SmallVector<Operation *> products;
  SmallVector<OpOperand *> entering; // registers of the group that others have computed
  llvm::SetVector<Value> sums;
};
} // namespace

bool Groups::isThereBefore(Value value, Operation *op) const {
  Operation *source = value.getDefiningOp();
  return !source || source->getBlock() != &block || source->isBeforeInBlock(op);
}

/// A product of the open group, or the first of another one.
void Groups::take(Operation *op, const WgmmaAsm &product) {
  unsigned registers = product.sums() + (product.registersOfA ? 4 : 0);
  auto fits = [&](OpOperand &operand) {
    bool isSum = operand.getOperandNumber() < product.sums();
    return isOfGroup(operand.get()) ? isSum : isThereBefore(operand.get(), products.front());
  };
  auto operands = op->getOpOperands().take_front(registers);
  if (!products.empty() && !llvm::all_of(operands, fits))
    finish(op);
  for (OpOperand &operand : operands)
    if (!isOfGroup(operand.get()) && !operand.get().getDefiningOp<LLVM::UndefOp>())
      entering.push_back(&operand);
  products.push_back(op);
}

/// Must the sums be there before an operation?
bool Groups::endsAt(Operation *op) const {
  bool uses = llvm::any_of(op->getOperands(), [&](Value value) { return isOfGroup(value); });
  return uses || op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() || isa<NVVM::BarrierOp>(op);
}

int64_t Groups::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (std::optional<WgmmaAsm> product = productOf(&op)) {
      take(&op, *product);
      continue;
    }
    auto part = dyn_cast<LLVM::ExtractValueOp>(op);
    if (part && isProduct(part.getContainer().getDefiningOp())) {
      sums.insert(part.getResult());
      continue;
    }
    if (!products.empty() && endsAt(&op))
      finish(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        count += Groups(inner).run();
  }
  return count;
}

static Value order(OpBuilder &builder, Location loc, const WgmmaOrderAsm &shape, ArrayRef<Value> operands) {
  SmallVector<Type> types(shape.floats, builder.getF32Type());
  types.append(shape.words, builder.getI32Type());
  Type type = types.size() == 1 ? types.front() : LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  return LLVM::InlineAsmOp::create(builder, loc, type, operands, shape.text(), shape.constraints(),
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

static Value partOf(OpBuilder &builder, Location loc, Value all, int64_t number) {
  return isa<LLVM::LLVMStructType>(all.getType()) ? LLVM::ExtractValueOp::create(builder, loc, all, number).getResult()
                                                  : all;
}

/// Sums are registers that products change, so each operand has its own. A is only read, once for all products.
void Groups::fence() {
  OpBuilder builder(products.front());
  Location loc = products.front()->getLoc();
  SmallVector<OpOperand *> floats;
  llvm::MapVector<Value, SmallVector<OpOperand *>> words;
  for (OpOperand *operand : entering)
    if (operand->get().getType().isF32())
      floats.push_back(operand);
    else
      words[operand->get()].push_back(operand);
  if (entering.empty()) {
    NVVM::WgmmaFenceAlignedOp::create(builder, loc);
    return;
  }
  SmallVector<Value> operands = llvm::map_to_vector(floats, [](OpOperand *operand) { return operand->get(); });
  llvm::append_range(operands, llvm::make_first_range(words));
  WgmmaOrderAsm shape{/*wait=*/false, static_cast<unsigned>(floats.size()), static_cast<unsigned>(words.size())};
  Value all = order(builder, loc, shape, operands);
  for (auto [i, operand] : llvm::enumerate(floats))
    operand->set(partOf(builder, loc, all, i));
  for (auto [i, uses] : llvm::enumerate(llvm::make_second_range(words))) {
    Value word = partOf(builder, loc, all, floats.size() + i);
    for (OpOperand *operand : uses)
      operand->set(word);
  }
}

void Groups::wait(Operation *at) {
  auto isOutside = [&](OpOperand &use) { return !isProduct(use.getOwner()); };
  SmallVector<Value> results =
      llvm::filter_to_vector(sums, [&](Value sum) { return llvm::any_of(sum.getUses(), isOutside); });
  OpBuilder builder(at);
  Location loc = products.back()->getLoc();
  if (results.empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
    return;
  }
  SmallVector<Value> operands(results);
  operands.push_back(LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
  Value all = order(builder, loc, {/*wait=*/true, static_cast<unsigned>(results.size()), 0}, operands);
  Operation *waited = all.getDefiningOp();
  for (auto [i, sum] : llvm::enumerate(results)) {
    Value part = partOf(builder, loc, all, i);
    sum.replaceUsesWithIf(part, [&](OpOperand &use) { return isOutside(use) && use.getOwner() != waited; });
  }
}

void Groups::finish(Operation *at) {
  fence();
  OpBuilder builder(products.back()->getContext());
  builder.setInsertionPointAfter(products.back());
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, products.back()->getLoc());
  wait(at);
  products.clear(), entering.clear(), sums.clear();
  ++count;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OrderProductsPass : device::impl::OrderProductsBase<OrderProductsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      numGroups += Groups(block).run();
  }
};
} // namespace
