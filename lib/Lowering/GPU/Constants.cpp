//===- Constants.cpp - Constant tiles on a GPU --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant of one number is an immediate. A rank-1 constant such as RoPE's frequencies lies in the module as a table, as
// long as the elements that the threads have of it, padding included, so that reading it takes no test.
//
//===----------------------------------------------------------------------===//
#include "IssuedCounts.h"
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static constexpr unsigned globalSpace = 1;

static Value splat(KernelState &state, Type element, double value) {
  if (element.isF32())
    return state.code.f32(static_cast<float>(value));
  auto integer = IntegerAttr::get(element, static_cast<int64_t>(value));
  return arith::ConstantOp::create(state.code.builder, state.code.loc, integer);
}

/// The table of `elements` that a kernel before this one has made; null if none has.
static LLVM::GlobalOp equalTable(Block &module, DenseElementsAttr elements) {
  for (auto table : module.getOps<LLVM::GlobalOp>())
    if (table.getValueOrNull() == elements)
      return table;
  return {};
}

static LLVM::GlobalOp makeTable(KernelState &state, Operation *module, DenseElementsAttr elements) {
  std::string name;
  for (unsigned number = 0; name.empty() || SymbolTable::lookupSymbolIn(module, name); ++number)
    name = "attune_table_" + std::to_string(number);
  auto type = LLVM::LLVMArrayType::get(elements.getElementType(), elements.getNumElements());
  OpBuilder builder = OpBuilder::atBlockBegin(&module->getRegion(0).front());
  return LLVM::GlobalOp::create(builder, state.code.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                elements, /*alignment=*/16, globalSpace);
}

/// A table with these elements in the device's module: ptr<1>. Kernels have it in common: but for their tables those of two
/// plans are often equal, and then one is kept.
static Value tableOf(KernelState &state, ArrayRef<float> elements) {
  OpBuilder &builder = state.code.builder;
  Operation *module = builder.getBlock()->getParentOp();
  while (!isa<mlir::gpu::GPUModuleOp>(module))
    module = module->getParentOp();
  auto tensor = RankedTensorType::get(elements.size(), builder.getF32Type());
  auto values = DenseElementsAttr::get(tensor, elements);
  LLVM::GlobalOp table = equalTable(module->getRegion(0).front(), values);
  if (!table)
    table = makeTable(state, module, values);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  return LLVM::AddressOfOp::create(builder, state.code.loc, pointer, table.getSymName());
}

int64_t device::tableElements(const tile::SliceLayout &layout) {
  int64_t rowsOfWarps = tile::fragmentRows * layout.warps.rows, columnsOfWarps = tile::blockSize * layout.warps.columns;
  return layout.blocks() * (layout.axis == 1 ? rowsOfWarps : columnsOfWarps);
}

static void lowerTable(KernelState &state, arith::ConstantOp constant, DenseElementsAttr values) {
  DeviceBuilder &code = state.code;
  tile::SliceLayout layout = sliceLayout(constant.getResult());
  SmallVector<float> elements(values.getValues<float>());
  elements.resize(tableElements(layout));
  Value table = tableOf(state, elements);
  SmallVector<Value> &registers = state.tiles[constant.getResult()].registers;
  for (int64_t i = 0; i < layout.registers(); ++i) {
    Value place = code.mul(slicePlace(state, layout, i), 4);
    registers.push_back(code.load(code.builder.getF32Type(), code.offset(table, place), 4));
  }
}

LogicalResult device::lowerConstant(KernelState &state, arith::ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  Type element = type.getElementType();
  std::optional<double> value = tile::splatValue(constant);
  if (value && (element.isF32() || element.isInteger())) {
    state.tiles[constant.getResult()].registers.assign(elementCount(type), splat(state, element, *value));
    return success();
  }
  auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (value || !values || type.getRank() != 1 || !element.isF32())
    return constant.emitError() << "expected a constant of one f32 or integer, or a rank-1 one of f32, on a GPU";
  return lowerTable(state, constant, values), success();
}
